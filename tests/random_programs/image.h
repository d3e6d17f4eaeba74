// SPDX-License-Identifier: Apache-2.0
//
// Writes a program as a BEF image, without the compiler: streams are the program's own, at
// random, which no compiler would choose so. The line of each op is its place.
//
// Life: one call. Thread rule: thread-safe. Failure rule: the writer's.
#ifndef TFRT_TESTS_RANDOM_PROGRAMS_IMAGE_H_
#define TFRT_TESTS_RANDOM_PROGRAMS_IMAGE_H_

#include <stddef.h>

#include "host_runtime/base/allocator.h"
#include "host_runtime/base/status.h"
#include "tests/random_programs/model.h"

// Sets |*out_bytes| to the image of |model|, of |*out_size| bytes from |allocator|; the caller
// frees it. Errors: RESOURCE_EXHAUSTED. Thread-safe.
tfrt_status_t tfrt_model_write_image(const tfrt_model_t* model, tfrt_allocator_t allocator,
                                     void** out_bytes, size_t* out_size) TFRT_MUST_USE;

#endif  // TFRT_TESTS_RANDOM_PROGRAMS_IMAGE_H_
