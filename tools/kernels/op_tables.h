// SPDX-License-Identifier: Apache-2.0
//
// The op tables of all kernel rooms of the project in one place: what the mains hand to
// the compiler. Data only: no kernel is linked for it. The tables of kernel libraries that a
// main loads come behind them.
//
// Thread rule: loading is for the main thread, before others ask; then constant data.
// Failure rule: an error names the library, what is wrong, and what to do.
#ifndef TFRT_TOOLS_KERNELS_OP_TABLES_H_
#define TFRT_TOOLS_KERNELS_OP_TABLES_H_

#include "compiler/op_table/op_index.h"

// The op tables of all rooms and loaded libraries. Thread-safe.
const tfrt_op_tables_t* tfrt_all_op_tables(void);

// Loads the kernel libraries that |list| names (tfrt_shared_libraries_load()) and adds their op
// tables, and those of libraries that were loaded before. ALREADY_EXISTS if there is an op of one
// of their names, and the errors of loading. Main thread only, before anything is translated.
tfrt_status_t tfrt_op_tables_load_libraries(const char* list) TFRT_MUST_USE;

#endif  // TFRT_TOOLS_KERNELS_OP_TABLES_H_
