// SPDX-License-Identifier: Apache-2.0
//
// Values of BEF as attributes of the IR: the inverse of bef_attribute_emitter.h.
//
// Thread rule: thread-compatible (caller synchronises). Failure rule: NULL for what has
// no attribute, and when memory is out.
#ifndef TFRT_COMPILER_BEF_BEF_ATTRIBUTE_IMPORTER_H_
#define TFRT_COMPILER_BEF_BEF_ATTRIBUTE_IMPORTER_H_

#include "compiler/ir/ir.h"
#include "host_runtime/bef/bef_attribute.h"

// The type of IR that |dtype| stands for, or NULL. Thread-compatible on |context|.
const tfrt_ir_type_t* tfrt_bef_type_of_dtype(tfrt_ir_context_t* context, uint32_t dtype);

// The value of |type| at |bytes|, which was checked, as an attribute. Not for SYMBOL.
// Thread-compatible on |context|.
const tfrt_ir_attribute_t* tfrt_bef_attribute_from_bytes(tfrt_ir_context_t* context,
                                                         const void* bytes,
                                                         tfrt_bef_attribute_type_t type);

#endif  // TFRT_COMPILER_BEF_BEF_ATTRIBUTE_IMPORTER_H_
