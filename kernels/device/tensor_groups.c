// SPDX-License-Identifier: Apache-2.0
#include "kernels/device/tensor_groups.h"

#include <string.h>

#include "devices/device_allocator.h"
#include "devices/device_ccl.h"
#include "host_runtime/base/random.h"
#include "host_runtime/executor/request/resource_context.h"
#include "kernels/device/device_types.h"

static const char resource_name[] = "tfrt_gpu.groups";

// A group that was joined, with what its work needs.
typedef struct tfrt_gpu_group_s {
  tfrt_list_link_t link;  // of what is kept
  uint64_t token;
  tfrt_device_ccl_t* ccl;              // +1
  tfrt_device_stream_t* stream;        // +1
  tfrt_device_allocator_t* allocator;  // +1
  bool is_taken;                       // guarded by the keeper's mutex, as what follows
  bool is_broken;
  size_t series_size;
  char series[];
} tfrt_gpu_group_t;

// The groups of a job on one host.
typedef struct tfrt_gpu_group_keeper_s {
  tfrt_resource_t base;
  tfrt_mutex_t mutex;
  tfrt_list_link_t groups;  // guarded by |mutex|
} tfrt_gpu_group_keeper_t;

typedef struct tfrt_gpu_seat_s {
  tfrt_tensor_seat_t base;
  tfrt_gpu_group_keeper_t* keeper;  // outlives the seat, until it is left
  tfrt_device_t* device;            // +1
  tfrt_device_buffer_t* operand;    // +1
  tfrt_ccl_site_t site;
  tfrt_gpu_group_t* group;  // taken; NULL: none; guarded by the keeper's mutex, as what follows
  bool is_aborted;
  size_t series_size;
  char series[];
} tfrt_gpu_seat_t;

// The bytes that a group is named with.
typedef struct tfrt_gpu_group_name_s {
  uint64_t token;
  tfrt_ccl_id_t id;
} tfrt_gpu_group_name_t;

static tfrt_gpu_seat_t* gpu_seat_of(tfrt_tensor_seat_t* seat) {
  return TFRT_CONTAINER_OF(seat, tfrt_gpu_seat_t, base);
}

// --- Groups --------------------------------------------------------------------------

// Aborts this member, so that the other members stop waiting for it. The member's own errors say
// why it ended.
static void gpu_group_abort(tfrt_device_ccl_t* ccl) {
  tfrt_status_t reason = tfrt_status_create(
      TFRT_STATUS_ABORTED, "%s: the member's part in a collective has ended", ccl->device->name);
  tfrt_device_ccl_abort(ccl, reason);
  tfrt_status_release(reason);
}

// Aborts first: an orderly end would wait for the other members, which may be lost.
static void gpu_group_free(tfrt_gpu_group_t* group) {
  if (group->ccl) gpu_group_abort(group->ccl);
  tfrt_device_ccl_release(group->ccl);
  tfrt_device_allocator_release(group->allocator);
  tfrt_device_stream_release(group->stream);
  tfrt_allocator_free(tfrt_allocator_system(), group, sizeof(*group) + group->series_size);
}

static tfrt_status_t gpu_group_create(const tfrt_gpu_seat_t* seat,
                                      const tfrt_gpu_group_name_t* name, uint32_t position,
                                      uint32_t count, tfrt_gpu_group_t** out_group) {
  *out_group = NULL;
  tfrt_gpu_group_t* group =
      tfrt_allocator_allocate_zeroed(tfrt_allocator_system(), sizeof(*group) + seat->series_size);
  if (!group) return tfrt_status_out_of_memory();
  tfrt_list_initialize(&group->link);
  group->token = name->token;
  group->is_taken = true;
  group->series_size = seat->series_size;
  memcpy(group->series, seat->series, seat->series_size);
  tfrt_status_t status = tfrt_device_create_stream(seat->device, &group->stream);
  if (!status) status = tfrt_device_allocator_create(seat->device, &group->allocator);
  if (!status) {
    status = tfrt_device_create_ccl(seat->device, &name->id, (int32_t)position, (int32_t)count,
                                    &group->ccl);
  }
  if (status) {
    gpu_group_free(group);
    return status;
  }
  *out_group = group;
  return NULL;
}

// --- What is kept ----------------------------------------------------------------------

static void gpu_group_keeper_destroy(tfrt_resource_t* resource) {
  tfrt_gpu_group_keeper_t* keeper = TFRT_CONTAINER_OF(resource, tfrt_gpu_group_keeper_t, base);
  for (tfrt_list_link_t* link; (link = tfrt_list_pop_front(&keeper->groups));) {
    gpu_group_free(TFRT_CONTAINER_OF(link, tfrt_gpu_group_t, link));
  }
  tfrt_mutex_deinitialize(&keeper->mutex);
  tfrt_allocator_free(tfrt_allocator_system(), keeper, sizeof(*keeper));
}

static tfrt_status_t gpu_group_keeper_create(void* argument, tfrt_resource_t** out_resource) {
  (void)argument;
  tfrt_gpu_group_keeper_t* keeper =
      tfrt_allocator_allocate_zeroed(tfrt_allocator_system(), sizeof(*keeper));
  if (!keeper) return tfrt_status_out_of_memory();
  keeper->base.name = resource_name;
  keeper->base.destroy = gpu_group_keeper_destroy;
  tfrt_mutex_initialize(&keeper->mutex);
  tfrt_list_initialize(&keeper->groups);
  *out_resource = &keeper->base;
  return NULL;
}

// Takes a group for |seat|, if one is kept and nobody is at it.
static void gpu_seat_take_group(tfrt_gpu_seat_t* seat) {
  tfrt_gpu_group_keeper_t* keeper = seat->keeper;
  tfrt_mutex_lock(&keeper->mutex);
  for (tfrt_list_link_t* l = keeper->groups.next; l != &keeper->groups && !seat->group;
       l = l->next) {
    tfrt_gpu_group_t* group = TFRT_CONTAINER_OF(l, tfrt_gpu_group_t, link);
    bool is_ours = group->ccl->device == seat->device && group->series_size == seat->series_size &&
                   memcmp(group->series, seat->series, seat->series_size) == 0;
    if (!is_ours) continue;
    seat->base.is_taken = group->is_taken;
    if (!group->is_taken) seat->group = group;
  }
  if (seat->group) {
    seat->group->is_taken = true;
    seat->base.token = seat->group->token;
  }
  tfrt_mutex_unlock(&keeper->mutex);
}

// Gives back the group of |seat|; frees the group if it is broken, or if |is_last|.
static void gpu_seat_drop_group(tfrt_gpu_seat_t* seat, bool is_last) {
  tfrt_mutex_lock(&seat->keeper->mutex);
  tfrt_gpu_group_t* group = seat->group;
  seat->group = NULL;
  bool goes = group && (is_last || group->is_broken);
  if (goes) tfrt_list_remove(&group->link);
  if (group) group->is_taken = false;
  tfrt_mutex_unlock(&seat->keeper->mutex);
  if (goes) gpu_group_free(group);
}

// --- Seats -----------------------------------------------------------------------------

static void gpu_seat_leave(tfrt_tensor_seat_t* base) {
  gpu_seat_drop_group(gpu_seat_of(base), false);
}

// No call comes at the same time.
static void gpu_seat_destroy(tfrt_tensor_seat_t* base) {
  tfrt_gpu_seat_t* seat = gpu_seat_of(base);
  tfrt_device_buffer_release(seat->operand);
  tfrt_device_release(seat->device);
  tfrt_allocator_free(tfrt_allocator_system(), seat, sizeof(*seat) + seat->series_size);
}

static void gpu_seat_abort(tfrt_tensor_seat_t* base) {
  tfrt_gpu_seat_t* seat = gpu_seat_of(base);
  tfrt_mutex_lock(&seat->keeper->mutex);
  seat->is_aborted = true;
  tfrt_device_ccl_t* ccl = NULL;
  if (seat->group) {
    seat->group->is_broken = true;
    ccl = tfrt_device_ccl_retain(seat->group->ccl);
  }
  tfrt_mutex_unlock(&seat->keeper->mutex);
  if (ccl) gpu_group_abort(ccl);
  tfrt_device_ccl_release(ccl);
}

static tfrt_status_t gpu_seat_name(tfrt_tensor_seat_t* base, tfrt_string_builder_t* out) {
  tfrt_gpu_group_name_t name = {0};
  TFRT_RETURN_IF_ERROR(
      tfrt_device_platform_create_ccl_id(gpu_seat_of(base)->device->platform, &name.id));
  // 0 is no group's.
  while (name.token == 0) tfrt_random_entropy(&name.token, sizeof(name.token));
  tfrt_string_builder_append(out, &name, sizeof(name));
  return out->failed ? tfrt_status_out_of_memory() : NULL;
}

// Gives |seat| the |group| (consumed) that it has joined, unless it was aborted meanwhile.
static tfrt_async_value_t* gpu_seat_take(tfrt_gpu_seat_t* seat, tfrt_gpu_group_t* group) {
  tfrt_mutex_lock(&seat->keeper->mutex);
  bool is_aborted = seat->is_aborted;
  if (!is_aborted) {
    seat->group = group;
    tfrt_list_push_back(&seat->keeper->groups, &group->link);
  }
  tfrt_mutex_unlock(&seat->keeper->mutex);
  // Nobody else takes the group before the seat is left.
  if (!is_aborted) return tfrt_device_ccl_join(group->ccl);
  gpu_group_free(group);
  return tfrt_async_value_create_error_take(
      tfrt_status_create(TFRT_STATUS_ABORTED, "%s: the collective has ended", seat->device->name));
}

static tfrt_async_value_t* gpu_seat_join(tfrt_tensor_seat_t* base, tfrt_string_view_t bytes,
                                         uint32_t position, uint32_t count) {
  tfrt_gpu_seat_t* seat = gpu_seat_of(base);
  gpu_seat_drop_group(seat, true);
  tfrt_gpu_group_name_t name;
  if (bytes.size != sizeof(name) || count > TFRT_CCL_MAX_SIZE) {
    return tfrt_async_value_create_error_take(
        tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "%s: a host sent bytes that name no group",
                           seat->device->name));
  }
  memcpy(&name, bytes.data, sizeof(name));
  tfrt_gpu_group_t* group;
  tfrt_status_t status = gpu_group_create(seat, &name, position, count, &group);
  return status ? tfrt_async_value_create_error_take(status) : gpu_seat_take(seat, group);
}

// --- Exchange --------------------------------------------------------------------------

// An exchange on its way: first what puts it into the stream is awaited, then the stream.
typedef struct tfrt_gpu_exchange_s {
  tfrt_task_t task;
  tfrt_device_ccl_t* ccl;          // +1
  tfrt_device_stream_t* stream;    // +1
  tfrt_async_value_t* awaited;     // +1
  tfrt_async_value_t* result;      // +1
  tfrt_indirect_value_t* promise;  // +1
} tfrt_gpu_exchange_t;

static void gpu_exchange_free(tfrt_gpu_exchange_t* exchange) {
  tfrt_device_ccl_release(exchange->ccl);
  tfrt_device_stream_release(exchange->stream);
  tfrt_async_value_release(exchange->awaited);
  tfrt_async_value_release(exchange->result);
  if (exchange->promise) tfrt_async_value_release(&exchange->promise->base);
  tfrt_allocator_free(tfrt_allocator_system(), exchange, sizeof(*exchange));
}

// The promise is |value| (consumed).
static void gpu_exchange_keep_take(tfrt_gpu_exchange_t* exchange, tfrt_async_value_t* value) {
  tfrt_indirect_value_forward_take(exchange->promise, value);
  gpu_exchange_free(exchange);
}

static void gpu_exchange_finish(tfrt_task_t* task) {
  tfrt_gpu_exchange_t* exchange = TFRT_CONTAINER_OF(task, tfrt_gpu_exchange_t, task);
  tfrt_status_t status = tfrt_device_ccl_unwatch(exchange->ccl);
  bool is_lost = tfrt_async_value_is_error(exchange->awaited);
  tfrt_async_value_t* value =
      !is_lost && status ? tfrt_async_value_create_error(status)
                         : tfrt_async_value_retain(is_lost ? exchange->awaited : exchange->result);
  tfrt_status_release(status);
  gpu_exchange_keep_take(exchange, value);
}

static void gpu_exchange_given(tfrt_task_t* task) {
  tfrt_gpu_exchange_t* exchange = TFRT_CONTAINER_OF(task, tfrt_gpu_exchange_t, task);
  if (tfrt_async_value_is_error(exchange->awaited)) {
    gpu_exchange_keep_take(exchange, tfrt_async_value_retain(exchange->awaited));
    return;
  }
  tfrt_async_value_release(exchange->awaited);
  tfrt_device_ccl_watch(exchange->ccl);
  exchange->awaited = tfrt_device_stream_await(exchange->stream);
  tfrt_task_initialize(&exchange->task, gpu_exchange_finish);
  tfrt_async_value_and_then(exchange->awaited, &exchange->task);
}

// Has |call| executed in |stream|; returns what becomes |result| (consumed) when that is done.
static tfrt_async_value_t* gpu_exchange_start(const tfrt_gpu_group_t* group,
                                              const tfrt_ccl_call_t* call,
                                              tfrt_async_value_t* result) {
  tfrt_gpu_exchange_t* exchange =
      tfrt_allocator_allocate_zeroed(tfrt_allocator_system(), sizeof(*exchange));
  tfrt_indirect_value_t* promise = tfrt_indirect_value_create();
  if (!exchange || !promise) {
    tfrt_allocator_free(tfrt_allocator_system(), exchange, sizeof(*exchange));
    if (promise) tfrt_async_value_release(&promise->base);
    tfrt_async_value_release(result);
    return tfrt_async_value_out_of_memory();
  }
  exchange->ccl = tfrt_device_ccl_retain(group->ccl);
  exchange->stream = tfrt_device_stream_retain(group->stream);
  exchange->result = result;
  exchange->promise = promise;
  tfrt_async_value_t* value = tfrt_async_value_retain(&promise->base);
  exchange->awaited = tfrt_device_ccl_execute(group->ccl, group->stream, call, 1);
  tfrt_task_initialize(&exchange->task, gpu_exchange_given);
  tfrt_async_value_and_then(exchange->awaited, &exchange->task);
  return value;
}

// The library's call for |exchange|. The call treats elements as bytes if they only move.
static tfrt_ccl_call_t gpu_exchange_call(const tfrt_tensor_exchange_t* exchange) {
  static const tfrt_ccl_kind_t kinds[] = {[TFRT_TENSOR_ALL_REDUCE] = TFRT_CCL_ALL_REDUCE,
                                          [TFRT_TENSOR_REDUCE] = TFRT_CCL_REDUCE,
                                          [TFRT_TENSOR_REDUCE_SCATTER] = TFRT_CCL_REDUCE_SCATTER,
                                          [TFRT_TENSOR_ALL_GATHER] = TFRT_CCL_ALL_GATHER,
                                          [TFRT_TENSOR_BROADCAST] = TFRT_CCL_BROADCAST,
                                          [TFRT_TENSOR_ALL_TO_ALL] = TFRT_CCL_ALL_TO_ALL};
  static const tfrt_ccl_reduction_t reductions[] = {[TFRT_TENSOR_SUM] = TFRT_CCL_SUM,
                                                    [TFRT_TENSOR_PRODUCT] = TFRT_CCL_PRODUCT,
                                                    [TFRT_TENSOR_MINIMUM] = TFRT_CCL_MIN,
                                                    [TFRT_TENSOR_MAXIMUM] = TFRT_CCL_MAX,
                                                    [TFRT_TENSOR_MEAN] = TFRT_CCL_AVERAGE};
  bool reduces = exchange->kind <= TFRT_TENSOR_REDUCE_SCATTER;
  return (tfrt_ccl_call_t){.kind = kinds[exchange->kind],
                           .dtype = reduces ? exchange->dtype : TFRT_DTYPE_UI8,
                           .reduction = reductions[exchange->reduction],
                           .peer = (int32_t)exchange->root};
}

static tfrt_async_value_t* gpu_seat_run(tfrt_tensor_seat_t* base,
                                        const tfrt_tensor_exchange_t* exchange) {
  tfrt_gpu_seat_t* seat = gpu_seat_of(base);
  // The seat's own until it is left, and not changed by an abort.
  const tfrt_gpu_group_t* group = seat->group;
  tfrt_ccl_call_t call = gpu_exchange_call(exchange);
  bool is_receiver = exchange->kind == TFRT_TENSOR_BROADCAST && exchange->has_result;
  if (!is_receiver) call.input = seat->operand;
  tfrt_status_t status = tfrt_device_buffer_join(seat->operand, group->stream);
  size_t size =
      (size_t)tfrt_shape_element_count(&exchange->shape) * tfrt_dtype_size(exchange->dtype);
  if (!status && exchange->has_result) {
    status = tfrt_device_allocator_allocate(group->allocator, group->stream, size, &call.output);
  }
  if (status) return tfrt_async_value_create_error_take(status);
  tfrt_async_value_t* result =
      call.output ? tfrt_gpu_value_create_tensor(call.output, exchange->dtype, &exchange->shape)
                  : tfrt_async_value_ready_chain();
  tfrt_async_value_t* value = gpu_exchange_start(group, &call, result);
  tfrt_device_buffer_release(call.output);
  return value;
}

static const tfrt_tensor_seat_vtable_t seat_vtable = {.destroy = gpu_seat_destroy,
                                                      .name = gpu_seat_name,
                                                      .join = gpu_seat_join,
                                                      .run = gpu_seat_run,
                                                      .abort = gpu_seat_abort,
                                                      .leave = gpu_seat_leave};

// --- The table ---------------------------------------------------------------------------

static tfrt_status_t gpu_groups_open(const void* payload, tfrt_resource_context_t* kept,
                                     tfrt_string_view_t series, tfrt_tensor_seat_t** out_seat) {
  tfrt_device_buffer_t* operand = ((const tfrt_gpu_tensor_t*)payload)->buffer;
  *out_seat = NULL;
  tfrt_resource_t* resource;
  TFRT_RETURN_IF_ERROR(tfrt_resource_context_get_or_create(
      kept, resource_name, gpu_group_keeper_create, NULL, &resource));
  tfrt_ccl_site_t site;
  TFRT_RETURN_IF_ERROR(tfrt_device_ccl_site(operand->device, &site));
  tfrt_gpu_seat_t* seat =
      tfrt_allocator_allocate_zeroed(tfrt_allocator_system(), sizeof(*seat) + series.size);
  if (!seat) return tfrt_status_out_of_memory();
  seat->base.vtable = &seat_vtable;
  seat->keeper = TFRT_CONTAINER_OF(resource, tfrt_gpu_group_keeper_t, base);
  seat->device = tfrt_device_retain(operand->device);
  seat->operand = tfrt_device_buffer_retain(operand);
  seat->site = site;
  seat->base.library = seat->site.library;
  seat->base.place = seat->site.place;
  seat->series_size = series.size;
  memcpy(seat->series, series.data, series.size);
  gpu_seat_take_group(seat);
  *out_seat = &seat->base;
  return NULL;
}

// Vendors' libraries lose NaNs in least and greatest numbers, and say nothing of how means of whole
// numbers are rounded. CPU devices are in a group only in one process, where programs print what
// they would on workers: so they give the hosts all that is rounded.
static bool gpu_groups_reduces(tfrt_string_view_t library, tfrt_tensor_reduction_t reduction,
                               tfrt_dtype_t dtype) {
  bool is_float = dtype == TFRT_DTYPE_F16 || dtype == TFRT_DTYPE_BF16 || dtype == TFRT_DTYPE_F32 ||
                  dtype == TFRT_DTYPE_F64;
  bool is_cpu = library.size > 3 && memcmp(library.data, "cpu", 3) == 0;
  if (!tfrt_device_ccl_takes(dtype) || (is_cpu && is_float)) return false;
  if (reduction == TFRT_TENSOR_MEAN) return is_float;
  bool is_order = reduction == TFRT_TENSOR_MINIMUM || reduction == TFRT_TENSOR_MAXIMUM;
  return !is_order || !is_float;
}

const tfrt_tensor_groups_t tfrt_gpu_tensor_groups = {.open = gpu_groups_open,
                                                     .reduces = gpu_groups_reduces};
