// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/executor/call/ready_list.h"

#include "host_runtime/async/value_storage.h"

static uint32_t ready_list_stream_of(const tfrt_ready_list_t* list, uint32_t kernel) {
  return list->frame->callable->sites[kernel].stream_id;
}

void tfrt_ready_list_push_group(tfrt_ready_list_t* list, uint32_t first) {
  for (uint32_t kernel = first; kernel;) {
    uint32_t next = list->frame->next[kernel];
    tfrt_ready_list_push(list, kernel);
    kernel = next;
  }
}

// Whether the stream of |b| goes before that of |a|: early ones first, then by number.
static bool ready_list_goes_first(const tfrt_ready_list_t* list, uint32_t b, uint32_t a) {
  const tfrt_kernel_site_t* sites = list->frame->callable->sites;
  if (sites[a].early != sites[b].early) return sites[b].early;
  return sites[b].stream_id < sites[a].stream_id;
}

// Merges two lists that are sorted by stream; of equal streams |a| goes first.
static uint32_t ready_list_merge(tfrt_ready_list_t* list, uint32_t a, uint32_t b) {
  uint32_t* next = list->frame->next;
  uint32_t first = 0;
  uint32_t* link = &first;
  while (a && b) {
    bool take_b = ready_list_goes_first(list, b, a);
    uint32_t* taken = take_b ? &b : &a;
    *link = *taken;
    link = &next[*taken];
    *taken = *link;
  }
  *link = a ? a : b;
  return first;
}

static bool ready_list_is_sorted(const tfrt_ready_list_t* list, uint32_t first) {
  const uint32_t* next = list->frame->next;
  for (; next[first]; first = next[first]) {
    if (ready_list_goes_first(list, next[first], first)) return false;
  }
  return true;
}

// Sorts the linked kernels from |first| on by stream, keeping the order within each:
// runs of length 2^i wait in |runs[i]|, as in a binary counter.
static uint32_t ready_list_sort(tfrt_ready_list_t* list, uint32_t first) {
  // Mostly they are, because streams are numbered as their kernels stand in the function.
  if (first == 0 || ready_list_is_sorted(list, first)) return first;
  uint32_t runs[32] = {0};
  while (first) {
    uint32_t run = first;
    first = list->frame->next[run];
    list->frame->next[run] = 0;
    uint32_t i = 0;
    for (; runs[i]; ++i) {
      run = ready_list_merge(list, runs[i], run);
      runs[i] = 0;
    }
    runs[i] = run;
  }
  uint32_t sorted = 0;
  for (uint32_t i = 0; i < 32; ++i) sorted = ready_list_merge(list, runs[i], sorted);
  return sorted;
}

// Defers the streams of the linked kernels from |first| on.
static void ready_list_defer(tfrt_ready_list_t* list, uint32_t first) {
  uint32_t* next = list->frame->next;
  first = ready_list_sort(list, first);
  if (!first) return;
  if (list->deferred_first) {
    next[list->deferred_last] = first;
  } else {
    list->deferred_first = first;
  }
  while (next[first]) first = next[first];
  list->deferred_last = first;
}

// Takes all outline kernels, puts those back that |keeps| tells, and defers the others.
static void ready_list_divide(tfrt_ready_list_t* list,
                              bool (*keeps)(const tfrt_ready_list_t* list, uint32_t kernel)) {
  uint32_t* next = list->frame->next;
  uint32_t kernel = list->outline_first;
  list->outline_first = 0;
  list->outline_expensive = false;
  uint32_t others = 0;
  uint32_t* others_link = &others;
  while (kernel) {
    uint32_t following = next[kernel];
    if (keeps(list, kernel)) {
      tfrt_ready_list_push(list, kernel);
    } else {
      *others_link = kernel;
      others_link = &next[kernel];
      *others_link = 0;
    }
    kernel = following;
  }
  ready_list_defer(list, others);
}

static bool ready_list_is_own(const tfrt_ready_list_t* list, uint32_t kernel) {
  return ready_list_stream_of(list, kernel) == list->stream;
}

static bool ready_list_is_cheap(const tfrt_ready_list_t* list, uint32_t kernel) {
  return !tfrt_ready_list_is_expensive(list, kernel);
}

// The outline kernel whose stream is the next: the oldest early one, or else the oldest. There is
// one at least.
static uint32_t ready_list_first_to_go(const tfrt_ready_list_t* list) {
  const tfrt_bef_callable_t* callable = list->frame->callable;
  if (callable->nonstrict_count == 0) return list->outline_first;
  for (uint32_t kernel = list->outline_first; kernel; kernel = list->frame->next[kernel]) {
    if (callable->sites[kernel].early) return kernel;
  }
  return list->outline_first;
}

// Goes on with that stream, and defers the others.
static void ready_list_turn(tfrt_ready_list_t* list) {
  list->stream = ready_list_stream_of(list, ready_list_first_to_go(list));
  ready_list_divide(list, ready_list_is_own);
}

// Takes the first group of deferred kernels, which is of one stream, or returns 0.
static uint32_t ready_list_take_deferred(tfrt_ready_list_t* list) {
  uint32_t* next = list->frame->next;
  uint32_t first = list->deferred_first;
  if (!first) return 0;
  uint32_t last = first;
  while (next[last] &&
         ready_list_stream_of(list, next[last]) == ready_list_stream_of(list, first)) {
    last = next[last];
  }
  list->deferred_first = next[last];
  next[last] = 0;
  return first;
}

static void ready_list_enqueue_deferred(tfrt_ready_list_t* list, tfrt_task_fn_t run_group) {
  while (list->deferred_first) {
    tfrt_kernel_group_t* group = tfrt_value_storage_allocate(sizeof(*group));
    if (!group) return;
    uint32_t first = ready_list_take_deferred(list);
    tfrt_task_initialize(&group->task, run_group);
    group->frame = tfrt_call_frame_retain(list->frame);
    group->first = first;
    tfrt_work_queue_add_task(list->frame->context.work_queue, &group->task);
  }
}

void tfrt_ready_list_share(tfrt_ready_list_t* list, tfrt_task_fn_t run_group) {
  if (!list->outline_expensive || !list->inline_first) return;
  if (ready_list_is_cheap(list, list->inline_first)) return;
  // One thread would only run breadth first what it runs depth first without.
  if (tfrt_work_queue_parallelism(list->frame->context.work_queue) < 2) return;
  ready_list_divide(list, ready_list_is_cheap);
  ready_list_enqueue_deferred(list, run_group);
}

// Whether nobody can see in which order the outline streams go: they are cheap, and none of the
// function's streams is early.
static bool ready_list_is_free_to_order(const tfrt_ready_list_t* list) {
  return !list->outline_expensive && list->frame->callable->nonstrict_count == 0;
}

// Puts all outline kernels before those that are deferred, which are older: what was made last is
// in the cache.
static void ready_list_defer_all(tfrt_ready_list_t* list) {
  if (!list->deferred_first) list->deferred_last = list->outline_last;
  list->frame->next[list->outline_last] = list->deferred_first;
  list->deferred_first = list->outline_first;
  list->outline_first = 0;
}

// Goes on with the next stream. Returns false if there is none.
static bool ready_list_go_on(tfrt_ready_list_t* list) {
  if (list->outline_first) {
    if (!ready_list_is_free_to_order(list)) {
      ready_list_turn(list);
      return true;
    }
    ready_list_defer_all(list);
  }
  uint32_t group = ready_list_take_deferred(list);
  if (!group) return false;
  list->stream = ready_list_stream_of(list, group);
  tfrt_ready_list_push_group(list, group);
  return true;
}

bool tfrt_ready_list_switch_stream(tfrt_ready_list_t* list, tfrt_task_fn_t run_group) {
  // Cheap streams wait for cheap ones only.
  const bool some_are_expensive = list->outline_expensive;
  if (!ready_list_go_on(list)) return false;
  if (some_are_expensive) ready_list_enqueue_deferred(list, run_group);
  return true;
}

uint32_t tfrt_ready_list_pop_in_sequence(tfrt_ready_list_t* list) {
  if (!list->inline_first) (void)ready_list_go_on(list);
  return tfrt_ready_list_pop(list);
}
