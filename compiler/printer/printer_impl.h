// SPDX-License-Identifier: Apache-2.0
//
// The inside of the printer, shared by its sources.
//
//     printer.c            ops in generic form, regions, blocks, functions, modules
//     properties.c         which attributes of an op are its properties
//     resource_printer.c   resources
//     float_printer.c      floats, digit by digit
//     assembly_printer.c   custom forms, as the op table writes them
//     custom_form.c        what is known of the form of one op-table entry
//     syntax_printer.c     custom forms of the ops of the language, found by name, and
//     cf_printer.c, arith_printer.c, scf_printer.c, async_printer.c, memref_printer.c,
//     gpu_printer.c        those of
//                          single dialects
//     attribute_printer.c  attributes, strings, locations: no state
//
// Thread rule: thread-compatible (caller synchronises).
// Failure rule: when memory is out the builder becomes failed.
#ifndef TFRT_COMPILER_PRINTER_PRINTER_IMPL_H_
#define TFRT_COMPILER_PRINTER_PRINTER_IMPL_H_

#include "compiler/printer/custom_form.h"
#include "compiler/printer/function_texts.h"
#include "compiler/printer/printer.h"
#include "compiler/printer/quick_text.h"
#include "compiler/printer/value_names.h"

#define TFRT_PRINTER_RECENT_COUNT 16
#define TFRT_PRINTER_MAX_PROPERTIES 7

// The names of the attributes that stock MLIR takes for properties of an op.
typedef struct tfrt_printer_properties_s {
  tfrt_string_view_t names[TFRT_PRINTER_MAX_PROPERTIES];
  uint32_t count;
} tfrt_printer_properties_t;

// The knowledge about ops of one name.
typedef struct tfrt_printer_recent_s {
  const tfrt_ir_string_t* name;  // NULL: of none
  const tfrt_kernel_descriptor_t* descriptor;
  tfrt_printer_properties_t properties;
} tfrt_printer_recent_t;

typedef struct tfrt_printer_s {
  tfrt_string_builder_t* builder;
  tfrt_printer_options_t options;
  tfrt_value_names_t names;
  uint32_t indent;                  // in steps of two blanks
  tfrt_function_texts_t functions;  // those whose bodies are unread
  // Names that were met lately, each at the place that its address gives it.
  tfrt_printer_recent_t recent[TFRT_PRINTER_RECENT_COUNT];
  tfrt_custom_forms_t forms;
} tfrt_printer_t;

// Begins a new line.
void tfrt_printer_newline(tfrt_printer_t* printer);
// `%a, %b`, the |count| operands from |first| on, with their types if |typed|.
void tfrt_printer_operands(tfrt_printer_t* printer, const tfrt_ir_operation_t* operation,
                           uint32_t first, uint32_t count, bool typed);
// `{ ... }`: the ops of |region|, whose names are known. |labels|: the first block has a
// label if it has arguments.
void tfrt_printer_region(tfrt_printer_t* printer, const tfrt_ir_region_t* region, bool labels);
// `{a = 1 : i32}`
void tfrt_printer_dictionary(tfrt_string_builder_t* builder,
                             const tfrt_ir_named_attribute_t* entries, uint32_t count);
// A float of |type|; false if it is written as its |bits| (float_printer.c).
bool tfrt_printer_float(tfrt_string_builder_t* builder, const tfrt_ir_type_t* type, uint64_t bits);
// The literal of a number, truth value or string without its type.
void tfrt_printer_literal(tfrt_string_builder_t* builder, const tfrt_ir_attribute_t* attribute);
// The name of an attribute, or of a symbol (behind `@`), in quotes where need be.
void tfrt_printer_key(tfrt_string_builder_t* builder, tfrt_string_view_t name);
// The names of the properties of ops like |operation| (properties.c).
tfrt_printer_properties_t tfrt_printer_find_properties(const tfrt_ir_operation_t* operation);
// Whether |entry|, an attribute of |operation|, which has these |properties|, is one of them: these
// stand in front of the regions.
bool tfrt_printer_is_property(const tfrt_ir_operation_t* operation,
                              const tfrt_printer_properties_t* properties,
                              const tfrt_ir_named_attribute_t* entry);
// Returns true if |operation| can be printed, and read again, in its custom form.
bool tfrt_printer_can_be_custom(tfrt_printer_t* printer, const tfrt_ir_operation_t* operation);
// The custom form of |operation|, from its name on.
void tfrt_printer_assembly(tfrt_printer_t* printer, const tfrt_ir_operation_t* operation);

// The same two for an op of the language, the form from behind its name on.
bool tfrt_printer_syntax_fits(const tfrt_ir_operation_t* operation);
void tfrt_printer_syntax(tfrt_printer_t* printer, const tfrt_ir_operation_t* operation);
// ` {...}` of the attributes that are not among the |hidden_count| |hidden| ones, if there are any.
void tfrt_printer_other_attributes(tfrt_printer_t* printer, const tfrt_ir_operation_t* operation,
                                   const char* const* hidden, size_t hidden_count);

// How a family of ops of the language is printed.
typedef struct tfrt_printer_syntax_s {
  const char* family;
  bool (*fits)(const tfrt_ir_operation_t* operation);
  void (*print)(tfrt_printer_t* printer, const tfrt_ir_operation_t* operation);
} tfrt_printer_syntax_t;

// The families of one source; the last entry has no name.
extern const tfrt_printer_syntax_t tfrt_printer_cf_syntaxes[];
extern const tfrt_printer_syntax_t tfrt_printer_arith_syntaxes[];
extern const tfrt_printer_syntax_t tfrt_printer_scf_syntaxes[];
extern const tfrt_printer_syntax_t tfrt_printer_async_syntaxes[];
extern const tfrt_printer_syntax_t tfrt_printer_memref_syntaxes[];
extern const tfrt_printer_syntax_t tfrt_printer_gpu_syntaxes[];

// For these: the text |text|; ` : T` of |value|; the types of |count| operands from |first| on,
// behind ` : `, if there are any; ` -> (T, T)` of the results from |first| on, if there are any.
void tfrt_printer_text(tfrt_printer_t* printer, const char* text);
void tfrt_printer_colon_type(tfrt_printer_t* printer, const tfrt_ir_type_t* type);
void tfrt_printer_operand_types(tfrt_printer_t* printer, const tfrt_ir_operation_t* operation,
                                uint32_t first, uint32_t count);
void tfrt_printer_arrow_results(tfrt_printer_t* printer, const tfrt_ir_operation_t* operation,
                                uint32_t first);
// True if |operation| has these numbers of operands, results and regions, and no successors.
bool tfrt_printer_has_shape(const tfrt_ir_operation_t* operation, uint32_t operands,
                            uint32_t results, uint32_t regions);
// True if |region| has one block, whose last op hands nothing on and is named |end|, with no
// attributes: the custom form leaves it out.
bool tfrt_printer_region_ends_plainly(const tfrt_ir_region_t* region, const char* end);
// Like tfrt_printer_region(), without the last op.
void tfrt_printer_open_region(tfrt_printer_t* printer, const tfrt_ir_region_t* region);

#endif  // TFRT_COMPILER_PRINTER_PRINTER_IMPL_H_
