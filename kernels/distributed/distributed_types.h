// SPDX-License-Identifier: Apache-2.0
//
// The value types of this folder, their ids, and short ways to make such values.
//
//   "!tfrt_dist.host"   uint32_t, a rank        has a codec
//   "!tfrt_dist.list"   tfrt_value_list_t       an aggregate; its elements may be anywhere
//   "!tfrt_dist.group"  tfrt_host_group_t       has a codec; see host_group.h
//
// A list has one value per host, each in a state of its own: the list is available at once,
// and an element that becomes an error harms only its users.
//
// Life: tfrt_distributed_types_register() once per process, before any program is loaded;
// again is harmless. The ids are 0 before that.
//
// Thread rule: thread-safe.
// Failure rule: registration fails as tfrt_type_register() does. Values can't fail: when
// memory is out they are the error for that.
#ifndef TFRT_KERNELS_DISTRIBUTED_DISTRIBUTED_TYPES_H_
#define TFRT_KERNELS_DISTRIBUTED_DISTRIBUTED_TYPES_H_

#include "host_runtime/async/async_value.h"

// Payload of "!tfrt_dist.list".
typedef struct tfrt_value_list_s {
  tfrt_async_value_t** elements;  // +1 each, in the order of ranks
  uint32_t count;
  tfrt_allocator_t allocator;
} tfrt_value_list_t;

// Registers the types above. Thread-safe.
tfrt_status_t tfrt_distributed_types_register(void) TFRT_MUST_USE;

// The id of "!tfrt_dist.host", and of "!tfrt_dist.list". Thread-safe.
tfrt_type_id_t tfrt_host_type_id(void);
tfrt_type_id_t tfrt_value_list_type_id(void);

// A new available host value (+1). Thread-safe.
tfrt_async_value_t* tfrt_async_value_create_host(uint32_t rank);

// A new available list value (+1) with room for |count| elements, at |*out_elements|, which
// the caller sets (+1 each) before sharing it; or the error for "memory is out", and NULL.
// Thread-safe.
tfrt_async_value_t* tfrt_async_value_create_list(uint32_t count, tfrt_allocator_t allocator,
                                                 tfrt_async_value_t*** out_elements);

#endif  // TFRT_KERNELS_DISTRIBUTED_DISTRIBUTED_TYPES_H_
