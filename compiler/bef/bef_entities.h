// SPDX-License-Identifier: Apache-2.0
//
// The first half of an emission: what of a module goes to a file, numbered in the order of
// TFRT's translator, and the rules that need no registers. Private to the emitter.
//
// Life: initialised; collected from a module, which feeds the writer with types, kernel
// names and attributes; asked by the second half; deinitialised.
//
// Thread rule: thread-compatible (caller synchronises).
// Failure rule: errors go to the diagnostics; memory shows in the arena and in the writer.
#ifndef TFRT_COMPILER_BEF_BEF_ENTITIES_H_
#define TFRT_COMPILER_BEF_BEF_ENTITIES_H_

#include "compiler/bef/bef_emitter.h"
#include "compiler/bef/number_memo.h"
#include "host_runtime/base/arena.h"
#include "host_runtime/base/hash_table.h"
#include "host_runtime/bef/bef_writer.h"

// A function to write: a `func.func`, or a region.
typedef struct tfrt_bef_entity_function_s {
  struct tfrt_bef_entity_function_s* next;
  tfrt_ir_operation_t* op;       // the function, or the op that has the region
  const tfrt_ir_block_t* block;  // NULL: native
  tfrt_bef_function_kind_t kind;
  bool is_region;
} tfrt_bef_entity_function_t;

typedef struct tfrt_bef_entities_s {
  const tfrt_bef_emitter_options_t* options;
  tfrt_diagnostics_t* diagnostics;
  tfrt_bef_writer_t* writer;
  const tfrt_ir_symbol_table_t* symbols;
  tfrt_arena_t arena;
  tfrt_number_memo_t type_numbers;  // of the writer
  tfrt_number_memo_t kernel_codes;  // likewise, by the op's name
  tfrt_number_memo_t file_numbers;  // likewise, of those that locations name
  tfrt_hash_table_t attributes;     // pointer -> offset
  tfrt_bef_entity_function_t* first_function;
  tfrt_bef_entity_function_t* last_function;
  uint32_t function_count;
  uint32_t compiled_symbol_count;
  bool out_of_memory;
} tfrt_bef_entities_t;

// The role of a kernel's attribute in BEF.
typedef enum tfrt_bef_attribute_role_e {
  TFRT_BEF_ROLE_VALUE = 0,
  TFRT_BEF_ROLE_COMPILED,  // a symbol of a compiled module: a value too
  TFRT_BEF_ROLE_FUNCTION,
  TFRT_BEF_ROLE_FUNCTIONS,  // an array of symbols
  TFRT_BEF_ROLE_NOTHING,    // dropped, or a call option
} tfrt_bef_attribute_role_t;

// Makes |entities| empty. Everything else is borrowed. Thread-compatible.
void tfrt_bef_entities_initialize(tfrt_bef_entities_t* entities,
                                  const tfrt_bef_emitter_options_t* options,
                                  tfrt_diagnostics_t* diagnostics, tfrt_bef_writer_t* writer,
                                  tfrt_allocator_t allocator);

// Gives back the memory of |entities|. Thread-compatible.
void tfrt_bef_entities_deinitialize(tfrt_bef_entities_t* entities);

// Collects all of |module|. Sets the scratch of each function op and of each region's block to
// its function index, and that of each argument of a body and of each result of a kernel to the
// number of its type. Thread-compatible.
void tfrt_bef_entities_collect(tfrt_bef_entities_t* entities, tfrt_ir_context_t* context,
                               tfrt_ir_operation_t* module);

// The number of |type|, the code of kernel |name|, and the number of the file |name| of a location,
// new or not. The first three for what was not asked for lately. Thread-compatible.
uint32_t tfrt_bef_entities_find_type(tfrt_bef_entities_t* entities, const tfrt_ir_type_t* type);
uint32_t tfrt_bef_entities_find_kernel(tfrt_bef_entities_t* entities, const tfrt_ir_string_t* name);
uint32_t tfrt_bef_entities_find_file(tfrt_bef_entities_t* entities, const tfrt_ir_string_t* name);
static inline uint32_t tfrt_bef_entities_type(tfrt_bef_entities_t* entities,
                                              const tfrt_ir_type_t* type) {
  const tfrt_number_memo_entry_t* entry = tfrt_number_memo_at(&entities->type_numbers, type);
  return entry->key == type ? entry->number : tfrt_bef_entities_find_type(entities, type);
}
static inline uint32_t tfrt_bef_entities_kernel(tfrt_bef_entities_t* entities,
                                                const tfrt_ir_string_t* name) {
  const tfrt_number_memo_entry_t* entry = tfrt_number_memo_at(&entities->kernel_codes, name);
  return entry->key == name ? entry->number : tfrt_bef_entities_find_kernel(entities, name);
}
static inline uint32_t tfrt_bef_entities_file(tfrt_bef_entities_t* entities,
                                              const tfrt_ir_string_t* name) {
  const tfrt_number_memo_entry_t* entry = tfrt_number_memo_at(&entities->file_numbers, name);
  return entry->key == name ? entry->number : tfrt_bef_entities_find_file(entities, name);
}

// True if kernel |name| was asked for lately. Thread-compatible.
static inline bool tfrt_bef_entities_knows_kernel(tfrt_bef_entities_t* entities,
                                                  const tfrt_ir_string_t* name) {
  return tfrt_number_memo_at(&entities->kernel_codes, name)->key == name;
}

// The role of attribute |named| of the kernel |op|. After the collection. Thread-compatible.
tfrt_bef_attribute_role_t tfrt_bef_entities_role(const tfrt_bef_entities_t* entities,
                                                 const tfrt_ir_operation_t* op,
                                                 const tfrt_ir_named_attribute_t* named);

// The offset of an attribute that was collected. Thread-compatible.
uint32_t tfrt_bef_entities_attribute(const tfrt_bef_entities_t* entities,
                                     const tfrt_ir_attribute_t* attribute);

// Sets |*out_index| to the index of the function that SYMBOL |symbol| of |op| names and returns
// true, or reports that there is none. Thread-compatible.
bool tfrt_bef_entities_function(tfrt_bef_entities_t* entities, const tfrt_ir_operation_t* op,
                                const tfrt_ir_attribute_t* symbol, uint32_t* out_index);

// Reads the call options of |op|, if it has any, into |*out_options| and returns true; reports
// bad ones. Thread-compatible.
bool tfrt_bef_call_options_of(const tfrt_ir_operation_t* op, tfrt_diagnostics_t* diagnostics,
                              tfrt_bef_call_options_t* out_options);

// Returns true if |named| is a call option of |op|. Thread-safe.
bool tfrt_bef_is_call_option(const tfrt_ir_operation_t* op, const tfrt_ir_named_attribute_t* named);

#endif  // TFRT_COMPILER_BEF_BEF_ENTITIES_H_
