// SPDX-License-Identifier: Apache-2.0
#include "distributed/service/inventory.h"

#include <stdlib.h>

#include "distributed/call/incoming_call.h"
#include "distributed/call/outgoing_call.h"
#include "distributed/job/detached_job.h"
#include "distributed/job/job_start.h"
#include "distributed/service/plain_form.h"
#include "distributed/tuning/tuning.h"
#include "distributed/value/object_table.h"

// --- Calls ---------------------------------------------------------------------

// The value at the end of |value|'s chain of forwards, as far as it is known: only to be compared.
static const tfrt_async_value_t* inventory_end_of(tfrt_inventory_t* inventory,
                                                  tfrt_async_value_t* value) {
  tfrt_async_value_t* end = tfrt_async_value_retain(value);
  while (end->kind == TFRT_ASYNC_VALUE_INDIRECT && !tfrt_async_value_is_available(end)) {
    tfrt_async_value_t* target = tfrt_indirect_value_target((tfrt_indirect_value_t*)end);
    if (!target) break;
    tfrt_action_queue_release(&inventory->parts.node->actions, end);
    end = target;
  }
  tfrt_action_queue_release(&inventory->parts.node->actions, end);
  return end;
}

static int inventory_compare_slots(const void* a, const void* b) {
  uintptr_t left = (uintptr_t)((const tfrt_inventory_slot_t*)a)->end;
  uintptr_t right = (uintptr_t)((const tfrt_inventory_slot_t*)b)->end;
  return (left > right) - (left < right);
}

// Collects the slots of the objects that are listed, so that each argument is looked up in a few
// steps. Without memory no argument is found.
static void inventory_collect_slots(tfrt_inventory_t* inventory) {
  const tfrt_node_t* node = inventory->parts.node;
  inventory->slots = tfrt_allocator_allocate(node->options.allocator,
                                             inventory->limit * sizeof(*inventory->slots));
  if (!inventory->slots) return;
  tfrt_hash_table_t* objects = &node->objects->by_id;
  uint32_t seen = 0;
  for (tfrt_hash_node_t* found = tfrt_hash_table_first(objects); found && seen < inventory->limit;
       ++seen, found = tfrt_hash_table_next(objects, found)) {
    const tfrt_object_t* object = TFRT_CONTAINER_OF(found, tfrt_object_t, by_id);
    if (object->id.namer == node->incarnation || !object->value) continue;
    inventory->slots[inventory->slot_count++] = (tfrt_inventory_slot_t){
        .end = inventory_end_of(inventory, object->value), .id = object->id};
  }
  qsort(inventory->slots, inventory->slot_count, sizeof(*inventory->slots),
        inventory_compare_slots);
}

static void inventory_drop_slots(tfrt_inventory_t* inventory) {
  tfrt_allocator_free(inventory->parts.node->options.allocator, inventory->slots,
                      inventory->limit * sizeof(*inventory->slots));
  inventory->slots = NULL;
  inventory->slot_count = 0;
}

// The slot that |value|, which is not there yet, has turned out to be, or NULL.
static const tfrt_inventory_slot_t* inventory_find_slot(tfrt_inventory_t* inventory,
                                                        tfrt_async_value_t* value) {
  if (inventory->slot_count == 0) return NULL;
  const tfrt_inventory_slot_t key = {.end = inventory_end_of(inventory, value)};
  return bsearch(&key, inventory->slots, inventory->slot_count, sizeof(key),
                 inventory_compare_slots);
}

// Sets |out_need| to what |value|, an argument, is called; false if it is here, or nobody knows it.
static bool inventory_find_need(tfrt_inventory_t* inventory, tfrt_async_value_t* value,
                                tfrt_wire_need_t* out_need) {
  if (!value || tfrt_async_value_is_available(value)) return false;
  // The placeholder that it is itself, also when its end is known and on its way.
  const tfrt_remote_value_t* remote = tfrt_remote_value_cast(value);
  const tfrt_inventory_slot_t* slot = remote ? NULL : inventory_find_slot(inventory, value);
  if (remote) {
    *out_need = (tfrt_wire_need_t){.owner = remote->location.owner, .id = remote->location.id};
  } else if (slot) {
    *out_need = (tfrt_wire_need_t){.owner = inventory->parts.node->incarnation, .id = slot->id};
  }
  return remote || slot;
}

// The names of the arguments of |execution| that are not here yet.
static void inventory_set_needs(tfrt_inventory_t* inventory, const tfrt_execution_t* execution,
                                tfrt_wire_work_t* work) {
  size_t most = execution->argument_count < TFRT_WIRE_MAX_NEEDS ? execution->argument_count
                                                                : TFRT_WIRE_MAX_NEEDS;
  tfrt_wire_need_t* needs =
      most > 0 ? tfrt_answer_parts_room(&inventory->parts, most, sizeof(*needs)) : NULL;
  if (!needs) return;
  work->needs = needs;
  for (uint32_t i = 0; i < execution->argument_count && work->need_count < most; ++i) {
    tfrt_wire_need_t* need = &needs[work->need_count];
    if (inventory_find_need(inventory, execution->arguments[i], need)) ++work->need_count;
  }
}

static tfrt_wire_work_t inventory_work(tfrt_inventory_t* inventory,
                                       const tfrt_execution_t* execution) {
  tfrt_wire_work_t work = {
      .request = execution->request_id,
      .function =
          tfrt_answer_parts_text(&inventory->parts, tfrt_execution_function_name(execution)),
      .age_us = tfrt_answer_parts_age_us(&inventory->parts, execution->since_ns),
      .state = execution->cancelled                   ? TFRT_WIRE_WORK_CANCELLED
               : tfrt_execution_is_retired(execution) ? TFRT_WIRE_WORK_ENDING
               : !execution->program                  ? TFRT_WIRE_WORK_RUNNING
               : !execution->program->program         ? TFRT_WIRE_WORK_LOADING
                                                      : TFRT_WIRE_WORK_RUNNING};
  inventory_set_needs(inventory, execution, &work);
  return work;
}

static void inventory_add_start(void* self, uint64_t number, const tfrt_execution_t* execution) {
  tfrt_inventory_t* inventory = self;
  if (!tfrt_inventory_take(inventory, TFRT_WIRE_PART_START)) return;
  const tfrt_wire_answer_part_t part = {
      .kind = TFRT_WIRE_PART_START,
      .start = {.job = tfrt_answer_parts_job_id(&inventory->parts),
                .number = number,
                .work = inventory_work(inventory, execution)}};
  tfrt_answer_parts_emit(&inventory->parts, &part);
}

static void inventory_add_incoming(tfrt_inventory_t* inventory, const tfrt_incoming_call_t* call,
                                   uint64_t caller) {
  const tfrt_wire_answer_part_t part = {
      .kind = TFRT_WIRE_PART_INCOMING_CALL,
      .incoming_call = {.job = tfrt_answer_parts_job_id(&inventory->parts),
                        .caller = caller,
                        .number = call->number,
                        .depth = call->execution.depth,
                        .work = inventory_work(inventory, &call->execution)}};
  tfrt_answer_parts_emit(&inventory->parts, &part);
}

// The name of |execution|, or NULL: not known.
static const tfrt_wire_parent_t* inventory_parent(tfrt_inventory_t* inventory,
                                                  const tfrt_execution_t* execution) {
  tfrt_wire_parent_t* parent =
      execution ? tfrt_answer_parts_room(&inventory->parts, 1, sizeof(*parent)) : NULL;
  if (parent) {
    *parent = (tfrt_wire_parent_t){.caller = execution->caller, .number = execution->call};
  }
  return parent;
}

static void inventory_add_outgoing(tfrt_inventory_t* inventory, const tfrt_outgoing_call_t* call) {
  tfrt_status_origin_t place = tfrt_call_site_origin(&call->site);
  const tfrt_wire_answer_part_t part = {
      .kind = TFRT_WIRE_PART_OUTGOING_CALL,
      .outgoing_call = {.job = tfrt_answer_parts_job_id(&inventory->parts),
                        .callee = call->peer->incarnation,
                        .number = call->number,
                        .request = call->request ? call->request->options.id : 0,
                        .function = tfrt_answer_parts_text(&inventory->parts, call->name),
                        .age_us = tfrt_answer_parts_age_us(&inventory->parts, call->since_ns),
                        .is_cancelled = call->cancelled != NULL,
                        .parent = inventory_parent(inventory, tfrt_execution_of_scope(call->scope)),
                        .place = tfrt_answer_parts_place(&inventory->parts, &place)}};
  tfrt_answer_parts_emit(&inventory->parts, &part);
}

static void inventory_add_incoming_calls(tfrt_inventory_t* inventory) {
  const tfrt_node_t* node = inventory->parts.node;
  const tfrt_wire_part_kind_t kind = TFRT_WIRE_PART_INCOMING_CALL;
  inventory_collect_slots(inventory);
  tfrt_hash_table_t* peers = (tfrt_hash_table_t*)&node->peers;
  for (tfrt_hash_node_t* found = tfrt_hash_table_first(peers); found;
       found = tfrt_hash_table_next(peers, found)) {
    tfrt_peer_t* peer = TFRT_CONTAINER_OF(found, tfrt_peer_t, by_incarnation);
    for (tfrt_hash_node_t* at = tfrt_hash_table_first(&peer->incoming_calls);
         at && tfrt_inventory_goes_on(inventory, kind, node->counts.incoming_calls - 1);
         at = tfrt_hash_table_next(&peer->incoming_calls, at)) {
      const tfrt_incoming_call_t* call = TFRT_CONTAINER_OF(at, tfrt_incoming_call_t, by_number);
      if (call->execution.job == inventory->asker || tfrt_inventory_skips(inventory, kind))
        continue;
      ++inventory->listed[kind];
      inventory->parts.job = call->execution.job;
      inventory_add_incoming(inventory, call, peer->incarnation);
    }
  }
  inventory_drop_slots(inventory);
}

static void inventory_add_outgoing_calls(tfrt_inventory_t* inventory) {
  const tfrt_node_t* node = inventory->parts.node;
  const tfrt_wire_part_kind_t kind = TFRT_WIRE_PART_OUTGOING_CALL;
  tfrt_hash_table_t* peers = (tfrt_hash_table_t*)&node->peers;
  for (tfrt_hash_node_t* found = tfrt_hash_table_first(peers); found;
       found = tfrt_hash_table_next(peers, found)) {
    tfrt_peer_t* peer = TFRT_CONTAINER_OF(found, tfrt_peer_t, by_incarnation);
    for (tfrt_hash_node_t* at = tfrt_hash_table_first(&peer->outgoing_calls);
         at && tfrt_inventory_goes_on(inventory, kind, node->counts.outgoing_calls);
         at = tfrt_hash_table_next(&peer->outgoing_calls, at)) {
      const tfrt_outgoing_call_t* call = TFRT_CONTAINER_OF(at, tfrt_outgoing_call_t, by_number);
      if (call->job == inventory->asker || tfrt_inventory_skips(inventory, kind)) continue;
      ++inventory->listed[kind];
      inventory->parts.job = call->job;
      inventory_add_outgoing(inventory, call);
    }
  }
}

// --- All of it -----------------------------------------------------------------

static void inventory_add_members(tfrt_inventory_t* inventory) {
  const tfrt_job_t* job = inventory->parts.job;
  for (uint32_t i = 0; i < job->view.member_count; ++i) {
    const tfrt_job_member_t* member = &job->view.members[i];
    if (!tfrt_inventory_take(inventory, TFRT_WIRE_PART_MEMBER)) continue;
    const tfrt_wire_answer_part_t part = {
        .kind = TFRT_WIRE_PART_MEMBER,
        .member = {.job = tfrt_answer_parts_job_id(&inventory->parts),
                   .rank = member->rank,
                   .incarnation = member->incarnation,
                   .address = tfrt_answer_parts_text(&inventory->parts, member->address),
                   .is_lost = member->death != NULL}};
    tfrt_answer_parts_emit(&inventory->parts, &part);
  }
}

// The state of |job|, which says whether a client can follow it, attach to it, or neither.
static tfrt_wire_job_state_t inventory_job_state(const tfrt_job_t* job) {
  const tfrt_detached_job_t* detached = job->detachment.is_detached && job->rank == 0
                                            ? tfrt_detached_job_find(job->node, job->identity.id)
                                            : NULL;
  if (detached) {
    return tfrt_detached_job_is_kept(detached) ? TFRT_WIRE_JOB_STATE_KEPT
                                               : TFRT_WIRE_JOB_STATE_DETACHED;
  }
  return tfrt_job_is_closed(job)       ? TFRT_WIRE_JOB_STATE_CLOSED
         : job->detachment.is_detached ? TFRT_WIRE_JOB_STATE_DETACHED
                                       : TFRT_WIRE_JOB_STATE_OPEN;
}

static void inventory_add_job(tfrt_inventory_t* inventory, tfrt_job_t* job) {
  if (!tfrt_inventory_take(inventory, TFRT_WIRE_PART_JOB)) return;
  const tfrt_wire_answer_part_t part = {
      .kind = TFRT_WIRE_PART_JOB,
      .job = {.job = tfrt_answer_parts_job_id(&inventory->parts),
              .name = tfrt_answer_parts_text(&inventory->parts, job->name),
              .rank = job->rank,
              .hosts = job->view.member_count,
              .root = job->view.members[0].incarnation,
              .client = job->client.incarnation,
              .age_us = tfrt_answer_parts_age_us(&inventory->parts, job->since_ns),
              .state = inventory_job_state(job)}};
  tfrt_answer_parts_emit(&inventory->parts, &part);
  inventory_add_members(inventory);
}

static void inventory_add_starts_of(tfrt_inventory_t* inventory, tfrt_job_t* job) {
  tfrt_job_start_visit_all(job, inventory_add_start, inventory);
}

// Adds detached jobs that are over and have left their results.
static void inventory_add_kept(tfrt_inventory_t* inventory) {
  const tfrt_list_link_t* head = &inventory->parts.node->detached;
  for (tfrt_list_link_t* link = head->next; link != head; link = link->next) {
    const tfrt_detached_job_t* kept = tfrt_detached_job_of(link);
    if (kept->job || !tfrt_inventory_take(inventory, TFRT_WIRE_PART_JOB)) continue;
    const tfrt_wire_answer_part_t part = {
        .kind = TFRT_WIRE_PART_JOB,
        .job = {.job = tfrt_string_view_make((const char*)kept->id, TFRT_WIRE_JOB_ID_SIZE),
                .name = tfrt_answer_parts_text(&inventory->parts, kept->name),
                .hosts = kept->host_count,
                .root = inventory->parts.node->incarnation,
                .client = kept->client,
                .age_us = tfrt_answer_parts_age_us(&inventory->parts, kept->since_ns),
                .state = TFRT_WIRE_JOB_STATE_KEPT}};
    tfrt_answer_parts_emit(&inventory->parts, &part);
  }
}

// Looks for the execution of the request that a thread has marked. That request may be gone: its
// pointer is only compared. The search ends after TFRT_INVENTORY_MAX_PARTS calls.
typedef struct tfrt_inventory_runner_s {
  const void* request;
  const tfrt_execution_t* found;  // NULL: nobody
} tfrt_inventory_runner_t;

static void inventory_compare_start(void* self, uint64_t number,
                                    const tfrt_execution_t* execution) {
  (void)number;
  tfrt_inventory_runner_t* runner = self;
  if (execution->request == runner->request) runner->found = execution;
}

static const tfrt_execution_t* inventory_find_runner(tfrt_inventory_t* inventory,
                                                     const void* request) {
  tfrt_inventory_runner_t runner = {.request = request};
  if (!request) return NULL;
  for (tfrt_list_link_t* link = inventory->parts.node->jobs.next;
       link != &inventory->parts.node->jobs; link = link->next) {
    tfrt_job_start_visit_all(TFRT_CONTAINER_OF(link, tfrt_job_t, link), inventory_compare_start,
                             &runner);
  }
  uint32_t seen = 0;
  tfrt_hash_table_t* peers = &inventory->parts.node->peers;
  for (tfrt_hash_node_t* found = tfrt_hash_table_first(peers); found && !runner.found;
       found = tfrt_hash_table_next(peers, found)) {
    tfrt_hash_table_t* calls =
        &TFRT_CONTAINER_OF(found, tfrt_peer_t, by_incarnation)->incoming_calls;
    for (tfrt_hash_node_t* node = tfrt_hash_table_first(calls);
         node && !runner.found && seen < TFRT_INVENTORY_MAX_PARTS;
         ++seen, node = tfrt_hash_table_next(calls, node)) {
      const tfrt_incoming_call_t* call = TFRT_CONTAINER_OF(node, tfrt_incoming_call_t, by_number);
      if (call->execution.request == request) runner.found = &call->execution;
    }
  }
  return runner.found;
}

static void inventory_add_kernel(tfrt_inventory_t* inventory, const tfrt_progress_thread_t* thread,
                                 const tfrt_kernel_site_t* site) {
  tfrt_status_origin_t place;
  tfrt_kernel_site_origin(site, &place);
  const tfrt_execution_t* runner = inventory_find_runner(inventory, thread->in.request);
  inventory->parts.job = runner ? runner->job : NULL;
  const tfrt_wire_answer_part_t part = {
      .kind = TFRT_WIRE_PART_KERNEL,
      .kernel = {.job = tfrt_answer_parts_job_id(&inventory->parts),
                 .request = runner ? runner->request_id : 0,
                 .parent = inventory_parent(inventory, runner),
                 .kernel = tfrt_answer_parts_text(&inventory->parts, place.kernel),
                 .place = tfrt_answer_parts_place(&inventory->parts, &place),
                 .age_us = tfrt_answer_parts_age_us(&inventory->parts, thread->since_ns)}};
  tfrt_answer_parts_emit(&inventory->parts, &part);
  inventory->parts.job = NULL;
}

// Adds the kernels that threads are in. A mark is followed only if its program is in the cache,
// which is not freed while the lock is held.
static void inventory_add_kernels(tfrt_inventory_t* inventory) {
  tfrt_progress_look(&inventory->parts.node->progress, inventory->parts.now_ns);
  const tfrt_progress_t* progress = &inventory->parts.node->progress;
  for (size_t i = 0; i < progress->count; ++i) {
    const tfrt_progress_thread_t* thread = &progress->threads[i];
    const tfrt_kernel_site_t* site =
        tfrt_program_cache_find_site(inventory->parts.node, thread->in.site);
    if (site) inventory_add_kernel(inventory, thread, site);
  }
}

static void inventory_add_host(tfrt_inventory_t* inventory) {
  const tfrt_node_t* node = inventory->parts.node;
  tfrt_string_view_t name = tfrt_session_manager_name(node->sessions);
  const tfrt_wire_answer_part_t part = {
      .kind = TFRT_WIRE_PART_HOST,
      .host = {.incarnation = node->incarnation,
               .name = tfrt_answer_parts_view(&inventory->parts, name),
               .serving = !node->refuses_jobs && !node->closed}};
  tfrt_answer_parts_emit(&inventory->parts, &part);
}

// Adds how many things of each kind are not listed, if any.
static void inventory_add_left_out(tfrt_inventory_t* inventory) {
  const uint64_t* left_out = inventory->left_out;
  uint64_t total = 0;
  for (size_t i = 0; i < TFRT_INVENTORY_KINDS; ++i) total += left_out[i];
  const tfrt_wire_answer_part_t part = {
      .kind = TFRT_WIRE_PART_MORE,
      .more = {.jobs = left_out[TFRT_WIRE_PART_JOB],
               .members = left_out[TFRT_WIRE_PART_MEMBER],
               .starts = left_out[TFRT_WIRE_PART_START],
               .incoming_calls = left_out[TFRT_WIRE_PART_INCOMING_CALL],
               .outgoing_calls = left_out[TFRT_WIRE_PART_OUTGOING_CALL],
               .objects = left_out[TFRT_WIRE_PART_OBJECT],
               .remote_values = left_out[TFRT_WIRE_PART_REMOTE_VALUE],
               .mail = left_out[TFRT_WIRE_PART_MAIL]}};
  if (total > 0) tfrt_answer_parts_emit(&inventory->parts, &part);
}

static const tfrt_inventory_section_t tfrt_inventory_first_sections[] = {
    {.kind = TFRT_WIRE_PART_HOST, .add = inventory_add_host},
    {TFRT_WIRE_PART_JOB, inventory_add_kept, inventory_add_job},
    {.kind = TFRT_WIRE_PART_START, .add_of_job = inventory_add_starts_of},
    {.kind = TFRT_WIRE_PART_INCOMING_CALL, .add = inventory_add_incoming_calls},
    {.kind = TFRT_WIRE_PART_OUTGOING_CALL, .add = inventory_add_outgoing_calls},
};

static const tfrt_inventory_section_t tfrt_inventory_last_sections[] = {
    {.kind = TFRT_WIRE_PART_KERNEL, .add = inventory_add_kernels},
    {.kind = TFRT_WIRE_PART_MORE, .add = inventory_add_left_out},
};

static void inventory_add_section(tfrt_inventory_t* inventory,
                                  const tfrt_inventory_section_t* section) {
  const tfrt_list_link_t* jobs = &inventory->parts.node->jobs;
  for (tfrt_list_link_t* link = jobs->next; section->add_of_job && link != jobs;
       link = link->next) {
    tfrt_job_t* job = TFRT_CONTAINER_OF(link, tfrt_job_t, link);
    if (job == inventory->asker) continue;
    inventory->parts.job = job;
    section->add_of_job(inventory, job);
  }
  inventory->parts.job = NULL;
  if (section->add) section->add(inventory);
}

// Adds those of the |count| |sections| that are asked for. The lock is open between them, so that
// frames and heartbeats wait for one section at most, and that is as long as the limit says.
static void inventory_add_sections(tfrt_inventory_t* inventory,
                                   const tfrt_inventory_section_t* sections, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    if ((inventory->kinds >> sections[i].kind & 1) == 0) continue;
    tfrt_node_lock_tables(inventory->parts.node);
    inventory_add_section(inventory, &sections[i]);
    tfrt_node_unlock(inventory->parts.node);
  }
}

static tfrt_status_t inventory_write(tfrt_execution_t* execution, const tfrt_wire_question_t* asked,
                                     tfrt_string_builder_t* out) {
  const tfrt_wire_ask_inventory_t* question = &asked->inventory;
  tfrt_node_t* node = execution->node;
  const uint32_t always = 1u << TFRT_WIRE_PART_HOST | 1u << TFRT_WIRE_PART_MORE;
  tfrt_inventory_t inventory = {.asker = execution->job->asks_only ? execution->job : NULL,
                                .kinds = question->kinds ? question->kinds | always : UINT32_MAX,
                                .limit = TFRT_INVENTORY_MAX_PARTS,
                                .skip = question->skip};
  if (question->limit > 0 && question->limit < inventory.limit) inventory.limit = question->limit;
  tfrt_answer_parts_initialize(&inventory.parts, node, out);
  inventory_add_sections(&inventory, tfrt_inventory_first_sections,
                         TFRT_ARRAY_SIZE(tfrt_inventory_first_sections));
  inventory_add_sections(&inventory, tfrt_inventory_value_sections, TFRT_INVENTORY_VALUE_SECTIONS);
  inventory_add_sections(&inventory, tfrt_inventory_last_sections,
                         TFRT_ARRAY_SIZE(tfrt_inventory_last_sections));
  return tfrt_answer_parts_finish(&inventory.parts);
}

const tfrt_answerer_t tfrt_inventory_answerer = {.kind = TFRT_WIRE_ASK_INVENTORY,
                                                 .write = inventory_write,
                                                 .plain_function = TFRT_WIRE_BUILTIN_INVENTORY,
                                                 .write_plain = tfrt_plain_answer_write};
