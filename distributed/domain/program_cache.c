// SPDX-License-Identifier: Apache-2.0
#include "distributed/domain/program_cache.h"

#include <string.h>

#include "distributed/domain/domain.h"
#include "distributed/security/digest.h"
#include "distributed/tuning/tuning.h"
#include "host_runtime/async/builtin_types.h"
#include "host_runtime/executor/call/running_kernel.h"

tfrt_status_t tfrt_program_cache_type(tfrt_type_id_t* out_type) {
  tfrt_type_t type = *tfrt_type_get(TFRT_TYPE_STRING);
  type.name = "!tfrt.program";
  type.print = NULL;
  return tfrt_type_register(&type, out_type);
}

static tfrt_string_view_t cached_program_sha256(const tfrt_cached_program_t* program) {
  return tfrt_string_view_make((const char*)program->sha256, sizeof(program->sha256));
}

static tfrt_cached_program_t* cached_program_of(tfrt_list_link_t* link) {
  return TFRT_CONTAINER_OF(link, tfrt_cached_program_t, link);
}

tfrt_cached_program_t* tfrt_program_cache_find(tfrt_node_t* node, tfrt_string_view_t sha256,
                                               const tfrt_program_source_t* source) {
  tfrt_list_link_t* head = &node->programs;
  for (tfrt_list_link_t* link = head->next; link != head; link = link->next) {
    tfrt_cached_program_t* program = cached_program_of(link);
    bool is_on_its_way = !program->failed && source && program->source.job == source->job &&
                         program->source.owner == source->owner;
    bool is_good = program->is_verified || is_on_its_way;
    if (!is_good || !tfrt_string_view_equal(cached_program_sha256(program), sha256)) continue;
    tfrt_list_remove(link);
    tfrt_list_push_front(head, link);
    return tfrt_cached_program_retain(program);
  }
  return NULL;
}

tfrt_cached_program_t* tfrt_program_cache_find_program(tfrt_node_t* node,
                                                       const tfrt_program_t* program) {
  tfrt_list_link_t* head = &node->programs;
  for (tfrt_list_link_t* link = head->next; link != head; link = link->next) {
    if (cached_program_of(link)->program == program) return cached_program_of(link);
  }
  return NULL;
}

static bool cached_program_has(const tfrt_cached_program_t* program, uint32_t function) {
  return program && program->program && function < tfrt_program_function_count(program->program);
}

const char* tfrt_cached_program_function_name(const tfrt_cached_program_t* program,
                                              uint32_t function) {
  if (!cached_program_has(program, function)) return "";
  return tfrt_program_function(program->program, function)->name;
}

void tfrt_cached_program_function_place(const tfrt_cached_program_t* program, uint32_t function,
                                        tfrt_status_origin_t* out_place) {
  *out_place = (tfrt_status_origin_t){.rank = TFRT_STATUS_NO_RANK};
  if (!cached_program_has(program, function)) return;
  const tfrt_bef_file_t* file = tfrt_program_file(program->program);
  const tfrt_bef_function_t* written = tfrt_bef_file_function(file, function);
  tfrt_bef_source_location_t place = {.file = ""};
  if (written->kind != TFRT_BEF_FUNCTION_NATIVE) {
    tfrt_bef_file_source_location(file, written->location, &place);
  }
  out_place->function = tfrt_cached_program_function_name(program, function);
  out_place->file = place.file;
  out_place->line = place.line;
  out_place->column = place.column;
}

static void program_cache_release_program(void* argument) { tfrt_program_release(argument); }

static void cached_program_free(tfrt_cached_program_t* program) {
  tfrt_node_t* node = program->node;
  tfrt_list_remove(&program->link);
  tfrt_action_queue_release(&node->actions, program->bytes);
  tfrt_action_queue_release(&node->actions, program->ready);
  if (program->program) {
    tfrt_action_queue_call(&node->actions, program_cache_release_program, program->program);
  }
  tfrt_allocator_free(node->options.allocator, program, sizeof(*program));
}

// Frees unused programs, but for the |spare| most recently used ones that may be good.
static void program_cache_trim(tfrt_node_t* node, size_t spare) {
  tfrt_list_link_t* head = &node->programs;
  for (tfrt_list_link_t* link = head->next; link != head;) {
    tfrt_cached_program_t* program = cached_program_of(link);
    link = link->next;
    // The cache has one reference.
    if (!tfrt_ref_count_is_one(&program->ref_count)) continue;
    if (spare > 0 && !program->failed) {
      --spare;
    } else {
      cached_program_free(program);
    }
  }
}

void tfrt_program_cache_clear(tfrt_node_t* node) { program_cache_trim(node, 0); }

tfrt_cached_program_t* tfrt_program_cache_add(tfrt_node_t* node, tfrt_string_view_t sha256,
                                              uint64_t size, tfrt_async_value_t* bytes,
                                              const tfrt_program_source_t* source) {
  program_cache_trim(node, TFRT_PROGRAM_CACHE_SPARE);
  tfrt_cached_program_t* program =
      tfrt_allocator_allocate_zeroed(node->options.allocator, sizeof(*program));
  if (!program) return NULL;
  // Made last, because the release of a value takes memory for its action.
  tfrt_indirect_value_t* ready = tfrt_indirect_value_create();
  if (!ready) {
    tfrt_allocator_free(node->options.allocator, program, sizeof(*program));
    return NULL;
  }
  tfrt_ref_count_initialize(&program->ref_count);
  program->node = node;
  memcpy(program->sha256, sha256.data, sizeof(program->sha256));
  program->size = size;
  program->bytes = tfrt_async_value_retain(bytes);
  if (source) program->source = *source;
  program->ready = &ready->base;
  tfrt_list_push_front(&node->programs, &program->link);
  return tfrt_cached_program_retain(program);
}

// The entry (+1) whose bytes are |bytes|, if that is the last one used of those of their size; else
// NULL. A look is cheaper than a digest by far, and a client mostly starts the same program again.
// Takes the lock, but not to compare.
static tfrt_cached_program_t* program_cache_find_bytes(tfrt_node_t* node,
                                                       tfrt_string_view_t bytes) {
  tfrt_node_lock_tables(node);
  tfrt_list_link_t* link = node->programs.next;
  while (link != &node->programs &&
         !(cached_program_of(link)->is_verified && cached_program_of(link)->size == bytes.size)) {
    link = link->next;
  }
  if (link == &node->programs) {
    tfrt_node_unlock(node);
    return NULL;
  }
  tfrt_cached_program_t* program = tfrt_cached_program_retain(cached_program_of(link));
  tfrt_async_value_t* value = tfrt_async_value_retain(program->bytes);
  tfrt_node_unlock(node);
  bool is_same = tfrt_string_view_equal(tfrt_async_value_string(value), bytes);
  tfrt_async_value_release(value);
  tfrt_node_lock_tables(node);
  if (is_same) {
    tfrt_list_remove(link);
    tfrt_list_push_front(&node->programs, link);
  } else {
    tfrt_cached_program_release(program);
  }
  tfrt_node_unlock(node);
  return is_same ? program : NULL;
}

// Sets |*out_value| (+1) to a copy of |bytes|, as other hosts fetch it. Needs no lock.
static tfrt_status_t program_cache_copy_bytes(const tfrt_node_t* node, tfrt_string_view_t bytes,
                                              tfrt_async_value_t** out_value) {
  tfrt_type_id_t type = TFRT_TYPE_NONE;
  TFRT_RETURN_IF_ERROR(tfrt_program_cache_type(&type));
  tfrt_async_value_t* value = tfrt_async_value_create_unconstructed(type);
  if (!value) return tfrt_status_out_of_memory();
  void* room = NULL;
  tfrt_status_t status = tfrt_type_get(type)->codec->decode(
      NULL, 0, bytes.size, node->options.allocator, tfrt_async_value_payload(value), &room);
  if (status) {
    tfrt_async_value_release(value);
    return status;
  }
  if (bytes.size > 0) memcpy(room, bytes.data, bytes.size);
  tfrt_async_value_set_available(value);
  *out_value = value;
  return NULL;
}

// The entry (+1) with |sha256|, or a new one of |bytes|, the value; NULL when memory is out.
static tfrt_cached_program_t* program_cache_find_or_add(tfrt_node_t* node,
                                                        tfrt_string_view_t sha256, size_t size,
                                                        tfrt_async_value_t* bytes) {
  tfrt_cached_program_t* program = tfrt_program_cache_find(node, sha256, NULL);
  if (program) return program;
  program = tfrt_program_cache_add(node, sha256, size, bytes, NULL);
  if (program) program->is_verified = true;
  return program;
}

tfrt_status_t tfrt_program_cache_add_bytes(tfrt_node_t* node, tfrt_string_view_t bytes,
                                           tfrt_cached_program_t** out_program) {
  *out_program = program_cache_find_bytes(node, bytes);
  if (*out_program) return NULL;
  uint8_t digest[TFRT_SHA256_SIZE];
  tfrt_async_value_t* value = NULL;
  TFRT_RETURN_IF_ERROR(tfrt_sha256(bytes, digest));
  TFRT_RETURN_IF_ERROR(program_cache_copy_bytes(node, bytes, &value));
  tfrt_string_view_t sha256 = tfrt_string_view_make((const char*)digest, sizeof(digest));
  tfrt_node_lock_tables(node);
  *out_program = program_cache_find_or_add(node, sha256, bytes.size, value);
  tfrt_node_unlock(node);
  tfrt_async_value_release(value);
  return *out_program ? NULL : tfrt_status_out_of_memory();
}

tfrt_status_t tfrt_program_cache_add_few_bytes(tfrt_node_t* node, tfrt_string_view_t bytes,
                                               tfrt_cached_program_t** out_program) {
  uint8_t digest[TFRT_SHA256_SIZE];
  TFRT_RETURN_IF_ERROR(tfrt_sha256(bytes, digest));
  tfrt_string_view_t sha256 = tfrt_string_view_make((const char*)digest, sizeof(digest));
  *out_program = tfrt_program_cache_find(node, sha256, NULL);
  if (*out_program) return NULL;
  tfrt_async_value_t* value = NULL;
  TFRT_RETURN_IF_ERROR(program_cache_copy_bytes(node, bytes, &value));
  *out_program = program_cache_find_or_add(node, sha256, bytes.size, value);
  tfrt_action_queue_release(&node->actions, value);
  return *out_program ? NULL : tfrt_status_out_of_memory();
}

// Checks that the bytes that came for |program| are those that were announced.
static tfrt_status_t cached_program_check_bytes(const tfrt_cached_program_t* program) {
  if (tfrt_async_value_is_error(program->bytes)) {
    return tfrt_status_annotate(tfrt_async_value_error(program->bytes),
                                "the program could not be fetched");
  }
  if (!tfrt_async_value_is_text(program->bytes)) {
    tfrt_type_id_t type = tfrt_async_value_resolved(program->bytes)->type_id;
    return tfrt_status_create(TFRT_STATUS_DATA_LOSS,
                              "a %s came, not the bytes of the program that was announced",
                              tfrt_type_get(type)->name);
  }
  tfrt_string_view_t bytes = tfrt_async_value_string(program->bytes);
  uint8_t digest[TFRT_SHA256_SIZE];
  if (bytes.size == program->size) TFRT_RETURN_IF_ERROR(tfrt_sha256(bytes, digest));
  if (bytes.size == program->size && memcmp(digest, program->sha256, sizeof(digest)) == 0) {
    return NULL;
  }
  return tfrt_status_create(TFRT_STATUS_DATA_LOSS,
                            "the %zu bytes that came are not the program that was announced",
                            bytes.size);
}

// The memory of a program's file is that of the value with its bytes, so that they are there once.
static void* program_bytes_allocate(void* self, size_t size, size_t alignment) {
  (void)self, (void)size, (void)alignment;
  return NULL;
}

static void program_bytes_deallocate(void* self, void* pointer, size_t size, size_t alignment) {
  (void)pointer, (void)size, (void)alignment;
  tfrt_async_value_release(self);
}

static const tfrt_allocator_vtable_t tfrt_program_bytes_vtable = {
    .allocate = program_bytes_allocate,
    .deallocate = program_bytes_deallocate,
};

// Sets |*out_contents| to the bytes of |value|, which they keep alive.
static void program_bytes_borrow(tfrt_async_value_t* value, tfrt_file_contents_t* out_contents) {
  static const uint64_t nothing = 0;
  tfrt_string_view_t bytes = tfrt_async_value_string(value);
  const void* data = bytes.size > 0 ? (const void*)bytes.data : &nothing;
  *out_contents = (tfrt_file_contents_t){
      .data = (uint8_t*)(uintptr_t)data,
      .size = bytes.size,
      .capacity = bytes.size,
      .allocator = {&tfrt_program_bytes_vtable,
                    tfrt_async_value_retain(tfrt_async_value_resolved(value))},
  };
}

// Checks and resolves the bytes of |program|, which are here. Needs no lock.
static tfrt_status_t cached_program_resolve(const tfrt_cached_program_t* program,
                                            tfrt_program_t** out_program) {
  *out_program = NULL;
  TFRT_RETURN_IF_ERROR(cached_program_check_bytes(program));
  tfrt_host_context_t* host = program->node->options.host;
  tfrt_file_contents_t contents;
  tfrt_bef_file_t* file = NULL;
  program_bytes_borrow(program->bytes, &contents);
  TFRT_RETURN_IF_ERROR(tfrt_bef_file_create_around(&contents, host->allocator, &file));
  tfrt_status_t status = tfrt_program_create(file, host->registry, host->allocator, out_program);
  tfrt_bef_file_release(file);
  return status;
}

static void cached_program_wait(tfrt_cached_program_t* program, tfrt_task_t* task) {
  tfrt_action_queue_wait(&program->node->actions, program->ready, TFRT_ACTION_AND_THEN, task);
}

// Loads the program, whose bytes are here.
static void cached_program_run_load(tfrt_task_t* task) {
  tfrt_cached_program_t* program = TFRT_CONTAINER_OF(task, tfrt_cached_program_t, loader);
  tfrt_node_t* node = program->node;
  tfrt_program_t* loaded = NULL;
  tfrt_status_t status = cached_program_resolve(program, &loaded);
  tfrt_node_lock_tables(node);
  tfrt_async_value_t* ready = tfrt_async_value_retain(program->ready);
  // From here on it belongs to this host, not to the job that fetched it.
  tfrt_async_value_t* own = tfrt_async_value_retain(tfrt_async_value_resolved(program->bytes));
  tfrt_action_queue_release(&node->actions, program->bytes);
  program->bytes = own;
  program->program = loaded;
  program->failed = status != NULL;
  program->is_verified = !status;
  if (status) {
    tfrt_action_queue_fail_take(&node->actions, ready, status);
    tfrt_status_release(status);
  } else {
    tfrt_action_queue_forward_take(&node->actions, ready, tfrt_async_value_ready_chain());
  }
  while (!tfrt_task_list_is_empty(&program->waiting)) {
    cached_program_wait(program, tfrt_task_list_pop_front(&program->waiting));
  }
  tfrt_cached_program_release(program);
  tfrt_node_unlock(node);
  tfrt_node_release(node);
}

// Runs when the bytes are here, maybe on a thread that reads messages or runs kernels: to load many
// bytes is another thread's work.
static void cached_program_run_loader(tfrt_task_t* task) {
  const tfrt_cached_program_t* program = TFRT_CONTAINER_OF(task, tfrt_cached_program_t, loader);
  tfrt_work_queue_t* queue = program->node->options.host->work_queue;
  bool is_large = program->size >= TFRT_PROGRAM_CACHE_LARGE;
  tfrt_task_initialize(task, cached_program_run_load);
  if (is_large && tfrt_work_queue_add_blocking_task(queue, task, false)) return;
  cached_program_run_load(task);
}

static void cached_program_start_loading(tfrt_cached_program_t* program) {
  program->loading = true;
  tfrt_cached_program_retain(program);
  tfrt_node_retain(program->node);
  tfrt_task_initialize(&program->loader, cached_program_run_loader);
  tfrt_action_queue_wait(&program->node->actions, program->bytes, TFRT_ACTION_AND_THEN,
                         &program->loader);
}

void tfrt_cached_program_load(tfrt_cached_program_t* program, tfrt_task_t* task) {
  if (!program->loading) cached_program_start_loading(program);
  if (!task) return;
  if (program->program || program->failed) {
    cached_program_wait(program, task);
  } else {
    tfrt_task_list_push_back(&program->waiting, task);
  }
}

tfrt_cached_program_t* tfrt_cached_program_retain(tfrt_cached_program_t* program) {
  tfrt_ref_count_increment(&program->ref_count);
  return program;
}

void tfrt_cached_program_release(tfrt_cached_program_t* program) {
  // The cache has the last one.
  tfrt_ref_count_decrement(&program->ref_count);
}

const tfrt_kernel_site_t* tfrt_program_cache_find_site(const tfrt_node_t* node, const void* site) {
  for (tfrt_list_link_t* link = node->programs.next; link != &node->programs; link = link->next) {
    const tfrt_program_t* program = TFRT_CONTAINER_OF(link, tfrt_cached_program_t, link)->program;
    const tfrt_kernel_site_t* found = program ? tfrt_program_find_site(program, site) : NULL;
    if (found) return found;
  }
  return NULL;
}

static void program_cache_on_node_made(const tfrt_owner_end_t* end) {
  tfrt_list_initialize(&end->node->programs);
}

static void program_cache_on_node_past(const tfrt_owner_end_t* end) {
  tfrt_program_cache_clear(end->node);
}

static const tfrt_owner_rule_t tfrt_program_cache_rules[] = {
    {TFRT_OWNER_NODE_MADE, TFRT_OWNER_JOBS, program_cache_on_node_made},
    {TFRT_OWNER_NODE_PAST, TFRT_OWNER_JOBS, program_cache_on_node_past},
};

const tfrt_node_part_t tfrt_program_cache_part = {
    .rules = tfrt_program_cache_rules,
    .rule_count = TFRT_ARRAY_SIZE(tfrt_program_cache_rules),
};
