// SPDX-License-Identifier: Apache-2.0
#include "tests/fakes/cuda/fake_library.h"

#include <stdlib.h>
#include <string.h>

int tfrt_fake_library_begin(const char* name, const tfrt_fake_library_errors_t* errors,
                            const tfrt_fake_library_t* library) {
  int error = tfrt_fake_begin(name);
  if (error) return error;
  if (library && !tfrt_fake_is_handle(&tfrt_fake.libraries, &library->link, "library's handle")) {
    return errors->bad_handle;
  }
  return tfrt_fake_check_context(name, library ? library->context : NULL) ? errors->broken : 0;
}

void* tfrt_fake_library_create(size_t size, bool has_context) {
  tfrt_fake_library_t* library = tfrt_allocator_allocate_zeroed(tfrt_allocator_system(), size);
  if (has_context) library->context = tfrt_fake_current();
  tfrt_list_push_back(&tfrt_fake.libraries, &library->link);
  return library;
}

void tfrt_fake_library_destroy(tfrt_fake_library_t* library, size_t size) {
  tfrt_list_remove(&library->link);
  tfrt_allocator_free(tfrt_allocator_system(), library, size);
}

int tfrt_fake_library_set_stream(tfrt_fake_library_t* library, tfrt_fake_stream_t* stream,
                                 const tfrt_fake_library_errors_t* errors) {
  if (!tfrt_fake_is_handle(&tfrt_fake.streams, &stream->link, "stream") ||
      stream->context != library->context) {
    tfrt_fake_defect("a library gets a stream of another context");
    return errors->bad_value;
  }
  library->stream = stream;
  return 0;
}

tfrt_fake_library_call_t tfrt_fake_library_call(const char* name,
                                                const tfrt_fake_library_errors_t* errors,
                                                tfrt_fake_library_t* library) {
  tfrt_fake_library_call_t call = {.errors = errors,
                                   .library = library,
                                   .error = tfrt_fake_library_begin(name, errors, library)};
  if (!call.error && !library->stream) {
    tfrt_fake_library_refuse(&call, "a call without a stream");
  }
  return call;
}

void tfrt_fake_library_refuse(tfrt_fake_library_call_t* call, const char* what) {
  if (call->error) return;
  tfrt_fake_defect("a library: %s", what);
  call->error = call->errors->bad_value;
}

void tfrt_fake_library_touch(tfrt_fake_library_call_t* call, const void* data, size_t size) {
  if (call->error || size == 0) return;
  call->ranges[call->range_count++] = (tfrt_fake_range_t){data, size};
  if (!tfrt_fake_can_use(call->library->context, (tfrt_cuda_address_t)(uintptr_t)data, size,
                         false)) {
    call->error = call->errors->bad_value;
  }
}

int tfrt_fake_library_end(const tfrt_fake_library_call_t* call, void (*run)(const void* argument),
                          const void* argument, size_t size) {
  if (call->error) return tfrt_fake_end(call->error);
  if (size > TFRT_FAKE_ARGUMENT_SIZE) abort();
  tfrt_fake_op_t* op = tfrt_fake_op_create(call->library->stream, TFRT_FAKE_OP_CALL);
  op->call = run;
  memcpy(op->argument, argument, size);
  op->range_count = call->range_count;
  memcpy(op->ranges, call->ranges, sizeof(op->ranges));
  tfrt_fake_op_give(op);
  return tfrt_fake_end(0);
}
