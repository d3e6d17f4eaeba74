// SPDX-License-Identifier: Apache-2.0

#include "host_runtime/bef/bef_writer.h"

#include <string.h>

#include "host_runtime/bef/bef_writer_impl.h"

// --- Life -------------------------------------------------------------------------

#define BYTES_COUNT 7

static void list_bytes(tfrt_bef_writer_t* writer, tfrt_bef_bytes_t* out_list[BYTES_COUNT]) {
  tfrt_bef_bytes_t* list[BYTES_COUNT] = {
      &writer->attributes,     &writer->attribute_types, &writer->functions,
      &writer->locations,      &writer->register_types,  &writer->call_options,
      &writer->argument_names,
  };
  memcpy(out_list, list, sizeof(list));
}

tfrt_status_t tfrt_bef_writer_allocate(bool optional_sections, tfrt_allocator_t allocator,
                                       tfrt_bef_writer_t** out_writer) {
  *out_writer = NULL;
  tfrt_bef_writer_t* writer = tfrt_allocator_allocate_zeroed(allocator, sizeof(*writer));
  if (!writer) return tfrt_status_create(TFRT_STATUS_RESOURCE_EXHAUSTED, "no memory for a writer");
  writer->allocator = allocator;
  writer->optional_sections = optional_sections;
  tfrt_arena_initialize(&writer->arena, allocator);
  tfrt_bef_name_table_initialize(&writer->strings, &writer->arena);
  tfrt_bef_name_table_initialize(&writer->types, &writer->arena);
  tfrt_bef_name_table_initialize(&writer->kernel_names, &writer->arena);
  tfrt_bef_name_table_initialize(&writer->location_names, &writer->arena);
  tfrt_bef_bytes_t* list[BYTES_COUNT];
  list_bytes(writer, list);
  for (size_t i = 0; i < BYTES_COUNT; ++i) tfrt_bef_bytes_initialize(list[i], allocator);
  *out_writer = writer;
  return NULL;
}

void tfrt_bef_writer_free(tfrt_bef_writer_t* writer) {
  if (!writer) return;
  tfrt_bef_bytes_t* list[BYTES_COUNT];
  list_bytes(writer, list);
  for (size_t i = 0; i < BYTES_COUNT; ++i) tfrt_bef_bytes_deinitialize(list[i]);
  tfrt_bef_name_table_deinitialize(&writer->strings);
  tfrt_bef_name_table_deinitialize(&writer->types);
  tfrt_bef_name_table_deinitialize(&writer->kernel_names);
  tfrt_bef_name_table_deinitialize(&writer->location_names);
  tfrt_arena_deinitialize(&writer->arena);
  tfrt_allocator_free(writer->allocator, writer, sizeof(*writer));
}

// --- Tables -----------------------------------------------------------------------

tfrt_bef_name_t* tfrt_bef_writer_name(tfrt_bef_writer_t* writer, tfrt_bef_name_table_t* table,
                                      tfrt_string_view_t text) {
  tfrt_bef_name_t* name = tfrt_bef_name_table_add(table, text);
  if (!name) writer->failed = true;
  return name;
}

void tfrt_bef_writer_add_string(tfrt_bef_writer_t* writer, tfrt_string_view_t text) {
  tfrt_bef_writer_name(writer, &writer->strings, text);
}

// A name whose number counts, and which is a string as well.
static uint32_t add_numbered(tfrt_bef_writer_t* writer, tfrt_bef_name_table_t* table,
                             tfrt_string_view_t text) {
  tfrt_bef_writer_add_string(writer, text);
  const tfrt_bef_name_t* name = tfrt_bef_writer_name(writer, table, text);
  return name ? name->index : 0;
}

uint32_t tfrt_bef_writer_add_type(tfrt_bef_writer_t* writer, tfrt_string_view_t text) {
  return add_numbered(writer, &writer->types, text);
}

uint32_t tfrt_bef_writer_add_kernel_name(tfrt_bef_writer_t* writer, tfrt_string_view_t name) {
  return add_numbered(writer, &writer->kernel_names, name);
}

uint32_t tfrt_bef_writer_add_attribute(tfrt_bef_writer_t* writer, const tfrt_bef_value_t* value) {
  uint32_t offset = tfrt_bef_value_encode(value, &writer->attributes);
  tfrt_bef_bytes_append_vbr(&writer->attribute_types, offset);
  tfrt_bef_bytes_append_vbr(&writer->attribute_types, value->type);
  ++writer->attribute_count;
  return offset;
}

// --- Locations --------------------------------------------------------------------

static uint32_t begin_location(tfrt_bef_writer_t* writer, tfrt_bef_location_tag_t tag) {
  uint32_t location = (uint32_t)tfrt_bef_bytes_size(&writer->locations);
  tfrt_bef_bytes_append_byte(&writer->locations, (uint8_t)tag);
  ++writer->location_count;
  return location;
}

// The number is the offset in the section.
uint32_t tfrt_bef_writer_add_location_string(tfrt_bef_writer_t* writer, tfrt_string_view_t text) {
  uint32_t known = writer->location_names.count;
  tfrt_bef_name_t* name = tfrt_bef_writer_name(writer, &writer->location_names, text);
  if (!name) return 0;
  if (writer->location_names.count > known) {
    name->offset = writer->location_string_size;
    writer->location_string_size += (uint32_t)text.size + 1;
  }
  return name->offset;
}

uint32_t tfrt_bef_writer_add_location_unknown(tfrt_bef_writer_t* writer) {
  return begin_location(writer, TFRT_BEF_LOCATION_UNKNOWN);
}

uint32_t tfrt_bef_writer_add_location_place(tfrt_bef_writer_t* writer, uint32_t file, uint32_t line,
                                            uint32_t column) {
  uint32_t location = (uint32_t)tfrt_bef_bytes_size(&writer->locations);
  uint8_t* at = tfrt_bef_bytes_add(&writer->locations, 1 + 3 * TFRT_BEF_VBR_MAX_SIZE);
  ++writer->location_count;
  if (!at) return location;
  *at++ = TFRT_BEF_LOCATION_FILE;
  at = tfrt_bef_vbr_write(at, file);
  at = tfrt_bef_vbr_write(at, line);
  tfrt_bef_bytes_end(&writer->locations, tfrt_bef_vbr_write(at, column));
  return location;
}

uint32_t tfrt_bef_writer_add_location_file(tfrt_bef_writer_t* writer, tfrt_string_view_t file,
                                           uint32_t line, uint32_t column) {
  uint32_t number = tfrt_bef_writer_add_location_string(writer, file);
  return tfrt_bef_writer_add_location_place(writer, number, line, column);
}

uint32_t tfrt_bef_writer_add_location_name(tfrt_bef_writer_t* writer, tfrt_string_view_t name) {
  uint32_t location = begin_location(writer, TFRT_BEF_LOCATION_NAME);
  tfrt_bef_bytes_append_vbr(&writer->locations, tfrt_bef_writer_add_location_string(writer, name));
  return location;
}

uint32_t tfrt_bef_writer_add_location_call_site(tfrt_bef_writer_t* writer) {
  return begin_location(writer, TFRT_BEF_LOCATION_CALL_SITE);
}

uint32_t tfrt_bef_writer_add_location_fused(tfrt_bef_writer_t* writer, uint32_t count) {
  uint32_t location = begin_location(writer, TFRT_BEF_LOCATION_FUSED);
  tfrt_bef_bytes_append_vbr(&writer->locations, count);
  return location;
}

// --- Functions ------------------------------------------------------------------------

void tfrt_bef_writer_reserve(tfrt_bef_writer_t* writer, size_t kernel_count) {
  // The usual sizes.
  tfrt_bef_bytes_reserve(&writer->functions, 64 * kernel_count);
  tfrt_bef_bytes_reserve(&writer->locations, 8 * kernel_count);
}

// The entry's array of |count| attribute names: strings, whose offsets are known at the end.
static void collect_attribute_names(tfrt_bef_writer_t* writer,
                                    const tfrt_bef_writer_function_t* function, size_t count,
                                    tfrt_bef_writer_entry_t* entry) {
  if (count == 0) return;
  entry->attribute_names =
      tfrt_arena_allocate_array(&writer->arena, count, sizeof(*entry->attribute_names));
  if (!entry->attribute_names) {
    writer->failed = true;
    return;
  }
  for (uint32_t k = 0; entry->attribute_name_count < count; ++k) {
    const tfrt_bef_writer_kernel_t* kernel = &function->kernels[k];
    for (uint32_t i = 0; i < kernel->attribute_count; ++i) {
      entry->attribute_names[entry->attribute_name_count++] =
          tfrt_bef_writer_name(writer, &writer->strings, kernel->attribute_names[i]);
    }
  }
}

static void append_register_types(tfrt_bef_writer_t* writer,
                                  const tfrt_bef_writer_function_t* function) {
  tfrt_bef_bytes_reserve(&writer->register_types, (size_t)function->register_count + 128);
  tfrt_bef_bytes_append_vbr(&writer->register_types, function->register_count);
  tfrt_bef_bytes_append_vbrs(&writer->register_types, function->register_types,
                             function->register_count);
}

static void append_call_options(tfrt_bef_writer_t* writer, uint32_t kernel,
                                const tfrt_bef_call_options_t* options) {
  tfrt_bef_bytes_t* bytes = &writer->call_options;
  uint32_t mask = (options->has_host ? TFRT_BEF_CALL_OPTION_HOST : 0u) |
                  (options->deadline_ms ? TFRT_BEF_CALL_OPTION_DEADLINE_MS : 0u) |
                  (options->retries ? TFRT_BEF_CALL_OPTION_RETRIES : 0u) |
                  (options->pure ? TFRT_BEF_CALL_OPTION_PURE : 0u) |
                  (options->nonstrict ? TFRT_BEF_CALL_OPTION_NONSTRICT : 0u) |
                  (options->device ? TFRT_BEF_CALL_OPTION_DEVICE : 0u) |
                  (options->cost ? TFRT_BEF_CALL_OPTION_COST : 0u);
  size_t device_size = options->device ? strlen(options->device) + 1 : 0;
  size_t length = tfrt_bef_vbr_size(mask);
  if (options->has_host) length += tfrt_bef_vbr_size(options->host);
  if (options->deadline_ms) length += tfrt_bef_vbr_size(options->deadline_ms);
  if (options->retries) length += tfrt_bef_vbr_size(options->retries);
  length += device_size;
  if (options->cost) length += tfrt_bef_vbr_size(options->cost);
  tfrt_bef_bytes_append_vbr(bytes, writer->function_count);
  tfrt_bef_bytes_append_vbr(bytes, kernel);
  tfrt_bef_bytes_append_vbr(bytes, length);
  tfrt_bef_bytes_append_vbr(bytes, mask);
  if (options->has_host) tfrt_bef_bytes_append_vbr(bytes, options->host);
  if (options->deadline_ms) tfrt_bef_bytes_append_vbr(bytes, options->deadline_ms);
  if (options->retries) tfrt_bef_bytes_append_vbr(bytes, options->retries);
  tfrt_bef_bytes_append(bytes, options->device, device_size);
  if (options->cost) tfrt_bef_bytes_append_vbr(bytes, options->cost);
  ++writer->call_option_count;
}

static void append_argument_names(tfrt_bef_writer_t* writer,
                                  const tfrt_bef_writer_function_t* function) {
  tfrt_bef_bytes_append_vbr(&writer->argument_names, writer->function_count);
  tfrt_bef_bytes_append_vbr(&writer->argument_names, function->argument_count);
  for (uint32_t i = 0; i < function->argument_count; ++i) {
    tfrt_string_view_t name = function->argument_names[i];
    tfrt_bef_bytes_append(&writer->argument_names, name.data, name.size);
    tfrt_bef_bytes_append_byte(&writer->argument_names, 0);
  }
  ++writer->argument_name_count;
}

static void add_body(tfrt_bef_writer_t* writer, const tfrt_bef_writer_function_t* function,
                     tfrt_bef_writer_entry_t* entry) {
  tfrt_bef_writer_append_body(writer, function);
  entry->kernel_count = function->kernel_count + 1;
  size_t attribute_count = 0;
  bool has_options = false;
  for (uint32_t k = 0; k < function->kernel_count; ++k) {
    attribute_count += function->kernels[k].attribute_count;
    has_options |= function->kernels[k].call_options != NULL;
  }
  if (writer->optional_sections) {
    collect_attribute_names(writer, function, attribute_count, entry);
    append_register_types(writer, function);
  }
  for (uint32_t k = 0; has_options && k < function->kernel_count; ++k) {
    const tfrt_bef_call_options_t* options = function->kernels[k].call_options;
    if (options) append_call_options(writer, k + 1, options);
  }
}

static const uint32_t* copy_words(tfrt_bef_writer_t* writer, const uint32_t* words,
                                  uint32_t count) {
  uint32_t* copy = tfrt_arena_allocate_array(&writer->arena, (size_t)count + 1, sizeof(*copy));
  if (!copy) writer->failed = true;
  if (copy && count > 0) memcpy(copy, words, count * sizeof(*copy));
  return copy;
}

uint32_t tfrt_bef_writer_add_function(tfrt_bef_writer_t* writer,
                                      const tfrt_bef_writer_function_t* function) {
  uint32_t index = writer->function_count;
  tfrt_bef_writer_entry_t* entry = tfrt_arena_allocate(&writer->arena, sizeof(*entry));
  if (!entry) {
    writer->failed = true;
    return index;
  }
  entry->name = tfrt_bef_writer_name(writer, &writer->strings, function->name);
  entry->kind = function->kind;
  entry->body_offset = (uint32_t)tfrt_bef_bytes_size(&writer->functions);
  entry->argument_count = function->argument_count;
  entry->result_count = function->result_count;
  entry->argument_types = copy_words(writer, function->argument_types, function->argument_count);
  entry->result_types = copy_words(writer, function->result_types, function->result_count);
  if (function->kind != TFRT_BEF_FUNCTION_NATIVE) add_body(writer, function, entry);
  if (function->argument_names) append_argument_names(writer, function);
  if (writer->last_entry) {
    writer->last_entry->next = entry;
  } else {
    writer->first_entry = entry;
  }
  writer->last_entry = entry;
  ++writer->function_count;
  return index;
}
