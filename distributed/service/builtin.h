// SPDX-License-Identifier: Apache-2.0
//
// Functions of program 0, which every peer has: services of a host that are not functions of a
// program. Those that take and give values are here: print, send, copy, check of a device. Those
// whose result is made of bytes: answer.h; the one that gives results of detached jobs:
// following.h.
//
// Thread rule: everything here needs the node's lock.
// Failure rule: see each function.
#ifndef TFRT_DISTRIBUTED_SERVICE_BUILTIN_H_
#define TFRT_DISTRIBUTED_SERVICE_BUILTIN_H_

#include "distributed/domain/node_part.h"

// Has calls find and start the built-in functions.
extern const tfrt_node_part_t tfrt_builtin_part;

#endif  // TFRT_DISTRIBUTED_SERVICE_BUILTIN_H_
