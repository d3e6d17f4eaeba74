// SPDX-License-Identifier: Apache-2.0
//
// The op tables of all kernel rooms of the project in one place: what the mains hand to
// the compiler. Data only: no kernel is linked for it.
//
// Thread rule: constant data. Failure rule: none fails.
#ifndef TFRT_TOOLS_COMMON_OP_TABLES_H_
#define TFRT_TOOLS_COMMON_OP_TABLES_H_

#include "compiler/op_index.h"

// The op tables of all rooms. Thread-safe.
const tfrt_op_tables_t* tfrt_all_op_tables(void);

#endif  // TFRT_TOOLS_COMMON_OP_TABLES_H_
