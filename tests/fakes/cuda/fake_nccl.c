// SPDX-License-Identifier: Apache-2.0
//
// The fake driver's NCCL: non-blocking communicators of members in this process. A list is an op of
// its stream, whose thread waits there for the other members, as a GPU's kernel does; inputs and
// outputs are really copied and summed. A communicator is in progress for some more questions than
// it must be. A misuse by the caller is a defect: a call while the communicator is in progress,
// outside of a list, or of another context, and a destroy with work in a stream.
#include <stdlib.h>
#include <string.h>

#include "devices/cpu/cpu_ccl_group.h"
#include "devices/cuda/nccl_api.h"
#include "tests/fakes/cuda/fake_library.h"

// The library's symbols, as the real one has them.
#define FAKE_NCCL_ENTRY(name, symbol, parameters) \
  TFRT_EXPORT tfrt_nccl_result_t nccl##name parameters;
TFRT_NCCL_ENTRIES(FAKE_NCCL_ENTRY)
#undef FAKE_NCCL_ENTRY

#define MAX_CALLS 64

struct tfrt_nccl_comm_s {
  tfrt_fake_library_t base;
  tfrt_cpu_ccl_member_t* member;
  int size;
  int ref_count;  // of the handle, and of lists in streams
  bool is_joining;
  uint64_t questions;  // until it isn't in progress
};

// A list between GroupStart() and GroupEnd().
typedef struct fake_group_s {
  int error;              // the first one
  tfrt_nccl_comm_t comm;  // of all calls
  tfrt_fake_stream_t* stream;
  size_t count;
  tfrt_ccl_call_t calls[MAX_CALLS];
} fake_group_t;

// The same in its stream.
typedef struct fake_list_s {
  tfrt_nccl_comm_t comm;
  tfrt_cpu_ccl_round_t* round;
  tfrt_mutex_t mutex;  // guards |is_met|
  tfrt_condition_t condition;
  bool is_met;
  size_t count;
  tfrt_ccl_call_t calls[MAX_CALLS];
} fake_list_t;

// See fake_cuda_call.c.
static _Thread_local __attribute__((tls_model("initial-exec"))) fake_group_t* current_group;

static void* fake_allocate(size_t size) {
  return tfrt_allocator_allocate_zeroed(tfrt_allocator_system(), size);
}

// --- Communicators, with the mutex -----------------------------------------------------------

static void fake_comm_release(tfrt_nccl_comm_t comm) {
  if (--comm->ref_count > 0) return;
  tfrt_cpu_ccl_leave(comm->member);
  tfrt_allocator_free(tfrt_allocator_system(), comm, sizeof(*comm));
}

static int fake_comm_check(tfrt_nccl_comm_t comm) {
  bool is_good = tfrt_fake_is_handle(&tfrt_fake.libraries, &comm->base.link, "communicator");
  return is_good ? 0 : TFRT_NCCL_INVALID_ARGUMENT;
}

tfrt_nccl_result_t ncclGetVersion(int* version) {
  int error = tfrt_fake_begin("ncclGetVersion");
  *version = 21805;
  return tfrt_fake_end(error);
}

tfrt_nccl_result_t ncclGetUniqueId(tfrt_nccl_id_t* id) {
  int error = tfrt_fake_begin("ncclGetUniqueId");
  tfrt_ccl_id_t made;
  tfrt_cpu_ccl_id_create(&made);
  if (!error) memcpy(id->bytes, made.bytes, sizeof(id->bytes));
  return tfrt_fake_end(error);
}

tfrt_nccl_result_t ncclCommInitRankConfig(tfrt_nccl_comm_t* out_comm, int size, tfrt_nccl_id_t id,
                                          int rank, tfrt_nccl_config_t* config) {
  int error = tfrt_fake_begin("ncclCommInitRankConfig");
  if (!error && tfrt_fake_check_context("ncclCommInitRankConfig", NULL)) {
    error = TFRT_NCCL_UNHANDLED_CUDA_ERROR;
  }
  if (config->size != sizeof(*config) || config->magic != TFRT_NCCL_CONFIG_MAGIC ||
      config->version != TFRT_NCCL_CONFIG_VERSION || config->is_blocking) {
    tfrt_fake_defect("a communicator with a configuration that isn't ours");
  }
  if (error) return tfrt_fake_end(error);
  tfrt_ccl_id_t name;
  memcpy(name.bytes, id.bytes, sizeof(name.bytes));
  tfrt_cpu_ccl_member_t* member;
  tfrt_status_t status = tfrt_cpu_ccl_join(&name, rank, size, &member);
  tfrt_status_release(status);
  if (status) return tfrt_fake_end(TFRT_NCCL_INVALID_ARGUMENT);
  tfrt_nccl_comm_t comm = tfrt_fake_library_create(sizeof(*comm), true);
  comm->member = member;
  comm->size = size;
  comm->ref_count = 1;
  comm->is_joining = true;
  comm->questions = 2;
  *out_comm = comm;
  return tfrt_fake_end(TFRT_NCCL_IN_PROGRESS);
}

// Any thread may ask, in any context.
tfrt_nccl_result_t ncclCommGetAsyncError(tfrt_nccl_comm_t comm, tfrt_nccl_result_t* state) {
  int error = tfrt_fake_begin("ncclCommGetAsyncError");
  if (!error) error = fake_comm_check(comm);
  if (error) return tfrt_fake_end(error);
  *state = TFRT_NCCL_IN_PROGRESS;
  if (comm->base.context->error) {
    *state = TFRT_NCCL_UNHANDLED_CUDA_ERROR;
  } else if (tfrt_cpu_ccl_is_broken(comm->member)) {
    *state = TFRT_NCCL_REMOTE_ERROR;
  } else if (comm->is_joining && !tfrt_cpu_ccl_is_complete(comm->member)) {
    // The missing member may still come.
  } else if (comm->questions > 0) {
    --comm->questions;
  } else {
    comm->is_joining = false;
    *state = TFRT_NCCL_SUCCESS;
  }
  return tfrt_fake_end(0);
}

tfrt_nccl_result_t ncclCommDestroy(tfrt_nccl_comm_t comm) {
  int error = tfrt_fake_library_begin(
      "ncclCommDestroy",
      &(tfrt_fake_library_errors_t){TFRT_NCCL_INVALID_ARGUMENT, TFRT_NCCL_INVALID_ARGUMENT,
                                    TFRT_NCCL_UNHANDLED_CUDA_ERROR},
      &comm->base);
  if (error == TFRT_NCCL_INVALID_ARGUMENT) return tfrt_fake_end(error);
  if (!error && (comm->is_joining || comm->questions > 0)) {
    tfrt_fake_defect("a communicator is destroyed in progress");
  }
  if (!error && comm->ref_count > 1) {
    tfrt_fake_defect("a communicator is destroyed with work in a stream");
  }
  tfrt_list_remove(&comm->base.link);
  fake_comm_release(comm);
  return tfrt_fake_end(error);
}

// Its handle goes, whatever state it is in, and what is in streams ends.
tfrt_nccl_result_t ncclCommAbort(tfrt_nccl_comm_t comm) {
  int error = tfrt_fake_begin("ncclCommAbort");
  if (!error) error = fake_comm_check(comm);
  if (error) return tfrt_fake_end(error);
  tfrt_status_t reason = tfrt_status_create(TFRT_STATUS_CANCELLED, "aborted");
  tfrt_cpu_ccl_break(comm->member, reason);
  tfrt_status_release(reason);
  tfrt_list_remove(&comm->base.link);
  fake_comm_release(comm);
  return tfrt_fake_end(0);
}

// --- Lists in streams ------------------------------------------------------------------------

static void fake_list_met(tfrt_cpu_ccl_round_t* round, void* argument) {
  (void)round;
  fake_list_t* list = argument;
  tfrt_mutex_lock(&list->mutex);
  list->is_met = true;
  tfrt_condition_signal(&list->condition);
  tfrt_mutex_unlock(&list->mutex);
}

// Waits until |list| has met, does what there is to do, and frees it but for its communicator.
// Memory of a list that was broken off is left as it was.
static tfrt_nccl_comm_t fake_list_finish(fake_list_t* list) {
  tfrt_nccl_comm_t comm = list->comm;
  tfrt_mutex_lock(&list->mutex);
  while (!list->is_met) tfrt_condition_wait(&list->condition, &list->mutex);
  tfrt_mutex_unlock(&list->mutex);
  tfrt_status_release(tfrt_cpu_ccl_round_finish(list->round));
  tfrt_condition_deinitialize(&list->condition);
  tfrt_mutex_deinitialize(&list->mutex);
  tfrt_allocator_free(tfrt_allocator_system(), list, sizeof(*list));
  return comm;
}

static void fake_list_run(const void* argument) {
  fake_list_t* list = *(fake_list_t* const*)argument;
  tfrt_mutex_lock(&tfrt_fake.mutex);
  ++tfrt_fake.waiting_lists;
  tfrt_mutex_unlock(&tfrt_fake.mutex);
  tfrt_cpu_ccl_round_arrive(list->round);
  tfrt_nccl_comm_t comm = fake_list_finish(list);
  tfrt_mutex_lock(&tfrt_fake.mutex);
  --tfrt_fake.waiting_lists;
  fake_comm_release(comm);
  tfrt_mutex_unlock(&tfrt_fake.mutex);
}

// A broken round has met at once: nobody is waited for with the mutex.
static void fake_list_drop(const void* argument) {
  fake_list_t* list = *(fake_list_t* const*)argument;
  tfrt_status_t reason = tfrt_status_create(TFRT_STATUS_INTERNAL, "the context is broken");
  tfrt_cpu_ccl_round_break(list->round, reason);
  tfrt_status_release(reason);
  fake_comm_release(fake_list_finish(list));
}

// Puts what |group| has in its stream, with the mutex; returns 0 or an error.
static int fake_group_give(const fake_group_t* group) {
  fake_list_t* list = fake_allocate(sizeof(*list));
  list->comm = group->comm;
  list->count = group->count;
  memcpy(list->calls, group->calls, sizeof(list->calls));
  tfrt_mutex_initialize(&list->mutex);
  tfrt_condition_initialize(&list->condition);
  tfrt_status_t status = tfrt_cpu_ccl_round_create(group->comm->member, list->calls, list->count,
                                                   fake_list_met, list, &list->round);
  if (status) abort();
  tfrt_fake_op_t* op = tfrt_fake_op_create(group->stream, TFRT_FAKE_OP_CALL);
  op->call = fake_list_run;
  op->drop = fake_list_drop;
  memcpy(op->argument, &list, sizeof(list));
  // The first few, which are looked at once more when the stream gets there.
  for (size_t i = 0; i < group->count && op->range_count + 2 <= TFRT_FAKE_MAX_RANGES; ++i) {
    const tfrt_ccl_call_t* call = &group->calls[i];
    if (call->source && call->count > 0) {
      op->ranges[op->range_count++] = (tfrt_fake_range_t){(void*)(uintptr_t)call->source, 1};
    }
    if (call->target && call->count > 0) {
      op->ranges[op->range_count++] = (tfrt_fake_range_t){(void*)(uintptr_t)call->target, 1};
    }
  }
  ++group->comm->ref_count;
  group->comm->questions = tfrt_random_below(&group->stream->random, 4);
  tfrt_fake_op_give(op);
  return group->comm->questions > 0 ? TFRT_NCCL_IN_PROGRESS : 0;
}

// --- Lists -----------------------------------------------------------------------------------

tfrt_nccl_result_t ncclGroupStart(void) {
  int error = tfrt_fake_begin("ncclGroupStart");
  if (!error && current_group) tfrt_fake_defect("a list in a list");
  if (!error) current_group = fake_allocate(sizeof(*current_group));
  return tfrt_fake_end(error);
}

tfrt_nccl_result_t ncclGroupEnd(void) {
  int error = tfrt_fake_begin("ncclGroupEnd");
  fake_group_t* group = current_group;
  if (!group) {
    tfrt_fake_defect("the end of a list that nobody began");
    return tfrt_fake_end(TFRT_NCCL_INVALID_USAGE);
  }
  current_group = NULL;
  if (!error) error = group->error;
  if (!error && group->count > 0) error = fake_group_give(group);
  tfrt_allocator_free(tfrt_allocator_system(), group, sizeof(*group));
  return tfrt_fake_end(error);
}

// The types' numbers, in the library's order.
static const tfrt_dtype_t dtypes[] = {
    TFRT_DTYPE_I8,   TFRT_DTYPE_UI8, TFRT_DTYPE_I32, TFRT_DTYPE_UI32, TFRT_DTYPE_I64,
    TFRT_DTYPE_UI64, TFRT_DTYPE_F16, TFRT_DTYPE_F32, TFRT_DTYPE_F64,  TFRT_DTYPE_BF16};

// Checks |call| for |comm| and |stream|: a fault is a defect and an error; else 0.
static int fake_call_check(tfrt_nccl_comm_t comm, tfrt_fake_stream_t* stream,
                           const tfrt_ccl_call_t* call) {
  const char* wrong = NULL;
  if (fake_comm_check(comm)) return TFRT_NCCL_INVALID_ARGUMENT;
  if (!current_group) wrong = "a call outside of a list";
  if (comm->is_joining || comm->questions > 0) wrong = "a call of one that is in progress";
  if (!tfrt_fake_is_handle(&tfrt_fake.streams, &stream->link, "stream") ||
      stream->context != comm->base.context) {
    wrong = "a stream of another context";
  }
  if (current_group && current_group->comm &&
      (current_group->comm != comm || current_group->stream != stream)) {
    wrong = "several communicators or streams in a list";
  }
  if (current_group && current_group->count == MAX_CALLS) wrong = "too long a list for the fake";
  if (wrong) {
    tfrt_fake_defect("a communicator: %s", wrong);
    return TFRT_NCCL_INVALID_USAGE;
  }
  size_t share = call->count * tfrt_dtype_size(call->dtype);
  size_t source = call->kind == TFRT_CCL_REDUCE_SCATTER ? share * (size_t)comm->size : share;
  size_t target = call->kind == TFRT_CCL_ALL_GATHER ? share * (size_t)comm->size : share;
  bool is_good = true;
  if (share == 0) return 0;
  if (call->source) is_good &= tfrt_fake_can_use(comm->base.context, call->source, source, false);
  if (call->target) is_good &= tfrt_fake_can_use(comm->base.context, call->target, target, false);
  return is_good ? 0 : TFRT_NCCL_INVALID_ARGUMENT;
}

// Adds a call to the thread's list.
static int fake_call(const char* name, tfrt_nccl_comm_t comm, tfrt_fake_stream_t* stream, int type,
                     tfrt_ccl_call_t call) {
  int error = tfrt_fake_begin(name);
  if (!error && (type < 0 || type >= (int)TFRT_ARRAY_SIZE(dtypes))) {
    error = TFRT_NCCL_INVALID_ARGUMENT;
  }
  if (!error) {
    call.dtype = dtypes[type];
    error = fake_call_check(comm, stream, &call);
  }
  if (!error) {
    current_group->comm = comm;
    current_group->stream = stream;
    current_group->calls[current_group->count++] = call;
  } else if (current_group && !current_group->error) {
    current_group->error = error;
  }
  return tfrt_fake_end(error);
}

static tfrt_device_address_t fake_address(const void* data) {
  return (tfrt_device_address_t)(uintptr_t)data;
}

tfrt_nccl_result_t ncclAllGather(const void* source, void* target, size_t count, int type,
                                 tfrt_nccl_comm_t comm, tfrt_cuda_stream_handle_t stream) {
  return fake_call("ncclAllGather", comm, stream, type,
                   (tfrt_ccl_call_t){.kind = TFRT_CCL_ALL_GATHER,
                                     .source = fake_address(source),
                                     .target = fake_address(target),
                                     .count = count});
}

// The numbers of reductions are those of devices/device_ccl.h.
static int fake_reduction(const char* name, tfrt_ccl_kind_t kind, const void* source, void* target,
                          size_t count, int type, int reduction, tfrt_nccl_comm_t comm,
                          tfrt_cuda_stream_handle_t stream) {
  return fake_call(name, comm, stream, type,
                   (tfrt_ccl_call_t){.kind = kind,
                                     .reduction = (tfrt_ccl_reduction_t)reduction,
                                     .source = fake_address(source),
                                     .target = fake_address(target),
                                     .count = count});
}

tfrt_nccl_result_t ncclAllReduce(const void* source, void* target, size_t count, int type,
                                 int reduction, tfrt_nccl_comm_t comm,
                                 tfrt_cuda_stream_handle_t stream) {
  return fake_reduction("ncclAllReduce", TFRT_CCL_ALL_REDUCE, source, target, count, type,
                        reduction, comm, stream);
}

tfrt_nccl_result_t ncclReduceScatter(const void* source, void* target, size_t count, int type,
                                     int reduction, tfrt_nccl_comm_t comm,
                                     tfrt_cuda_stream_handle_t stream) {
  return fake_reduction("ncclReduceScatter", TFRT_CCL_REDUCE_SCATTER, source, target, count, type,
                        reduction, comm, stream);
}

tfrt_nccl_result_t ncclReduce(const void* source, void* target, size_t count, int type,
                              int reduction, int root, tfrt_nccl_comm_t comm,
                              tfrt_cuda_stream_handle_t stream) {
  return fake_call("ncclReduce", comm, stream, type,
                   (tfrt_ccl_call_t){.kind = TFRT_CCL_REDUCE,
                                     .reduction = (tfrt_ccl_reduction_t)reduction,
                                     .peer = root,
                                     .source = fake_address(source),
                                     .target = fake_address(target),
                                     .count = count});
}

tfrt_nccl_result_t ncclBroadcast(const void* source, void* target, size_t count, int type, int root,
                                 tfrt_nccl_comm_t comm, tfrt_cuda_stream_handle_t stream) {
  return fake_call("ncclBroadcast", comm, stream, type,
                   (tfrt_ccl_call_t){.kind = TFRT_CCL_BROADCAST,
                                     .peer = root,
                                     .source = fake_address(source),
                                     .target = fake_address(target),
                                     .count = count});
}

tfrt_nccl_result_t ncclSend(const void* source, size_t count, int type, int peer,
                            tfrt_nccl_comm_t comm, tfrt_cuda_stream_handle_t stream) {
  return fake_call(
      "ncclSend", comm, stream, type,
      (tfrt_ccl_call_t){
          .kind = TFRT_CCL_SEND, .peer = peer, .source = fake_address(source), .count = count});
}

tfrt_nccl_result_t ncclRecv(void* target, size_t count, int type, int peer, tfrt_nccl_comm_t comm,
                            tfrt_cuda_stream_handle_t stream) {
  return fake_call(
      "ncclRecv", comm, stream, type,
      (tfrt_ccl_call_t){
          .kind = TFRT_CCL_RECEIVE, .peer = peer, .target = fake_address(target), .count = count});
}
