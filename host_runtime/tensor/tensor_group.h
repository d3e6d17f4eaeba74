// SPDX-License-Identifier: Apache-2.0
//
// Tensors in the memory of devices that hosts exchange through a library of the devices' own, with
// none of the hosts' memory between. A type with streams (payload_stream.h) may have such *groups*:
// the code of a collective takes a *seat* for its operand, and decides with the other members
// whether all of them have one in the same group.
//
//   open --> seat: library, place, token       told to all other members, who tell theirs
//              |  all have the same token ---------------------------> run --> the result
//              |  else: name (by one of them), to all --> join ------/           |
//              leave <-----------------------------------------------------------/
//
// A group that was joined is kept when its member leaves, for the next one who opens a seat for the
// same series of collectives and the same device, and ends with the store that it is kept in. Its
// token is a number that no other group has.
//
// A member may wait for one that never comes: abort ends that, and the group.
//
// Life of a seat: opened; named and joined at most once; run at most once; left; destroyed.
//
// Thread rule: open is thread-safe; calls of a seat come one after another, but for abort, which is
// thread-safe from open until destroy.
// Failure rule: of what join and run give, ABORTED says that another member, or an abort, has ended
// the group, and UNAVAILABLE that others can't be reached: then others may know more. Every other
// error is this member's own. A broken group is not kept.
#ifndef TFRT_HOST_RUNTIME_TENSOR_TENSOR_GROUP_H_
#define TFRT_HOST_RUNTIME_TENSOR_TENSOR_GROUP_H_

#include "host_runtime/async/async_value.h"
#include "host_runtime/base/string_builder.h"
#include "host_runtime/tensor/dtype.h"
#include "host_runtime/tensor/shape.h"

struct tfrt_resource_context_s;

typedef enum tfrt_tensor_exchange_kind_e {
  TFRT_TENSOR_ALL_REDUCE = 0,
  TFRT_TENSOR_REDUCE,
  TFRT_TENSOR_REDUCE_SCATTER,
  TFRT_TENSOR_ALL_GATHER,
  TFRT_TENSOR_BROADCAST,
  TFRT_TENSOR_ALL_TO_ALL,
} tfrt_tensor_exchange_kind_t;

typedef enum tfrt_tensor_reduction_e {
  TFRT_TENSOR_SUM = 0,
  TFRT_TENSOR_PRODUCT,
  TFRT_TENSOR_MINIMUM,
  TFRT_TENSOR_MAXIMUM,
  TFRT_TENSOR_MEAN,
} tfrt_tensor_reduction_t;

// The operations that the members of a group do together. Their parts are of one size.
typedef struct tfrt_tensor_exchange_s {
  tfrt_tensor_exchange_kind_t kind;
  tfrt_tensor_reduction_t reduction;  // of those that reduce
  uint32_t root;                      // position, of a reduce or broadcast
  bool has_result;                    // else the operand is the result
  tfrt_dtype_t dtype;                 // of the result, as what follows
  tfrt_shape_t shape;
} tfrt_tensor_exchange_t;

typedef struct tfrt_tensor_seat_s tfrt_tensor_seat_t;

typedef struct tfrt_tensor_seat_vtable_s {
  // Frees |seat|, which was left.
  void (*destroy)(tfrt_tensor_seat_t* seat);
  // Appends the name of a new group to |out|: bytes for join(). May block.
  tfrt_status_t (*name)(tfrt_tensor_seat_t* seat, tfrt_string_builder_t* out);
  // Joins the group |name| as the member |position| of |count|, instead of one that was kept:
  // returns a chain (+1, never NULL) that is available when all members have. May block, but not
  // for them.
  tfrt_async_value_t* (*join)(tfrt_tensor_seat_t* seat, tfrt_string_view_t name, uint32_t position,
                              uint32_t count);
  // Carries |exchange| out, behind all work that was given with the operand so far: returns the
  // result (+1, never NULL), available when it is in its memory, or a chain if there is none. May
  // block, but not for other members.
  tfrt_async_value_t* (*run)(tfrt_tensor_seat_t* seat, const tfrt_tensor_exchange_t* exchange);
  // Ends what waits, and the group; nothing once the seat was left.
  void (*abort)(tfrt_tensor_seat_t* seat);
  // Returns the group: to the next user, or, if it is broken, for good. Again changes nothing.
  void (*leave)(tfrt_tensor_seat_t* seat);
} tfrt_tensor_seat_vtable_t;

// Embedded first in every seat. Constant.
struct tfrt_tensor_seat_s {
  const tfrt_tensor_seat_vtable_t* vtable;
  const char* library;  // that all members need, with its version; lives as long as the seat
  const char* place;    // where no other member may be; "": anywhere. Likewise
  uint64_t token;       // of the group that was kept; 0: none
  bool is_taken;        // somebody else is at it
};

typedef struct tfrt_tensor_groups_s {
  // Sets |*out_seat| to one for |payload|, in the series of collectives |series|; groups are kept
  // in |kept|. UNAVAILABLE where there is no library. May block.
  tfrt_status_t (*open)(const void* payload, struct tfrt_resource_context_s* kept,
                        tfrt_string_view_t series, tfrt_tensor_seat_t** out_seat);
  // Whether |library|, as a seat says, reduces elements of |dtype| as |reduction| says with what
  // the hosts would make of them; but for rounding, where the library is a vendor's.
  bool (*reduces)(tfrt_string_view_t library, tfrt_tensor_reduction_t reduction,
                  tfrt_dtype_t dtype);
} tfrt_tensor_groups_t;

#endif  // TFRT_HOST_RUNTIME_TENSOR_TENSOR_GROUP_H_
