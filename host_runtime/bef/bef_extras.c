// SPDX-License-Identifier: Apache-2.0
//
// Step 5 of a load: the sections that execution doesn't need (types and names for going
// back to text), and our own two.

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "host_runtime/bef/bef_attribute.h"
#include "host_runtime/bef/bef_loader.h"

// --- Attribute types ------------------------------------------------------------

static int compare_entries(const void* a, const void* b) {
  uint32_t left = ((const tfrt_bef_attribute_entry_t*)a)->offset;
  uint32_t right = ((const tfrt_bef_attribute_entry_t*)b)->offset;
  return left < right ? -1 : left > right;
}

// Each offset has one type, and aggregates don't overlap: checking one takes time for
// each of its elements.
static tfrt_status_t check_attribute_entries(const tfrt_bef_file_t* file,
                                             const tfrt_bef_cursor_t* cursor) {
  const tfrt_bef_section_t* section = &file->sections[TFRT_BEF_SECTION_ATTRIBUTES];
  size_t aggregate_end = 0;
  for (uint32_t i = 0; i < file->attribute_type_count; ++i) {
    const tfrt_bef_attribute_entry_t* entry = &file->attribute_types[i];
    if (i > 0 && entry[-1].offset == entry->offset) {
      return tfrt_bef_cursor_error(cursor, cursor->end,
                                   "the attribute at offset 0x%" PRIx32 " has two types",
                                   entry->offset);
    }
    bool aggregate = entry->type == TFRT_BEF_ATTRIBUTE_AGGREGATE;
    if (aggregate && entry->offset < aggregate_end) {
      return tfrt_bef_cursor_error(cursor, cursor->end,
                                   "the aggregate at offset 0x%" PRIx32 " is inside another one",
                                   entry->offset);
    }
    tfrt_status_t status =
        tfrt_bef_attribute_check(section->data, section->size, entry->offset, entry->type);
    TFRT_RETURN_IF_ERROR(tfrt_status_take_annotate(status, "bad BEF file: section Attributes"));
    if (!aggregate) continue;
    aggregate_end =
        entry->offset + tfrt_bef_attribute_size(section->data + entry->offset, entry->type);
  }
  return NULL;
}

static tfrt_status_t load_attribute_types(tfrt_bef_file_t* file) {
  tfrt_bef_cursor_t cursor = tfrt_bef_section_cursor(file, TFRT_BEF_SECTION_ATTRIBUTE_TYPES);
  if (!tfrt_bef_file_has_attribute_types(file)) return NULL;
  uint32_t count;
  void* memory;
  TFRT_RETURN_IF_ERROR(tfrt_bef_cursor_read_count(&cursor, "number of attributes", 2, &count));
  TFRT_RETURN_IF_ERROR(
      tfrt_bef_load_allocate(&file->arena, count, sizeof(*file->attribute_types), &memory));
  file->attribute_types = memory;
  for (uint32_t i = 0; i < count; ++i) {
    uint32_t type;
    TFRT_RETURN_IF_ERROR(tfrt_bef_cursor_read_index(
        &cursor, "attribute offset", file->sections[TFRT_BEF_SECTION_ATTRIBUTES].size,
        &file->attribute_types[i].offset));
    TFRT_RETURN_IF_ERROR(tfrt_bef_cursor_read_index(&cursor, "attribute type", 256, &type));
    file->attribute_types[i].type = (tfrt_bef_attribute_type_t)type;
  }
  file->attribute_type_count = count;
  TFRT_RETURN_IF_ERROR(tfrt_bef_cursor_expect_end(&cursor));
  if (count > 0)
    qsort(file->attribute_types, count, sizeof(*file->attribute_types), compare_entries);
  return check_attribute_entries(file, &cursor);
}

// --- Attribute names and register types -------------------------------------------

// Reads the count of functions that begins both sections. Some writers count only those
// that have a body.
static tfrt_status_t read_function_count(const tfrt_bef_file_t* file, tfrt_bef_cursor_t* cursor) {
  const uint8_t* start = cursor->position;
  uint32_t count;
  uint32_t body_count = 0;
  for (uint32_t i = 0; i < file->function_count; ++i) {
    if (file->functions[i].kind != TFRT_BEF_FUNCTION_NATIVE) ++body_count;
  }
  TFRT_RETURN_IF_ERROR(tfrt_bef_cursor_read_u32(cursor, "number of functions", &count));
  if (count == file->function_count || count == body_count) return NULL;
  return tfrt_bef_cursor_error(cursor, start, "is for %" PRIu32 " functions, not for %" PRIu32,
                               count, file->function_count);
}

// Reads a count that must be |expected|.
static tfrt_status_t read_expected(tfrt_bef_cursor_t* cursor, const char* what, uint32_t expected) {
  const uint8_t* start = cursor->position;
  uint32_t count;
  TFRT_RETURN_IF_ERROR(tfrt_bef_cursor_read_u32(cursor, what, &count));
  if (count == expected) return NULL;
  return tfrt_bef_cursor_error(cursor, start, "%s is %" PRIu32 ", not %" PRIu32, what, count,
                               expected);
}

// The names of all attributes of |function|, kernel by kernel.
static tfrt_status_t load_function_attribute_names(tfrt_bef_file_t* file, tfrt_bef_cursor_t* cursor,
                                                   tfrt_bef_function_t* function) {
  TFRT_RETURN_IF_ERROR(read_expected(cursor, "number of kernels", function->kernel_count));
  void* memory;
  TFRT_RETURN_IF_ERROR(tfrt_bef_load_allocate_room(
      &file->arena, (size_t)function->attribute_count + 1, sizeof(const char*), &memory));
  const char** names = memory;
  for (uint32_t i = 0; i < function->attribute_count; ++i) {
    TFRT_RETURN_IF_ERROR(
        tfrt_bef_load_read_string(file, cursor, "offset of an attribute name", &names[i]));
  }
  function->attribute_names = names;
  return NULL;
}

static tfrt_status_t load_attribute_names(tfrt_bef_file_t* file) {
  tfrt_bef_cursor_t cursor = tfrt_bef_section_cursor(file, TFRT_BEF_SECTION_ATTRIBUTE_NAMES);
  if (!tfrt_bef_file_has_attribute_names(file)) return NULL;
  TFRT_RETURN_IF_ERROR(read_function_count(file, &cursor));
  for (uint32_t i = 0; i < file->function_count; ++i) {
    if (file->functions[i].kind == TFRT_BEF_FUNCTION_NATIVE) continue;
    cursor.function = i;
    cursor.function_name = file->functions[i].name;
    TFRT_RETURN_IF_ERROR(load_function_attribute_names(file, &cursor, &file->functions[i]));
  }
  return tfrt_bef_cursor_expect_end(&cursor);
}

static tfrt_status_t load_register_types(tfrt_bef_file_t* file) {
  tfrt_bef_cursor_t cursor = tfrt_bef_section_cursor(file, TFRT_BEF_SECTION_REGISTER_TYPES);
  if (!tfrt_bef_file_has_register_types(file)) return NULL;
  TFRT_RETURN_IF_ERROR(read_function_count(file, &cursor));
  for (uint32_t i = 0; i < file->function_count; ++i) {
    tfrt_bef_function_t* function = &file->functions[i];
    if (function->kind == TFRT_BEF_FUNCTION_NATIVE) continue;
    cursor.function = i;
    cursor.function_name = function->name;
    TFRT_RETURN_IF_ERROR(read_expected(&cursor, "number of registers", function->register_count));
    function->register_types = cursor.position;
    TFRT_RETURN_IF_ERROR(tfrt_bef_cursor_read_indices(&cursor, "type", file->type_count,
                                                      function->register_count, NULL));
  }
  return tfrt_bef_cursor_expect_end(&cursor);
}

// --- Call options -----------------------------------------------------------------

// Reads the fields of one entry. Bytes behind the known fields belong to a newer writer, and are
// ignored.
static tfrt_status_t read_options(tfrt_bef_cursor_t* cursor, tfrt_bef_call_options_t* options) {
  uint64_t mask;
  const uint8_t* start = cursor->position;
  TFRT_RETURN_IF_ERROR(tfrt_bef_cursor_read_vbr(cursor, &mask));
  options->has_host = (mask & TFRT_BEF_CALL_OPTION_HOST) != 0;
  options->pure = (mask & TFRT_BEF_CALL_OPTION_PURE) != 0;
  options->nonstrict = (mask & TFRT_BEF_CALL_OPTION_NONSTRICT) != 0;
  if (options->has_host) {
    TFRT_RETURN_IF_ERROR(tfrt_bef_cursor_read_u32(cursor, "host", &options->host));
  }
  if (mask & TFRT_BEF_CALL_OPTION_DEADLINE_MS) {
    TFRT_RETURN_IF_ERROR(tfrt_bef_cursor_read_u32(cursor, "deadline_ms", &options->deadline_ms));
    if (options->deadline_ms == 0) {
      return tfrt_bef_cursor_error(cursor, start, "a deadline of 0 ms can't be met");
    }
  }
  if (mask & TFRT_BEF_CALL_OPTION_RETRIES) {
    TFRT_RETURN_IF_ERROR(tfrt_bef_cursor_read_u32(cursor, "retries", &options->retries));
  }
  if (mask & TFRT_BEF_CALL_OPTION_DEVICE) {
    const uint8_t* name = cursor->position;
    TFRT_RETURN_IF_ERROR(tfrt_bef_cursor_read_string(cursor, &options->device));
    size_t size = strlen(options->device);
    if (size == 0 || size > TFRT_BEF_MAX_DEVICE_SIZE) {
      return tfrt_bef_cursor_error(cursor, name, "the name of a device has %zu bytes", size);
    }
  }
  if (mask & TFRT_BEF_CALL_OPTION_COST) {
    TFRT_RETURN_IF_ERROR(tfrt_bef_cursor_read_u32(cursor, "cost", &options->cost));
  }
  if (mask > TFRT_BEF_CALL_OPTION_ALL) return NULL;
  return tfrt_bef_cursor_expect_end(cursor);
}

// Reads one entry: function, kernel, length, fields. |*previous| orders the entries.
static tfrt_status_t load_call_options_entry(tfrt_bef_file_t* file, tfrt_bef_cursor_t* cursor,
                                             tfrt_bef_call_options_entry_t* entry,
                                             uint64_t* previous) {
  const uint8_t* start = cursor->position;
  uint32_t length;
  TFRT_RETURN_IF_ERROR(
      tfrt_bef_cursor_read_index(cursor, "function", file->function_count, &cursor->function));
  tfrt_bef_function_t* function = &file->functions[cursor->function];
  cursor->function_name = function->name;
  TFRT_RETURN_IF_ERROR(
      tfrt_bef_cursor_read_index(cursor, "kernel", function->kernel_count, &cursor->kernel));
  uint64_t key = (uint64_t)cursor->function << 32 | cursor->kernel;
  if (cursor->kernel == 0 || key <= *previous) {
    return tfrt_bef_cursor_error(cursor, start,
                                 "entries are not ordered by function and then by kernel, from 1");
  }
  *previous = key;
  TFRT_RETURN_IF_ERROR(tfrt_bef_cursor_read_count(cursor, "length of an entry", 1, &length));
  tfrt_bef_cursor_t fields = *cursor;
  fields.end = fields.position + length;
  TFRT_RETURN_IF_ERROR(read_options(&fields, &entry->options));
  entry->kernel = cursor->kernel;
  if (function->call_options_count++ == 0) function->call_options = entry;
  cursor->position += length;
  return NULL;
}

static tfrt_status_t load_call_options(tfrt_bef_file_t* file) {
  tfrt_bef_cursor_t cursor = tfrt_bef_section_cursor(file, TFRT_BEF_SLOT_CALL_OPTIONS);
  if (!file->sections[TFRT_BEF_SLOT_CALL_OPTIONS].data) return NULL;
  uint32_t count;
  void* memory;
  uint64_t previous = 0;
  TFRT_RETURN_IF_ERROR(tfrt_bef_cursor_read_count(&cursor, "number of entries", 4, &count));
  TFRT_RETURN_IF_ERROR(
      tfrt_bef_load_allocate(&file->arena, count, sizeof(tfrt_bef_call_options_entry_t), &memory));
  tfrt_bef_call_options_entry_t* entries = memory;
  for (uint32_t i = 0; i < count; ++i) {
    cursor.function = cursor.kernel = TFRT_BEF_NO_INDEX;
    TFRT_RETURN_IF_ERROR(load_call_options_entry(file, &cursor, &entries[i], &previous));
  }
  return tfrt_bef_cursor_expect_end(&cursor);
}

// --- Argument names -----------------------------------------------------------------

static tfrt_status_t load_argument_names_entry(tfrt_bef_file_t* file, tfrt_bef_cursor_t* cursor) {
  const uint8_t* start = cursor->position;
  uint32_t index;
  void* memory;
  TFRT_RETURN_IF_ERROR(
      tfrt_bef_cursor_read_index(cursor, "function", file->function_count, &index));
  if (cursor->function != TFRT_BEF_NO_INDEX && index <= cursor->function) {
    return tfrt_bef_cursor_error(cursor, start, "entries are not ordered by function");
  }
  tfrt_bef_function_t* function = &file->functions[index];
  cursor->function = index;
  cursor->function_name = function->name;
  TFRT_RETURN_IF_ERROR(read_expected(cursor, "number of arguments", function->argument_count));
  TFRT_RETURN_IF_ERROR(
      tfrt_bef_load_allocate(&file->arena, function->argument_count, sizeof(const char*), &memory));
  const char** names = memory;
  for (uint32_t i = 0; i < function->argument_count; ++i) {
    TFRT_RETURN_IF_ERROR(tfrt_bef_cursor_read_string(cursor, &names[i]));
  }
  function->argument_names = names;
  return NULL;
}

static tfrt_status_t load_argument_names(tfrt_bef_file_t* file) {
  tfrt_bef_cursor_t cursor = tfrt_bef_section_cursor(file, TFRT_BEF_SLOT_ARGUMENT_NAMES);
  if (!file->sections[TFRT_BEF_SLOT_ARGUMENT_NAMES].data) return NULL;
  uint32_t count;
  TFRT_RETURN_IF_ERROR(tfrt_bef_cursor_read_count(&cursor, "number of entries", 2, &count));
  for (uint32_t i = 0; i < count; ++i) {
    TFRT_RETURN_IF_ERROR(load_argument_names_entry(file, &cursor));
  }
  return tfrt_bef_cursor_expect_end(&cursor);
}

tfrt_status_t tfrt_bef_load_extras(tfrt_bef_load_t* load) {
  TFRT_RETURN_IF_ERROR(load_attribute_types(load->file));
  TFRT_RETURN_IF_ERROR(load_attribute_names(load->file));
  TFRT_RETURN_IF_ERROR(load_register_types(load->file));
  TFRT_RETURN_IF_ERROR(load_call_options(load->file));
  return load_argument_names(load->file);
}
