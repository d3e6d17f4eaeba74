// SPDX-License-Identifier: Apache-2.0
//
// A GPU's part in a group, by NCCL. Steps that wait for other members (joining, and setting up
// connections for a list) run in the library's own threads. The platform's poller asks for their
// state, so that no thread of ours waits, and an abort takes effect meanwhile.
//
// While a caller watches, the poller also asks about lists that are in their streams.
//
//   joining --> idle <--> busy (the first list is being put in its stream)
//      \__________\_________\--an error, or abort--> broken (the library's object is gone)
//
// One list at a time: while the library is busy with one, it takes no other call.
#include <string.h>

#include "devices/cuda/cuda_nccl.h"

typedef enum tfrt_cuda_ccl_state_e {
  TFRT_CUDA_CCL_JOINING,
  TFRT_CUDA_CCL_IDLE,
  TFRT_CUDA_CCL_BUSY,
} tfrt_cuda_ccl_state_t;

typedef struct tfrt_cuda_ccl_s {
  tfrt_device_ccl_t base;
  const tfrt_nccl_api_t* api;
  tfrt_cuda_poll_t poll;
  tfrt_task_t end;             // of the last release
  tfrt_async_value_t* end_of;  // +1; what the end waits for
  tfrt_async_value_t* joined;  // +1
  tfrt_mutex_t mutex;          // guards all below, and calls of the library with |comm|
  tfrt_nccl_comm_t comm;       // NULL: it is gone
  tfrt_cuda_ccl_state_t state;
  bool has_joined;  // |joined| is resolved
  bool is_polled;   // until the poll's task runs
  uint32_t watch_count;
  uint32_t running_count;  // of those tasks: the next may begin before one is at its end
  bool is_ending;          // the last reference is gone, and the last of them is to end it
  tfrt_status_t broken;    // +1; NULL: it isn't
  tfrt_list_link_t works;  // in order; when busy the library has the first one
  tfrt_list_link_t done;   // are in their streams; their chains are unresolved
  tfrt_device_stream_t* last_stream;  // +1; of the last list
} tfrt_cuda_ccl_t;

static tfrt_cuda_ccl_t* cuda_ccl_of(tfrt_device_ccl_t* ccl) {
  return TFRT_CONTAINER_OF(ccl, tfrt_cuda_ccl_t, base);
}

// --- With the mutex ---------------------------------------------------------------

// Sets |*out_is_over| to whether the library has finished its latest call.
static tfrt_status_t cuda_ccl_ask(tfrt_cuda_ccl_t* ccl, bool* out_is_over) {
  tfrt_nccl_result_t state = TFRT_NCCL_SUCCESS;
  const char* where = ccl->base.device->name;
  *out_is_over = false;
  TFRT_RETURN_IF_ERROR(tfrt_device_check(ccl->base.device));
  TFRT_RETURN_IF_ERROR(tfrt_cuda_nccl_status(where, ccl->api->CommGetAsyncError(ccl->comm, &state),
                                             "ncclCommGetAsyncError"));
  *out_is_over = state == TFRT_NCCL_SUCCESS;
  return tfrt_cuda_nccl_status(
      where, state,
      ccl->state == TFRT_CUDA_CCL_JOINING ? "ncclCommInitRankConfig" : "ncclGroupEnd");
}

// Asks, and breaks |ccl| if the answer is an error. Returns whether anything has changed.
static bool cuda_ccl_advance(tfrt_cuda_ccl_t* ccl) {
  bool is_over = false;
  bool was_idle = ccl->state == TFRT_CUDA_CCL_IDLE;
  if (!ccl->broken && (!was_idle || ccl->watch_count > 0)) {
    ccl->broken = cuda_ccl_ask(ccl, &is_over);
  }
  if (was_idle) return ccl->broken || ccl->watch_count == 0;
  if (is_over && ccl->state == TFRT_CUDA_CCL_BUSY) {
    tfrt_list_push_back(&ccl->done, tfrt_list_pop_front(&ccl->works));
  }
  if (is_over) ccl->state = TFRT_CUDA_CCL_IDLE;
  return is_over || ccl->broken;
}

// Ends the library's object of a broken |ccl|, once. The library then drops the work that is left.
static void cuda_ccl_drop(tfrt_cuda_ccl_t* ccl) {
  if (!ccl->comm) return;
  // On a lost device the context can't be entered. The abort still has to end the library's
  // threads.
  tfrt_status_t status = tfrt_cuda_enter(ccl->base.device);
  ccl->api->CommAbort(ccl->comm);
  ccl->comm = NULL;
  if (!status) status = tfrt_cuda_leave(ccl->base.device, TFRT_CUDA_SUCCESS, "");
  tfrt_status_release(status);
}

// Sees to it that |ccl| is polled: a broken one is over at once.
static void cuda_ccl_start_polling(tfrt_cuda_ccl_t* ccl) {
  if (ccl->is_polled) return;
  tfrt_status_t status =
      tfrt_cuda_poller_add(&tfrt_cuda_platform_of(ccl->base.device)->poller, &ccl->poll);
  ccl->is_polled = !status;
  if (!status) return;
  if (!ccl->broken) ccl->broken = tfrt_status_retain(status);
  tfrt_status_release(status);
  cuda_ccl_drop(ccl);
}

// Lets the library begin with the next list while there is one and it has time, and has it asked
// for what goes on.
static void cuda_ccl_go_on(tfrt_cuda_ccl_t* ccl) {
  while (!ccl->broken && ccl->state == TFRT_CUDA_CCL_IDLE && !tfrt_list_is_empty(&ccl->works)) {
    ccl->broken = tfrt_cuda_nccl_give(ccl->api, ccl->comm,
                                      TFRT_CONTAINER_OF(ccl->works.next, tfrt_ccl_work_t, link));
    ccl->state = TFRT_CUDA_CCL_BUSY;
    cuda_ccl_advance(ccl);
  }
  bool is_awaited = ccl->state != TFRT_CUDA_CCL_IDLE || ccl->watch_count > 0;
  if (ccl->broken ? ccl->comm != NULL : is_awaited) {
    cuda_ccl_start_polling(ccl);
  }
}

// --- Telling -----------------------------------------------------------------------------

// Finishes |works| as |status| (+0) says.
static void cuda_ccl_finish_all(tfrt_list_link_t* works, tfrt_status_t status) {
  tfrt_list_link_t* link;
  while ((link = tfrt_list_pop_front(works))) {
    tfrt_ccl_work_finish_take(TFRT_CONTAINER_OF(link, tfrt_ccl_work_t, link),
                              status ? tfrt_status_retain(status) : NULL);
  }
}

// Unlocks the mutex, and resolves the values for joining and for lists that are done or failed. The
// caller has a reference to |ccl|, or ends it.
static void cuda_ccl_unlock(tfrt_cuda_ccl_t* ccl) {
  tfrt_list_link_t done;
  tfrt_list_link_t failed;
  tfrt_list_initialize(&done);
  tfrt_list_initialize(&failed);
  tfrt_list_move_all(&done, &ccl->done);
  // While the library's object exists, it may use the memory of failed lists.
  if (ccl->broken && !ccl->comm) tfrt_list_move_all(&failed, &ccl->works);
  tfrt_status_t broken = ccl->broken ? tfrt_status_retain(ccl->broken) : NULL;
  bool has_joined = !ccl->has_joined && (broken || ccl->state != TFRT_CUDA_CCL_JOINING);
  if (has_joined) ccl->has_joined = true;
  tfrt_mutex_unlock(&ccl->mutex);
  if (has_joined && broken) tfrt_async_value_set_error(ccl->joined, broken);
  if (has_joined && !broken) tfrt_async_value_set_available(ccl->joined);
  cuda_ccl_finish_all(&done, NULL);
  cuda_ccl_finish_all(&failed, broken);
  tfrt_status_release(broken);
}

// --- The poll ----------------------------------------------------------------------------

static void cuda_ccl_start_end(tfrt_task_t* task);

static bool cuda_ccl_is_over(tfrt_cuda_poll_t* poll) {
  tfrt_cuda_ccl_t* ccl = TFRT_CONTAINER_OF(poll, tfrt_cuda_ccl_t, poll);
  tfrt_mutex_lock(&ccl->mutex);
  bool is_over = cuda_ccl_advance(ccl);
  tfrt_mutex_unlock(&ccl->mutex);
  return is_over;
}

static tfrt_cuda_ccl_t* cuda_ccl_of_task(tfrt_task_t* task) {
  return TFRT_CONTAINER_OF(TFRT_CONTAINER_OF(task, tfrt_cuda_poll_t, task), tfrt_cuda_ccl_t, poll);
}

// Runs when a poll has found a change. If the last reference is dropped meanwhile, this task ends
// |ccl|.
static void cuda_ccl_run(tfrt_task_t* task) {
  tfrt_cuda_ccl_t* ccl = cuda_ccl_of_task(task);
  tfrt_mutex_lock(&ccl->mutex);
  ccl->is_polled = false;
  ++ccl->running_count;
  if (!ccl->is_ending) {
    if (ccl->broken) cuda_ccl_drop(ccl);
    cuda_ccl_go_on(ccl);
    cuda_ccl_unlock(ccl);
    tfrt_mutex_lock(&ccl->mutex);
  }
  bool ends = --ccl->running_count == 0 && ccl->is_ending && !ccl->is_polled;
  tfrt_mutex_unlock(&ccl->mutex);
  if (ends) cuda_ccl_start_end(&ccl->end);
}

// Ending the library's object may take its time: that is for the blocking queue.
static void cuda_ccl_run_or_queue(tfrt_task_t* task) {
  tfrt_cuda_ccl_t* ccl = cuda_ccl_of_task(task);
  tfrt_mutex_lock(&ccl->mutex);
  bool is_broken = ccl->broken != NULL;
  tfrt_mutex_unlock(&ccl->mutex);
  tfrt_work_queue_t* queue = ccl->base.device->platform->work_queue;
  if (is_broken) {
    tfrt_task_initialize(task, cuda_ccl_run);
    if (tfrt_work_queue_add_blocking_task(queue, task, true)) return;
  }
  cuda_ccl_run(task);
}

// --- Calls -------------------------------------------------------------------------------

static tfrt_async_value_t* cuda_ccl_join(tfrt_device_ccl_t* ccl) {
  return tfrt_async_value_retain(cuda_ccl_of(ccl)->joined);
}

static void cuda_ccl_execute(tfrt_device_ccl_t* base, tfrt_ccl_work_t* work) {
  tfrt_cuda_ccl_t* ccl = cuda_ccl_of(base);
  // |work| may be over, with its reference to |ccl|, before this returns.
  tfrt_device_ccl_retain(base);
  tfrt_mutex_lock(&ccl->mutex);
  tfrt_list_push_back(&ccl->works, &work->link);
  tfrt_device_stream_release(ccl->last_stream);
  ccl->last_stream = tfrt_device_stream_retain(work->stream);
  cuda_ccl_go_on(ccl);
  cuda_ccl_unlock(ccl);
  tfrt_device_ccl_release(base);
}

static void cuda_ccl_abort(tfrt_device_ccl_t* base, tfrt_status_t reason) {
  tfrt_cuda_ccl_t* ccl = cuda_ccl_of(base);
  tfrt_mutex_lock(&ccl->mutex);
  if (!ccl->broken) {
    ccl->broken = tfrt_status_retain(reason);
    cuda_ccl_go_on(ccl);
  }
  cuda_ccl_unlock(ccl);
}

static void cuda_ccl_watch(tfrt_device_ccl_t* base) {
  tfrt_cuda_ccl_t* ccl = cuda_ccl_of(base);
  tfrt_mutex_lock(&ccl->mutex);
  ++ccl->watch_count;
  cuda_ccl_go_on(ccl);
  cuda_ccl_unlock(ccl);
}

// Asks once more: what has just ended may have ended because of an error that nobody has seen yet.
static tfrt_status_t cuda_ccl_unwatch(tfrt_device_ccl_t* base) {
  tfrt_cuda_ccl_t* ccl = cuda_ccl_of(base);
  tfrt_mutex_lock(&ccl->mutex);
  cuda_ccl_advance(ccl);
  --ccl->watch_count;
  tfrt_status_t status = tfrt_status_retain(ccl->broken);
  cuda_ccl_go_on(ccl);
  cuda_ccl_unlock(ccl);
  return status;
}

// --- Life --------------------------------------------------------------------------------

static void cuda_ccl_free(tfrt_cuda_ccl_t* ccl) {
  tfrt_allocator_t allocator = ccl->base.device->platform->allocator;
  tfrt_async_value_release(ccl->joined);
  tfrt_async_value_release(ccl->end_of);
  tfrt_device_stream_release(ccl->last_stream);
  tfrt_status_release(ccl->broken);
  tfrt_mutex_deinitialize(&ccl->mutex);
  tfrt_allocator_free(allocator, ccl, sizeof(*ccl));
}

// In the blocking queue: the library ends its threads and connections. A lost device's, and one
// that never joined, is aborted.
static void cuda_ccl_end(tfrt_task_t* task) {
  tfrt_cuda_ccl_t* ccl = TFRT_CONTAINER_OF(task, tfrt_cuda_ccl_t, end);
  tfrt_device_t* device = ccl->base.device;
  tfrt_mutex_lock(&ccl->mutex);
  if (ccl->broken || tfrt_async_value_is_error(ccl->end_of)) {
    cuda_ccl_drop(ccl);
  } else if (ccl->comm) {
    tfrt_status_t status = tfrt_cuda_enter(device);
    tfrt_nccl_result_t result =
        status ? ccl->api->CommAbort(ccl->comm) : ccl->api->CommDestroy(ccl->comm);
    if (!status) status = tfrt_cuda_leave(device, TFRT_CUDA_SUCCESS, "");
    tfrt_status_release(status);
    // Nobody is left to be told.
    tfrt_status_release(tfrt_cuda_nccl_status(device->name, result, "ncclCommDestroy"));
    ccl->comm = NULL;
  }
  cuda_ccl_unlock(ccl);
  cuda_ccl_free(ccl);
  tfrt_device_release(device);
}

static void cuda_ccl_queue_end(tfrt_task_t* task) {
  tfrt_cuda_ccl_t* ccl = TFRT_CONTAINER_OF(task, tfrt_cuda_ccl_t, end);
  tfrt_task_initialize(&ccl->end, cuda_ccl_end);
  tfrt_work_queue_t* queue = ccl->base.device->platform->work_queue;
  if (!tfrt_work_queue_add_blocking_task(queue, &ccl->end, true)) cuda_ccl_end(&ccl->end);
}

// Work that is in streams is still done: the library's object is ended after it.
static void cuda_ccl_start_end(tfrt_task_t* task) {
  tfrt_cuda_ccl_t* ccl = TFRT_CONTAINER_OF(task, tfrt_cuda_ccl_t, end);
  ccl->end_of = ccl->comm && ccl->last_stream ? tfrt_device_stream_await(ccl->last_stream)
                                              : tfrt_async_value_ready_chain();
  tfrt_task_initialize(&ccl->end, cuda_ccl_queue_end);
  tfrt_async_value_and_then(ccl->end_of, &ccl->end);
}

// There is no work; it may still be joining.
static void cuda_ccl_destroy(tfrt_device_ccl_t* base) {
  tfrt_cuda_ccl_t* ccl = cuda_ccl_of(base);
  tfrt_device_retain(base->device);
  tfrt_mutex_lock(&ccl->mutex);
  ccl->is_ending = ccl->is_polled || ccl->running_count > 0;
  bool ends = !ccl->is_ending;
  if (ccl->state == TFRT_CUDA_CCL_JOINING && !ccl->broken) {
    ccl->broken =
        tfrt_status_create(TFRT_STATUS_CANCELLED,
                           "%s: a member of a group went before it had joined", base->device->name);
  }
  tfrt_mutex_unlock(&ccl->mutex);
  if (ends) cuda_ccl_start_end(&ccl->end);
}

static const tfrt_device_ccl_vtable_t ccl_vtable = {
    .destroy = cuda_ccl_destroy,
    .join = cuda_ccl_join,
    .execute = cuda_ccl_execute,
    .abort = cuda_ccl_abort,
    .watch = cuda_ccl_watch,
    .unwatch = cuda_ccl_unwatch,
};

// Lets the library begin to join.
static tfrt_status_t cuda_ccl_begin(tfrt_cuda_ccl_t* ccl, tfrt_device_t* device,
                                    const tfrt_ccl_id_t* id, int32_t rank, int32_t size) {
  tfrt_nccl_config_t config = {
      .size = sizeof(config), .magic = TFRT_NCCL_CONFIG_MAGIC, .version = TFRT_NCCL_CONFIG_VERSION};
  tfrt_nccl_id_t copy;
  memcpy(copy.bytes, id->bytes, sizeof(copy.bytes));
  TFRT_RETURN_IF_ERROR(tfrt_cuda_enter(device));
  tfrt_nccl_result_t result = ccl->api->CommInitRankConfig(&ccl->comm, size, copy, rank, &config);
  TFRT_RETURN_IF_ERROR(tfrt_cuda_leave(device, TFRT_CUDA_SUCCESS, ""));
  return tfrt_cuda_nccl_status(device->name, result, "ncclCommInitRankConfig");
}

tfrt_status_t tfrt_cuda_device_create_ccl(tfrt_device_t* device, const tfrt_ccl_id_t* id,
                                          int32_t rank, int32_t size, tfrt_device_ccl_t** out_ccl) {
  const tfrt_nccl_api_t* api;
  TFRT_RETURN_IF_ERROR(tfrt_cuda_nccl_open(tfrt_cuda_platform_of(device), &api));
  tfrt_cuda_ccl_t* ccl = tfrt_allocator_allocate_zeroed(device->platform->allocator, sizeof(*ccl));
  tfrt_async_value_t* joined = tfrt_async_value_create_unconstructed(TFRT_TYPE_CHAIN);
  if (!ccl || !joined) {
    tfrt_allocator_free(device->platform->allocator, ccl, sizeof(*ccl));
    if (joined) {
      tfrt_async_value_set_error(joined, tfrt_status_out_of_memory());
      tfrt_async_value_release(joined);
    }
    return tfrt_status_out_of_memory();
  }
  ccl->api = api;
  ccl->joined = joined;
  tfrt_list_initialize(&ccl->works);
  tfrt_list_initialize(&ccl->done);
  tfrt_mutex_initialize(&ccl->mutex);
  tfrt_task_initialize(&ccl->poll.task, cuda_ccl_run_or_queue);
  ccl->poll.is_over = cuda_ccl_is_over;
  tfrt_device_ccl_initialize(&ccl->base, &ccl_vtable, device, rank, size);
  tfrt_mutex_lock(&ccl->mutex);
  ccl->broken = cuda_ccl_begin(ccl, device, id, rank, size);
  tfrt_status_t status = ccl->broken ? tfrt_status_retain(ccl->broken) : NULL;
  cuda_ccl_go_on(ccl);
  cuda_ccl_unlock(ccl);
  if (status) {
    tfrt_device_ccl_release(&ccl->base);
    return status;
  }
  *out_ccl = &ccl->base;
  return NULL;
}

tfrt_status_t tfrt_cuda_platform_create_ccl_id(tfrt_device_platform_t* base,
                                               tfrt_ccl_id_t* out_id) {
  _Static_assert(sizeof(tfrt_nccl_id_t) == sizeof(tfrt_ccl_id_t), "both are the same bytes");
  tfrt_cuda_platform_t* platform = TFRT_CONTAINER_OF(base, tfrt_cuda_platform_t, base);
  const tfrt_nccl_api_t* api;
  TFRT_RETURN_IF_ERROR(tfrt_cuda_nccl_open(platform, &api));
  tfrt_nccl_id_t id;
  TFRT_RETURN_IF_ERROR(tfrt_cuda_nccl_status(base->name, api->GetUniqueId(&id), "ncclGetUniqueId"));
  memcpy(out_id->bytes, id.bytes, sizeof(id.bytes));
  return NULL;
}
