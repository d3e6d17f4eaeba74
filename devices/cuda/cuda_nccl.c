// SPDX-License-Identifier: Apache-2.0
#include "devices/cuda/cuda_nccl.h"

// --- The library -------------------------------------------------------------------------

static const tfrt_vendor_entry_t entries[] = {
#define TFRT_NCCL_ENTRY(name, symbol, parameters) {symbol, offsetof(tfrt_nccl_api_t, name)},
    TFRT_NCCL_ENTRIES(TFRT_NCCL_ENTRY)
#undef TFRT_NCCL_ENTRY
};

static const char* const names[] = {"libnccl.so.2"};

tfrt_status_t tfrt_cuda_nccl_open(tfrt_cuda_platform_t* platform, const tfrt_nccl_api_t** out_api) {
  static const tfrt_vendor_library_t library = {
      .title = "NCCL",
      .names = names,
      .name_count = TFRT_ARRAY_SIZE(names),
      .fix = "install NCCL 2.14 or later, or add its folder to LD_LIBRARY_PATH",
      .entries = entries,
      .entry_count = TFRT_ARRAY_SIZE(entries),
  };
  *out_api = &platform->nccl;
  return tfrt_cuda_platform_open(platform, &library, TFRT_CUDA_NCCL, &platform->nccl);
}

tfrt_status_t tfrt_cuda_nccl_status(const char* where, tfrt_nccl_result_t result,
                                    const char* call) {
  static const struct {
    const char* name;
    tfrt_status_code_t code;
  } errors[] = {
      [TFRT_NCCL_UNHANDLED_CUDA_ERROR] = {"ncclUnhandledCudaError", TFRT_STATUS_INTERNAL},
      [TFRT_NCCL_SYSTEM_ERROR] = {"ncclSystemError", TFRT_STATUS_UNAVAILABLE},
      [TFRT_NCCL_INTERNAL_ERROR] = {"ncclInternalError", TFRT_STATUS_INTERNAL},
      [TFRT_NCCL_INVALID_ARGUMENT] = {"ncclInvalidArgument", TFRT_STATUS_INVALID_ARGUMENT},
      [TFRT_NCCL_INVALID_USAGE] = {"ncclInvalidUsage", TFRT_STATUS_INVALID_ARGUMENT},
      [TFRT_NCCL_REMOTE_ERROR] = {"ncclRemoteError", TFRT_STATUS_ABORTED},
  };
  if (result == TFRT_NCCL_SUCCESS || result == TFRT_NCCL_IN_PROGRESS) return NULL;
  bool is_known = result > 0 && result < (int)TFRT_ARRAY_SIZE(errors);
  return tfrt_status_create(is_known ? errors[result].code : TFRT_STATUS_INTERNAL,
                            "%s: %s failed: %s (%d)", where, call,
                            is_known ? errors[result].name : "unknown error", result);
}

// --- Calls -------------------------------------------------------------------------------

// The caller has checked that |dtype| is one of these types.
static int cuda_nccl_type(tfrt_dtype_t dtype) {
  switch (dtype) {
    case TFRT_DTYPE_I8:
      return TFRT_NCCL_INT8;
    case TFRT_DTYPE_UI8:
      return TFRT_NCCL_UINT8;
    case TFRT_DTYPE_I32:
      return TFRT_NCCL_INT32;
    case TFRT_DTYPE_UI32:
      return TFRT_NCCL_UINT32;
    case TFRT_DTYPE_I64:
      return TFRT_NCCL_INT64;
    case TFRT_DTYPE_UI64:
      return TFRT_NCCL_UINT64;
    case TFRT_DTYPE_F16:
      return TFRT_NCCL_FLOAT16;
    case TFRT_DTYPE_BF16:
      return TFRT_NCCL_BFLOAT16;
    case TFRT_DTYPE_F64:
      return TFRT_NCCL_FLOAT64;
    default:
      return TFRT_NCCL_FLOAT32;
  }
}

static int cuda_nccl_reduction(tfrt_ccl_reduction_t reduction) {
  static const int numbers[] = {[TFRT_CCL_SUM] = TFRT_NCCL_SUM,
                                [TFRT_CCL_PRODUCT] = TFRT_NCCL_PRODUCT,
                                [TFRT_CCL_MAX] = TFRT_NCCL_MAX,
                                [TFRT_CCL_MIN] = TFRT_NCCL_MIN,
                                [TFRT_CCL_AVERAGE] = TFRT_NCCL_AVERAGE};
  return numbers[reduction];
}

// Adds |call| to the group that was begun; |where| is the device's name.
static tfrt_status_t cuda_nccl_call(const tfrt_nccl_api_t* api, tfrt_nccl_comm_t comm,
                                    const tfrt_ccl_call_t* call, tfrt_cuda_stream_handle_t stream,
                                    const char* where) {
  const void* source = (const void*)(uintptr_t)call->source;
  void* target = (void*)(uintptr_t)call->target;
  int type = cuda_nccl_type(call->dtype);
  int reduction = cuda_nccl_reduction(call->reduction);
  switch (call->kind) {
    case TFRT_CCL_ALL_GATHER:
      return tfrt_cuda_nccl_status(
          where, api->AllGather(source, target, call->count, type, comm, stream), "ncclAllGather");
    case TFRT_CCL_ALL_REDUCE:
      return tfrt_cuda_nccl_status(
          where, api->AllReduce(source, target, call->count, type, reduction, comm, stream),
          "ncclAllReduce");
    case TFRT_CCL_REDUCE_SCATTER:
      return tfrt_cuda_nccl_status(
          where, api->ReduceScatter(source, target, call->count, type, reduction, comm, stream),
          "ncclReduceScatter");
    case TFRT_CCL_REDUCE:
      return tfrt_cuda_nccl_status(
          where,
          api->Reduce(source, target, call->count, type, reduction, call->peer, comm, stream),
          "ncclReduce");
    case TFRT_CCL_BROADCAST:
      // A root without an output buffer receives in place, in its input.
      return tfrt_cuda_nccl_status(
          where,
          api->Broadcast(source, target ? target : (void*)(uintptr_t)call->source, call->count,
                         type, call->peer, comm, stream),
          "ncclBroadcast");
    case TFRT_CCL_SEND:
      return tfrt_cuda_nccl_status(
          where, api->Send(source, call->count, type, call->peer, comm, stream), "ncclSend");
    default:
      return tfrt_cuda_nccl_status(
          where, api->Recv(target, call->count, type, call->peer, comm, stream), "ncclRecv");
  }
}

tfrt_status_t tfrt_cuda_nccl_give(const tfrt_nccl_api_t* api, tfrt_nccl_comm_t comm,
                                  const tfrt_ccl_work_t* work) {
  tfrt_device_t* device = work->ccl->device;
  tfrt_cuda_stream_handle_t stream = tfrt_cuda_stream_of(work->stream)->handle;
  TFRT_RETURN_IF_ERROR(tfrt_cuda_enter(device));
  tfrt_status_t status = tfrt_cuda_nccl_status(device->name, api->GroupStart(), "ncclGroupStart");
  if (!status) {
    for (size_t i = 0; i < work->count && !status; ++i) {
      status = cuda_nccl_call(api, comm, &work->calls[i], stream, device->name);
    }
    // A group that was begun is ended, also after an error, which it then repeats.
    tfrt_status_t end = tfrt_cuda_nccl_status(device->name, api->GroupEnd(), "ncclGroupEnd");
    if (status) {
      tfrt_status_release(end);
    } else {
      status = end;
    }
  }
  tfrt_status_release(tfrt_cuda_leave(device, TFRT_CUDA_SUCCESS, ""));
  return status;
}
