// SPDX-License-Identifier: Apache-2.0
#include "distributed/domain/domain.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "distributed/domain/job.h"
#include "host_runtime/base/macros.h"

// --- Texts -----------------------------------------------------------------------

typedef struct tfrt_text_pool_entry_s {
  tfrt_hash_node_t node;
  const char* text;
} tfrt_text_pool_entry_t;

static uint64_t text_pool_hash(const void* key) { return tfrt_hash_bytes(key, strlen(key)); }

static bool text_pool_equal(const tfrt_hash_node_t* node, const void* key) {
  return strcmp(TFRT_CONTAINER_OF(node, tfrt_text_pool_entry_t, node)->text, key) == 0;
}

static const tfrt_hash_table_vtable_t tfrt_text_pool_vtable = {.hash = text_pool_hash,
                                                               .equal = text_pool_equal};

void tfrt_text_pool_initialize(tfrt_text_pool_t* pool, tfrt_allocator_t allocator) {
  tfrt_arena_initialize(&pool->arena, allocator);
  tfrt_hash_table_initialize(&pool->texts, &tfrt_text_pool_vtable, allocator);
}

void tfrt_text_pool_deinitialize(tfrt_text_pool_t* pool) {
  tfrt_hash_table_deinitialize(&pool->texts);
  tfrt_arena_deinitialize(&pool->arena);
}

const char* tfrt_text_pool_keep(tfrt_text_pool_t* pool, const char* text) {
  if (!text || !text[0]) return text ? "" : NULL;
  tfrt_hash_node_t* node = tfrt_hash_table_find(&pool->texts, text);
  if (node) return TFRT_CONTAINER_OF(node, tfrt_text_pool_entry_t, node)->text;
  tfrt_text_pool_entry_t* entry = tfrt_arena_allocate(&pool->arena, sizeof(*entry));
  const char* copy = tfrt_arena_copy_string(&pool->arena, tfrt_string_view_of(text));
  if (!entry || !copy) return "";
  entry->text = copy;
  tfrt_hash_table_insert(&pool->texts, copy, &entry->node);
  return copy;
}

static void text_pool_on_node_made(const tfrt_owner_end_t* end) {
  tfrt_text_pool_initialize(&end->node->texts, end->node->options.allocator);
}

static void text_pool_on_node_past(const tfrt_owner_end_t* end) {
  tfrt_text_pool_deinitialize(&end->node->texts);
}

static const tfrt_owner_rule_t tfrt_text_pool_rules[] = {
    {TFRT_OWNER_NODE_MADE, TFRT_OWNER_JOBS, text_pool_on_node_made},
    {TFRT_OWNER_NODE_PAST, TFRT_OWNER_JOBS, text_pool_on_node_past},
};

const tfrt_node_part_t tfrt_text_pool_part = {
    .rules = tfrt_text_pool_rules,
    .rule_count = TFRT_ARRAY_SIZE(tfrt_text_pool_rules),
};

// --- The node --------------------------------------------------------------------

void tfrt_node_end(const tfrt_owner_end_t* end) {
  const tfrt_owner_rules_t* rules = &end->node->rules;
  for (size_t i = 0; i < rules->count; ++i) {
    if (rules->rules[i]->event == end->event) rules->rules[i]->run(end);
  }
}

tfrt_node_t* tfrt_node_retain(tfrt_node_t* node) {
  tfrt_ref_count_increment(&node->ref_count);
  return node;
}

void tfrt_node_release(tfrt_node_t* node) {
  if (node && tfrt_ref_count_decrement(&node->ref_count)) node->free(node);
}

uint64_t tfrt_node_incarnation(const tfrt_node_t* node) { return node->incarnation; }

// --- The log -----------------------------------------------------------------------

void tfrt_event_log_peer_name(const tfrt_session_t* session,
                              char out_name[TFRT_EVENT_LOG_NAME_SIZE]) {
  tfrt_string_view_t name = tfrt_session_peer_name(session);
  if (name.size == 0) name = tfrt_session_address(session);
  if (name.size > 0) {
    snprintf(out_name, TFRT_EVENT_LOG_NAME_SIZE, "%.*s", TFRT_STRING_VIEW_ARGUMENTS(name));
  } else {
    snprintf(out_name, TFRT_EVENT_LOG_NAME_SIZE, "%016" PRIx64,
             tfrt_session_peer_incarnation(session));
  }
}

tfrt_log_context_t tfrt_event_log_context(const tfrt_job_t* job, uint64_t call) {
  return (tfrt_log_context_t){
      .job = job->handle, .call = call, .has_host = true, .host = job->rank};
}
