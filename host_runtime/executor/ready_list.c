// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/executor/ready_list.h"

static uint32_t tfrt_ready_list_stream_of(const tfrt_ready_list_t* list, uint32_t kernel) {
  return list->frame->callable->sites[kernel].bef->stream_id;
}

void tfrt_ready_list_push_group(tfrt_ready_list_t* list, uint32_t first) {
  for (uint32_t kernel = first; kernel;) {
    uint32_t next = list->frame->next[kernel];
    tfrt_ready_list_push(list, kernel);
    kernel = next;
  }
}

// Merges two lists that are sorted by stream; of equal streams |a| goes first.
static uint32_t tfrt_ready_list_merge(tfrt_ready_list_t* list, uint32_t a, uint32_t b) {
  uint32_t* next = list->frame->next;
  uint32_t first = 0;
  uint32_t* link = &first;
  while (a && b) {
    bool take_b = tfrt_ready_list_stream_of(list, b) < tfrt_ready_list_stream_of(list, a);
    uint32_t* taken = take_b ? &b : &a;
    *link = *taken;
    link = &next[*taken];
    *taken = *link;
  }
  *link = a ? a : b;
  return first;
}

// Sorts the linked kernels from |first| on by stream, keeping the order within each:
// runs of length 2^i wait in |runs[i]|, as in a binary counter.
static uint32_t tfrt_ready_list_sort(tfrt_ready_list_t* list, uint32_t first) {
  // Mostly there is nothing, or one kernel: no runs to clear and to merge.
  if (first == 0 || list->frame->next[first] == 0) return first;
  uint32_t runs[32] = {0};
  while (first) {
    uint32_t run = first;
    first = list->frame->next[run];
    list->frame->next[run] = 0;
    uint32_t i = 0;
    for (; runs[i]; ++i) {
      run = tfrt_ready_list_merge(list, runs[i], run);
      runs[i] = 0;
    }
    runs[i] = run;
  }
  uint32_t sorted = 0;
  for (uint32_t i = 0; i < 32; ++i) sorted = tfrt_ready_list_merge(list, runs[i], sorted);
  return sorted;
}

// Hands the kernels from |first| up to |last|, all of one stream, to the work queue.
static void tfrt_ready_list_enqueue(tfrt_ready_list_t* list, uint32_t first, uint32_t last,
                                    tfrt_task_fn_t run_group) {
  list->frame->next[last] = 0;
  tfrt_kernel_group_t* group = &list->frame->groups[first];
  tfrt_task_initialize(&group->task, run_group);
  group->frame = tfrt_call_frame_retain(list->frame);
  group->first = first;
  tfrt_work_queue_add_task(list->frame->context.work_queue, &group->task);
}

bool tfrt_ready_list_switch_stream(tfrt_ready_list_t* list, tfrt_task_fn_t run_group) {
  uint32_t* next = list->frame->next;
  uint32_t kernel = list->outline_first;
  if (!kernel) return false;
  list->outline_first = 0;
  list->stream = tfrt_ready_list_stream_of(list, kernel);
  uint32_t others = 0;
  uint32_t* others_link = &others;
  while (kernel) {
    uint32_t following = next[kernel];
    if (tfrt_ready_list_stream_of(list, kernel) == list->stream) {
      tfrt_ready_list_push(list, kernel);
    } else {
      *others_link = kernel;
      others_link = &next[kernel];
      *others_link = 0;
    }
    kernel = following;
  }
  for (uint32_t first = tfrt_ready_list_sort(list, others); first;) {
    uint32_t last = first;
    while (next[last] &&
           tfrt_ready_list_stream_of(list, next[last]) == tfrt_ready_list_stream_of(list, first)) {
      last = next[last];
    }
    uint32_t following = next[last];
    tfrt_ready_list_enqueue(list, first, last, run_group);
    first = following;
  }
  return true;
}
