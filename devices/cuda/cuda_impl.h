// SPDX-License-Identifier: Apache-2.0
//
// Declarations that the files of this room share. Private to it.
//
// Thread rule: as devices/cuda/cuda_platform.h. Failure rule: as there.
#ifndef TFRT_DEVICES_CUDA_CUDA_IMPL_H_
#define TFRT_DEVICES_CUDA_CUDA_IMPL_H_

#include "devices/cuda/cublas_api.h"
#include "devices/cuda/cublaslt_api.h"
#include "devices/cuda/cuda_library.h"
#include "devices/cuda/cuda_platform.h"
#include "devices/cuda/cuda_poller.h"
#include "devices/cuda/cudnn_api.h"
#include "devices/cuda/cudnn_backend_api.h"
#include "devices/cuda/nccl_api.h"
#include "devices/cuda/vendor_library.h"
#include "devices/device_stream.h"
#include "host_runtime/base/sync.h"

typedef struct tfrt_cuda_device_s {
  tfrt_device_t base;
  bool is_open;  // its context is retained
  tfrt_cuda_device_id_t id;
  tfrt_cuda_context_t context;
  tfrt_cuda_pool_t pool;         // NULL: it has none
  bool has_own_pool;             // |pool| is ours, and other processes can be given its memory
  int pool_descriptor;           // that stands for it; owned
  bool can_register;             // kernels find pinned memory where the host does
  _Atomic uint64_t known_peers;  // bit i: device i of the platform is within reach
} tfrt_cuda_device_t;

// NVIDIA's libraries beside the driver's. A platform has a table of each.
typedef enum tfrt_cuda_vendor_e {
  TFRT_CUDA_CUBLAS = 1 << 0,
  TFRT_CUDA_CUBLASLT = 1 << 1,
  TFRT_CUDA_CUDNN = 1 << 2,
  TFRT_CUDA_CUDNN_BACKEND = 1 << 3,
  TFRT_CUDA_NCCL = 1 << 4,
} tfrt_cuda_vendor_t;

typedef struct tfrt_cuda_platform_s {
  tfrt_device_platform_t base;
  tfrt_cuda_api_t api;  // constant
  tfrt_mutex_t mutex;   // guards opening devices
  tfrt_cuda_device_t* devices;
  tfrt_cuda_poller_t poller;
  tfrt_task_t destroy_task;       // for an end on one of its threads
  _Atomic uint64_t stream_count;  // that there have been
  const char* library_path;       // what is opened instead of NVIDIA's libraries; NULL: those
  tfrt_mutex_t library_mutex;     // guards opening them, and all below until it is opened
  uint32_t open_libraries;        // a set of tfrt_cuda_vendor_t
  tfrt_cublas_api_t cublas;
  tfrt_cublaslt_api_t cublaslt;
  tfrt_cudnn_api_t cudnn;
  tfrt_cudnn_backend_api_t cudnn_backend;
  tfrt_nccl_api_t nccl;
} tfrt_cuda_platform_t;

typedef struct tfrt_cuda_stream_s {
  tfrt_device_stream_t base;
  tfrt_cuda_stream_handle_t handle;
  uint64_t number;  // that no other stream of the platform has had
  tfrt_mutex_t record_mutex;
  uint64_t record_count;  // guarded by it
  tfrt_mutex_t workspace_mutex;
  // Guarded by it: memory that calls of libraries use one after the other, as the stream does them.
  tfrt_cuda_address_t workspace;  // 0: none
  size_t workspace_size;
} tfrt_cuda_stream_t;

static inline tfrt_cuda_device_t* tfrt_cuda_device_of(tfrt_device_t* device) {
  return TFRT_CONTAINER_OF(device, tfrt_cuda_device_t, base);
}
static inline tfrt_cuda_platform_t* tfrt_cuda_platform_of(const tfrt_device_t* device) {
  return TFRT_CONTAINER_OF(device->platform, tfrt_cuda_platform_t, base);
}
static inline const tfrt_cuda_api_t* tfrt_cuda_api_of(const tfrt_device_t* device) {
  return &tfrt_cuda_platform_of(device)->api;
}
static inline tfrt_cuda_stream_t* tfrt_cuda_stream_of(tfrt_device_stream_t* stream) {
  return TFRT_CONTAINER_OF(stream, tfrt_cuda_stream_t, base);
}

// Makes the context of |device| the thread's current one, until tfrt_cuda_leave(). That call
// restores the context that was current before, for other code that uses CUDA on this thread.
// Thread-safe.
tfrt_status_t tfrt_cuda_enter(tfrt_device_t* device) TFRT_MUST_USE;

// Undoes tfrt_cuda_enter() and returns what |result| of the entry point |call| is as a status;
// one that sticks loses the device, and is its loss. Thread-safe.
tfrt_status_t tfrt_cuda_leave(tfrt_device_t* device, tfrt_cuda_result_t result, const char* call)
    TFRT_MUST_USE;

// Opens |library|, which is |vendor|, into |table|, a member of |platform|, unless it is open
// already. An open library stays as long as the platform. Thread-safe.
tfrt_status_t tfrt_cuda_platform_open(tfrt_cuda_platform_t* platform,
                                      const tfrt_vendor_library_t* library,
                                      tfrt_cuda_vendor_t vendor, void* table) TFRT_MUST_USE;

// Entries of the device's vtable, by file. Thread-safe.
tfrt_status_t tfrt_cuda_device_create_stream(tfrt_device_t* device,
                                             tfrt_device_stream_t** out_stream);
tfrt_status_t tfrt_cuda_device_create_event(tfrt_device_t* device, bool with_timing,
                                            tfrt_device_event_t** out_event);
tfrt_status_t tfrt_cuda_device_load_module(tfrt_device_t* device, const char* image, size_t size,
                                           tfrt_device_module_t** out_module);
tfrt_status_t tfrt_cuda_device_create_blas(tfrt_device_t* device, tfrt_device_blas_t** out_blas);
tfrt_status_t tfrt_cuda_device_create_dnn(tfrt_device_t* device, tfrt_device_dnn_t** out_dnn);
tfrt_status_t tfrt_cuda_device_create_ccl(tfrt_device_t* device, const tfrt_ccl_id_t* id,
                                          int32_t rank, int32_t size, tfrt_device_ccl_t** out_ccl);
tfrt_status_t tfrt_cuda_device_ccl_site(tfrt_device_t* device, tfrt_ccl_site_t* out_site);

// How the device's memory is lent to other processes (cuda_sharing.c); constant.
extern const tfrt_device_sharing_t tfrt_cuda_sharing;

// Lets work of |user| reach the memory of |pool|. Thread-safe.
tfrt_status_t tfrt_cuda_pool_give_access(tfrt_device_t* owner, tfrt_cuda_pool_t pool,
                                         const tfrt_cuda_device_t* user) TFRT_MUST_USE;

// The same of the platform's. Thread-safe.
tfrt_status_t tfrt_cuda_platform_create_ccl_id(tfrt_device_platform_t* platform,
                                               tfrt_ccl_id_t* out_id);

// Entries of the stream's vtable, in cuda_graph.c. Thread-safe.
tfrt_status_t tfrt_cuda_stream_begin_capture(tfrt_device_stream_t* stream);
tfrt_status_t tfrt_cuda_stream_end_capture(tfrt_device_stream_t* stream,
                                           tfrt_device_graph_t** out_graph);

// Sets |*out_address| to at least |size| bytes that work of |stream| may use which is given before
// tfrt_cuda_stream_give_workspace(): no other call gets or moves them until then. Returns false if
// they can't be had, and there is nothing to give back. In the context of the device, which has
// pools unless |size| is 0. Thread-safe.
bool tfrt_cuda_stream_take_workspace(tfrt_cuda_stream_t* stream, size_t size,
                                     tfrt_cuda_address_t* out_address) TFRT_MUST_USE;
void tfrt_cuda_stream_give_workspace(tfrt_cuda_stream_t* stream);

// Parts of a stream's record and wait that are about the event. Thread-safe.
tfrt_status_t tfrt_cuda_event_record(tfrt_device_event_t* event, tfrt_cuda_stream_t* stream);
tfrt_status_t tfrt_cuda_event_wait(tfrt_device_event_t* event, tfrt_cuda_stream_t* stream);

// The driver's function behind |function|; sees to it that it may have |shared_size| bytes of
// shared memory per block. Thread-safe, in the function's context.
tfrt_cuda_result_t tfrt_cuda_function_prepare(tfrt_device_function_t* function,
                                              uint32_t shared_size,
                                              tfrt_cuda_function_handle_t* out_handle);

#endif  // TFRT_DEVICES_CUDA_CUDA_IMPL_H_
