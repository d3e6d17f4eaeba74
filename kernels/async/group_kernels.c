// SPDX-License-Identifier: Apache-2.0
//
// Groups: a number of members that are waited for together. A group is done when the last one has
// settled; it is an error if one of them is, or if it is dropped before it has all of them, while
// somebody waits for it.
#include <stdatomic.h>

#include "host_runtime/async/value_storage.h"
#include "host_runtime/executor/kernel/kernel_site.h"
#include "kernels/async/kernel_parts.h"

// Counted, as members outlive the value that the program has. The thread that adds members writes
// to the first part, and those where members settle to the second: on lines of their own.
typedef struct tfrt_async_group_s {
  int64_t size;
  _Atomic int64_t added;
  const tfrt_kernel_site_t* site;       // retained; that made the group
  _Alignas(64) _Atomic uint64_t count;  // one of the value, and one of each member, of |size|
  _Atomic int64_t pending;              // members, of |size|, that have not settled
  _Atomic(tfrt_async_value_t*) error;   // +1, of the first member that failed
  tfrt_indirect_value_t* done;          // +1, a chain
} tfrt_async_group_t;

typedef struct tfrt_async_member_s {
  tfrt_task_t task;
  tfrt_async_group_t* group;  // the member's +1
  tfrt_async_value_t* value;  // +1
} tfrt_async_member_t;

static tfrt_type_id_t tfrt_async_group_type;

static void async_group_free(tfrt_async_group_t* group) {
  tfrt_allocator_free_aligned(tfrt_allocator_system(), group, sizeof(*group),
                              _Alignof(tfrt_async_group_t));
}

static void async_group_release(tfrt_async_group_t* group, uint64_t n) {
  // Acquire and release: the last one sees what all others wrote. The partner is this operation.
  if (atomic_fetch_sub_explicit(&group->count, n, memory_order_acq_rel) != n) return;
  // Relaxed: the count has ordered it.
  tfrt_async_value_release(atomic_load_explicit(&group->error, memory_order_relaxed));
  tfrt_async_value_release(&group->done->base);
  tfrt_kernel_site_release(group->site);
  async_group_free(group);
}

// Nobody can add the |missing| members any more, so that |group| would never be done.
static void async_group_fail(tfrt_async_group_t* group, int64_t missing) {
  tfrt_async_value_t* error = tfrt_async_value_create_unconstructed(TFRT_TYPE_CHAIN);
  if (error) {
    tfrt_status_t status = tfrt_status_create(
        TFRT_STATUS_FAILED_PRECONDITION,
        "a group of %lld members gets only %lld: create it with the number of those that are added",
        (long long)group->size, (long long)(group->size - missing));
    tfrt_kernel_site_fail_take(group->site, error, status);
  }
  tfrt_indirect_value_forward_take(group->done, error ? error : tfrt_async_value_out_of_memory());
}

// The value goes, and with it those members that have not been added.
static void async_group_destroy(void* payload) {
  tfrt_async_group_t* group = *(tfrt_async_group_t**)payload;
  // Relaxed: no kernel has the value any more.
  int64_t added = atomic_load_explicit(&group->added, memory_order_relaxed);
  int64_t missing = added < group->size ? group->size - added : 0;
  const bool is_awaited = !tfrt_async_value_is_unique(&group->done->base);
  if (missing > 0 && is_awaited) async_group_fail(group, missing);
  async_group_release(group, 1 + (uint64_t)missing);
}

static const tfrt_type_t tfrt_async_group_type_entry = {
    .name = "!async.group", .size = sizeof(tfrt_async_group_t*), .destroy = async_group_destroy};

tfrt_status_t tfrt_async_group_register(void) {
  return tfrt_type_register(&tfrt_async_group_type_entry, &tfrt_async_group_type);
}

static void async_group_finish(tfrt_async_group_t* group) {
  // Relaxed: |pending| has ordered it.
  tfrt_async_value_t* error = atomic_load_explicit(&group->error, memory_order_relaxed);
  tfrt_indirect_value_forward_take(
      group->done, error ? tfrt_async_value_retain(error) : tfrt_async_value_ready_chain());
}

static tfrt_async_group_t* async_group_allocate(int64_t size, const tfrt_kernel_site_t* site) {
  tfrt_async_group_t* group = tfrt_allocator_allocate_aligned(
      tfrt_allocator_system(), sizeof(*group), _Alignof(tfrt_async_group_t));
  tfrt_indirect_value_t* done = group ? tfrt_indirect_value_create() : NULL;
  if (!done) {
    if (group) async_group_free(group);
    return NULL;
  }
  group->size = size;
  group->site = tfrt_kernel_site_retain(site);
  atomic_init(&group->added, 0);
  atomic_init(&group->count, 1 + (uint64_t)size);
  atomic_init(&group->pending, size);
  atomic_init(&group->error, NULL);
  group->done = done;
  if (size == 0) async_group_finish(group);
  return group;
}

void tfrt_async_create_group(tfrt_kernel_frame_t* frame) {
  int64_t size = tfrt_kernel_frame_i64(frame, 1);
  if (size < 0) {
    tfrt_kernel_frame_fail(frame, TFRT_STATUS_INVALID_ARGUMENT, "a group of %lld members",
                           (long long)size);
    return;
  }
  tfrt_async_group_t* group = async_group_allocate(size, frame->site);
  tfrt_async_value_t* value =
      group ? tfrt_async_value_create_available(tfrt_async_group_type) : NULL;
  if (!value) {
    if (group) async_group_release(group, 1 + (uint64_t)size);
    tfrt_kernel_frame_fail(frame, TFRT_STATUS_RESOURCE_EXHAUSTED, "no memory for a group");
    return;
  }
  *(tfrt_async_group_t**)tfrt_async_value_payload(value) = group;
  tfrt_kernel_frame_set(frame, 0, value);
}

// |value|, a member, has settled. |group| may be gone after that, if the caller has no reference.
static void async_group_count(tfrt_async_group_t* group, tfrt_async_value_t* value) {
  if (tfrt_async_value_is_error(value)) {
    tfrt_async_value_t* none = NULL;
    tfrt_async_value_t* error = tfrt_async_value_retain(tfrt_async_value_resolved(value));
    // Relaxed: read by the one who counts last, which |pending| orders.
    if (!atomic_compare_exchange_strong_explicit(&group->error, &none, error, memory_order_relaxed,
                                                 memory_order_relaxed)) {
      tfrt_async_value_release(error);
    }
  }
  // Release: this member's error; acquire, for the last one: those of the others. The partner is
  // this operation in other threads.
  if (atomic_fetch_sub_explicit(&group->pending, 1, memory_order_acq_rel) == 1) {
    async_group_finish(group);
  }
  async_group_release(group, 1);
}

static void async_member_settle(tfrt_task_t* task) {
  tfrt_async_member_t* member = TFRT_CONTAINER_OF(task, tfrt_async_member_t, task);
  async_group_count(member->group, member->value);
  tfrt_async_value_release(member->value);
  tfrt_value_storage_free(member, sizeof(*member));
}

// Waits for |value|; false when memory is out.
static bool async_group_wait(tfrt_async_group_t* group, tfrt_async_value_t* value) {
  if (tfrt_async_value_is_available(value)) {
    async_group_count(group, value);
    return true;
  }
  tfrt_async_member_t* member = tfrt_value_storage_allocate(sizeof(*member));
  if (!member) return false;
  member->group = group;
  member->value = tfrt_async_value_retain(value);
  tfrt_task_initialize(&member->task, async_member_settle);
  tfrt_async_value_await(value, &member->task);
  return true;
}

void tfrt_async_add_to_group(tfrt_kernel_frame_t* frame) {
  tfrt_async_group_t* group = *(tfrt_async_group_t**)tfrt_kernel_frame_payload(frame, 1);
  // Relaxed: a number, each given once.
  int64_t rank = atomic_fetch_add_explicit(&group->added, 1, memory_order_relaxed);
  if (rank >= group->size) {
    tfrt_kernel_frame_fail(frame, TFRT_STATUS_FAILED_PRECONDITION,
                           "a group of %lld members gets one more: create it with the number of "
                           "those that are added",
                           (long long)group->size);
    return;
  }
  if (!async_group_wait(group, frame->arguments[2])) {
    async_group_count(group, tfrt_async_value_out_of_memory());
  }
  tfrt_kernel_frame_set_ready_chain(frame, 0);
  tfrt_kernel_frame_set_i64(frame, 1, rank);
}

void tfrt_async_await_all(tfrt_kernel_frame_t* frame) {
  tfrt_async_group_t* group = *(tfrt_async_group_t**)tfrt_kernel_frame_payload(frame, 1);
  tfrt_kernel_frame_set(frame, 0, tfrt_async_value_retain(&group->done->base));
}
