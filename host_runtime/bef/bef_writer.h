// SPDX-License-Identifier: Apache-2.0
//
// Writes BEF images without a compiler: the emitter stands on it, and so do tests that
// want a file of their own. Given the same entities in the same order as TFRT's writer
// meets them, the bytes are the same.
//
// Life:
//  1. Allocated.
//  2. Fed: strings, types, kernel names and attributes, and each gets a number; then functions that
//     use these numbers, in index order; locations in between.
//  3. Finished: the image comes out, sections in their order, strings sorted.
//  4. Freed.
//
//   add_type, add_kernel_name, add_attribute --numbers--> add_function --> finish --> bytes
//
// Thread rule: thread-compatible (caller synchronises).
// Failure rule: when memory is out, or the image would be over 4 GiB, everything goes on
// and finish says RESOURCE_EXHAUSTED. The writer trusts its input; tfrt_bef_file_create() on the
// result finds contradictions.
#ifndef TFRT_HOST_RUNTIME_BEF_BEF_WRITER_H_
#define TFRT_HOST_RUNTIME_BEF_BEF_WRITER_H_

#include "host_runtime/base/allocator.h"
#include "host_runtime/base/status.h"
#include "host_runtime/bef/bef_file.h"
#include "host_runtime/bef/bef_value.h"

typedef struct tfrt_bef_writer_s tfrt_bef_writer_t;

// One kernel of a function to write. Its results are the registers behind those of the kernels
// before it; their users, operand counts and use counts follow from the arguments. Everything is
// borrowed for the call.
typedef struct tfrt_bef_writer_kernel_s {
  uint32_t code;
  uint32_t location;
  uint32_t stream_id;
  uint32_t argument_count;
  uint32_t attribute_count;
  uint32_t function_count;
  uint32_t result_count;
  // One behind the other: registers of the arguments, attributes as tfrt_bef_writer_add_attribute()
  // has numbered them, indices of the functions.
  const uint32_t* words;
  const tfrt_string_view_t* attribute_names;    // |attribute_count|; NULL without that section
  const tfrt_bef_call_options_t* call_options;  // NULL: none
} tfrt_bef_writer_kernel_t;

// One function to write. Its registers are its arguments, then the results of its kernels.
typedef struct tfrt_bef_writer_function_s {
  tfrt_string_view_t name;
  tfrt_bef_function_kind_t kind;
  uint32_t argument_count;
  uint32_t result_count;
  const uint32_t* argument_types;            // from tfrt_bef_writer_add_type()
  const uint32_t* result_types;              // likewise
  const tfrt_string_view_t* argument_names;  // NULL: none are written
  // The body; not used for a native function.
  uint32_t location;
  uint32_t root_stream_id;
  uint32_t register_count;
  uint32_t kernel_count;  // without the pseudo kernel
  const uint32_t* register_types;
  const uint32_t* result_registers;
  const tfrt_bef_writer_kernel_t* kernels;
} tfrt_bef_writer_function_t;

// Sets |*out_writer| to a new writer; with |optional_sections|, what text needs (types and names
// of attributes, types of registers) is written. Errors: RESOURCE_EXHAUSTED. Thread-safe.
tfrt_status_t tfrt_bef_writer_allocate(bool optional_sections, tfrt_allocator_t allocator,
                                       tfrt_bef_writer_t** out_writer) TFRT_MUST_USE;

// Gives back |writer|, which may be NULL. Thread-compatible.
void tfrt_bef_writer_free(tfrt_bef_writer_t* writer);

// Lets |text|, which has no NUL, be in the Strings section. Thread-compatible.
void tfrt_bef_writer_add_string(tfrt_bef_writer_t* writer, tfrt_string_view_t text);

// Returns the index of type |text|, new or not. Thread-compatible.
uint32_t tfrt_bef_writer_add_type(tfrt_bef_writer_t* writer, tfrt_string_view_t text);

// Returns the code of kernel |name|, new or not. Thread-compatible.
uint32_t tfrt_bef_writer_add_kernel_name(tfrt_bef_writer_t* writer, tfrt_string_view_t name);

// Appends |value| to the attributes, always anew, and returns its offset. Thread-compatible.
uint32_t tfrt_bef_writer_add_attribute(tfrt_bef_writer_t* writer, const tfrt_bef_value_t* value);

// Returns the number of |file| among those that locations name, new or not. Thread-compatible.
uint32_t tfrt_bef_writer_add_location_string(tfrt_bef_writer_t* writer, tfrt_string_view_t file);

// Appends one part of a location record; a NAME is followed by its child, a CALL_SITE by callee
// and caller, a FUSED by |count| members. The first part of a record returns the location's
// number. A place is a FILE that names its file by number. Thread-compatible.
uint32_t tfrt_bef_writer_add_location_unknown(tfrt_bef_writer_t* writer);
uint32_t tfrt_bef_writer_add_location_file(tfrt_bef_writer_t* writer, tfrt_string_view_t file,
                                           uint32_t line, uint32_t column);
uint32_t tfrt_bef_writer_add_location_place(tfrt_bef_writer_t* writer, uint32_t file, uint32_t line,
                                            uint32_t column);
uint32_t tfrt_bef_writer_add_location_name(tfrt_bef_writer_t* writer, tfrt_string_view_t name);
uint32_t tfrt_bef_writer_add_location_call_site(tfrt_bef_writer_t* writer);
uint32_t tfrt_bef_writer_add_location_fused(tfrt_bef_writer_t* writer, uint32_t count);

// Makes room for a function of |kernel_count| kernels with their locations, which need not grow
// bit by bit then. Thread-compatible.
void tfrt_bef_writer_reserve(tfrt_bef_writer_t* writer, size_t kernel_count);

// Appends |function| and returns its index. Thread-compatible.
uint32_t tfrt_bef_writer_add_function(tfrt_bef_writer_t* writer,
                                      const tfrt_bef_writer_function_t* function);

// Sets |*out_bytes| to the image, of |*out_size| bytes, which the caller frees with the writer's
// allocator, or hands to tfrt_bef_file_create_take(). Nothing may be added after it. Errors:
// RESOURCE_EXHAUSTED. Thread-compatible.
tfrt_status_t tfrt_bef_writer_finish(tfrt_bef_writer_t* writer, void** out_bytes, size_t* out_size)
    TFRT_MUST_USE;

#endif  // TFRT_HOST_RUNTIME_BEF_BEF_WRITER_H_
