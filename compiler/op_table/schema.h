// SPDX-License-Identifier: Apache-2.0
//
// Whether an op is what its entry in the op table says. The verifier reports the
// difference; the printer writes an op in generic form if there is one.
//
// Thread rule: thread-safe. Failure rule: none fails.
#ifndef TFRT_COMPILER_OP_TABLE_SCHEMA_H_
#define TFRT_COMPILER_OP_TABLE_SCHEMA_H_

#include "compiler/ir/ir.h"
#include "host_runtime/base/string_builder.h"

// Returns true if |attribute| is of |kind|.
// Thread-safe.
bool tfrt_schema_attribute_fits(tfrt_attribute_kind_t kind, const tfrt_ir_attribute_t* attribute);

// The name of |kind| in messages, e.g. "a 32-bit integer (i32)". Static. Thread-safe.
const char* tfrt_schema_attribute_kind_name(tfrt_attribute_kind_t kind);

// Returns true if |type| is the table's |text| or one of that choice, or that is "any" or an
// operand's. Thread-safe.
bool tfrt_schema_type_fits(const char* text, const tfrt_ir_type_t* type);

// Appends the table's |text| to |builder| as it is read, each type of a choice between two
// |quote|s, such as "i8, i16 or i32" for empty ones. Thread-compatible (caller synchronises).
void tfrt_schema_append_type(tfrt_string_builder_t* builder, const char* text, const char* quote);

// Appends the operands of an op of |descriptor| to |builder|: "%value, [%chain]", with brackets
// around a chain that a text may leave out. Thread-compatible (caller synchronises).
void tfrt_schema_append_operands(tfrt_string_builder_t* builder,
                                 const tfrt_kernel_descriptor_t* descriptor);

// The operand of |operation| whose type the table says its result number |result| has, or NULL.
// Thread-safe.
const tfrt_ir_value_t* tfrt_schema_type_operand(const tfrt_ir_operation_t* operation,
                                                uint32_t result);

// The entry for the attribute |name| of |descriptor|, or NULL. Thread-safe.
const tfrt_attribute_descriptor_t* tfrt_schema_find_attribute(
    const tfrt_kernel_descriptor_t* descriptor, tfrt_string_view_t name);

// Returns true if any op may carry the attribute |name|, whatever its entry says: it
// has a dialect (a dot) or begins with `_`. Thread-safe.
bool tfrt_schema_is_discardable(tfrt_string_view_t name);

// The attribute `tfrt.reads` of |operation|, or NULL. It is an array of integers, the places of
// variadic operands, from 0. The op only reads these, although its entry says that it keeps the
// order of their uses. So a launch lists the arguments that the kernel of a device doesn't write
// to. Thread-safe.
#define TFRT_SCHEMA_READS "tfrt.reads"
const tfrt_ir_attribute_t* tfrt_schema_reads(const tfrt_ir_operation_t* operation);

// Returns true if `tfrt.reads` of |operation|, which is checked, lists its operand |operand|.
// Thread-safe.
bool tfrt_schema_only_reads(const tfrt_ir_operation_t* operation, uint32_t operand);

// Returns true if |name| is one of the call options `host`, `device`, `deadline_ms`,
// `pure`, `retries`. Thread-safe.
bool tfrt_schema_is_call_option(tfrt_string_view_t name);

// The argument of |region|'s first block that operand |index| of |operation| becomes,
// or UINT32_MAX if it stays outside. Thread-safe.
uint32_t tfrt_schema_region_argument(const tfrt_kernel_descriptor_t* descriptor, uint32_t region,
                                     uint32_t operand);

// The number of arguments of |region| of an op with |operand_count| operands.
// Thread-safe.
uint32_t tfrt_schema_region_argument_count(const tfrt_kernel_descriptor_t* descriptor,
                                           uint32_t region, uint32_t operand_count);

#endif  // TFRT_COMPILER_OP_TABLE_SCHEMA_H_
