// SPDX-License-Identifier: Apache-2.0
//
// The record of a kernel: words of a BEF image, read where they lie, so that a loaded program of
// many kernels is little more than its file.
//
//   header | user count per result | argument registers | attribute offsets | function indices |
//   result registers | users of result 0 | users of result 1 | ...
//
// Life: as long as the image. A record comes from a loaded file, which has checked all of it
// (bef_file.h), or from words that the caller wrote.
//
// Thread rule: immutable. Failure rule: none fails.
#ifndef TFRT_HOST_RUNTIME_BEF_BEF_RECORD_H_
#define TFRT_HOST_RUNTIME_BEF_BEF_RECORD_H_

#include <stddef.h>
#include <stdint.h>

#include "host_runtime/base/macros.h"
#include "host_runtime/bef/bef_format.h"

TFRT_API_BEGIN

// The header; the other words follow it.
typedef struct tfrt_bef_record_s {
  uint32_t code;      // index of the kernel's name
  uint32_t location;  // for tfrt_bef_file_location_*()
  uint32_t argument_count;
  uint32_t attribute_count;
  uint32_t function_count;
  uint32_t result_count;
} tfrt_bef_record_t;

// The parts of |record|: arrays of as many words as the header says. Thread-safe.
static inline const uint32_t* tfrt_bef_record_user_counts(const tfrt_bef_record_t* record) {
  return (const uint32_t*)(const void*)(record + 1);
}
static inline const uint32_t* tfrt_bef_record_arguments(const tfrt_bef_record_t* record) {
  return tfrt_bef_record_user_counts(record) + record->result_count;
}
static inline const uint32_t* tfrt_bef_record_attributes(const tfrt_bef_record_t* record) {
  return tfrt_bef_record_arguments(record) + record->argument_count;
}
static inline const uint32_t* tfrt_bef_record_functions(const tfrt_bef_record_t* record) {
  return tfrt_bef_record_attributes(record) + record->attribute_count;
}
static inline const uint32_t* tfrt_bef_record_results(const tfrt_bef_record_t* record) {
  return tfrt_bef_record_functions(record) + record->function_count;
}

// The users of all results of |record|: kernels, as many as all user counts together.
// Thread-safe.
static inline const uint32_t* tfrt_bef_record_users(const tfrt_bef_record_t* record) {
  return tfrt_bef_record_results(record) + record->result_count;
}

TFRT_API_END

#endif  // TFRT_HOST_RUNTIME_BEF_BEF_RECORD_H_
