// SPDX-License-Identifier: Apache-2.0
//
// The intermediate representation of host programs, in one include. The parser builds it from text,
// the checks and passes read it, and the BEF emitter walks it.
//
//   context   memory; one copy of each string, type and attribute
//     module  an operation `builtin.module`
//       function   an operation `func.func`
//         region -> block -> operation -> results, operands, attributes, regions ...
//
// Everything is read through the structs' fields and changed through functions, and
// lives until its context is freed.
//
// Thread rule: thread-compatible (caller synchronises). Failure rule: see each part.
#ifndef TFRT_COMPILER_IR_IR_H_
#define TFRT_COMPILER_IR_IR_H_

#include "compiler/ir/attribute.h"  // IWYU pragma: export
#include "compiler/ir/block.h"      // IWYU pragma: export
#include "compiler/ir/context.h"    // IWYU pragma: export
#include "compiler/ir/location.h"   // IWYU pragma: export
#include "compiler/ir/module.h"     // IWYU pragma: export
#include "compiler/ir/operation.h"  // IWYU pragma: export
#include "compiler/ir/resource.h"   // IWYU pragma: export
#include "compiler/ir/type.h"       // IWYU pragma: export
#include "compiler/ir/value.h"      // IWYU pragma: export

#endif  // TFRT_COMPILER_IR_IR_H_
