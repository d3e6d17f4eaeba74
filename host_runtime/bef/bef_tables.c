// SPDX-License-Identifier: Apache-2.0
//
// Step 2 of a load: strings, kernel names, types and the function index.

#include <inttypes.h>

#include "host_runtime/bef/bef_loader.h"

// Bytes that an entry of the function index takes at least: kind, offset, name, two counts.
#define MIN_FUNCTION_ENTRY_SIZE 5

// One NUL at the end of a section of strings ends every string in it.
static tfrt_status_t check_strings(const tfrt_bef_file_t* file, uint32_t slot) {
  tfrt_bef_cursor_t cursor = tfrt_bef_section_cursor(file, slot);
  if (cursor.position == cursor.end || cursor.end[-1] == 0) return NULL;
  return tfrt_bef_cursor_error(&cursor, cursor.end - 1, "the last string has no end");
}

tfrt_status_t tfrt_bef_load_read_string(const tfrt_bef_file_t* file, tfrt_bef_cursor_t* cursor,
                                        const char* what, const char** out_string) {
  const tfrt_bef_section_t* strings = &file->sections[TFRT_BEF_SECTION_STRINGS];
  uint32_t offset;
  *out_string = "";
  TFRT_RETURN_IF_ERROR(tfrt_bef_cursor_read_index(cursor, what, strings->size, &offset));
  *out_string = (const char*)strings->data + offset;
  return NULL;
}

// Reads a section that is a count and as many string offsets.
static tfrt_status_t load_names(tfrt_bef_file_t* file, uint32_t slot, const char*** out_names,
                                uint32_t* out_count) {
  tfrt_bef_cursor_t cursor = tfrt_bef_section_cursor(file, slot);
  uint32_t count;
  TFRT_RETURN_IF_ERROR(tfrt_bef_cursor_read_count(&cursor, "number of names", 1, &count));
  void* names;
  TFRT_RETURN_IF_ERROR(tfrt_bef_load_allocate(&file->arena, count, sizeof(**out_names), &names));
  *out_names = names;
  for (uint32_t i = 0; i < count; ++i) {
    TFRT_RETURN_IF_ERROR(
        tfrt_bef_load_read_string(file, &cursor, "offset of a name", &(*out_names)[i]));
  }
  *out_count = count;
  return tfrt_bef_cursor_expect_end(&cursor);
}

tfrt_status_t tfrt_bef_load_read_type(const tfrt_bef_file_t* file, tfrt_bef_cursor_t* cursor,
                                      const char** out_name) {
  uint32_t type;
  *out_name = "";
  TFRT_RETURN_IF_ERROR(tfrt_bef_cursor_read_index(cursor, "type", file->type_count, &type));
  *out_name = file->type_names[type];
  return NULL;
}

tfrt_status_t tfrt_bef_load_read_types(tfrt_bef_file_t* file, tfrt_bef_cursor_t* cursor,
                                       uint32_t count, const char* const** out_names) {
  void* memory;
  *out_names = NULL;
  TFRT_RETURN_IF_ERROR(
      tfrt_bef_load_allocate_room(&file->arena, count, sizeof(**out_names), &memory));
  const char** names = memory;
  for (uint32_t i = 0; i < count; ++i) {
    TFRT_RETURN_IF_ERROR(tfrt_bef_load_read_type(file, cursor, &names[i]));
  }
  *out_names = names;
  return NULL;
}

static tfrt_status_t load_function(tfrt_bef_load_t* load, tfrt_bef_cursor_t* cursor,
                                   tfrt_bef_function_t* function) {
  tfrt_bef_file_t* file = load->file;
  const uint8_t* start = cursor->position;
  uint8_t kind;
  TFRT_RETURN_IF_ERROR(tfrt_bef_cursor_read_byte(cursor, &kind));
  if (kind > TFRT_BEF_FUNCTION_SYNC) {
    return tfrt_bef_cursor_error(cursor, start, "kind %u is none of 0, 1, 2", kind);
  }
  function->kind = (tfrt_bef_function_kind_t)kind;
  TFRT_RETURN_IF_ERROR(
      tfrt_bef_cursor_read_u32(cursor, "offset of a body", &load->body_offsets[function->index]));
  TFRT_RETURN_IF_ERROR(
      tfrt_bef_load_read_string(file, cursor, "offset of a name", &function->name));
  cursor->function_name = function->name;
  TFRT_RETURN_IF_ERROR(
      tfrt_bef_cursor_read_count(cursor, "number of arguments", 1, &function->argument_count));
  TFRT_RETURN_IF_ERROR(
      tfrt_bef_load_read_types(file, cursor, function->argument_count, &function->argument_types));
  TFRT_RETURN_IF_ERROR(
      tfrt_bef_cursor_read_count(cursor, "number of results", 1, &function->result_count));
  return tfrt_bef_load_read_types(file, cursor, function->result_count, &function->result_types);
}

static tfrt_status_t load_function_index(tfrt_bef_load_t* load) {
  tfrt_bef_file_t* file = load->file;
  tfrt_bef_cursor_t cursor = tfrt_bef_section_cursor(file, TFRT_BEF_SECTION_FUNCTION_INDEX);
  uint32_t count;
  void* memory;
  TFRT_RETURN_IF_ERROR(
      tfrt_bef_cursor_read_count(&cursor, "number of functions", MIN_FUNCTION_ENTRY_SIZE, &count));
  TFRT_RETURN_IF_ERROR(
      tfrt_bef_load_allocate(&file->arena, count, sizeof(*file->functions), &memory));
  file->functions = memory;
  TFRT_RETURN_IF_ERROR(
      tfrt_bef_load_allocate(&load->scratch, count, sizeof(*load->body_offsets), &memory));
  load->body_offsets = memory;
  file->function_count = count;
  for (uint32_t i = 0; i < count; ++i) {
    cursor.function = file->functions[i].index = i;
    cursor.function_name = NULL;
    TFRT_RETURN_IF_ERROR(load_function(load, &cursor, &file->functions[i]));
  }
  cursor.function = TFRT_BEF_NO_INDEX;
  return tfrt_bef_cursor_expect_end(&cursor);
}

tfrt_status_t tfrt_bef_load_tables(tfrt_bef_load_t* load) {
  tfrt_bef_file_t* file = load->file;
  TFRT_RETURN_IF_ERROR(check_strings(file, TFRT_BEF_SECTION_STRINGS));
  TFRT_RETURN_IF_ERROR(check_strings(file, TFRT_BEF_SECTION_LOCATION_STRINGS));
  TFRT_RETURN_IF_ERROR(
      load_names(file, TFRT_BEF_SECTION_KERNELS, &file->kernel_names, &file->kernel_name_count));
  TFRT_RETURN_IF_ERROR(
      load_names(file, TFRT_BEF_SECTION_TYPES, &file->type_names, &file->type_count));
  return load_function_index(load);
}
