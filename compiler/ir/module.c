// SPDX-License-Identifier: Apache-2.0

#include "compiler/ir/module.h"

#include <stdlib.h>

// One symbol of a table; |order| is its place in the module.
typedef struct symbol_s {
  tfrt_string_view_t name;
  tfrt_ir_operation_t* operation;
  size_t order;
} symbol_t;

// The function found for a name lately: the calls of a program name few functions again and again.
typedef struct recent_s {
  const tfrt_ir_string_t* name;  // NULL: none yet
  tfrt_ir_operation_t* operation;
} recent_t;

#define RECENT_COUNT 16

struct tfrt_ir_symbol_table_s {
  symbol_t* symbols;  // sorted by name, then order
  size_t count;
  recent_t* recent;  // RECENT_COUNT, each at the place that the address of its name gives it
};

tfrt_ir_operation_t* tfrt_ir_module_create(tfrt_ir_context_t* context,
                                           const tfrt_ir_location_t* location) {
  tfrt_ir_operation_parts_t parts = {.name = tfrt_ir_string_of(context, "builtin.module"),
                                     .location = location,
                                     .region_count = 1};
  if (!parts.name) return NULL;
  tfrt_ir_operation_t* module = tfrt_ir_operation_create(context, &parts);
  if (!module || !tfrt_ir_block_create(context, &module->regions[0])) return NULL;
  return module;
}

bool tfrt_ir_is_module(const tfrt_ir_operation_t* operation) {
  return tfrt_ir_operation_is(operation, "builtin.module");
}

bool tfrt_ir_is_compiled_module(const tfrt_ir_operation_t* operation) {
  return tfrt_ir_is_module(operation) && tfrt_ir_operation_attribute(operation, "tfrt.compiled");
}

tfrt_ir_operation_t* tfrt_ir_function_create(tfrt_ir_context_t* context,
                                             const tfrt_ir_location_t* location,
                                             const tfrt_ir_string_t* name,
                                             const tfrt_ir_type_t* type) {
  tfrt_ir_named_attribute_t attributes[] = {
      {tfrt_ir_string_of(context, "function_type"), tfrt_ir_attribute_type(context, type)},
      {tfrt_ir_string_of(context, "sym_name"),
       tfrt_ir_attribute_string(context, tfrt_ir_string_view(name), NULL)},
  };
  tfrt_ir_operation_parts_t parts = {.name = tfrt_ir_string_of(context, "func.func"),
                                     .location = location,
                                     .attributes = attributes,
                                     .attribute_count = 2,
                                     .region_count = 1};
  if (!parts.name || !attributes[0].name || !attributes[0].value || !attributes[1].name ||
      !attributes[1].value) {
    return NULL;
  }
  return tfrt_ir_operation_create(context, &parts);
}

bool tfrt_ir_is_function(const tfrt_ir_operation_t* operation) {
  return tfrt_ir_operation_is(operation, "func.func") || tfrt_ir_is_async_function(operation);
}

bool tfrt_ir_is_async_function(const tfrt_ir_operation_t* operation) {
  return tfrt_ir_operation_is(operation, "async.func");
}

const tfrt_ir_type_t* tfrt_ir_function_type(const tfrt_ir_operation_t* function) {
  const tfrt_ir_attribute_t* type = tfrt_ir_operation_attribute(function, "function_type");
  if (!type || type->kind != TFRT_IR_ATTRIBUTE_TYPE) return NULL;
  return type->type->kind == TFRT_IR_TYPE_FUNCTION ? type->type : NULL;
}

tfrt_string_view_t tfrt_ir_symbol_name(const tfrt_ir_operation_t* operation) {
  const tfrt_ir_attribute_t* name = tfrt_ir_operation_attribute(operation, "sym_name");
  if (!name || name->kind != TFRT_IR_ATTRIBUTE_STRING) return tfrt_string_view_make("", 0);
  return tfrt_ir_attribute_text(name);
}

static int compare_symbols(const void* a, const void* b) {
  const symbol_t* left = a;
  const symbol_t* right = b;
  int order = tfrt_string_view_compare(left->name, right->name);
  if (order != 0) return order;
  return left->order < right->order ? -1 : 1;
}

const tfrt_ir_symbol_table_t* tfrt_ir_symbol_table_create(tfrt_ir_context_t* context,
                                                          const tfrt_ir_operation_t* module) {
  const tfrt_ir_block_t* block = tfrt_ir_module_block(module);
  size_t count = 0;
  for (tfrt_ir_operation_t* op = block ? block->first : NULL; op; op = op->next) ++count;
  tfrt_ir_symbol_table_t* table = tfrt_ir_context_allocate_array(context, 1, sizeof(*table));
  symbol_t* symbols = tfrt_ir_context_allocate_array(context, count, sizeof(*symbols));
  if (!table || !symbols) return NULL;
  table->recent = tfrt_ir_context_allocate_array(context, RECENT_COUNT, sizeof(*table->recent));
  if (!table->recent) return NULL;
  for (tfrt_ir_operation_t* op = block ? block->first : NULL; op; op = op->next) {
    tfrt_string_view_t name = tfrt_ir_symbol_name(op);
    if (!name.size) continue;
    symbols[table->count] = (symbol_t){name, op, table->count};
    ++table->count;
  }
  if (table->count) qsort(symbols, table->count, sizeof(*symbols), compare_symbols);
  table->symbols = symbols;
  return table;
}

tfrt_ir_operation_t* tfrt_ir_symbol_table_find(const tfrt_ir_symbol_table_t* table,
                                               tfrt_string_view_t name) {
  size_t low = 0;
  size_t high = table->count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (tfrt_string_view_compare(table->symbols[middle].name, name) < 0) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  if (low == table->count || !tfrt_string_view_equal(table->symbols[low].name, name)) return NULL;
  return table->symbols[low].operation;
}

// The op named |name| of |table|, or NULL.
static tfrt_ir_operation_t* find_outermost(const tfrt_ir_symbol_table_t* table,
                                           const tfrt_ir_string_t* name) {
  recent_t* recent = &table->recent[((uintptr_t)name >> 4) % RECENT_COUNT];
  if (recent->name != name) {
    *recent = (recent_t){name, tfrt_ir_symbol_table_find(table, tfrt_ir_string_view(name))};
  }
  return recent->operation;
}

// The op with symbol |name| directly inside |parent|, or NULL.
static tfrt_ir_operation_t* find_inside(const tfrt_ir_operation_t* parent,
                                        tfrt_string_view_t name) {
  const tfrt_ir_block_t* block = parent->region_count ? parent->regions[0].first_block : NULL;
  for (tfrt_ir_operation_t* op = block ? block->first : NULL; op; op = op->next) {
    if (tfrt_string_view_equal(tfrt_ir_symbol_name(op), name)) return op;
  }
  return NULL;
}

tfrt_ir_operation_t* tfrt_ir_symbol_table_resolve(const tfrt_ir_symbol_table_t* table,
                                                  const tfrt_ir_attribute_t* symbol) {
  tfrt_ir_operation_t* op = find_outermost(table, symbol->names[0]);
  for (uint32_t i = 1; op && i < symbol->count; ++i) {
    op = find_inside(op, tfrt_ir_string_view(symbol->names[i]));
  }
  return op;
}
