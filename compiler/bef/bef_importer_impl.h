// SPDX-License-Identifier: Apache-2.0
//
// Declarations that the sources of the importer share. Private to them.
//
// Thread rule: thread-compatible (caller synchronises). Failure rule: that of
// bef_importer.h: false or NULL after a report, or when the context is out of memory.
#ifndef TFRT_COMPILER_BEF_BEF_IMPORTER_IMPL_H_
#define TFRT_COMPILER_BEF_BEF_IMPORTER_IMPL_H_

#include "compiler/bef/bef_importer.h"
#include "host_runtime/bef/bef_walk.h"

// The ops of one name.
typedef struct tfrt_bef_importer_op_s {
  const tfrt_ir_string_t* name;  // NULL: not looked up yet
  const tfrt_kernel_descriptor_t* descriptor;
} tfrt_bef_importer_op_t;

// A body while it is imported.
typedef struct tfrt_bef_importer_body_s {
  const tfrt_bef_function_t* function;
  tfrt_ir_block_t* block;
  const tfrt_ir_type_t* const* types;  // per register
  tfrt_ir_value_t** values;            // per register
  uint32_t depth;
  uint32_t next_kernel;      // its index; one more than there are: the return was imported, too
  const char* const* names;  // of its attributes and those behind; NULL: the file doesn't say
  tfrt_bef_walk_t walk;
} tfrt_bef_importer_body_t;

struct tfrt_bef_importer_s {
  tfrt_ir_context_t* context;
  const tfrt_op_tables_t* tables;
  const tfrt_bef_file_t* file;
  tfrt_diagnostics_t* diagnostics;
  tfrt_ir_operation_t* module;
  bool* used_regions;           // per function: an op has it as its region
  tfrt_bef_importer_op_t* ops;  // by code of the kernel
  bool has_warned;              // that something was made up or lost
  // The file of the last place, NULL before the first, and its name.
  const char* place_file;
  const tfrt_ir_string_t* place_name;
  // The rest is for ops that are imported one by one.
  bool is_stepwise;                       // then nothing is reported
  const tfrt_ir_location_t* no_location;  // that of all ops, if nobody looks at them; else NULL
  bool has_failed;                        // something is wrong, or was made up
  tfrt_arena_t kept;                      // of |body|
  uint32_t next_function;                 // behind the one of |body|
  tfrt_bef_importer_body_t body;          // of the function whose ops are imported
};

// Reports |message| about |name| in |function|. Thread-compatible.
void tfrt_bef_importer_report(tfrt_bef_importer_t* importer, const tfrt_bef_function_t* function,
                              const char* name, const char* message);

// Warns once that something of the program isn't in the file. Thread-compatible.
void tfrt_bef_importer_warn(tfrt_bef_importer_t* importer);

// The type with |text|, which comes from the file. Thread-compatible.
const tfrt_ir_type_t* tfrt_bef_import_type(tfrt_bef_importer_t* importer, const char* text);

// The location that |location| stands for; unknown if there is none. Thread-compatible.
const tfrt_ir_location_t* tfrt_bef_import_location(tfrt_bef_importer_t* importer,
                                                   uint32_t location);

// All attributes of the op that |kernel| becomes: values, called |names| (NULL: the file doesn't
// say), functions, call options. Sets
// |*out_count|; |*out_region_count| functions at the end of the kernel's list are regions.
// Thread-compatible.
const tfrt_ir_named_attribute_t* tfrt_bef_import_attributes(
    tfrt_bef_importer_t* importer, const tfrt_bef_function_t* function,
    const tfrt_bef_kernel_t* kernel, const char* const* names,
    const tfrt_kernel_descriptor_t* descriptor, uint32_t* out_count, uint32_t* out_region_count);

#endif  // TFRT_COMPILER_BEF_BEF_IMPORTER_IMPL_H_
