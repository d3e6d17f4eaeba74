// SPDX-License-Identifier: Apache-2.0
#include "tools/coordinator/table.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "host_runtime/base/number_text.h"
#include "host_runtime/base/utf8.h"
#include "tools/output/json.h"

// The longest cell that is made from a format.
#define TFRT_TABLE_MAX_CELL 256

void tfrt_table_initialize(tfrt_table_t* table, const tfrt_table_column_t* columns,
                           size_t column_count) {
  *table = (tfrt_table_t){.columns = columns, .column_count = column_count};
  tfrt_string_builder_initialize(&table->cells, tfrt_allocator_system());
}

void tfrt_table_deinitialize(tfrt_table_t* table) {
  tfrt_string_builder_deinitialize(&table->cells);
}

void tfrt_table_add_view(tfrt_table_t* table, tfrt_string_view_t text) {
  tfrt_string_builder_append_view(&table->cells, text);
  tfrt_string_builder_append_char(&table->cells, '\0');
  ++table->cell_count;
}

void tfrt_table_add_text(tfrt_table_t* table, const char* text) {
  tfrt_table_add_view(table, tfrt_string_view_of(text));
}

void tfrt_table_add_format(tfrt_table_t* table, const char* format, ...) {
  char cell[TFRT_TABLE_MAX_CELL];
  va_list arguments;
  va_start(arguments, format);
  tfrt_number_text_format_v(cell, sizeof(cell), format, arguments);
  va_end(arguments);
  tfrt_table_add_text(table, cell);
}

size_t tfrt_table_row_count(const tfrt_table_t* table) {
  if (table->cells.failed) return 0;
  return table->cell_count / table->column_count;
}

// The text that a table shows for |cell|.
static const char* table_shown(const char* cell) { return cell[0] ? cell : "-"; }

static void table_measure(const tfrt_table_t* table, size_t* out_widths) {
  const char* cell = tfrt_string_builder_text(&table->cells);
  for (size_t i = 0; i < table->column_count; ++i) {
    out_widths[i] = strlen(table->columns[i].title);
  }
  for (size_t i = 0; i < tfrt_table_row_count(table) * table->column_count; ++i) {
    size_t* width = &out_widths[i % table->column_count];
    size_t size = tfrt_utf8_shown_size(tfrt_string_view_of(table_shown(cell)));
    if (size > *width) *width = size;
    cell += strlen(cell) + 1;
  }
}

static void table_append_cell(const tfrt_table_t* table, size_t column, size_t width,
                              tfrt_string_view_t text, tfrt_string_builder_t* out) {
  if (column > 0) tfrt_string_builder_append_text(out, "  ");
  size_t size = tfrt_utf8_shown_size(text);
  size_t fill = width > size ? width - size : 0;
  bool is_last = column + 1 == table->column_count;
  if (table->columns[column].is_number) tfrt_string_builder_append_fill(out, ' ', fill);
  tfrt_string_builder_append_shown(out, text);
  if (!table->columns[column].is_number && !is_last) {
    tfrt_string_builder_append_fill(out, ' ', fill);
  }
  if (is_last) tfrt_string_builder_append_char(out, '\n');
}

void tfrt_table_append_text(const tfrt_table_t* table, tfrt_string_builder_t* out) {
  size_t widths[TFRT_TABLE_MAX_COLUMNS];
  table_measure(table, widths);
  for (size_t i = 0; i < table->column_count; ++i) {
    table_append_cell(table, i, widths[i], tfrt_string_view_of(table->columns[i].title), out);
  }
  const char* cell = tfrt_string_builder_text(&table->cells);
  for (size_t i = 0; i < tfrt_table_row_count(table) * table->column_count; ++i) {
    size_t column = i % table->column_count;
    tfrt_string_view_t text = tfrt_string_view_of(table_shown(cell));
    table_append_cell(table, column, widths[column], text, out);
    cell += strlen(cell) + 1;
  }
}

void tfrt_table_append_json(const tfrt_table_t* table, tfrt_string_builder_t* out) {
  const char* cell = tfrt_string_builder_text(&table->cells);
  tfrt_string_builder_append_char(out, '[');
  for (size_t i = 0; i < tfrt_table_row_count(table) * table->column_count; ++i) {
    const tfrt_table_column_t* column = &table->columns[i % table->column_count];
    if (column == table->columns) tfrt_string_builder_append_text(out, i > 0 ? ",\n{" : "{");
    if (column != table->columns) tfrt_string_builder_append_char(out, ',');
    tfrt_json_append_string(out, tfrt_string_view_of(column->name));
    tfrt_string_builder_append_char(out, ':');
    if (cell[0] == '\0') {
      tfrt_string_builder_append_text(out, "null");
    } else if (column->is_number) {
      tfrt_string_builder_append_text(out, cell);
    } else {
      tfrt_json_append_string(out, tfrt_string_view_of(cell));
    }
    if (column == table->columns + table->column_count - 1) {
      tfrt_string_builder_append_char(out, '}');
    }
    cell += strlen(cell) + 1;
  }
  tfrt_string_builder_append_char(out, ']');
}

void tfrt_table_print(const tfrt_table_t* table, bool is_json) {
  tfrt_string_builder_t out;
  tfrt_string_builder_initialize(&out, tfrt_allocator_system());
  if (is_json) {
    tfrt_table_append_json(table, &out);
    tfrt_string_builder_append_char(&out, '\n');
  } else {
    tfrt_table_append_text(table, &out);
  }
  fputs(tfrt_string_builder_text(&out), stdout);
  tfrt_string_builder_deinitialize(&out);
}
