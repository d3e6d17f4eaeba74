// SPDX-License-Identifier: Apache-2.0
//
// Counted memory of a device, or of the host where the device reaches it. The host reads and
// writes the second kind only (tfrt_device_buffer_host_data()); between the two, streams copy.
//
//   allocated  from an allocator, in the order of its *home* stream
//   external   somebody's memory: a module's variable, a pinned tensor of the host
//   view       a part of another buffer, which it keeps
//
// A buffer remembers the streams that were given work with it. So the caller may release the buffer
// as soon as the work is in its streams. The memory is freed when all these streams have reached
// that point, with no host waiting.
//
//   home stream    alloc ---- work A -------------------- [wait] free --> reused
//   other stream          ............. work B [event] ....../
//
// A buffer does *not* order the work: the caller adds an event, so that work B sees the results of
// work A.
//
// Life:
//  1. Created at +1.
//  2. Used in streams (device_stream.h), and shared.
//  3. Either freed by name (tfrt_device_buffer_free()), after which each use is an error, or
//     released; the last release frees it.
//
// Thread rule: thread-safe, but that freeing is ordered with all uses by the caller.
// Failure rule: as devices/device.h. If memory can't be given back (the driver refuses even
// an event), it is kept, and that is logged.
#ifndef TFRT_DEVICES_DEVICE_BUFFER_H_
#define TFRT_DEVICES_DEVICE_BUFFER_H_

#include "devices/device.h"
#include "host_runtime/base/sync.h"
#include "host_runtime/tensor/host_buffer.h"

TFRT_API_BEGIN

// A buffer remembers at most this many streams besides the home stream one by one; for more, it
// makes streams wait for each other.
#define TFRT_DEVICE_BUFFER_MAX_USERS 6

typedef struct tfrt_device_buffer_s tfrt_device_buffer_t;

// Takes back the memory of an external buffer. Called once, when no work uses it any more,
// on any thread.
typedef void (*tfrt_device_buffer_release_fn_t)(void* context);

// Where the memory of a buffer goes back to; constant.
typedef struct tfrt_device_buffer_source_s {
  // Takes back |buffer|'s memory. Work that uses it comes before the present end of |stream|;
  // NULL: there is none. |stream| is of the buffer's device.
  void (*free)(tfrt_device_buffer_t* buffer, tfrt_device_stream_t* stream);
  // Instead: nobody can tell when the memory is unused, so that it is never taken back.
  void (*forget)(tfrt_device_buffer_t* buffer);
} tfrt_device_buffer_source_t;

// All of it belongs to devices/.
struct tfrt_device_buffer_s {
  tfrt_ref_count_t ref_count;
  tfrt_device_space_t space;
  TFRT_ATOMIC(bool) is_freed;
  tfrt_device_t* device;  // +1
  tfrt_device_address_t address;
  size_t size;
  tfrt_device_buffer_t* parent;  // +1 of a view, whose own fields below are unused
  const tfrt_device_buffer_source_t* source;
  void* owner;                 // the allocator, or what an external buffer needs to end
  void* block;                 // the allocator's idea of the memory
  tfrt_device_stream_t* home;  // +1; NULL: none
  tfrt_mutex_t mutex;          // guards all below
  uint32_t user_count;
  tfrt_device_stream_t* users[TFRT_DEVICE_BUFFER_MAX_USERS];  // +1 each
};

// Sets |*out_buffer| (+1) to a buffer over |size| bytes at |address|, which |source| takes
// back; |home| (retained) may be NULL. For allocators. Thread-safe.
tfrt_status_t tfrt_device_buffer_create(tfrt_device_t* device, tfrt_device_space_t space,
                                        tfrt_device_address_t address, size_t size,
                                        const tfrt_device_buffer_source_t* source,
                                        tfrt_device_stream_t* home,
                                        tfrt_device_buffer_t** out_buffer) TFRT_MUST_USE;

// The same for somebody's memory, which |release| takes back with |context|; not called if
// this fails. Thread-safe.
tfrt_status_t tfrt_device_buffer_create_external(tfrt_device_t* device, tfrt_device_space_t space,
                                                 tfrt_device_address_t address, size_t size,
                                                 tfrt_device_buffer_release_fn_t release,
                                                 void* context, tfrt_device_buffer_t** out_buffer)
    TFRT_MUST_USE;

// Sets |*out_buffer| (+1) to the memory of |host_buffer| (retained), pinned for |device|. May
// block. Thread-safe.
tfrt_status_t tfrt_device_buffer_create_pinned(tfrt_device_t* device,
                                               tfrt_host_buffer_t* host_buffer,
                                               tfrt_device_buffer_t** out_buffer) TFRT_MUST_USE;

// Sets |*out_buffer| (+1) to the |size| bytes from |offset| of |buffer|, which stays alive.
// OUT_OF_RANGE if |buffer| is too small for that. Thread-safe.
tfrt_status_t tfrt_device_buffer_create_view(tfrt_device_buffer_t* buffer, size_t offset,
                                             size_t size, tfrt_device_buffer_t** out_buffer)
    TFRT_MUST_USE;

// Adds one reference to |buffer| and returns it. Thread-safe.
tfrt_device_buffer_t* tfrt_device_buffer_retain(tfrt_device_buffer_t* buffer);

// Drops one reference; NULL is allowed. Thread-safe.
void tfrt_device_buffer_release(tfrt_device_buffer_t* buffer);

// Gives the memory of |buffer| back once |stream|, NULL or of its device, has done what it
// has been given, and so have all streams that use it. FAILED_PRECONDITION if that was done
// before; INVALID_ARGUMENT for a view or a stream of another device. Thread-safe.
tfrt_status_t tfrt_device_buffer_free(tfrt_device_buffer_t* buffer, tfrt_device_stream_t* stream)
    TFRT_MUST_USE;

// OK if |size| bytes from |offset| of |buffer| may be used, else OUT_OF_RANGE, or
// FAILED_PRECONDITION when it was freed. Thread-safe.
tfrt_status_t tfrt_device_buffer_check(const tfrt_device_buffer_t* buffer, size_t offset,
                                       size_t size) TFRT_MUST_USE;

// Remembers that |stream| is about to get work with |buffer|. Thread-safe.
tfrt_status_t tfrt_device_buffer_use(tfrt_device_buffer_t* buffer, tfrt_device_stream_t* stream)
    TFRT_MUST_USE;

// Lets the work that |stream|, of a device of the same platform, is given from now on start when
// all work that was given with |buffer| so far is done. Thread-safe.
tfrt_status_t tfrt_device_buffer_join(tfrt_device_buffer_t* buffer, tfrt_device_stream_t* stream)
    TFRT_MUST_USE;

// Where the host finds the bytes of |buffer|; NULL if it can't look at them. Lives as long
// as the buffer. Thread-safe.
static inline void* tfrt_device_buffer_host_data(const tfrt_device_buffer_t* buffer) {
  return buffer->space == TFRT_DEVICE_SPACE_HOST ? (void*)(uintptr_t)buffer->address : NULL;
}

TFRT_API_END

#endif  // TFRT_DEVICES_DEVICE_BUFFER_H_
