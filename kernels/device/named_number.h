// SPDX-License-Identifier: Apache-2.0
//
// Names of a vendor's library that stand in programs as bare words, such as CUDA_R_32F, and what
// they are to us.
//
// Thread rule: thread-safe. Failure rule: INVALID_ARGUMENT for another name, with those that are
// meant.
#ifndef TFRT_KERNELS_DEVICE_NAMED_NUMBER_H_
#define TFRT_KERNELS_DEVICE_NAMED_NUMBER_H_

#include <stddef.h>

#include "host_runtime/base/status.h"

typedef struct tfrt_named_number_s {
  const char* name;
  int number;
} tfrt_named_number_t;

typedef struct tfrt_named_numbers_s {
  const char* what;  // one of them, for messages
  const tfrt_named_number_t* numbers;
  size_t count;
} tfrt_named_numbers_t;

// Sets |*out_number| to what the attribute |attribute|, a string, names. Thread-safe.
tfrt_status_t tfrt_named_number_read(const tfrt_named_numbers_t* numbers, const void* attribute,
                                     int* out_number) TFRT_MUST_USE;

#endif  // TFRT_KERNELS_DEVICE_NAMED_NUMBER_H_
