// SPDX-License-Identifier: Apache-2.0
//
// Shared by the libraries on top of the fake driver: handles with a context and a stream, and calls
// that become ops of that stream, with the memory that they touch. Private to the fake.
//
//   begin (locks; the failure that a test wants; handle, context) --> touch ... --> end (op;
//   unlocks)
//
// Thread rule: a call holds tfrt_fake.mutex from its begin to its end.
// Failure rule: results are the library's numbers; a misuse by the caller is a defect.
#ifndef TFRT_TESTS_FAKES_CUDA_FAKE_LIBRARY_H_
#define TFRT_TESTS_FAKES_CUDA_FAKE_LIBRARY_H_

#include "tests/fakes/cuda/fake_cuda_call.h"

// A library's numbers for what goes wrong.
typedef struct tfrt_fake_library_errors_s {
  int bad_handle;
  int bad_value;
  int broken;  // the context
} tfrt_fake_library_errors_t;

// A call on its way into a stream.
typedef struct tfrt_fake_library_call_s {
  const tfrt_fake_library_errors_t* errors;
  tfrt_fake_library_t* library;
  int error;  // the first one; 0: none
  uint32_t range_count;
  tfrt_fake_range_t ranges[TFRT_FAKE_MAX_RANGES];
} tfrt_fake_library_call_t;

// Begins a call of |name| with |library| unless NULL; returns what it is to fail with, or 0.
int tfrt_fake_library_begin(const char* name, const tfrt_fake_library_errors_t* errors,
                            const tfrt_fake_library_t* library);

// Makes |size| bytes with a tfrt_fake_library_t first, of the current context or of none.
void* tfrt_fake_library_create(size_t size, bool has_context);
void tfrt_fake_library_destroy(tfrt_fake_library_t* library, size_t size);

// Makes |stream| that of the next calls; returns the library's error, or 0.
int tfrt_fake_library_set_stream(tfrt_fake_library_t* library, tfrt_fake_stream_t* stream,
                                 const tfrt_fake_library_errors_t* errors);

// The same for a call that works in the library's stream, with all that follows.
tfrt_fake_library_call_t tfrt_fake_library_call(const char* name,
                                                const tfrt_fake_library_errors_t* errors,
                                                tfrt_fake_library_t* library);

// Makes |call| fail, and counts a defect about |what|, unless it has failed already.
void tfrt_fake_library_refuse(tfrt_fake_library_call_t* call, const char* what);

// Notes that |call| touches |size| bytes at |data|.
void tfrt_fake_library_touch(tfrt_fake_library_call_t* call, const void* data, size_t size);

// Puts |call| in its stream, as |run| of a copy of the |size| bytes at |argument|, unless it has
// failed; ends it and returns its result.
int tfrt_fake_library_end(const tfrt_fake_library_call_t* call, void (*run)(const void* argument),
                          const void* argument, size_t size);

#endif  // TFRT_TESTS_FAKES_CUDA_FAKE_LIBRARY_H_
