// SPDX-License-Identifier: Apache-2.0
//
// Our own declarations of the part of NCCL that this project uses, as cuda_api.h has them for the
// driver: the forms that NCCL 2.14 and later have, as "NCCL API" of NVIDIA's NCCL documentation
// lists them.
//
// Communicators are non-blocking ones (2.14): a call that would wait for other members returns
// TFRT_NCCL_IN_PROGRESS at once, and CommGetAsyncError() gives its state.
//
// Thread rule: constant after opening. Failure rule: as devices/cuda/vendor_library.h.
#ifndef TFRT_DEVICES_CUDA_NCCL_API_H_
#define TFRT_DEVICES_CUDA_NCCL_API_H_

#include "devices/cuda/cuda_api.h"

typedef int tfrt_nccl_result_t;
typedef struct tfrt_nccl_comm_s* tfrt_nccl_comm_t;

#define TFRT_NCCL_ID_SIZE 128

// Passed by value.
typedef struct tfrt_nccl_id_s {
  char bytes[TFRT_NCCL_ID_SIZE];
} tfrt_nccl_id_t;

#define TFRT_NCCL_CONFIG_MAGIC 0xcafebeefu
#define TFRT_NCCL_CONFIG_VERSION 21400u

// As 2.14 had it. The library reads |size| bytes, and takes its own idea of what |version| lacked.
typedef struct tfrt_nccl_config_s {
  size_t size;
  unsigned magic;
  unsigned version;
  int is_blocking;
} tfrt_nccl_config_t;

// The numbers of the library's interface that are used here.
enum tfrt_nccl_number_e {
  TFRT_NCCL_SUCCESS = 0,
  TFRT_NCCL_UNHANDLED_CUDA_ERROR = 1,
  TFRT_NCCL_SYSTEM_ERROR = 2,
  TFRT_NCCL_INTERNAL_ERROR = 3,
  TFRT_NCCL_INVALID_ARGUMENT = 4,
  TFRT_NCCL_INVALID_USAGE = 5,
  TFRT_NCCL_REMOTE_ERROR = 6,
  TFRT_NCCL_IN_PROGRESS = 7,

  // Reductions.
  TFRT_NCCL_SUM = 0,
  TFRT_NCCL_PRODUCT = 1,
  TFRT_NCCL_MAX = 2,
  TFRT_NCCL_MIN = 3,
  TFRT_NCCL_AVERAGE = 4,

  // Types of elements.
  TFRT_NCCL_INT8 = 0,
  TFRT_NCCL_UINT8 = 1,
  TFRT_NCCL_INT32 = 2,
  TFRT_NCCL_UINT32 = 3,
  TFRT_NCCL_INT64 = 4,
  TFRT_NCCL_UINT64 = 5,
  TFRT_NCCL_FLOAT16 = 6,
  TFRT_NCCL_FLOAT32 = 7,
  TFRT_NCCL_FLOAT64 = 8,
  TFRT_NCCL_BFLOAT16 = 9,
};

// The table: X(member, symbol, parameters). Counts are of elements: of one member's share in a
// gather or scatter.
#define TFRT_NCCL_ENTRIES(X)                                                                      \
  X(GetUniqueId, "ncclGetUniqueId", (tfrt_nccl_id_t * id))                                        \
  X(GetVersion, "ncclGetVersion", (int* version))                                                 \
  X(CommInitRankConfig, "ncclCommInitRankConfig",                                                 \
    (tfrt_nccl_comm_t * comm, int size, tfrt_nccl_id_t id, int rank, tfrt_nccl_config_t* config)) \
  X(CommGetAsyncError, "ncclCommGetAsyncError",                                                   \
    (tfrt_nccl_comm_t comm, tfrt_nccl_result_t * error))                                          \
  X(CommDestroy, "ncclCommDestroy", (tfrt_nccl_comm_t comm))                                      \
  X(CommAbort, "ncclCommAbort", (tfrt_nccl_comm_t comm))                                          \
  X(GroupStart, "ncclGroupStart", (void))                                                         \
  X(GroupEnd, "ncclGroupEnd", (void))                                                             \
  X(AllGather, "ncclAllGather",                                                                   \
    (const void* source, void* target, size_t count, int type, tfrt_nccl_comm_t comm,             \
     tfrt_cuda_stream_handle_t stream))                                                           \
  X(AllReduce, "ncclAllReduce",                                                                   \
    (const void* source, void* target, size_t count, int type, int reduction,                     \
     tfrt_nccl_comm_t comm, tfrt_cuda_stream_handle_t stream))                                    \
  X(ReduceScatter, "ncclReduceScatter",                                                           \
    (const void* source, void* target, size_t count, int type, int reduction,                     \
     tfrt_nccl_comm_t comm, tfrt_cuda_stream_handle_t stream))                                    \
  X(Reduce, "ncclReduce",                                                                         \
    (const void* source, void* target, size_t count, int type, int reduction, int root,           \
     tfrt_nccl_comm_t comm, tfrt_cuda_stream_handle_t stream))                                    \
  X(Broadcast, "ncclBroadcast",                                                                   \
    (const void* source, void* target, size_t count, int type, int root, tfrt_nccl_comm_t comm,   \
     tfrt_cuda_stream_handle_t stream))                                                           \
  X(Send, "ncclSend",                                                                             \
    (const void* source, size_t count, int type, int peer, tfrt_nccl_comm_t comm,                 \
     tfrt_cuda_stream_handle_t stream))                                                           \
  X(Recv, "ncclRecv",                                                                             \
    (void* target, size_t count, int type, int peer, tfrt_nccl_comm_t comm,                       \
     tfrt_cuda_stream_handle_t stream))

typedef struct tfrt_nccl_api_s {
#define TFRT_NCCL_MEMBER(name, symbol, parameters) tfrt_nccl_result_t(*name) parameters;
  TFRT_NCCL_ENTRIES(TFRT_NCCL_MEMBER)
#undef TFRT_NCCL_MEMBER
} tfrt_nccl_api_t;

#endif  // TFRT_DEVICES_CUDA_NCCL_API_H_
