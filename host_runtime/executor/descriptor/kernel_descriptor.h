// SPDX-License-Identifier: Apache-2.0
//
// The op table's schema: one entry, which is constant data, describes each kernel. The verifier,
// the custom text form (parser and printer), the chain and stream passes and the reference page
// follow this entry. At run time it gives the executor the operands that a kernel waits for.
//
// Entries stand beside their kernels in data-only targets (kernels/<room>:ops), as
// arrays of tfrt_kernel_descriptor_t that the mains hand to the compiler and to the
// kernel registry.
//
// The custom form is written in |assembly|: words separated by blanks, which parser
// and printer walk in the same order. *Fixed* operands and results are those with an
// entry of their own; *variadic* ones share the last entry.
//
//   word            stands for
//   operands        all operands that no %name word names, separated by commas
//   ,operands       the same behind a comma; nothing when there are none
//   ,args           the same as `, args(%a, %b) : (T, T)`
//   typed-operands  the same, each with its type: `%a : i32, %b : f32`
//   %name           the fixed operand of that name
//   type(%name)     the type of the fixed operand of that name, one of the first 16
//   #name           the attribute of that name as a bare literal (its type is known)
//   #name:type      the attribute of that name with its type, as in `4 : i32`
//   $name           the attribute of that name, a string that reads as a name, without its
//                   quotes, as in CUDA; any other string needs the generic form
//   @name           the attribute of that name, a symbol, as in @callee
//   [@name]         the attribute of that name, an array of symbols, as in [@f, @g]
//   settings        the attributes that no other word names, as `name = literal`,
//                   separated by commas, those with a default only if they differ
//   attr-dict       the attributes that no other word names, in braces, if any
//   attributes      the same behind the word `attributes`, for ops with regions, whose
//                   brace would look the same
//   types           the types of the variadic operands, behind a colon; nothing when
//                   there are none
//   function        a colon and the function type `(T, ...) -> R` of the variadic
//                   operands and results
//   signature       the same, with the results always in parentheses
//   whole-signature the same for all operands and results, fixed ones too
//   result-types    the types of the fixed results that the table leaves open (TFRT_TYPE_ANY or
//                   a choice), behind a colon
//   regions         the regions in braces; the second one behind `else`
//   syntax FAMILY   all of the form: the parser and the printer know it by the word behind; words
//                   behind that are their own business; only of TFRT_KERNEL_LANGUAGE
//   else            that text itself: `(`, `)`, `,`, `:` and any other word in lower case
//
// Words are printed with a blank between them, but for `(`, `)` and `,`, which have none
// before them, nor `(` behind it; `in (` keeps its blank.
//
// Thread rule: constant data. Failure rule: a table that contradicts itself is a
// defect, which the op-table test finds.
#ifndef TFRT_HOST_RUNTIME_EXECUTOR_DESCRIPTOR_KERNEL_DESCRIPTOR_H_
#define TFRT_HOST_RUNTIME_EXECUTOR_DESCRIPTOR_KERNEL_DESCRIPTOR_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host_runtime/base/macros.h"
#include "host_runtime/base/string_view.h"

TFRT_API_BEGIN

// A kernel's use of an operand, which also decides what the kernel waits for.
typedef enum tfrt_operand_use_e {
  // Its payload is read: the kernel starts when the payload is here.
  TFRT_OPERAND_DEMANDED = 0,
  // Only settled or not matters (chains, merges): starts without the payload.
  TFRT_OPERAND_AWAITED,
  // Its payload is written: like DEMANDED; never a copy.
  TFRT_OPERAND_MUTATED,
  // Like DEMANDED, and the kernel may reuse the payload if it is the only owner.
  TFRT_OPERAND_CONSUMED,
  // Handed on (to a function that is called): not waited for at all.
  TFRT_OPERAND_PASSED,
} tfrt_operand_use_t;

// The type "any": whatever the text says.
#define TFRT_TYPE_ANY "any"

// Stands between the types of a choice, such as "i32" TFRT_TYPE_OR "i64": whichever of them the
// text says. No type of a table has this character of its own.
#define TFRT_TYPE_OR "|"

typedef struct tfrt_operand_descriptor_s {
  const char* name;
  const char* type;  // as MLIR prints it, or TFRT_TYPE_ANY, or a choice
  tfrt_operand_use_t use;
} tfrt_operand_descriptor_t;

typedef struct tfrt_result_descriptor_s {
  const char* name;
  // As MLIR prints it, or TFRT_TYPE_ANY, or a choice, or, of a fixed result, "%name": that of the
  // fixed operand of that name.
  const char* type;
} tfrt_result_descriptor_t;

// The kind of an attribute, which also gives the number of bytes of a BEF attribute that may be
// read.
typedef enum tfrt_attribute_kind_e {
  TFRT_ATTRIBUTE_I1 = 0,
  TFRT_ATTRIBUTE_I8,
  TFRT_ATTRIBUTE_I16,
  TFRT_ATTRIBUTE_I32,
  TFRT_ATTRIBUTE_I64,
  TFRT_ATTRIBUTE_UI8,
  TFRT_ATTRIBUTE_UI16,
  TFRT_ATTRIBUTE_UI32,
  TFRT_ATTRIBUTE_UI64,
  TFRT_ATTRIBUTE_F32,
  TFRT_ATTRIBUTE_F64,
  TFRT_ATTRIBUTE_F16,   // as its bits
  TFRT_ATTRIBUTE_BF16,  // likewise
  TFRT_ATTRIBUTE_STRING,
  TFRT_ATTRIBUTE_TYPE,  // a dtype
  TFRT_ATTRIBUTE_SHAPE,
  TFRT_ATTRIBUTE_DENSE,
  TFRT_ATTRIBUTE_I32_ARRAY,
  TFRT_ATTRIBUTE_I64_ARRAY,
  TFRT_ATTRIBUTE_F32_ARRAY,
  TFRT_ATTRIBUTE_I1_ARRAY,
  TFRT_ATTRIBUTE_I8_ARRAY,
  TFRT_ATTRIBUTE_I16_ARRAY,
  TFRT_ATTRIBUTE_UI8_ARRAY,
  TFRT_ATTRIBUTE_UI16_ARRAY,
  TFRT_ATTRIBUTE_UI32_ARRAY,
  TFRT_ATTRIBUTE_UI64_ARRAY,
  TFRT_ATTRIBUTE_F64_ARRAY,
  TFRT_ATTRIBUTE_F16_ARRAY,
  TFRT_ATTRIBUTE_BF16_ARRAY,
  TFRT_ATTRIBUTE_AGGREGATE,
  TFRT_ATTRIBUTE_SYMBOL,        // a function; not among the frame's attributes
  TFRT_ATTRIBUTE_SYMBOL_ARRAY,  // functions; likewise
} tfrt_attribute_kind_t;

typedef struct tfrt_attribute_descriptor_s {
  const char* name;
  tfrt_attribute_kind_t kind;
  // The default of the attribute, as a bare literal, for a text that leaves it out; NULL: the text
  // must have it. The parser adds the default, so that kernels always get the attribute.
  const char* default_value;
} tfrt_attribute_descriptor_t;

// A region becomes an anonymous function. Its block arguments are operands of the op:
// the fixed ones whose bit in |lead_mask| is set, then all variadic ones. In the custom
// form they go by the names of these operands, and nothing else of the enclosing
// function is visible.
typedef struct tfrt_region_descriptor_s {
  const char* name;
  uint32_t lead_mask;  // bit i: fixed operand i is passed to the region
  // May be left out in the text if the op has no results: then it only returns.
  bool optional;
  // Its return may also have no operands, whatever is yielded otherwise.
  bool may_yield_nothing;
  // The values that the region's return must yield: the op's results, or |yield_count| values of
  // these types when |yields| is not NULL.
  const tfrt_result_descriptor_t* yields;
  uint32_t yield_count;
  // Values from outside are used by their names, without being operands: the region captures them.
  bool captures;
} tfrt_region_descriptor_t;

// The tokens and values of an op that runs asynchronously, whatever its dialect. Its operands are
// split by `operandSegmentSizes`: the tokens that it depends on, then the asynchronous values whose
// payloads its region gets as arguments.
typedef struct tfrt_async_descriptor_s {
  bool has_dependencies;  // the first segment: tokens
  bool has_operands;      // the next one: values
  bool gives_token;       // result 0: when the op, and its region, is done
  // The name of the op that ends its region, whose operands are the results behind the token.
  const char* region_end;
} tfrt_async_descriptor_t;

enum tfrt_kernel_flag_bits_e {
  // The last operand entry stands for any number (also none) of operands.
  TFRT_KERNEL_VARIADIC_OPERANDS = 1u << 0,
  // The last result entry stands for any number (also none) of results.
  TFRT_KERNEL_VARIADIC_RESULTS = 1u << 1,
  // Result i has the type of variadic operand i.
  TFRT_KERNEL_RESULTS_AS_OPERANDS = 1u << 2,
  // Same operands, same results, and nothing else happens.
  TFRT_KERNEL_PURE = 1u << 3,
  // Ends a block; it has an entry here and no kernel.
  TFRT_KERNEL_TERMINATOR = 1u << 4,
  // Accepts one more operand, a chain, that the table doesn't list, behind all others.
  TFRT_KERNEL_TRAILING_CHAIN = 1u << 5,
  // May carry call options (host, deadline_ms, pure, retries).
  TFRT_KERNEL_CALL_OPTIONS = 1u << 6,
  // Has a synchronous form too, for functions that are `tfrt.sync`.
  TFRT_KERNEL_SYNC_TOO = 1u << 7,
  // Has a synchronous form only.
  TFRT_KERNEL_SYNC_ONLY = 1u << 8,
  // Calls its function on the host, or hosts, that its operands say: no `host` option.
  TFRT_KERNEL_CALLS_HOSTS = 1u << 9,
  // Makes its one result, a builtin scalar, of its attributes alone: is run once for all calls
  // of a program, in a frame without context.
  TFRT_KERNEL_CONSTANT = 1u << 10,
  // Gives one more result, a chain, that the table doesn't list, behind all others, where the
  // program asks for it.
  TFRT_KERNEL_TRAILING_CHAIN_RESULT = 1u << 11,
  // The kernel may be called before the arguments that it awaits are there, where that lets the
  // rest of a function go on. It waits for them itself, in the call's scope (call_scope.h), and an
  // error among them is its results' then.
  TFRT_KERNEL_WAITS_ITSELF = 1u << 12,
  // Where its last operand, a chain, is an error, its results are errors. Once that was so, it has
  // no effect as long as that and the first operand are the same.
  TFRT_KERNEL_FAILS_AGAIN = 1u << 13,
  // Calls one of its functions with its passed operands, and gives the results of that; or, with
  // TFRT_KERNEL_RESULTS_AS_OPERANDS, calls one again and again on its own results.
  TFRT_KERNEL_HANDS_ON = 1u << 14,
  // An op of the text form that has no kernel: the compiler lowers it to ops that have one.
  TFRT_KERNEL_LANGUAGE = 1u << 16,
};
typedef uint32_t tfrt_kernel_flags_t;

// Effects of an op outside of its operands and results. Operands that the op writes to say so
// themselves (TFRT_OPERAND_MUTATED); it reads all others, but those that it only awaits. The pass
// `insert-chains` orders two ops if one writes to what the other reads or writes, and two ops with
// an effect on the same thing outside.
//
// An entry without a bit, and without TFRT_KERNEL_PURE, says nothing: its op counts as one that
// has an effect on everything outside, and whose results may share memory with any operand.
enum tfrt_kernel_effect_bits_e {
  // Nothing outside of its operands and results changes.
  TFRT_EFFECT_NONE = 1u << 0,
  // Writes a line of output, or many.
  TFRT_EFFECT_OUTPUT = 1u << 1,
  // Reads, or writes, the file that the attribute or the operand `path` names. Reads of a file
  // need no order among themselves.
  TFRT_EFFECT_FILE_READ = 1u << 2,
  TFRT_EFFECT_FILE_WRITE = 1u << 3,
  // Sends or receives messages.
  TFRT_EFFECT_MESSAGES = 1u << 4,
  // Uses state of the host, the request or the work queue that outlives a kernel.
  TFRT_EFFECT_STATE = 1u << 5,
  // All of these: order is kept with every op that has an effect.
  TFRT_EFFECT_EVERYTHING = 1u << 6,
  // The effects of the functions and regions that it runs, and no others.
  TFRT_EFFECT_OF_FUNCTIONS = 1u << 7,
  // Reads of its operands only what never changes (shape, type), or gives them other names.
  TFRT_EFFECT_READS_NO_CONTENTS = 1u << 8,
  // Needs no order among ops with this bit, as additions to a counter don't, or looks at a state:
  // only with others that have the same effects or use the same operands.
  TFRT_EFFECT_IN_ANY_ORDER = 1u << 9,
};
typedef uint32_t tfrt_kernel_effects_t;

// A cost that depends on the program: counts as the stream pass's threshold.
#define TFRT_KERNEL_COST_UNKNOWN 0

typedef struct tfrt_kernel_descriptor_s {
  const char* name;      // with its dialect, e.g. "tfrt.add.i32"
  const char* summary;   // one sentence, for the reference page
  const char* assembly;  // the custom form; NULL: generic form only
  const tfrt_operand_descriptor_t* operands;
  const tfrt_result_descriptor_t* results;
  const tfrt_attribute_descriptor_t* attributes;  // in the order of their names
  const tfrt_region_descriptor_t* regions;
  // Entries in each of these, the one for variadic operands or results included.
  uint16_t operand_count;
  uint16_t result_count;
  uint16_t attribute_count;
  uint16_t region_count;
  tfrt_kernel_flags_t flags;
  uint32_t cost;  // in units of one scalar operation, or TFRT_KERNEL_COST_UNKNOWN
  tfrt_kernel_effects_t effects;
  // The operand whose memory the results are in, or may be in, as a view is: result i that of
  // variadic operand i with TFRT_KERNEL_RESULTS_AS_OPERANDS. NULL: the results are new.
  const char* shares;
  // The operands, separated by blanks, that stand for something outside whose uses keep their
  // order, such as a stream of a device. NULL: none.
  const char* orders;
  const tfrt_async_descriptor_t* async;  // NULL: what it gives is all that the op says of that
} tfrt_kernel_descriptor_t;

// Initialisers of a descriptor's arrays together with their counts, for tables:
//   {.name = "tfrt.add.i32", TFRT_OPERANDS(two_i32), TFRT_RESULTS(one_i32), ...}
#define TFRT_OPERANDS(array) .operands = (array), .operand_count = TFRT_ARRAY_SIZE(array)
#define TFRT_RESULTS(array) .results = (array), .result_count = TFRT_ARRAY_SIZE(array)
#define TFRT_ATTRIBUTES(array) .attributes = (array), .attribute_count = TFRT_ARRAY_SIZE(array)
#define TFRT_REGIONS(array) .regions = (array), .region_count = TFRT_ARRAY_SIZE(array)

// A table of descriptors, as each kernel room publishes it.
typedef struct tfrt_kernel_table_s {
  const tfrt_kernel_descriptor_t* descriptors;
  size_t count;
} tfrt_kernel_table_t;

// The number of fixed operands, or results, of an op described by |descriptor|.
// Thread-safe.
uint32_t tfrt_kernel_descriptor_fixed_operands(const tfrt_kernel_descriptor_t* descriptor);
uint32_t tfrt_kernel_descriptor_fixed_results(const tfrt_kernel_descriptor_t* descriptor);

// The entry for operand |index| of an op described by |descriptor|, the last one
// standing for all variadic ones; NULL beyond. Thread-safe.
const tfrt_operand_descriptor_t* tfrt_kernel_descriptor_operand(
    const tfrt_kernel_descriptor_t* descriptor, uint32_t index);

// The same for result |index|. Thread-safe.
const tfrt_result_descriptor_t* tfrt_kernel_descriptor_result(
    const tfrt_kernel_descriptor_t* descriptor, uint32_t index);

// The index of the fixed operand of |descriptor| whose type a result has that the table says is
// |type|, or UINT32_MAX: it is no "%name" of one. Thread-safe.
uint32_t tfrt_kernel_descriptor_type_operand(const tfrt_kernel_descriptor_t* descriptor,
                                             const char* type);

// Returns true if the regions of an op described by |descriptor| use values from outside of it.
// Thread-safe.
bool tfrt_kernel_descriptor_sees_outside(const tfrt_kernel_descriptor_t* descriptor);

// Returns true if |type|, of a table, is one type as MLIR prints it: it isn't left open
// (TFRT_TYPE_ANY or a choice), nor that of an operand ("%name"). Thread-safe.
bool tfrt_kernel_descriptor_type_is_known(const char* type);

// Returns true if a value whose type MLIR prints as |printed| may be where a table says |type|.
// The type "%name" allows all: only the op gives the type of that operand. Thread-safe.
bool tfrt_kernel_descriptor_type_allows(const char* type, const char* printed);

// The effects of |descriptor|, with the meaning of its flags and its silence: at least one bit.
// Thread-safe.
tfrt_kernel_effects_t tfrt_kernel_descriptor_effects(const tfrt_kernel_descriptor_t* descriptor);

// Returns true if |names|, a list as |orders| is one, has |name|; NULL is an empty one.
// Thread-safe.
bool tfrt_kernel_descriptor_list_has(const char* names, const char* name);

// Returns true if the table says that a fixed operand, or result, of |type| is a chain.
// Thread-safe.
bool tfrt_kernel_descriptor_is_chain(const char* type);

// Walks the types of the choice |*cursor|, or the one type that it is: sets |*out_type| to the
// first and |*cursor| to what is behind it, NULL behind the last; false when |*cursor| is NULL.
// Thread-safe.
bool tfrt_kernel_descriptor_next_type(const char** cursor, tfrt_string_view_t* out_type);

// The descriptor named |name| in one of |table_count| tables, or NULL. Linear; for
// set-up and tests. Thread-safe.
const tfrt_kernel_descriptor_t* tfrt_kernel_table_find(const tfrt_kernel_table_t* tables,
                                                       size_t table_count, const char* name);

TFRT_API_END

#endif  // TFRT_HOST_RUNTIME_EXECUTOR_DESCRIPTOR_KERNEL_DESCRIPTOR_H_
