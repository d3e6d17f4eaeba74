// SPDX-License-Identifier: Apache-2.0
//
// The payload of values of the type "!tfrt_dist.group": which hosts do something together, and
// in which order. A host's place in the list is its *position*; parts of tensors go by that.
//
//   group { count, name_size, body } --> | rank 0 ... rank count - 1 (u32) | name, no NUL |
//
// The name keeps collectives apart that the same hosts do at the same time (mailbox.h): groups
// with the same ranks in the same order and the same name are the same group on every host.
//
// Life:
//  1. tfrt_host_group_register() once per process, before any program is loaded.
//  2. Checked, then made as a value; or received from another host, which checks it too.
//
// Thread rule: thread-safe.
// Failure rule: INVALID_ARGUMENT for ranks that are no group; a value that can't be made is the
// error for "memory is out".
#ifndef TFRT_KERNELS_DISTRIBUTED_HOST_GROUP_H_
#define TFRT_KERNELS_DISTRIBUTED_HOST_GROUP_H_

#include "host_runtime/async/async_value.h"
#include "host_runtime/base/string_view.h"

// The longest name of a group.
#define TFRT_HOST_GROUP_MAX_NAME_SIZE 128

// No position.
#define TFRT_HOST_GROUP_NOBODY UINT32_MAX

typedef struct tfrt_host_group_s {
  uint32_t count;
  uint32_t name_size;
  uint32_t* ranks;  // |count| of them, then the name
  tfrt_allocator_t allocator;
} tfrt_host_group_t;

// Registers the type; again is harmless. Thread-safe.
tfrt_status_t tfrt_host_group_register(void) TFRT_MUST_USE;

// The id of "!tfrt_dist.group"; 0 before it is registered. Thread-safe.
tfrt_type_id_t tfrt_host_group_type_id(void);

// OK if |count| |ranks| of |host_count| hosts can be a group with |name|: there is a rank, none
// twice, none too high. INVALID_ARGUMENT, RESOURCE_EXHAUSTED. Thread-safe.
tfrt_status_t tfrt_host_group_check(const uint32_t* ranks, uint32_t count, tfrt_string_view_t name,
                                    uint32_t host_count, tfrt_allocator_t allocator) TFRT_MUST_USE;

// A new available group value (+1) of |ranks| and |name|, which were checked. Thread-safe.
tfrt_async_value_t* tfrt_async_value_create_group(const uint32_t* ranks, uint32_t count,
                                                  tfrt_string_view_t name,
                                                  tfrt_allocator_t allocator);

// The name of |group|; lives as long as that. Thread-safe.
tfrt_string_view_t tfrt_host_group_name(const tfrt_host_group_t* group);

// The position of the host |rank| in |group|, or TFRT_HOST_GROUP_NOBODY. Thread-safe.
uint32_t tfrt_host_group_position(const tfrt_host_group_t* group, uint32_t rank);

// Appends the ranks of |group| in their order, runs as their ends: "0-3,7". Thread-safe, as
// |out| is.
void tfrt_host_group_append(const tfrt_host_group_t* group, tfrt_string_builder_t* out);

#endif  // TFRT_KERNELS_DISTRIBUTED_HOST_GROUP_H_
