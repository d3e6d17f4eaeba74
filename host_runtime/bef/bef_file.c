// SPDX-License-Identifier: Apache-2.0

#include "host_runtime/bef/bef_file.h"

#include <inttypes.h>
#include <string.h>

#include "host_runtime/bef/bef_loader.h"

// --- Framing --------------------------------------------------------------------

const char* tfrt_bef_section_name(uint32_t slot) {
  static const char* const kNames[TFRT_BEF_SLOT_COUNT] = {
      "Strings",       "Attributes",      "Kernels",       "Types",          "FunctionIndex",
      "Functions",     "LocationStrings", "Locations",     "AttributeTypes", "AttributeNames",
      "RegisterTypes", "CallOptions",     "ArgumentNames",
  };
  return slot < TFRT_BEF_SLOT_COUNT ? kNames[slot] : "?";
}

static uint32_t slot_of_section(uint8_t id) {
  if (id <= TFRT_BEF_SECTION_REGISTER_TYPES) return id;
  if (id == TFRT_BEF_SECTION_CALL_OPTIONS) return TFRT_BEF_SLOT_CALL_OPTIONS;
  if (id == TFRT_BEF_SECTION_ARGUMENT_NAMES) return TFRT_BEF_SLOT_ARGUMENT_NAMES;
  return TFRT_BEF_SLOT_COUNT;
}

tfrt_bef_cursor_t tfrt_bef_section_cursor(const tfrt_bef_file_t* file, uint32_t slot) {
  const tfrt_bef_section_t* section = &file->sections[slot];
  const uint8_t* data = section->data ? section->data : file->image.data;
  return (tfrt_bef_cursor_t){
      .image = file->image.data,
      .position = data,
      .end = data + section->size,
      .section = tfrt_bef_section_name(slot),
      .function = TFRT_BEF_NO_INDEX,
      .kernel = TFRT_BEF_NO_INDEX,
  };
}

// Reads one section's frame and moves |cursor| behind its payload.
static tfrt_status_t load_section(tfrt_bef_file_t* file, tfrt_bef_cursor_t* cursor) {
  const uint8_t* start = cursor->position;
  uint8_t id;
  uint64_t length_and_flag;
  TFRT_RETURN_IF_ERROR(tfrt_bef_cursor_read_byte(cursor, &id));
  uint32_t slot = slot_of_section(id);
  cursor->section = slot < TFRT_BEF_SLOT_COUNT ? tfrt_bef_section_name(slot) : "(unknown)";
  TFRT_RETURN_IF_ERROR(tfrt_bef_cursor_read_vbr(cursor, &length_and_flag));
  if (length_and_flag & 1) {
    uint8_t alignment;
    TFRT_RETURN_IF_ERROR(tfrt_bef_cursor_read_byte(cursor, &alignment));
    if (alignment == 0 || (alignment & (alignment - 1)) != 0 || alignment > TFRT_BEF_ALIGNMENT) {
      return tfrt_bef_cursor_error(cursor, cursor->position - 1,
                                   "alignment %u is none of 1, 2, 4, 8", alignment);
    }
    TFRT_RETURN_IF_ERROR(tfrt_bef_cursor_align(cursor, alignment));
  }
  uint64_t length = length_and_flag >> 1;
  if (length > tfrt_bef_cursor_left(cursor)) {
    return tfrt_bef_cursor_error(cursor, start, "%" PRIu64 " bytes long, but only %zu are left",
                                 length, tfrt_bef_cursor_left(cursor));
  }
  if (slot < TFRT_BEF_SLOT_COUNT) {
    tfrt_bef_section_t* section = &file->sections[slot];
    if (section->data) return tfrt_bef_cursor_error(cursor, start, "is there twice");
    section->data = cursor->position;
    section->size = (size_t)length;
  }
  cursor->position += length;
  return NULL;
}

static tfrt_status_t load_sections(tfrt_bef_file_t* file) {
  tfrt_bef_cursor_t cursor = {
      .image = file->image.data,
      .position = file->image.data,
      .end = file->image.data + file->image.size,
      .section = "(header)",
      .function = TFRT_BEF_NO_INDEX,
      .kernel = TFRT_BEF_NO_INDEX,
  };
  if (file->image.size < TFRT_BEF_HEADER_SIZE || file->image.data[0] != TFRT_BEF_MAGIC_0 ||
      file->image.data[1] != TFRT_BEF_MAGIC_1) {
    return tfrt_bef_cursor_error(&cursor, cursor.position,
                                 "not a BEF file (it would begin with 0B EF)");
  }
  if (file->image.data[2] != TFRT_BEF_VERSION) {
    return tfrt_bef_cursor_error(&cursor, cursor.position + 2,
                                 "version %u; only version %u can be read", file->image.data[2],
                                 TFRT_BEF_VERSION);
  }
  cursor.position += TFRT_BEF_HEADER_SIZE;
  while (cursor.position != cursor.end) TFRT_RETURN_IF_ERROR(load_section(file, &cursor));

  static const uint32_t kNeeded[] = {TFRT_BEF_SECTION_STRINGS, TFRT_BEF_SECTION_KERNELS,
                                     TFRT_BEF_SECTION_TYPES, TFRT_BEF_SECTION_FUNCTION_INDEX,
                                     TFRT_BEF_SECTION_FUNCTIONS};
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(kNeeded); ++i) {
    if (file->sections[kNeeded[i]].data) continue;
    cursor.section = tfrt_bef_section_name(kNeeded[i]);
    return tfrt_bef_cursor_error(&cursor, cursor.end, "is missing; the file may be truncated");
  }
  return NULL;
}

// --- Life -------------------------------------------------------------------------

static void destroy(tfrt_bef_file_t* file) {
  tfrt_arena_deinitialize(&file->arena);
  tfrt_file_contents_deinitialize(&file->image);
  tfrt_allocator_free(file->allocator, file, sizeof(*file));
}

static tfrt_status_t out_of_memory(void) {
  return tfrt_status_create(TFRT_STATUS_RESOURCE_EXHAUSTED, "no memory to load a BEF file");
}

tfrt_status_t tfrt_bef_load_allocate(tfrt_arena_t* arena, size_t count, size_t size,
                                     void** out_array) {
  *out_array = count > 0 ? tfrt_arena_allocate_array(arena, count, size) : NULL;
  return *out_array || count == 0 ? NULL : out_of_memory();
}

tfrt_status_t tfrt_bef_load_allocate_room(tfrt_arena_t* arena, size_t count, size_t size,
                                          void** out_array) {
  *out_array = count > 0 ? tfrt_arena_allocate_room(arena, count, size) : NULL;
  return *out_array || count == 0 ? NULL : out_of_memory();
}

// Each step reads other parts of the file: those of the step before may leave memory.
static void unload(const tfrt_bef_file_t* file) {
  tfrt_bef_file_unload(file, file->image.data, file->image.size);
}

static tfrt_status_t load_all(tfrt_bef_file_t* file) {
  tfrt_bef_load_t load = {.file = file};
  tfrt_arena_initialize(&load.scratch, file->allocator);
  tfrt_status_t status = load_sections(file);
  if (!status) status = tfrt_bef_load_tables(&load);
  if (!status) status = tfrt_bef_load_locations(&load);
  unload(file);
  if (!status) status = tfrt_bef_load_bodies(&load);
  unload(file);
  if (!status) status = tfrt_bef_load_extras(&load);
  unload(file);
  tfrt_arena_deinitialize(&load.scratch);
  return status;
}

tfrt_status_t tfrt_bef_file_create_around(tfrt_file_contents_t* contents,
                                          tfrt_allocator_t allocator, tfrt_bef_file_t** out_file) {
  *out_file = NULL;
  tfrt_status_t status = NULL;
  tfrt_bef_file_t* file = NULL;
  if ((uintptr_t)contents->data % TFRT_BEF_ALIGNMENT != 0) {
    status = tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                                "the bytes of a BEF file must be aligned to 8 bytes");
  } else if (contents->size > TFRT_BEF_MAX_SIZE) {
    status =
        tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                           "a BEF file of %zu bytes is over the limit of 4 GiB", contents->size);
  } else {
    file = tfrt_allocator_allocate_zeroed(allocator, sizeof(*file));
    if (!file) status = tfrt_status_create(TFRT_STATUS_RESOURCE_EXHAUSTED, "no memory for a file");
  }
  if (status) {
    tfrt_file_contents_deinitialize(contents);
    return status;
  }
  tfrt_ref_count_initialize(&file->ref_count);
  file->allocator = allocator;
  file->image = *contents;
  *contents = (tfrt_file_contents_t){.allocator = contents->allocator};
  tfrt_arena_initialize(&file->arena, allocator);
  status = load_all(file);
  if (status) {
    destroy(file);
    return status;
  }
  *out_file = file;
  return NULL;
}

tfrt_status_t tfrt_bef_file_create_take_contents(tfrt_file_contents_t* contents,
                                                 tfrt_bef_file_t** out_file) {
  return tfrt_bef_file_create_around(contents, contents->allocator, out_file);
}

tfrt_status_t tfrt_bef_file_create_take(void* bytes, size_t size, tfrt_allocator_t allocator,
                                        tfrt_bef_file_t** out_file) {
  tfrt_file_contents_t contents = {
      .data = bytes, .size = size, .capacity = size, .allocator = allocator};
  return tfrt_bef_file_create_take_contents(&contents, out_file);
}

tfrt_status_t tfrt_bef_file_create(const void* bytes, size_t size, tfrt_allocator_t allocator,
                                   tfrt_bef_file_t** out_file) {
  *out_file = NULL;
  void* copy = tfrt_allocator_allocate(allocator, size);
  if (!copy) {
    return tfrt_status_create(TFRT_STATUS_RESOURCE_EXHAUSTED,
                              "no memory for a BEF file of %zu bytes", size);
  }
  if (size > 0) memcpy(copy, bytes, size);
  return tfrt_bef_file_create_take(copy, size, allocator, out_file);
}

tfrt_bef_file_t* tfrt_bef_file_retain(tfrt_bef_file_t* file) {
  tfrt_ref_count_increment(&file->ref_count);
  return file;
}

void tfrt_bef_file_release(tfrt_bef_file_t* file) {
  if (file && tfrt_ref_count_decrement(&file->ref_count)) destroy(file);
}

// --- Reading ----------------------------------------------------------------------

const void* tfrt_bef_file_bytes(const tfrt_bef_file_t* file, size_t* out_size) {
  *out_size = file->image.size;
  return file->image.data;
}

void tfrt_bef_file_unload(const tfrt_bef_file_t* file, const void* data, size_t size) {
  tfrt_file_contents_unload(&file->image, data, size);
}

uint32_t tfrt_bef_file_function_count(const tfrt_bef_file_t* file) { return file->function_count; }

const tfrt_bef_function_t* tfrt_bef_file_function(const tfrt_bef_file_t* file, uint32_t index) {
  return &file->functions[index];
}

const tfrt_bef_function_t* tfrt_bef_file_find_function(const tfrt_bef_file_t* file,
                                                       const char* name) {
  for (uint32_t i = 0; name[0] != '\0' && i < file->function_count; ++i) {
    if (strcmp(file->functions[i].name, name) == 0) return &file->functions[i];
  }
  return NULL;
}

const tfrt_bef_function_t* tfrt_bef_file_enclosing_function(const tfrt_bef_file_t* file,
                                                            const tfrt_bef_function_t* function) {
  for (uint32_t i = function->index; i < file->function_count; ++i) {
    if (file->functions[i].name[0] != '\0') return &file->functions[i];
  }
  return function;
}

// The index of the first of |count| entries, of |size| bytes each, whose number is not below
// |number|; |count| if there is none. Each entry begins with its number, and they are sorted by it.
static uint32_t find_number(const void* entries, uint32_t count, size_t size, uint32_t number) {
  uint32_t low = 0;
  uint32_t high = count;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    uint32_t found;
    memcpy(&found, (const char*)entries + middle * size, sizeof(found));
    if (found < number) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

// The options of kernel |index| of |function|, or NULL.
static const tfrt_bef_call_options_t* find_call_options(const tfrt_bef_function_t* function,
                                                        uint32_t index) {
  const tfrt_bef_call_options_entry_t* entries = function->call_options;
  uint32_t count = function->call_options_count;
  uint32_t at = find_number(entries, count, sizeof(*entries), index);
  return at < count && entries[at].kernel == index ? &entries[at].options : NULL;
}

tfrt_bef_kernel_t tfrt_bef_file_kernel(const tfrt_bef_file_t* file,
                                       const tfrt_bef_function_t* function, uint32_t index) {
  const tfrt_bef_record_t* record = tfrt_bef_function_record(function, index);
  return (tfrt_bef_kernel_t){
      .name = index > 0 ? file->kernel_names[record->code] : "",
      .code = record->code,
      .location = record->location,
      .stream_id = tfrt_bef_function_stream_id(function, index),
      .argument_count = record->argument_count,
      .attribute_count = record->attribute_count,
      .function_count = record->function_count,
      .result_count = record->result_count,
      .arguments = tfrt_bef_record_arguments(record),
      .attributes = tfrt_bef_record_attributes(record),
      .functions = tfrt_bef_record_functions(record),
      .results = tfrt_bef_record_results(record),
      .user_counts = tfrt_bef_record_user_counts(record),
      .users = tfrt_bef_record_users(record),
      .call_options = find_call_options(function, index),
  };
}

bool tfrt_bef_file_read_register_types(const tfrt_bef_file_t* file,
                                       const tfrt_bef_function_t* function,
                                       const char** out_types) {
  if (!function->register_types) return false;
  tfrt_bef_cursor_t cursor = tfrt_bef_section_cursor(file, TFRT_BEF_SECTION_REGISTER_TYPES);
  cursor.position = function->register_types;
  for (uint32_t i = 0; i < function->register_count; ++i) {
    // Was read before, when the file was loaded.
    tfrt_status_release(tfrt_bef_load_read_type(file, &cursor, &out_types[i]));
  }
  return true;
}

uint32_t tfrt_bef_file_kernel_name_count(const tfrt_bef_file_t* file) {
  return file->kernel_name_count;
}

const char* tfrt_bef_file_kernel_name(const tfrt_bef_file_t* file, uint32_t code) {
  return file->kernel_names[code];
}

const char* const* tfrt_bef_file_kernel_names(const tfrt_bef_file_t* file) {
  return file->kernel_names;
}

const uint8_t* tfrt_bef_file_attributes(const tfrt_bef_file_t* file, size_t* out_size) {
  *out_size = file->sections[TFRT_BEF_SECTION_ATTRIBUTES].size;
  return file->sections[TFRT_BEF_SECTION_ATTRIBUTES].data;
}

tfrt_bef_attribute_type_t tfrt_bef_file_attribute_type(const tfrt_bef_file_t* file,
                                                       uint32_t offset) {
  const tfrt_bef_attribute_entry_t* entries = file->attribute_types;
  uint32_t count = file->attribute_type_count;
  uint32_t at = find_number(entries, count, sizeof(*entries), offset);
  bool found = at < count && entries[at].offset == offset;
  return found ? entries[at].type : TFRT_BEF_ATTRIBUTE_UNSUPPORTED;
}

bool tfrt_bef_file_has_attribute_types(const tfrt_bef_file_t* file) {
  return file->sections[TFRT_BEF_SECTION_ATTRIBUTE_TYPES].data != NULL;
}

bool tfrt_bef_file_has_attribute_names(const tfrt_bef_file_t* file) {
  return file->sections[TFRT_BEF_SECTION_ATTRIBUTE_NAMES].data != NULL;
}

bool tfrt_bef_file_has_register_types(const tfrt_bef_file_t* file) {
  return file->sections[TFRT_BEF_SECTION_REGISTER_TYPES].data != NULL;
}
