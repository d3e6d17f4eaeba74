// SPDX-License-Identifier: Apache-2.0
//
// A CPU device's part in a group. An exchange awaits the earlier work of its stream, and then runs
// beside the stream. Its chain becomes available at the end of the exchange, which is later than
// the interface demands.
#include <inttypes.h>
#include <stdio.h>

#include "devices/cpu/cpu_ccl_group.h"
#include "devices/cpu/cpu_impl.h"

typedef struct tfrt_cpu_ccl_s {
  tfrt_device_ccl_t base;
  tfrt_cpu_ccl_member_t* member;
} tfrt_cpu_ccl_t;

// A list on its way.
typedef struct tfrt_cpu_ccl_part_s {
  tfrt_task_t task;
  tfrt_ccl_work_t* work;
  tfrt_cpu_ccl_round_t* round;
  tfrt_async_value_t* before;  // +1; what the stream was given before
} tfrt_cpu_ccl_part_t;

static tfrt_cpu_ccl_t* cpu_ccl_of(tfrt_device_ccl_t* ccl) {
  return TFRT_CONTAINER_OF(ccl, tfrt_cpu_ccl_t, base);
}

static void cpu_ccl_finish(tfrt_task_t* task) {
  tfrt_cpu_ccl_part_t* part = TFRT_CONTAINER_OF(task, tfrt_cpu_ccl_part_t, task);
  tfrt_ccl_work_t* work = part->work;
  tfrt_status_t status = tfrt_cpu_ccl_round_finish(part->round);
  tfrt_async_value_release(part->before);
  tfrt_allocator_free(work->ccl->device->platform->allocator, part, sizeof(*part));
  tfrt_ccl_work_finish_take(work, status);
}

static void cpu_ccl_met(tfrt_cpu_ccl_round_t* round, void* argument) {
  (void)round;
  tfrt_cpu_ccl_part_t* part = argument;
  tfrt_task_initialize(&part->task, cpu_ccl_finish);
  tfrt_work_queue_add_task(part->work->ccl->device->platform->work_queue, &part->task);
}

static void cpu_ccl_arrive(tfrt_task_t* task) {
  tfrt_cpu_ccl_part_t* part = TFRT_CONTAINER_OF(task, tfrt_cpu_ccl_part_t, task);
  if (tfrt_async_value_is_error(part->before)) {
    tfrt_cpu_ccl_round_break(part->round, tfrt_async_value_error(part->before));
  } else {
    tfrt_cpu_ccl_round_arrive(part->round);
  }
}

static void cpu_ccl_execute(tfrt_device_ccl_t* ccl, tfrt_ccl_work_t* work) {
  tfrt_allocator_t allocator = ccl->device->platform->allocator;
  tfrt_cpu_ccl_part_t* part = tfrt_allocator_allocate_zeroed(allocator, sizeof(*part));
  tfrt_status_t status = part ? NULL : tfrt_status_out_of_memory();
  if (!status) {
    status = tfrt_cpu_ccl_round_create(cpu_ccl_of(ccl)->member, work->calls, work->count,
                                       cpu_ccl_met, part, &part->round);
  }
  if (status) {
    tfrt_allocator_free(allocator, part, sizeof(*part));
    tfrt_ccl_work_finish_take(work, status);
    return;
  }
  part->work = work;
  part->before = tfrt_device_stream_await(work->stream);
  tfrt_task_initialize(&part->task, cpu_ccl_arrive);
  tfrt_async_value_and_then(part->before, &part->task);
}

static tfrt_async_value_t* cpu_ccl_await(tfrt_device_ccl_t* ccl) {
  (void)ccl;
  return tfrt_async_value_ready_chain();
}

static void cpu_ccl_abort(tfrt_device_ccl_t* ccl, tfrt_status_t reason) {
  tfrt_cpu_ccl_break(cpu_ccl_of(ccl)->member, reason);
}

// A list's chain is its end, too.
static void cpu_ccl_watch(tfrt_device_ccl_t* ccl) { (void)ccl; }

static tfrt_status_t cpu_ccl_unwatch(tfrt_device_ccl_t* ccl) {
  (void)ccl;
  return NULL;
}

static void cpu_ccl_destroy(tfrt_device_ccl_t* base) {
  tfrt_cpu_ccl_t* ccl = cpu_ccl_of(base);
  tfrt_cpu_ccl_leave(ccl->member);
  tfrt_allocator_free(base->device->platform->allocator, ccl, sizeof(*ccl));
}

static const tfrt_device_ccl_vtable_t ccl_vtable = {
    .destroy = cpu_ccl_destroy,
    .join = cpu_ccl_await,
    .execute = cpu_ccl_execute,
    .abort = cpu_ccl_abort,
    .watch = cpu_ccl_watch,
    .unwatch = cpu_ccl_unwatch,
};

tfrt_status_t tfrt_cpu_device_create_ccl(tfrt_device_t* device, const tfrt_ccl_id_t* id,
                                         int32_t rank, int32_t size, tfrt_device_ccl_t** out_ccl) {
  tfrt_cpu_ccl_t* ccl = tfrt_allocator_allocate_zeroed(device->platform->allocator, sizeof(*ccl));
  if (!ccl) return tfrt_status_out_of_memory();
  tfrt_status_t status = tfrt_cpu_ccl_join(id, rank, size, &ccl->member);
  if (status) {
    tfrt_allocator_free(device->platform->allocator, ccl, sizeof(*ccl));
    return tfrt_status_take_annotate(status, "%s", device->name);
  }
  tfrt_device_ccl_initialize(&ccl->base, &ccl_vtable, device, rank, size);
  *out_ccl = &ccl->base;
  return NULL;
}

// Members share a process, and may share a device.
tfrt_status_t tfrt_cpu_device_ccl_site(tfrt_device_t* device, tfrt_ccl_site_t* out_site) {
  (void)device;
  snprintf(out_site->library, sizeof(out_site->library), "cpu %016" PRIx64, tfrt_cpu_ccl_process());
  return NULL;
}

tfrt_status_t tfrt_cpu_platform_create_ccl_id(tfrt_device_platform_t* platform,
                                              tfrt_ccl_id_t* out_id) {
  (void)platform;
  tfrt_cpu_ccl_id_create(out_id);
  return NULL;
}
