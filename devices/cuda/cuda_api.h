// SPDX-License-Identifier: Apache-2.0
//
// Our own declarations of the part of the CUDA driver that this project uses: handles, numbers and
// the entry points of the driver's library. So a build needs no toolkit, and a program without GPUs
// needs no CUDA.
//
// The entry points are one table. Each line names one, the CUDA version whose form of it is
// meant (as 1000 * major + 10 * minor), and whether we can do without it.
//
// Thread rule: constant after opening. Failure rule: as devices/cuda/cuda_library.h.
#ifndef TFRT_DEVICES_CUDA_CUDA_API_H_
#define TFRT_DEVICES_CUDA_CUDA_API_H_

#include <stddef.h>
#include <stdint.h>

typedef int tfrt_cuda_result_t;
typedef int tfrt_cuda_device_id_t;
typedef uint64_t tfrt_cuda_address_t;
typedef struct tfrt_cuda_context_s* tfrt_cuda_context_t;
typedef struct tfrt_cuda_stream_handle_s* tfrt_cuda_stream_handle_t;
typedef struct tfrt_cuda_event_handle_s* tfrt_cuda_event_handle_t;
typedef struct tfrt_cuda_module_handle_s* tfrt_cuda_module_handle_t;
typedef struct tfrt_cuda_library_handle_s* tfrt_cuda_library_handle_t;
typedef struct tfrt_cuda_kernel_handle_s* tfrt_cuda_kernel_handle_t;
typedef struct tfrt_cuda_function_handle_s* tfrt_cuda_function_handle_t;
typedef struct tfrt_cuda_pool_s* tfrt_cuda_pool_t;
typedef struct tfrt_cuda_graph_handle_s* tfrt_cuda_graph_handle_t;
typedef struct tfrt_cuda_graph_exec_s* tfrt_cuda_graph_exec_t;

// A place that may access a pool's memory, and the kind of access.
typedef struct tfrt_cuda_access_s {
  int location_type;
  int location_id;
  int flags;
} tfrt_cuda_access_t;

// The options of a new pool. The driver wants the parts without a name to be 0.
typedef struct tfrt_cuda_pool_options_s {
  int allocation_type;
  int handle_types;
  int location_type;
  int location_id;
  void* security;
  size_t max_size;
  unsigned char reserved[56];
} tfrt_cuda_pool_options_t;

// A block of a pool, for another process.
typedef struct tfrt_cuda_exported_s {
  unsigned char bytes[64];
} tfrt_cuda_exported_t;

// Which device it is, on all machines.
typedef struct tfrt_cuda_uuid_s {
  unsigned char bytes[16];
} tfrt_cuda_uuid_t;

// One attribute of a launch.
typedef struct tfrt_cuda_launch_attribute_s {
  int id;
  char padding[4];
  union {
    char room[64];
    int cooperative;
    unsigned cluster[3];
    int priority;
  } value;
} tfrt_cuda_launch_attribute_t;

// A launch with attributes.
typedef struct tfrt_cuda_launch_s {
  unsigned grid[3];
  unsigned block[3];
  unsigned shared_size;
  tfrt_cuda_stream_handle_t stream;
  tfrt_cuda_launch_attribute_t* attributes;
  unsigned attribute_count;
} tfrt_cuda_launch_t;

// The numbers of the driver's interface that are used here.
enum tfrt_cuda_number_e {
  TFRT_CUDA_SUCCESS = 0,
  TFRT_CUDA_ERROR_INVALID_VALUE = 1,
  TFRT_CUDA_ERROR_OUT_OF_MEMORY = 2,
  TFRT_CUDA_ERROR_NO_DEVICE = 100,
  TFRT_CUDA_ERROR_INVALID_DEVICE = 101,
  TFRT_CUDA_ERROR_INVALID_IMAGE = 200,
  TFRT_CUDA_ERROR_INVALID_CONTEXT = 201,
  TFRT_CUDA_ERROR_NO_BINARY_FOR_GPU = 209,
  TFRT_CUDA_ERROR_ECC_UNCORRECTABLE = 214,
  TFRT_CUDA_ERROR_INVALID_PTX = 218,
  TFRT_CUDA_ERROR_NVLINK_UNCORRECTABLE = 220,
  TFRT_CUDA_ERROR_UNSUPPORTED_PTX_VERSION = 222,
  TFRT_CUDA_ERROR_CONTAINED = 226,
  TFRT_CUDA_ERROR_INVALID_HANDLE = 400,
  TFRT_CUDA_ERROR_NOT_FOUND = 500,
  TFRT_CUDA_ERROR_NOT_READY = 600,
  TFRT_CUDA_ERROR_ILLEGAL_ADDRESS = 700,
  TFRT_CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES = 701,
  TFRT_CUDA_ERROR_LAUNCH_TIMEOUT = 702,
  TFRT_CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED = 704,
  TFRT_CUDA_ERROR_CONTEXT_IS_DESTROYED = 709,
  TFRT_CUDA_ERROR_ASSERT = 710,
  TFRT_CUDA_ERROR_HARDWARE_STACK_ERROR = 714,
  TFRT_CUDA_ERROR_LAUNCH_FAILED = 719,
  TFRT_CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE = 720,
  TFRT_CUDA_ERROR_TENSOR_MEMORY_LEAK = 721,
  TFRT_CUDA_ERROR_NOT_SUPPORTED = 801,
  TFRT_CUDA_ERROR_MPS_CLIENT_TERMINATED = 810,
  TFRT_CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED = 900,
  TFRT_CUDA_ERROR_STREAM_CAPTURE_UNMATCHED = 903,
  TFRT_CUDA_ERROR_EXTERNAL_DEVICE = 911,

  TFRT_CUDA_ATTRIBUTE_MAX_THREADS_PER_BLOCK = 1,
  TFRT_CUDA_ATTRIBUTE_MAX_BLOCK_X = 2,
  TFRT_CUDA_ATTRIBUTE_MAX_GRID_X = 5,
  TFRT_CUDA_ATTRIBUTE_MULTIPROCESSOR_COUNT = 16,
  TFRT_CUDA_ATTRIBUTE_CAPABILITY_MAJOR = 75,
  TFRT_CUDA_ATTRIBUTE_CAPABILITY_MINOR = 76,
  TFRT_CUDA_ATTRIBUTE_REGISTERED_HOST_POINTER = 91,
  TFRT_CUDA_ATTRIBUTE_COOPERATIVE_LAUNCH = 95,
  TFRT_CUDA_ATTRIBUTE_MAX_SHARED_SIZE_OPTIN = 97,
  TFRT_CUDA_ATTRIBUTE_MEMORY_POOLS = 115,
  TFRT_CUDA_ATTRIBUTE_POOL_HANDLE_TYPES = 119,
  TFRT_CUDA_ATTRIBUTE_CLUSTER_LAUNCH = 120,

  TFRT_CUDA_FUNCTION_MAX_THREADS_PER_BLOCK = 0,
  TFRT_CUDA_FUNCTION_MAX_DYNAMIC_SHARED_SIZE = 8,

  TFRT_CUDA_JIT_ERROR_LOG_BUFFER = 5,
  TFRT_CUDA_JIT_ERROR_LOG_BUFFER_SIZE = 6,

  TFRT_CUDA_LAUNCH_COOPERATIVE = 2,
  TFRT_CUDA_LAUNCH_CLUSTER = 4,
  TFRT_CUDA_LAUNCH_PRIORITY = 8,  // from CUDA 11.7 on

  TFRT_CUDA_STREAM_NON_BLOCKING = 1,
  TFRT_CUDA_CAPTURE_RELAXED = 2,
  TFRT_CUDA_EVENT_DISABLE_TIMING = 2,
  TFRT_CUDA_HOST_PORTABLE = 1,  // of pinned memory
  TFRT_CUDA_POOL_RELEASE_THRESHOLD = 4,
  TFRT_CUDA_ALLOCATION_PINNED = 1,
  TFRT_CUDA_HANDLE_DESCRIPTOR = 1,  // of a file
  TFRT_CUDA_LOCATION_DEVICE = 1,
  TFRT_CUDA_ACCESS_READ_WRITE = 3,
};

// The table: X(entry point without its "cu", version, whether it is required, parameters).
#define TFRT_CUDA_ENTRIES(X)                                                                       \
  X(Init, 2000, true, (unsigned flags))                                                            \
  X(DriverGetVersion, 2020, true, (int* version))                                                  \
  X(GetErrorName, 6000, true, (tfrt_cuda_result_t error, const char** name))                       \
  X(GetErrorString, 6000, true, (tfrt_cuda_result_t error, const char** text))                     \
  X(DeviceGetCount, 2000, true, (int* count))                                                      \
  X(DeviceGet, 2000, true, (tfrt_cuda_device_id_t * device, int ordinal))                          \
  X(DeviceGetName, 2000, true, (char* name, int size, tfrt_cuda_device_id_t device))               \
  X(DeviceGetPCIBusId, 4010, true, (char* text, int size, tfrt_cuda_device_id_t device))           \
  X(DeviceGetUuid, 11040, false, (tfrt_cuda_uuid_t * uuid, tfrt_cuda_device_id_t device))          \
  X(DeviceTotalMem, 3020, true, (size_t * size, tfrt_cuda_device_id_t device))                     \
  X(DeviceGetAttribute, 2000, true, (int* value, int attribute, tfrt_cuda_device_id_t device))     \
  X(DeviceCanAccessPeer, 4000, true,                                                               \
    (int* can, tfrt_cuda_device_id_t device, tfrt_cuda_device_id_t peer))                          \
  X(DevicePrimaryCtxRetain, 7000, true,                                                            \
    (tfrt_cuda_context_t * context, tfrt_cuda_device_id_t device))                                 \
  X(DevicePrimaryCtxRelease, 11000, true, (tfrt_cuda_device_id_t device))                          \
  X(CtxPushCurrent, 4000, true, (tfrt_cuda_context_t context))                                     \
  X(CtxPopCurrent, 4000, true, (tfrt_cuda_context_t * context))                                    \
  X(CtxGetStreamPriorityRange, 5050, false, (int* last, int* first))                               \
  X(CtxEnablePeerAccess, 4000, true, (tfrt_cuda_context_t peer, unsigned flags))                   \
  X(StreamCreate, 2000, true, (tfrt_cuda_stream_handle_t * stream, unsigned flags))                \
  X(StreamDestroy, 4000, true, (tfrt_cuda_stream_handle_t stream))                                 \
  X(StreamWaitEvent, 3020, true,                                                                   \
    (tfrt_cuda_stream_handle_t stream, tfrt_cuda_event_handle_t event, unsigned flags))            \
  X(EventCreate, 2000, true, (tfrt_cuda_event_handle_t * event, unsigned flags))                   \
  X(EventDestroy, 4000, true, (tfrt_cuda_event_handle_t event))                                    \
  X(EventRecord, 2000, true, (tfrt_cuda_event_handle_t event, tfrt_cuda_stream_handle_t stream))   \
  X(EventQuery, 2000, true, (tfrt_cuda_event_handle_t event))                                      \
  X(EventElapsedTime, 2000, true,                                                                  \
    (float* milliseconds, tfrt_cuda_event_handle_t start, tfrt_cuda_event_handle_t end))           \
  X(MemAlloc, 3020, true, (tfrt_cuda_address_t * address, size_t size))                            \
  X(MemFree, 3020, true, (tfrt_cuda_address_t address))                                            \
  X(MemAllocAsync, 11020, false,                                                                   \
    (tfrt_cuda_address_t * address, size_t size, tfrt_cuda_stream_handle_t stream))                \
  X(MemFreeAsync, 11020, false, (tfrt_cuda_address_t address, tfrt_cuda_stream_handle_t stream))   \
  X(DeviceGetDefaultMemPool, 11020, false,                                                         \
    (tfrt_cuda_pool_t * pool, tfrt_cuda_device_id_t device))                                       \
  X(MemPoolSetAttribute, 11020, false, (tfrt_cuda_pool_t pool, int attribute, void* value))        \
  X(MemPoolSetAccess, 11020, false,                                                                \
    (tfrt_cuda_pool_t pool, const tfrt_cuda_access_t* accesses, size_t count))                     \
  X(MemPoolCreate, 11020, false,                                                                   \
    (tfrt_cuda_pool_t * pool, const tfrt_cuda_pool_options_t* options))                            \
  X(MemPoolDestroy, 11020, false, (tfrt_cuda_pool_t pool))                                         \
  X(MemAllocFromPoolAsync, 11020, false,                                                           \
    (tfrt_cuda_address_t * address, size_t size, tfrt_cuda_pool_t pool,                            \
     tfrt_cuda_stream_handle_t stream))                                                            \
  X(MemPoolExportToShareableHandle, 11020, false,                                                  \
    (void* handle, tfrt_cuda_pool_t pool, int type, unsigned long long flags))                     \
  X(MemPoolImportFromShareableHandle, 11020, false,                                                \
    (tfrt_cuda_pool_t * pool, void* handle, int type, unsigned long long flags))                   \
  X(MemPoolExportPointer, 11020, false,                                                            \
    (tfrt_cuda_exported_t * exported, tfrt_cuda_address_t address))                                \
  X(MemPoolImportPointer, 11020, false,                                                            \
    (tfrt_cuda_address_t * address, tfrt_cuda_pool_t pool, tfrt_cuda_exported_t * exported))       \
  X(MemGetAddressRange, 3020, true,                                                                \
    (tfrt_cuda_address_t * start, size_t * size, tfrt_cuda_address_t address))                     \
  X(MemHostAlloc, 2020, true, (void** data, size_t size, unsigned flags))                          \
  X(MemFreeHost, 2000, true, (void* data))                                                         \
  X(MemHostRegister, 6050, true, (void* data, size_t size, unsigned flags))                        \
  X(MemHostUnregister, 4000, true, (void* data))                                                   \
  X(MemcpyAsync, 4000, true,                                                                       \
    (tfrt_cuda_address_t target, tfrt_cuda_address_t source, size_t size,                          \
     tfrt_cuda_stream_handle_t stream))                                                            \
  X(MemcpyPeerAsync, 4000, true,                                                                   \
    (tfrt_cuda_address_t target, tfrt_cuda_context_t target_context, tfrt_cuda_address_t source,   \
     tfrt_cuda_context_t source_context, size_t size, tfrt_cuda_stream_handle_t stream))           \
  X(MemsetD8Async, 3020, true,                                                                     \
    (tfrt_cuda_address_t target, unsigned char pattern, size_t count,                              \
     tfrt_cuda_stream_handle_t stream))                                                            \
  X(MemsetD16Async, 3020, true,                                                                    \
    (tfrt_cuda_address_t target, unsigned short pattern, size_t count,                             \
     tfrt_cuda_stream_handle_t stream))                                                            \
  X(MemsetD32Async, 3020, true,                                                                    \
    (tfrt_cuda_address_t target, unsigned pattern, size_t count,                                   \
     tfrt_cuda_stream_handle_t stream))                                                            \
  X(ModuleLoadDataEx, 2010, true,                                                                  \
    (tfrt_cuda_module_handle_t * module, const void* image, unsigned option_count, int* options,   \
     void** values))                                                                               \
  X(ModuleUnload, 2000, true, (tfrt_cuda_module_handle_t module))                                  \
  X(ModuleGetFunction, 2000, true,                                                                 \
    (tfrt_cuda_function_handle_t * function, tfrt_cuda_module_handle_t module, const char* name))  \
  X(ModuleGetGlobal, 3020, true,                                                                   \
    (tfrt_cuda_address_t * address, size_t * size, tfrt_cuda_module_handle_t module,               \
     const char* name))                                                                            \
  X(LibraryLoadData, 12000, false,                                                                 \
    (tfrt_cuda_library_handle_t * library, const void* image, int* jit_options, void** jit_values, \
     unsigned jit_option_count, int* options, void** values, unsigned option_count))               \
  X(LibraryUnload, 12000, false, (tfrt_cuda_library_handle_t library))                             \
  X(LibraryGetModule, 12000, false,                                                                \
    (tfrt_cuda_module_handle_t * module, tfrt_cuda_library_handle_t library))                      \
  X(LibraryGetKernel, 12000, false,                                                                \
    (tfrt_cuda_kernel_handle_t * kernel, tfrt_cuda_library_handle_t library, const char* name))    \
  X(LibraryGetGlobal, 12000, false,                                                                \
    (tfrt_cuda_address_t * address, size_t * size, tfrt_cuda_library_handle_t library,             \
     const char* name))                                                                            \
  X(KernelGetFunction, 12000, false,                                                               \
    (tfrt_cuda_function_handle_t * function, tfrt_cuda_kernel_handle_t kernel))                    \
  X(FuncGetAttribute, 2020, true,                                                                  \
    (int* value, int attribute, tfrt_cuda_function_handle_t function))                             \
  X(FuncSetAttribute, 9000, true,                                                                  \
    (tfrt_cuda_function_handle_t function, int attribute, int value))                              \
  X(FuncGetParamInfo, 12040, false,                                                                \
    (tfrt_cuda_function_handle_t function, size_t index, size_t * offset, size_t * size))          \
  X(LaunchKernel, 4000, true,                                                                      \
    (tfrt_cuda_function_handle_t function, unsigned grid_x, unsigned grid_y, unsigned grid_z,      \
     unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_size,                   \
     tfrt_cuda_stream_handle_t stream, void** parameters, void** extra))                           \
  X(LaunchCooperativeKernel, 9000, true,                                                           \
    (tfrt_cuda_function_handle_t function, unsigned grid_x, unsigned grid_y, unsigned grid_z,      \
     unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_size,                   \
     tfrt_cuda_stream_handle_t stream, void** parameters))                                         \
  X(LaunchKernelEx, 11060, false,                                                                  \
    (const tfrt_cuda_launch_t* launch, tfrt_cuda_function_handle_t function, void** parameters,    \
     void** extra))                                                                                \
  X(StreamBeginCapture, 10010, false, (tfrt_cuda_stream_handle_t stream, int mode))                \
  X(StreamEndCapture, 10000, false,                                                                \
    (tfrt_cuda_stream_handle_t stream, tfrt_cuda_graph_handle_t * graph))                          \
  X(GraphInstantiateWithFlags, 11040, false,                                                       \
    (tfrt_cuda_graph_exec_t * exec, tfrt_cuda_graph_handle_t graph, unsigned long long flags))     \
  X(GraphLaunch, 10000, false, (tfrt_cuda_graph_exec_t exec, tfrt_cuda_stream_handle_t stream))    \
  X(GraphExecDestroy, 10000, false, (tfrt_cuda_graph_exec_t exec))                                 \
  X(GraphDestroy, 10000, false, (tfrt_cuda_graph_handle_t graph))

// One member per line of the table, under the entry point's name; NULL for one that is not
// required and not there.
typedef struct tfrt_cuda_api_s {
#define TFRT_CUDA_MEMBER(name, version, is_required, parameters) \
  tfrt_cuda_result_t(*name) parameters;
  TFRT_CUDA_ENTRIES(TFRT_CUDA_MEMBER)
#undef TFRT_CUDA_MEMBER
} tfrt_cuda_api_t;

#endif  // TFRT_DEVICES_CUDA_CUDA_API_H_
