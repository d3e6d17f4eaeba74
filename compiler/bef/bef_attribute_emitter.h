// SPDX-License-Identifier: Apache-2.0
//
// Attributes of the IR as values of BEF.
//
// Life: a value is made in an arena and lives as long as that and the IR.
//
// Thread rule: thread-compatible (caller synchronises). Failure rule: false for what BEF
// can't encode; an arena without memory counts as that, and its owner asks it.
#ifndef TFRT_COMPILER_BEF_BEF_ATTRIBUTE_EMITTER_H_
#define TFRT_COMPILER_BEF_BEF_ATTRIBUTE_EMITTER_H_

#include "compiler/ir/ir.h"
#include "host_runtime/base/arena.h"
#include "host_runtime/bef/bef_value.h"

// The dtype that BEF has for |type|, or TFRT_BEF_DTYPE_INVALID. Thread-safe.
tfrt_bef_dtype_t tfrt_bef_dtype_of_type(const tfrt_ir_type_t* type);

// Returns true if |attribute| is a symbol, or an array that begins with one: functions, that is,
// and no value. Thread-safe.
bool tfrt_bef_attribute_is_functions(const tfrt_ir_attribute_t* attribute);

// Sets |*out_value| to |attribute|, which is no symbol, and returns true, or returns false.
// Thread-compatible on |arena|.
bool tfrt_bef_attribute_to_value(const tfrt_ir_attribute_t* attribute, tfrt_arena_t* arena,
                                 tfrt_bef_value_t* out_value);

#endif  // TFRT_COMPILER_BEF_BEF_ATTRIBUTE_EMITTER_H_
