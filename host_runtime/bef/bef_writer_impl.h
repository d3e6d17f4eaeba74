// SPDX-License-Identifier: Apache-2.0
//
// The inside of the writer, shared by its sources.
//
//   bef_writer.c          life, tables, locations, functions
//   bef_body_writer.c     the kernels of a function
//   bef_section_writer.c  what is made at the end, and the whole
//
// Thread rule: thread-compatible (caller synchronises).
// Failure rule: when memory is out, |failed| is set.
#ifndef TFRT_HOST_RUNTIME_BEF_BEF_WRITER_IMPL_H_
#define TFRT_HOST_RUNTIME_BEF_BEF_WRITER_IMPL_H_

#include "host_runtime/base/arena.h"
#include "host_runtime/bef/bef_bytes.h"
#include "host_runtime/bef/bef_format.h"
#include "host_runtime/bef/bef_name_table.h"
#include "host_runtime/bef/bef_writer.h"

// A function that was added, as far as the sections besides its body want to know.
typedef struct tfrt_bef_writer_entry_s {
  struct tfrt_bef_writer_entry_s* next;
  tfrt_bef_name_t* name;
  tfrt_bef_function_kind_t kind;
  uint32_t body_offset;
  uint32_t argument_count;
  uint32_t result_count;
  uint32_t kernel_count;  // with the pseudo kernel
  uint32_t attribute_name_count;
  const uint32_t* argument_types;
  const uint32_t* result_types;
  tfrt_bef_name_t** attribute_names;  // of all kernels, in order
} tfrt_bef_writer_entry_t;

struct tfrt_bef_writer_s {
  tfrt_allocator_t allocator;
  bool optional_sections;
  bool failed;
  tfrt_arena_t arena;
  tfrt_bef_name_table_t strings;
  tfrt_bef_name_table_t types;
  tfrt_bef_name_table_t kernel_names;
  tfrt_bef_name_table_t location_names;
  tfrt_bef_writer_entry_t* first_entry;
  tfrt_bef_writer_entry_t* last_entry;
  uint32_t function_count;
  uint32_t attribute_count;
  uint32_t location_count;
  uint32_t call_option_count;
  uint32_t argument_name_count;
  uint32_t location_string_size;
  tfrt_bef_bytes_t attributes;
  tfrt_bef_bytes_t attribute_types;
  tfrt_bef_bytes_t functions;
  tfrt_bef_bytes_t locations;
  tfrt_bef_bytes_t register_types;
  tfrt_bef_bytes_t call_options;
  tfrt_bef_bytes_t argument_names;
};

// The entry of |text| in |table|, made if need be; NULL when memory is out. Thread-compatible.
tfrt_bef_name_t* tfrt_bef_writer_name(tfrt_bef_writer_t* writer, tfrt_bef_name_table_t* table,
                                      tfrt_string_view_t text);

// Appends the body of |function|. Thread-compatible.
void tfrt_bef_writer_append_body(tfrt_bef_writer_t* writer,
                                 const tfrt_bef_writer_function_t* function);

#endif  // TFRT_HOST_RUNTIME_BEF_BEF_WRITER_IMPL_H_
