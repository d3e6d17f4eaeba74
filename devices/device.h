// SPDX-License-Identifier: Apache-2.0
//
// One device with its (primary) context: what memory, streams, events and modules are made
// on. Objects of two devices don't mix, but for copies between their memories and for
// streams that wait for events.
//
//   stream   work in order; two streams are not ordered      device_stream.h
//   event    a point in a stream, for others to wait for     device_event.h
//   buffer   memory, there or pinned here                    device_buffer.h
//   allocator where buffers come from                        device_allocator.h
//   module   code: kernels and global variables              device_module.h
//   graph    work that is given often, as one thing          device_graph.h
//   blas     linear algebra, by the vendor's library         device_blas.h
//   dnn      layers of neural networks, likewise             device_dnn.h
//   ccl      a part in a group of devices, likewise          device_ccl.h
//
// All work is asynchronous: a call that returns OK has put the work in its stream. A later error is
// the *loss* of the device: the driver's context is broken and stays so.
//
//   alive --first error that sticks--> lost, with that error
//
// From then on each call on the device, and each value that waits for its work, is that
// error. Other devices and the process don't notice.
//
// Life:
//  1. Made by its platform, once per ordinal, and owned by it.
//  2. Retained by its users; each reference retains the platform.
//
// Thread rule: thread-safe. Functions that may block say so.
// Failure rule: the caller's mistake is an error at once and changes nothing; errors of the
// driver name the device, the call and the driver's name for the error.
#ifndef TFRT_DEVICES_DEVICE_H_
#define TFRT_DEVICES_DEVICE_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "devices/device_platform.h"
#include "host_runtime/base/atomic.h"

TFRT_API_BEGIN

typedef struct tfrt_device_stream_s tfrt_device_stream_t;
typedef struct tfrt_device_event_s tfrt_device_event_t;
typedef struct tfrt_device_module_s tfrt_device_module_t;
typedef struct tfrt_device_graph_s tfrt_device_graph_t;
typedef struct tfrt_device_blas_s tfrt_device_blas_t;
typedef struct tfrt_device_dnn_s tfrt_device_dnn_t;
typedef struct tfrt_device_ccl_s tfrt_device_ccl_t;

// An address in the memory of a device, or of the host, as the driver counts.
typedef uint64_t tfrt_device_address_t;

// The owner of the memory.
typedef enum tfrt_device_space_e {
  TFRT_DEVICE_SPACE_DEVICE = 0,  // the device's own; the host can't look at it
  TFRT_DEVICE_SPACE_HOST = 1,    // the host's, pinned, so that devices reach it
} tfrt_device_space_t;

// Every block of memory starts at a multiple of this.
#define TFRT_DEVICE_ALIGNMENT 256

#define TFRT_DEVICE_MAX_NAME_SIZE 24
#define TFRT_DEVICE_MAX_MODEL_SIZE 96

// The abilities of the device. Sizes in bytes.
typedef struct tfrt_device_properties_s {
  char model[TFRT_DEVICE_MAX_MODEL_SIZE];  // for people
  uint64_t memory_size;
  uint32_t architecture;  // 10 * major + minor of a CUDA device's capability; else 0
  uint32_t multiprocessor_count;
  uint32_t max_threads_per_block;
  uint32_t max_block[3];
  uint32_t max_grid[3];
  uint32_t max_shared_size;  // of a block that asks for it
  bool has_pools;            // allocates and frees in the order of a stream
  bool has_cooperative_launch;
  bool has_clusters;       // of blocks
  int32_t first_priority;  // of launches, the least number, before all others; 0: there is one only
} tfrt_device_properties_t;

typedef struct tfrt_device_vtable_s {
  void (*destroy)(tfrt_device_t* device);
  // |size| > 0 bytes of |space|, aligned to TFRT_DEVICE_ALIGNMENT; may block.
  tfrt_status_t (*allocate)(tfrt_device_t* device, tfrt_device_space_t space, size_t size,
                            tfrt_device_address_t* out_address);
  // Takes back a block that no work in flight uses; may block.
  tfrt_status_t (*deallocate)(tfrt_device_t* device, tfrt_device_space_t space,
                              tfrt_device_address_t address, size_t size);
  // Pins the |size| bytes of the host at |data|, and lets them go again; may block.
  tfrt_status_t (*pin)(tfrt_device_t* device, void* data, size_t size);
  tfrt_status_t (*unpin)(tfrt_device_t* device, void* data, size_t size);
  tfrt_status_t (*create_stream)(tfrt_device_t* device, tfrt_device_stream_t** out_stream);
  tfrt_status_t (*create_event)(tfrt_device_t* device, bool with_timing,
                                tfrt_device_event_t** out_event);
  // |image| has |size| bytes and a NUL behind them.
  tfrt_status_t (*load_module)(tfrt_device_t* device, const char* image, size_t size,
                               tfrt_device_module_t** out_module);
  // Whether copies to and from |peer|, another device of the platform, are possible.
  tfrt_status_t (*can_copy_from)(tfrt_device_t* device, tfrt_device_t* peer, bool* out_can);
  tfrt_status_t (*create_blas)(tfrt_device_t* device, tfrt_device_blas_t** out_blas);
  tfrt_status_t (*create_dnn)(tfrt_device_t* device, tfrt_device_dnn_t** out_dnn);
  // As tfrt_device_create_ccl(), of a rank that there is.
  tfrt_status_t (*create_ccl)(tfrt_device_t* device, const tfrt_ccl_id_t* id, int32_t rank,
                              int32_t size, tfrt_device_ccl_t** out_ccl);
  // As tfrt_device_ccl_site(); |*out_site| is zeroed.
  tfrt_status_t (*ccl_site)(tfrt_device_t* device, tfrt_ccl_site_t* out_site);
} tfrt_device_vtable_t;

// The largest identity of a device, with its NUL.
#define TFRT_DEVICE_IDENTITY_SIZE 64

// The bytes that stand for a block of memory in another process, as the driver wants them.
#define TFRT_DEVICE_EXPORT_SIZE 64

// How a device's memory is used by other processes of the same machine (device_lending.h). A *pool*
// is what all blocks of a device in one process are from.
typedef struct tfrt_device_sharing_s {
  uint64_t max_block_size;  // larger blocks are neither exported nor opened
  // Writes a text that is the same for the same device and driver only, in all processes.
  tfrt_status_t (*identify)(tfrt_device_t* device, char out_identity[TFRT_DEVICE_IDENTITY_SIZE]);
  // Sets |*out_ordinal| to the device of |device|'s platform with |identity|, or returns NOT_FOUND.
  tfrt_status_t (*find)(tfrt_device_t* device, const char* identity, uint32_t* out_ordinal);
  // Sets |*out_descriptor| (owned by the caller) to the file that stands for the device's pool.
  tfrt_status_t (*export_pool)(tfrt_device_t* device, int* out_descriptor);
  // Describes the block at |address|, for processes that have the pool.
  tfrt_status_t (*export_block)(tfrt_device_t* device, tfrt_device_address_t address,
                                uint8_t out_block[TFRT_DEVICE_EXPORT_SIZE]);
  // Opens another process's pool of |device|, which |descriptor| (+0) stands for.
  tfrt_status_t (*open_pool)(tfrt_device_t* device, int descriptor, void** out_pool);
  void (*close_pool)(tfrt_device_t* device, void* pool);
  // Opens the untrusted |block| of |pool|, at least |size| bytes, for work of |user|, a device of
  // the platform.
  tfrt_status_t (*open_block)(tfrt_device_t* device, void* pool, tfrt_device_t* user,
                              const uint8_t block[TFRT_DEVICE_EXPORT_SIZE], size_t size,
                              tfrt_device_address_t* out_address);
  // No work uses the opened block any more. The other process may free it after that.
  tfrt_status_t (*close_block)(tfrt_device_t* device, tfrt_device_address_t address);
} tfrt_device_sharing_t;

// Embedded first in every implementation. Constant but for |lost|.
struct tfrt_device_s {
  const tfrt_device_vtable_t* vtable;
  tfrt_device_platform_t* platform;  // owns the device
  uint32_t ordinal;
  char name[TFRT_DEVICE_MAX_NAME_SIZE];  // "cuda:0"
  tfrt_device_properties_t properties;
  TFRT_ATOMIC(struct tfrt_status_s*) lost;  // +1; NULL: alive; set once
  const tfrt_device_sharing_t* sharing;     // NULL: other processes can't use its memory
};

// Fills the zeroed |device| in, but for its properties. For backends. Thread-compatible.
void tfrt_device_initialize(tfrt_device_t* device, const tfrt_device_vtable_t* vtable,
                            tfrt_device_platform_t* platform, uint32_t ordinal);

// The last step of a backend's destroy. Thread-compatible.
void tfrt_device_deinitialize(tfrt_device_t* device);

// Keeps |device| alive, with its platform, and returns it. Thread-safe.
static inline tfrt_device_t* tfrt_device_retain(tfrt_device_t* device) {
  tfrt_device_platform_retain(device->platform);
  return device;
}

// Undoes one retain; NULL is allowed. Thread-safe.
static inline void tfrt_device_release(tfrt_device_t* device) {
  if (device) tfrt_device_platform_release(device->platform);
}

// OK while |device| is alive, else the error (+1) that it was lost with. Thread-safe.
tfrt_status_t tfrt_device_check(tfrt_device_t* device) TFRT_MUST_USE;

// Makes |device| lost with the error |status| (+0), unless it is lost already. For backends.
// Thread-safe.
void tfrt_device_lose(tfrt_device_t* device, tfrt_status_t status);

// Logs that |size| bytes of |device| could not be given back because of |status| (consumed);
// nothing if that is OK, or if the device is lost, and its memory with it. Thread-safe.
void tfrt_device_report_kept(tfrt_device_t* device, size_t size, tfrt_status_t status);

// Sets |*out_stream| (+1) to a new stream without work. Thread-safe.
tfrt_status_t tfrt_device_create_stream(tfrt_device_t* device, tfrt_device_stream_t** out_stream)
    TFRT_MUST_USE;

// Sets |*out_event| (+1) to a new event that was never recorded. Only those |with_timing|
// can be asked for times; the others are cheaper. Thread-safe.
tfrt_status_t tfrt_device_create_event(tfrt_device_t* device, bool with_timing,
                                       tfrt_device_event_t** out_event) TFRT_MUST_USE;

// Sets |*out_module| (+1) to the code in the |size| bytes at |image|, which may go after the
// call: PTX, cubin or fat binary for CUDA; see devices/cpu for "cpu". INVALID_ARGUMENT for
// an image that the device can't run. May block (code is compiled). Thread-safe.
tfrt_status_t tfrt_device_load_module(tfrt_device_t* device, const char* image, size_t size,
                                      tfrt_device_module_t** out_module) TFRT_MUST_USE;

// OK if the memory of |peer| can be copied to that of |device| and back; they may be the
// same. INVALID_ARGUMENT for devices of two platforms, FAILED_PRECONDITION if the hardware
// can't. Thread-safe.
tfrt_status_t tfrt_device_check_peer(tfrt_device_t* device, tfrt_device_t* peer) TFRT_MUST_USE;

TFRT_API_END

#endif  // TFRT_DEVICES_DEVICE_H_
