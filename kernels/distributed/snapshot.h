// SPDX-License-Identifier: Apache-2.0
//
// A copy of a value at one moment, for a receiver in the same process. So the sender may write to
// the value afterwards, as if it had gone to another host.
//
//   value, mutable  --available--> copy    (its bytes, by the codec of its type)
//   value, any other --available--> itself
//
// Life: taken; the copy is available at once if the value is, else when that is. The chain comes
// with it, whatever it is.
//
// Thread rule: thread-safe.
// Failure rule: without memory the copy is an error. A value whose type has no codec, or which is
// on a device, is its own copy.
#ifndef TFRT_KERNELS_DISTRIBUTED_SNAPSHOT_H_
#define TFRT_KERNELS_DISTRIBUTED_SNAPSHOT_H_

#include "host_runtime/async/async_value.h"
#include "host_runtime/base/allocator.h"

typedef struct tfrt_snapshot_s {
  tfrt_async_value_t* value;  // +1
  tfrt_async_value_t* chain;  // +1; available when |value| is, an error only for want of memory
} tfrt_snapshot_t;

// Takes |*out_snapshot| of |value| (+0, in any state), whose payload is demanded if it may have to
// be copied. Thread-safe.
void tfrt_snapshot_take(tfrt_async_value_t* value, tfrt_allocator_t allocator,
                        tfrt_snapshot_t* out_snapshot);

#endif  // TFRT_KERNELS_DISTRIBUTED_SNAPSHOT_H_
