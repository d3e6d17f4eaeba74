// SPDX-License-Identifier: Apache-2.0
//
// The functions that a program calls when MLIR's `gpu-to-llvm` has lowered its `gpu` dialect, as C
// declares them. The names and the meanings are those of MLIR 22; the devices of this project do
// the work: NVIDIA's GPUs, or else the CPU as a device (docs/mlir_async.md). libtfrt_mgpu.so
// exports these and nothing else.
//
// Streams, events, modules and functions are handles; memory is an address, also in the middle of a
// block. A stream that is NULL stands for one of the device's own, and the call returns when its
// work is done.
//
//   host    StreamCreate --> S     MemAlloc, Memcpy, LaunchKernel in S     EventRecord E in S
//   host    StreamCreate --> T     StreamWaitEvent T, E                    Memcpy in T ...
//   host    StreamSynchronize T
//
// Thread rule: all functions are thread-safe; the default device is that of the calling thread.
// Failure rule: nothing here returns an error. A call that fails logs one line with its name and
// the cause, and returns NULL where it returns a handle or an address; calls with NULL for a handle
// do nothing then. With TFRT_MGPU_ON_ERROR=abort in the environment the first failure ends the
// process.
#ifndef TFRT_EMBEDDING_MGPU_MGPU_H_
#define TFRT_EMBEDDING_MGPU_MGPU_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

// --- Devices -----------------------------------------------------------------

// Makes |device| the one on which this thread's calls make streams, events, memory and modules.
// Thread-safe.
void mgpuSetDefaultDevice(int32_t device);

// --- Streams and events ------------------------------------------------------

// Makes a stream without work, and gives one back: its work is still done. Thread-safe.
void* mgpuStreamCreate(void);
void mgpuStreamDestroy(void* stream);

// Returns when all work of |stream| is done. Thread-safe.
void mgpuStreamSynchronize(void* stream);

// Lets the work that |stream| gets from now on start when |event| is reached. Where MLIR hands over
// another stream instead of an event (22 does, in pipelines of one process): when all that this has
// now is done. Thread-safe.
void mgpuStreamWaitEvent(void* stream, void* event);

// Makes an event that is reached, moves it to the present end of |stream|, waits for it on the
// host, gives it back. Thread-safe.
void* mgpuEventCreate(void);
void mgpuEventRecord(void* event, void* stream);
void mgpuEventSynchronize(void* event);
void mgpuEventDestroy(void* event);

// --- Memory ------------------------------------------------------------------

// Returns |size| bytes of the device in the order of |stream|, or, if |is_host_shared|, of the
// host, where the device reaches them. Thread-safe.
void* mgpuMemAlloc(uint64_t size, void* stream, int8_t is_host_shared);

// Gives them back behind the work of |stream|. Thread-safe.
void mgpuMemFree(void* pointer, void* stream);

// Copies |size| bytes; each address is one of a device or of the host. Thread-safe.
void mgpuMemcpy(void* target, void* source, uint64_t size, void* stream);

// Sets |count| elements of 4 or 2 bytes to |value|. Thread-safe.
void mgpuMemset32(void* target, uint32_t value, uint64_t count, void* stream);
void mgpuMemset16(void* target, uint16_t value, uint64_t count, void* stream);

// Pins memory of the host, so that the device reaches it, and undoes that. A descriptor is that of
// a memref of |rank| axes with elements of |element_size| bytes. Thread-safe.
void mgpuMemHostRegister(void* pointer, uint64_t size);
void mgpuMemHostUnregister(void* pointer);
void mgpuMemHostRegisterMemRef(int64_t rank, void* descriptor, int64_t element_size);
void mgpuMemHostUnregisterMemRef(int64_t rank, void* descriptor, int64_t element_size);

// --- Code --------------------------------------------------------------------

// Loads a cubin or fat binary of |size| bytes, or a PTX text with a NUL behind it; unloads it, with
// its functions. Thread-safe.
void* mgpuModuleLoad(const void* image, uint64_t size);
void* mgpuModuleLoadJIT(const char* text, int32_t level);
void mgpuModuleUnload(void* module);

// The kernel |name| of |module|, the same one each time, as long as that is loaded. Thread-safe.
void* mgpuModuleGetFunction(void* module, const char* name);

// Runs |function| in |stream|. |parameters[i]| points to argument i; |extra| is NULL. With
// clusters, the grid counts blocks. Thread-safe.
void mgpuLaunchKernel(void* function, int64_t grid_x, int64_t grid_y, int64_t grid_z,
                      int64_t block_x, int64_t block_y, int64_t block_z, int32_t shared_size,
                      void* stream, void** parameters, void** extra, int64_t parameter_count);
void mgpuLaunchClusterKernel(void* function, int64_t cluster_x, int64_t cluster_y,
                             int64_t cluster_z, int64_t grid_x, int64_t grid_y, int64_t grid_z,
                             int64_t block_x, int64_t block_y, int64_t block_z, int32_t shared_size,
                             void* stream, void** parameters, void** extra);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif  // TFRT_EMBEDDING_MGPU_MGPU_H_
