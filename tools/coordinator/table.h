// SPDX-License-Identifier: Apache-2.0
//
// Rows of texts under titles, printed for people, in columns as wide as they must be, or as JSON,
// an object for each row.
//
//   initialize -> { begin_row -> add_text, add_view, add_number ... } -> append_text | append_json
//
// A cell that is not there is `-`, or null. Numbers stand on the right, and are numbers in JSON.
// For people, cells are shown as tfrt_utf8_show() says: what they have may be a peer's.
//
// Thread rule: thread-compatible.
// Failure rule: rows for which memory is out are not there; the builder that is printed to tells.
#ifndef TFRT_TOOLS_COORDINATOR_TABLE_H_
#define TFRT_TOOLS_COORDINATOR_TABLE_H_

#include "host_runtime/base/string_builder.h"

#define TFRT_TABLE_MAX_COLUMNS 16

typedef struct tfrt_table_column_s {
  const char* title;  // for people, in capitals
  const char* name;   // of the member in JSON
  bool is_number;
} tfrt_table_column_t;

typedef struct tfrt_table_s {
  const tfrt_table_column_t* columns;
  size_t column_count;
  tfrt_string_builder_t cells;  // each with a NUL at its end, row by row
  size_t cell_count;
} tfrt_table_t;

// Makes |table| one of |columns|, which outlive it, without rows; gives it back. Thread-compatible.
void tfrt_table_initialize(tfrt_table_t* table, const tfrt_table_column_t* columns,
                           size_t column_count);
void tfrt_table_deinitialize(tfrt_table_t* table);

// Adds the next cell; the first one begins a row. "" is a cell that is not there.
// Thread-compatible.
void tfrt_table_add_view(tfrt_table_t* table, tfrt_string_view_t text);
void tfrt_table_add_text(tfrt_table_t* table, const char* text);
void tfrt_table_add_format(tfrt_table_t* table, const char* format, ...) TFRT_PRINTF(2, 3);

// The number of rows. Thread-compatible.
size_t tfrt_table_row_count(const tfrt_table_t* table);

// Appends titles and rows, a line each; or an array of objects. Thread-compatible.
void tfrt_table_append_text(const tfrt_table_t* table, tfrt_string_builder_t* out);
void tfrt_table_append_json(const tfrt_table_t* table, tfrt_string_builder_t* out);

// Prints |table| on the standard output, one way or the other, with a line break.
// Thread-compatible.
void tfrt_table_print(const tfrt_table_t* table, bool is_json);

#endif  // TFRT_TOOLS_COORDINATOR_TABLE_H_
