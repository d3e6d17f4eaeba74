// SPDX-License-Identifier: Apache-2.0
//
// A program of one op that has an image, so that it can be sent to another host and be run there:
// what a portable handle is made of. Private to this room.
//
//   name, counts, attributes, place --writer--> BEF image --loader--> program with one function
//
// Life: written and loaded in one step; what comes out is a program as any other.
//
// Thread rule: thread-safe. Failure rule: INVALID_ARGUMENT, RESOURCE_EXHAUSTED.
#ifndef TFRT_HOST_RUNTIME_EAGER_EAGER_IMAGE_H_
#define TFRT_HOST_RUNTIME_EAGER_EAGER_IMAGE_H_

#include "host_runtime/eager/eager_binding.h"
#include "host_runtime/eager/eager_op.h"
#include "host_runtime/executor/loader/single_op.h"

// Sets |*out_program| (+1) to a program whose function 0 is |op|, which |descriptor| describes,
// with the attributes of |binding|. |registry| outlives the program. The function has the name of
// the op, which identifies a call of it on any host. INVALID_ARGUMENT if the op is given functions,
// which belong to other programs, or writes to an operand, since another host has only a copy.
// Thread-safe.
tfrt_status_t tfrt_eager_image_create_program(const tfrt_single_op_t* op,
                                              const tfrt_kernel_descriptor_t* descriptor,
                                              const tfrt_eager_binding_t* binding,
                                              const tfrt_kernel_registry_t* registry,
                                              tfrt_program_t** out_program) TFRT_MUST_USE;

#endif  // TFRT_HOST_RUNTIME_EAGER_EAGER_IMAGE_H_
