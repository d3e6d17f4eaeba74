// SPDX-License-Identifier: Apache-2.0

#include "compiler/dialects.h"

#include <string.h>

#include "compiler/passes/pass.h"

// The dialect that |name| begins with, empty if it has none.
static tfrt_string_view_t dialect_of(tfrt_string_view_t name) {
  const char* dot = memchr(name.data, '.', name.size);
  return tfrt_string_view_make(name.data, dot ? (size_t)(dot - name.data) : 0);
}

// Linear in the tables; asked only for ops that are in none of them.
static bool is_known(tfrt_string_view_t dialect, const tfrt_op_tables_t* tables) {
  static const char* const core[] = {"builtin", "func"};
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(core); ++i) {
    if (tfrt_string_view_equal(dialect, tfrt_string_view_of(core[i]))) return true;
  }
  for (size_t i = 0; i < tables->count; ++i) {
    for (size_t k = 0; k < tables->tables[i].count; ++k) {
      tfrt_string_view_t name = tfrt_string_view_of(tables->tables[i].descriptors[k].name);
      if (tfrt_string_view_equal(dialect, dialect_of(name))) return true;
    }
  }
  return false;
}

static void check_operation(const tfrt_ir_operation_t* op, const tfrt_op_tables_t* tables,
                            tfrt_diagnostics_t* diagnostics) {
  if (op->descriptor) return;
  tfrt_string_view_t dialect = dialect_of(tfrt_ir_string_view(op->name));
  if (dialect.size && is_known(dialect, tables)) return;
  tfrt_pass_report(diagnostics, TFRT_SEVERITY_ERROR, op,
                   "'%s' is an op of an unregistered dialect; if that is meant, use "
                   "-allow-unregistered-dialect",
                   op->name->data);
}

// The parser's nesting limit bounds the recursion.
static void check_regions(const tfrt_ir_operation_t* op, const tfrt_op_tables_t* tables,
                          tfrt_diagnostics_t* diagnostics) {
  check_operation(op, tables, diagnostics);
  if (tfrt_ir_is_compiled_module(op)) return;
  for (uint32_t i = 0; i < op->region_count; ++i) {
    for (tfrt_ir_block_t* block = op->regions[i].first_block; block; block = block->next) {
      for (const tfrt_ir_operation_t* inner = block->first; inner; inner = inner->next) {
        check_regions(inner, tables, diagnostics);
      }
    }
  }
}

bool tfrt_check_dialects(const tfrt_ir_operation_t* module, const tfrt_op_tables_t* tables,
                         tfrt_diagnostics_t* diagnostics) {
  size_t errors_before = diagnostics->error_count;
  check_regions(module, tables, diagnostics);
  return diagnostics->error_count == errors_before;
}
