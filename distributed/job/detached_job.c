// SPDX-License-Identifier: Apache-2.0
#include "distributed/job/detached_job.h"

#include "distributed/job/job_life.h"

#include <stdio.h>
#include <string.h>

// The bytes that a line takes, with its text.
#define TFRT_DETACHED_JOB_LINE_SIZE(line) (sizeof(*(line)) + (line)->size)

// --- The end -----------------------------------------------------------------

static void detached_job_release_node(void* node) { tfrt_node_release(node); }

static void detached_job_drop_first_line(tfrt_detached_job_t* detached) {
  tfrt_detached_line_t* line =
      TFRT_CONTAINER_OF(tfrt_list_pop_front(&detached->lines), tfrt_detached_line_t, link);
  size_t size = TFRT_DETACHED_JOB_LINE_SIZE(line);
  detached->line_bytes -= size;
  ++detached->first_line;
  tfrt_allocator_free(detached->node->options.allocator, line, size);
}

static void detached_job_release(tfrt_detached_job_t* detached) {
  if (!tfrt_ref_count_decrement(&detached->ref_count)) return;
  tfrt_node_t* node = detached->node;
  tfrt_allocator_t allocator = node->options.allocator;
  while (!tfrt_list_is_empty(&detached->lines)) detached_job_drop_first_line(detached);
  for (uint32_t i = 0; i < detached->result_count; ++i) {
    tfrt_action_queue_release(&node->actions, detached->results[i]);
  }
  tfrt_allocator_free(allocator, detached->results,
                      detached->result_count * sizeof(*detached->results));
  tfrt_status_release(detached->failure);
  tfrt_allocator_free(allocator, detached, sizeof(*detached));
  tfrt_action_queue_call(&node->actions, detached_job_release_node, node);
}

// Takes |detached| out of the node's list.
static void detached_job_remove(tfrt_detached_job_t* detached) {
  if (!tfrt_list_is_linked(&detached->link)) return;
  tfrt_list_remove(&detached->link);
  // A timer that runs right now waits for the lock, and finds nothing left to do.
  if (detached->is_timer_waiting &&
      tfrt_timer_cancel(detached->node->options.timers, &detached->timer)) {
    detached->is_timer_waiting = false;
    detached_job_release(detached);
  }
  // The list's.
  detached_job_release(detached);
}

void tfrt_detached_job_drop(tfrt_detached_job_t* detached) { detached_job_remove(detached); }

// The node is closed: forgets all.
static void detached_job_on_node_made(const tfrt_owner_end_t* end) {
  tfrt_list_initialize(&end->node->detached);
}

static void detached_job_on_node_closed(const tfrt_owner_end_t* end) {
  const tfrt_node_t* node = end->node;
  while (!tfrt_list_is_empty(&node->detached)) {
    detached_job_remove(tfrt_detached_job_of(node->detached.next));
  }
}

static void detached_job_run_timer(tfrt_timer_t* timer) {
  tfrt_detached_job_t* detached = TFRT_CONTAINER_OF(timer, tfrt_detached_job_t, timer);
  tfrt_node_t* node = tfrt_node_retain(detached->node);
  tfrt_node_lock_tables(node);
  detached->is_timer_waiting = false;
  detached_job_remove(detached);
  detached_job_release(detached);
  tfrt_node_unlock(node);
  tfrt_node_release(node);
}

// --- Lines -------------------------------------------------------------------

static void detached_job_add_line(tfrt_detached_job_t* detached, uint32_t rank,
                                  tfrt_string_view_t text) {
  tfrt_allocator_t allocator = detached->node->options.allocator;
  size_t size = sizeof(tfrt_detached_line_t) + text.size;
  tfrt_detached_line_t* line =
      size <= TFRT_DETACHED_JOB_MAX_LINE_BYTES ? tfrt_allocator_allocate(allocator, size) : NULL;
  ++detached->next_line;
  size_t room = line ? TFRT_DETACHED_JOB_MAX_LINE_BYTES - size : 0;
  // The numbers of kept lines have no gap: all lines before a dropped line go, too.
  while (!tfrt_list_is_empty(&detached->lines) && detached->line_bytes > room) {
    detached_job_drop_first_line(detached);
  }
  if (!line) {
    detached->first_line = detached->next_line;
    return;
  }
  line->rank = rank;
  line->size = (uint32_t)text.size;
  if (text.size > 0) memcpy(line->text, text.data, text.size);
  tfrt_list_push_back(&detached->lines, &line->link);
  detached->line_bytes += size;
}

// A tfrt_job_print_fn_t.
static void detached_job_print(void* self, uint32_t rank, tfrt_string_view_t text) {
  tfrt_detached_job_t* detached = self;
  tfrt_node_t* node = detached->node;
  tfrt_node_lock_tables(node);
  detached_job_add_line(detached, rank, text);
  tfrt_node_unlock(node);
}

// --- Life --------------------------------------------------------------------

// Makes room for one more that has ended.
static void detached_job_bound(tfrt_node_t* node) {
  if (tfrt_detached_job_count_kept(node) < TFRT_DETACHED_JOB_MAX_KEPT) return;
  for (tfrt_list_link_t* link = node->detached.next; link != &node->detached; link = link->next) {
    if (tfrt_detached_job_of(link)->job) continue;
    detached_job_remove(tfrt_detached_job_of(link));
    return;
  }
}

// |detached| has ended, and its job is over: it is kept for a while.
static void detached_job_keep(tfrt_detached_job_t* detached) {
  tfrt_node_t* node = detached->node;
  detached_job_bound(node);
  // By age of the end from now on.
  tfrt_list_remove(&detached->link);
  tfrt_list_push_back(&node->detached, &detached->link);
  detached->job = NULL;
  detached->is_timer_waiting = true;
  tfrt_ref_count_increment(&detached->ref_count);
  int64_t keep_ns = (int64_t)detached->keep_ms * TFRT_NANOSECONDS_PER_MILLISECOND;
  tfrt_timer_start(node->options.timers, &detached->timer, tfrt_node_now_ns(node) + keep_ns,
                   detached_job_run_timer);
}

// The job is over.
static void detached_job_release_print(void* self) {
  tfrt_detached_job_t* detached = self;
  bool is_listed = tfrt_list_is_linked(&detached->link);  // else the node is closed
  if (detached->state == TFRT_DETACHED_JOB_ENDED && is_listed) {
    detached_job_keep(detached);
  } else {
    detached_job_remove(detached);
  }
  detached->job = NULL;
  detached_job_release(detached);
}

tfrt_status_t tfrt_detached_job_create(tfrt_job_t* job) {
  tfrt_node_t* node = job->node;
  tfrt_detached_job_t* detached =
      tfrt_allocator_allocate_zeroed(node->options.allocator, sizeof(*detached));
  if (!detached) return tfrt_status_out_of_memory();
  tfrt_ref_count_initialize(&detached->ref_count);
  detached->node = tfrt_node_retain(node);
  tfrt_list_initialize(&detached->link);
  tfrt_list_initialize(&detached->lines);
  detached->job = job;
  memcpy(detached->id, job->identity.id, sizeof(detached->id));
  snprintf(detached->name, sizeof(detached->name), "%s", job->name);
  detached->host_count = job->view.member_count;
  detached->client = job->client.incarnation;
  detached->since_ns = job->since_ns;
  tfrt_list_push_back(&node->detached, &detached->link);
  tfrt_ref_count_increment(&detached->ref_count);
  job->detachment.left = detached;
  job->printer.print = detached_job_print;
  job->printer.self = detached;
  job->printer.release = detached_job_release_print;
  return NULL;
}

// The error that |detached| has ended with: its own, or the first one among its results.
static tfrt_status_t detached_job_error(const tfrt_detached_job_t* detached) {
  tfrt_status_t error = detached->failure;
  for (uint32_t i = 0; i < detached->result_count && !error; ++i) {
    tfrt_async_value_t* result = detached->results[i];
    if (tfrt_async_value_is_error(result)) error = tfrt_async_value_error(result);
  }
  return error;
}

// Notes whether that error is the loss of a member.
static void detached_job_note_loss(tfrt_detached_job_t* detached) {
  tfrt_status_t error = detached_job_error(detached);
  const tfrt_job_t* job = detached->job;
  for (uint32_t i = 0; error && i < job->view.member_count; ++i) {
    uint64_t incarnation = job->view.members[i].incarnation;
    detached->is_loss |= tfrt_status_fields(error)->root_key == incarnation;
  }
}

static void detached_job_take_results(tfrt_detached_job_t* detached,
                                      const tfrt_execution_t* execution) {
  detached->failure = execution->failure ? tfrt_status_retain(execution->failure) : NULL;
  size_t count = execution->result_count;
  if (count == 0) return;
  detached->results = tfrt_allocator_allocate_zeroed(detached->node->options.allocator,
                                                     count * sizeof(*detached->results));
  if (!detached->results) {
    tfrt_status_release(detached->failure);
    detached->failure = tfrt_status_out_of_memory();
    return;
  }
  detached->result_count = execution->result_count;
  for (size_t i = 0; i < count; ++i) {
    // Keeps the value itself: a placeholder for another host's value belongs to the job.
    tfrt_async_value_t* value = execution->results[i].value;
    detached->results[i] = tfrt_async_value_is_error(value)
                               ? tfrt_async_value_create_error(tfrt_async_value_error(value))
                               : tfrt_async_value_retain(tfrt_async_value_resolved(value));
  }
}

void tfrt_detached_job_end(tfrt_detached_job_t* detached, const tfrt_execution_t* execution) {
  detached_job_take_results(detached, execution);
  // If all results are values, no result tells that a cancel has cut off other work.
  bool is_cut_off = execution->cancelled && !detached_job_error(detached);
  if (is_cut_off) detached->failure = tfrt_status_retain(execution->cancelled);
  detached_job_note_loss(detached);
  snprintf(detached->function, sizeof(detached->function), "%s",
           tfrt_execution_function_name(execution));
  detached->state = TFRT_DETACHED_JOB_ENDED;
}

void tfrt_detached_job_settle(tfrt_detached_job_t* detached) {
  bool is_idle = detached->state != TFRT_DETACHED_JOB_STARTED;
  if (detached->job && detached->client_has_gone && is_idle) tfrt_job_close(detached->job, NULL);
}

// --- Lookup ------------------------------------------------------------------

tfrt_detached_job_t* tfrt_detached_job_find(tfrt_node_t* node, const uint8_t* id) {
  for (tfrt_list_link_t* link = node->detached.next; link != &node->detached; link = link->next) {
    tfrt_detached_job_t* detached = tfrt_detached_job_of(link);
    if (memcmp(detached->id, id, sizeof(detached->id)) == 0) return detached;
  }
  return NULL;
}

static void detached_job_unfollow(tfrt_job_t* job) {
  if (job->detachment.followed) detached_job_release(job->detachment.followed);
  job->detachment.followed = NULL;
}

tfrt_detached_job_t* tfrt_detached_job_follow(tfrt_job_t* job, const uint8_t* id) {
  tfrt_detached_job_t* followed = job->detachment.followed;
  if (followed && memcmp(followed->id, id, sizeof(followed->id)) == 0) return followed;
  tfrt_detached_job_t* found = tfrt_detached_job_find(job->node, id);
  if (!found) return NULL;
  tfrt_ref_count_increment(&found->ref_count);
  detached_job_unfollow(job);
  job->detachment.followed = found;
  return found;
}

bool tfrt_detached_job_is_kept(const tfrt_detached_job_t* detached) {
  return detached->state == TFRT_DETACHED_JOB_ENDED &&
         (!detached->job || tfrt_job_is_closed(detached->job));
}

size_t tfrt_detached_job_count_kept(const tfrt_node_t* node) {
  size_t count = 0;
  for (tfrt_list_link_t* link = node->detached.next; link != &node->detached; link = link->next) {
    if (!tfrt_detached_job_of(link)->job) ++count;
  }
  return count;
}

static void detached_job_on_job_over(const tfrt_owner_end_t* end) {
  detached_job_unfollow(end->job);
}

static const tfrt_owner_rule_t tfrt_detached_job_rules[] = {
    {TFRT_OWNER_NODE_MADE, TFRT_OWNER_JOBS, detached_job_on_node_made},
    {TFRT_OWNER_NODE_CLOSED, TFRT_OWNER_JOBS, detached_job_on_node_closed},
    {TFRT_OWNER_JOB_OVER, TFRT_OWNER_JOBS, detached_job_on_job_over},
};

const tfrt_node_part_t tfrt_detached_job_part = {
    .rules = tfrt_detached_job_rules,
    .rule_count = TFRT_ARRAY_SIZE(tfrt_detached_job_rules),
};
