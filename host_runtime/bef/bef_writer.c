// SPDX-License-Identifier: Apache-2.0

#include "host_runtime/bef/bef_writer.h"

#include <stdlib.h>
#include <string.h>

#include "host_runtime/bef/bef_bytes.h"
#include "host_runtime/bef/bef_name_table.h"

// The first virtual location is one below this.
#define FIRST_VIRTUAL_LOCATION UINT32_MAX

// A function that was added, as far as the sections besides its body want to know.
typedef struct entry_s {
  struct entry_s* next;
  tfrt_bef_name_t* name;
  tfrt_bef_function_kind_t kind;
  uint32_t body_offset;
  uint32_t argument_count;
  uint32_t result_count;
  uint32_t kernel_count;  // with the pseudo kernel
  uint32_t attribute_name_count;
  const uint32_t* argument_types;
  const uint32_t* result_types;
  tfrt_bef_name_t** attribute_names;  // of all kernels, in order
} entry_t;

struct tfrt_bef_writer_s {
  tfrt_allocator_t allocator;
  bool optional_sections;
  bool failed;
  tfrt_arena_t arena;
  tfrt_bef_name_table_t strings;
  tfrt_bef_name_table_t types;
  tfrt_bef_name_table_t kernel_names;
  tfrt_bef_name_table_t location_names;
  entry_t* first_entry;
  entry_t* last_entry;
  uint32_t function_count;
  uint32_t attribute_count;
  uint32_t location_count;
  uint32_t virtual_location;
  uint32_t call_option_count;
  uint32_t argument_name_count;
  uint32_t location_string_size;
  tfrt_bef_bytes_t attributes;
  tfrt_bef_bytes_t attribute_types;
  tfrt_bef_bytes_t functions;
  tfrt_bef_bytes_t area;  // kernel records of the function that is being added
  tfrt_bef_bytes_t locations;
  tfrt_bef_bytes_t register_types;
  tfrt_bef_bytes_t call_options;
  tfrt_bef_bytes_t argument_names;
  tfrt_bef_bytes_t section;  // one that is made at the end
  tfrt_bef_bytes_t image;
};

// --- Life -------------------------------------------------------------------------

#define BYTES_COUNT 10

static void list_bytes(tfrt_bef_writer_t* writer, tfrt_bef_bytes_t* out_list[BYTES_COUNT]) {
  tfrt_bef_bytes_t* list[BYTES_COUNT] = {
      &writer->attributes, &writer->attribute_types, &writer->functions,    &writer->area,
      &writer->locations,  &writer->register_types,  &writer->call_options, &writer->argument_names,
      &writer->section,    &writer->image,
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
  writer->virtual_location = FIRST_VIRTUAL_LOCATION;
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

static tfrt_bef_name_t* add_name(tfrt_bef_writer_t* writer, tfrt_bef_name_table_t* table,
                                 tfrt_string_view_t text) {
  tfrt_bef_name_t* name = tfrt_bef_name_table_add(table, text);
  if (!name) writer->failed = true;
  return name;
}

void tfrt_bef_writer_add_string(tfrt_bef_writer_t* writer, tfrt_string_view_t text) {
  add_name(writer, &writer->strings, text);
}

// A name whose number counts, and which is a string as well.
static uint32_t add_numbered(tfrt_bef_writer_t* writer, tfrt_bef_name_table_t* table,
                             tfrt_string_view_t text) {
  tfrt_bef_writer_add_string(writer, text);
  const tfrt_bef_name_t* name = add_name(writer, table, text);
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

static void append_location_name(tfrt_bef_writer_t* writer, tfrt_string_view_t text) {
  uint32_t known = writer->location_names.count;
  tfrt_bef_name_t* name = add_name(writer, &writer->location_names, text);
  if (!name) return;
  if (writer->location_names.count > known) {
    name->offset = writer->location_string_size;
    writer->location_string_size += (uint32_t)text.size + 1;
  }
  tfrt_bef_bytes_append_vbr(&writer->locations, name->offset);
}

uint32_t tfrt_bef_writer_add_location_unknown(tfrt_bef_writer_t* writer) {
  return begin_location(writer, TFRT_BEF_LOCATION_UNKNOWN);
}

uint32_t tfrt_bef_writer_add_location_file(tfrt_bef_writer_t* writer, tfrt_string_view_t file,
                                           uint32_t line, uint32_t column) {
  uint32_t location = begin_location(writer, TFRT_BEF_LOCATION_FILE);
  append_location_name(writer, file);
  tfrt_bef_bytes_append_vbr(&writer->locations, line);
  tfrt_bef_bytes_append_vbr(&writer->locations, column);
  return location;
}

uint32_t tfrt_bef_writer_add_location_name(tfrt_bef_writer_t* writer, tfrt_string_view_t name) {
  uint32_t location = begin_location(writer, TFRT_BEF_LOCATION_NAME);
  append_location_name(writer, name);
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

uint32_t tfrt_bef_writer_add_location_virtual(tfrt_bef_writer_t* writer) {
  return --writer->virtual_location;
}

// --- Bodies -----------------------------------------------------------------------

// Who uses what in one body.
typedef struct uses_s {
  uint32_t* use_counts;   // per register: arguments and results of the function
  uint32_t* first_users;  // per register: where its part of |users| begins; one more
  uint32_t* users;        // kernels by register, the last one first
} uses_t;

static uint32_t* allocate_words(tfrt_bef_writer_t* writer, tfrt_arena_t* arena, size_t count) {
  uint32_t* words = tfrt_arena_allocate_array(arena, count + 1, sizeof(*words));
  if (!words) writer->failed = true;
  return words;
}

// Finds out the users of each register. MLIR lists the uses of a value newest first.
static bool find_uses(tfrt_bef_writer_t* writer, const tfrt_bef_writer_function_t* function,
                      tfrt_arena_t* arena, uses_t* uses) {
  uint32_t register_count = function->register_count;
  uses->use_counts = allocate_words(writer, arena, register_count);
  uses->first_users = allocate_words(writer, arena, (size_t)register_count + 1);
  if (!uses->use_counts || !uses->first_users) return false;
  for (uint32_t k = 0; k < function->kernel_count; ++k) {
    const tfrt_bef_writer_kernel_t* kernel = &function->kernels[k];
    for (uint32_t i = 0; i < kernel->argument_count; ++i) {
      ++uses->use_counts[kernel->arguments[i]];
    }
  }
  for (uint32_t i = 0; i < register_count; ++i) {
    uses->first_users[i + 1] = uses->first_users[i] + uses->use_counts[i];
  }
  uses->users = allocate_words(writer, arena, uses->first_users[register_count]);
  uint32_t* next = allocate_words(writer, arena, register_count);
  if (!uses->users || !next) return false;
  memcpy(next, uses->first_users, register_count * sizeof(*next));
  for (uint32_t k = function->kernel_count; k-- > 0;) {
    const tfrt_bef_writer_kernel_t* kernel = &function->kernels[k];
    for (uint32_t i = 0; i < kernel->argument_count; ++i) {
      uses->users[next[kernel->arguments[i]]++] = k + 1;
    }
  }
  for (uint32_t i = 0; i < function->result_count; ++i) {
    ++uses->use_counts[function->result_registers[i]];
  }
  return true;
}

static void append_words(tfrt_bef_bytes_t* bytes, const uint32_t* words, uint32_t count) {
  if (count > 0) tfrt_bef_bytes_append(bytes, words, count * sizeof(*words));
}

static void append_header(tfrt_bef_bytes_t* area, uint32_t code, uint32_t location,
                          const tfrt_bef_writer_kernel_t* kernel, uint32_t result_count) {
  uint32_t header[TFRT_BEF_KERNEL_HEADER_WORDS] = {
      [TFRT_BEF_KERNEL_CODE] = code,
      [TFRT_BEF_KERNEL_LOCATION] = location,
      [TFRT_BEF_KERNEL_ARGUMENT_COUNT] = kernel->argument_count,
      [TFRT_BEF_KERNEL_ATTRIBUTE_COUNT] = kernel->attribute_count,
      [TFRT_BEF_KERNEL_FUNCTION_COUNT] = kernel->function_count,
      [TFRT_BEF_KERNEL_RESULT_COUNT] = result_count,
  };
  append_words(area, header, TFRT_BEF_KERNEL_HEADER_WORDS);
}

static uint32_t user_count(const uses_t* uses, uint32_t number) {
  return uses->first_users[number + 1] - uses->first_users[number];
}

static void append_users(tfrt_bef_bytes_t* area, const uses_t* uses, uint32_t number) {
  append_words(area, uses->users + uses->first_users[number], user_count(uses, number));
}

// Kernel 0: it starts the kernels without arguments, and gives the others the function's.
static void append_pseudo_kernel(tfrt_bef_bytes_t* area, const tfrt_bef_writer_function_t* function,
                                 const uses_t* uses) {
  static const tfrt_bef_writer_kernel_t kNothing = {0};
  uint32_t starting = 0;
  for (uint32_t k = 0; k < function->kernel_count; ++k) {
    if (function->kernels[k].argument_count == 0) ++starting;
  }
  append_header(area, TFRT_BEF_PSEUDO_KERNEL_CODE, TFRT_BEF_PSEUDO_KERNEL_LOCATION, &kNothing,
                function->argument_count + 1);
  tfrt_bef_bytes_append_u32(area, starting);
  for (uint32_t i = 0; i < function->argument_count; ++i) {
    tfrt_bef_bytes_append_u32(area, user_count(uses, i));
  }
  tfrt_bef_bytes_append_u32(area, function->register_count);
  for (uint32_t i = 0; i < function->argument_count; ++i) tfrt_bef_bytes_append_u32(area, i);
  for (uint32_t k = 0; k < function->kernel_count; ++k) {
    if (function->kernels[k].argument_count == 0) tfrt_bef_bytes_append_u32(area, k + 1);
  }
  for (uint32_t i = 0; i < function->argument_count; ++i) append_users(area, uses, i);
}

static void append_kernel(tfrt_bef_bytes_t* area, const tfrt_bef_writer_kernel_t* kernel,
                          const uses_t* uses) {
  append_header(area, kernel->code, kernel->location, kernel, kernel->result_count);
  for (uint32_t i = 0; i < kernel->result_count; ++i) {
    tfrt_bef_bytes_append_u32(area, user_count(uses, kernel->results[i]));
  }
  append_words(area, kernel->arguments, kernel->argument_count);
  append_words(area, kernel->attributes, kernel->attribute_count);
  append_words(area, kernel->functions, kernel->function_count);
  append_words(area, kernel->results, kernel->result_count);
  for (uint32_t i = 0; i < kernel->result_count; ++i) {
    append_users(area, uses, kernel->results[i]);
  }
}

static void append_kernel_entry(tfrt_bef_writer_t* writer, uint32_t operand_count,
                                uint32_t stream_id) {
  tfrt_bef_bytes_append_vbr(&writer->functions, tfrt_bef_bytes_size(&writer->area));
  tfrt_bef_bytes_append_vbr(&writer->functions, operand_count);
  tfrt_bef_bytes_append_vbr(&writer->functions, stream_id);
}

static void append_body(tfrt_bef_writer_t* writer, const tfrt_bef_writer_function_t* function,
                        const uses_t* uses) {
  tfrt_bef_bytes_t* bytes = &writer->functions;
  tfrt_string_builder_clear(&writer->area.builder);
  tfrt_bef_bytes_append_vbr(bytes, function->location);
  tfrt_bef_bytes_append_vbr(bytes, function->register_count);
  for (uint32_t i = 0; i < function->register_count; ++i) {
    tfrt_bef_bytes_append_vbr(bytes, uses->use_counts[i]);
  }
  tfrt_bef_bytes_append_vbr(bytes, (uint64_t)function->kernel_count + 1);
  append_kernel_entry(writer, 0, function->root_stream_id);
  append_pseudo_kernel(&writer->area, function, uses);
  for (uint32_t k = 0; k < function->kernel_count; ++k) {
    const tfrt_bef_writer_kernel_t* kernel = &function->kernels[k];
    append_kernel_entry(writer, kernel->argument_count, kernel->stream_id);
    append_kernel(&writer->area, kernel, uses);
  }
  for (uint32_t i = 0; i < function->result_count; ++i) {
    tfrt_bef_bytes_append_vbr(bytes, function->result_registers[i]);
  }
  tfrt_bef_bytes_align(bytes, TFRT_BEF_KERNEL_ALIGNMENT, 0);
  tfrt_bef_bytes_append(bytes, writer->area.builder.data, tfrt_bef_bytes_size(&writer->area));
  if (writer->area.builder.failed) writer->failed = true;
}

// --- What goes with a body ----------------------------------------------------------

// The entry's array of attribute names: strings, whose offsets are known at the end.
static void collect_attribute_names(tfrt_bef_writer_t* writer,
                                    const tfrt_bef_writer_function_t* function, entry_t* entry) {
  size_t count = 0;
  for (uint32_t k = 0; k < function->kernel_count; ++k) {
    count += function->kernels[k].attribute_count;
  }
  entry->attribute_names =
      tfrt_arena_allocate_array(&writer->arena, count + 1, sizeof(*entry->attribute_names));
  if (!entry->attribute_names) {
    writer->failed = true;
    return;
  }
  for (uint32_t k = 0; k < function->kernel_count; ++k) {
    const tfrt_bef_writer_kernel_t* kernel = &function->kernels[k];
    for (uint32_t i = 0; i < kernel->attribute_count; ++i) {
      entry->attribute_names[entry->attribute_name_count++] =
          add_name(writer, &writer->strings, kernel->attribute_names[i]);
    }
  }
}

static void append_register_types(tfrt_bef_writer_t* writer,
                                  const tfrt_bef_writer_function_t* function) {
  tfrt_bef_bytes_append_vbr(&writer->register_types, function->register_count);
  for (uint32_t i = 0; i < function->register_count; ++i) {
    tfrt_bef_bytes_append_vbr(&writer->register_types, function->register_types[i]);
  }
}

static void append_call_options(tfrt_bef_writer_t* writer, uint32_t kernel,
                                const tfrt_bef_call_options_t* options) {
  tfrt_bef_bytes_t* bytes = &writer->call_options;
  uint32_t mask = (options->has_host ? TFRT_BEF_CALL_OPTION_HOST : 0u) |
                  (options->deadline_ms ? TFRT_BEF_CALL_OPTION_DEADLINE_MS : 0u) |
                  (options->retries ? TFRT_BEF_CALL_OPTION_RETRIES : 0u) |
                  (options->pure ? TFRT_BEF_CALL_OPTION_PURE : 0u) |
                  (options->nonstrict ? TFRT_BEF_CALL_OPTION_NONSTRICT : 0u);
  size_t length = tfrt_bef_vbr_size(mask);
  if (options->has_host) length += tfrt_bef_vbr_size(options->host);
  if (options->deadline_ms) length += tfrt_bef_vbr_size(options->deadline_ms);
  if (options->retries) length += tfrt_bef_vbr_size(options->retries);
  tfrt_bef_bytes_append_vbr(bytes, writer->function_count);
  tfrt_bef_bytes_append_vbr(bytes, kernel);
  tfrt_bef_bytes_append_vbr(bytes, length);
  tfrt_bef_bytes_append_vbr(bytes, mask);
  if (options->has_host) tfrt_bef_bytes_append_vbr(bytes, options->host);
  if (options->deadline_ms) tfrt_bef_bytes_append_vbr(bytes, options->deadline_ms);
  if (options->retries) tfrt_bef_bytes_append_vbr(bytes, options->retries);
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
                     entry_t* entry) {
  uses_t uses;
  tfrt_arena_t scratch;
  tfrt_arena_initialize(&scratch, writer->allocator);
  if (find_uses(writer, function, &scratch, &uses)) append_body(writer, function, &uses);
  tfrt_arena_deinitialize(&scratch);
  entry->kernel_count = function->kernel_count + 1;
  if (writer->optional_sections) {
    collect_attribute_names(writer, function, entry);
    append_register_types(writer, function);
  }
  for (uint32_t k = 0; k < function->kernel_count; ++k) {
    const tfrt_bef_call_options_t* options = function->kernels[k].call_options;
    if (options) append_call_options(writer, k + 1, options);
  }
}

static const uint32_t* copy_words(tfrt_bef_writer_t* writer, const uint32_t* words,
                                  uint32_t count) {
  uint32_t* copy = allocate_words(writer, &writer->arena, count);
  if (copy && count > 0) memcpy(copy, words, count * sizeof(*copy));
  return copy;
}

uint32_t tfrt_bef_writer_add_function(tfrt_bef_writer_t* writer,
                                      const tfrt_bef_writer_function_t* function) {
  uint32_t index = writer->function_count;
  entry_t* entry = tfrt_arena_allocate(&writer->arena, sizeof(*entry));
  if (!entry) {
    writer->failed = true;
    return index;
  }
  entry->name = add_name(writer, &writer->strings, function->name);
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

// --- Sections ---------------------------------------------------------------------

static void append_section(tfrt_bef_writer_t* writer, tfrt_bef_section_id_t id,
                           const tfrt_bef_bytes_t* payload) {
  tfrt_bef_bytes_t* image = &writer->image;
  uint64_t length = (uint64_t)tfrt_bef_bytes_size(payload) << 1;
  tfrt_bef_bytes_append_byte(image, (uint8_t)id);
  size_t start = tfrt_bef_bytes_size(image) + tfrt_bef_vbr_size(length);
  if (start % payload->alignment != 0) {
    tfrt_bef_bytes_append_vbr(image, length | 1);
    tfrt_bef_bytes_append_byte(image, (uint8_t)payload->alignment);
    tfrt_bef_bytes_align(image, payload->alignment, 0);
  } else {
    tfrt_bef_bytes_append_vbr(image, length);
  }
  tfrt_bef_bytes_append(image, payload->builder.data, tfrt_bef_bytes_size(payload));
  if (payload->builder.failed) writer->failed = true;
}

// Appends a section that is a number and |rest|.
static void append_counted_section(tfrt_bef_writer_t* writer, tfrt_bef_section_id_t id,
                                   uint32_t count, const tfrt_bef_bytes_t* rest) {
  tfrt_string_builder_clear(&writer->section.builder);
  tfrt_bef_bytes_append_vbr(&writer->section, count);
  tfrt_bef_bytes_append(&writer->section, rest->builder.data, tfrt_bef_bytes_size(rest));
  if (rest->builder.failed) writer->failed = true;
  append_section(writer, id, &writer->section);
}

static int compare_names(const void* a, const void* b) {
  return tfrt_string_view_compare((*(tfrt_bef_name_t* const*)a)->text,
                                  (*(tfrt_bef_name_t* const*)b)->text);
}

static void append_strings(tfrt_bef_writer_t* writer) {
  uint32_t count = writer->strings.count;
  tfrt_bef_name_t** sorted =
      tfrt_arena_allocate_array(&writer->arena, (size_t)count + 1, sizeof(*sorted));
  if (!sorted) {
    writer->failed = true;
    return;
  }
  uint32_t i = 0;
  for (tfrt_bef_name_t* name = writer->strings.first; name; name = name->next) sorted[i++] = name;
  qsort(sorted, count, sizeof(*sorted), compare_names);
  tfrt_string_builder_clear(&writer->section.builder);
  for (i = 0; i < count; ++i) {
    sorted[i]->offset = (uint32_t)tfrt_bef_bytes_size(&writer->section);
    tfrt_bef_bytes_append(&writer->section, sorted[i]->text.data, sorted[i]->text.size + 1);
  }
  append_section(writer, TFRT_BEF_SECTION_STRINGS, &writer->section);
}

// Appends the offset of string |text| to the section that is being made.
static void append_string_offset(tfrt_bef_writer_t* writer, tfrt_string_view_t text) {
  const tfrt_bef_name_t* name = add_name(writer, &writer->strings, text);
  tfrt_bef_bytes_append_vbr(&writer->section, name ? name->offset : 0);
}

static void append_names(tfrt_bef_writer_t* writer, tfrt_bef_section_id_t id,
                         const tfrt_bef_name_table_t* table) {
  tfrt_string_builder_clear(&writer->section.builder);
  tfrt_bef_bytes_append_vbr(&writer->section, table->count);
  for (tfrt_bef_name_t* name = table->first; name; name = name->next) {
    append_string_offset(writer, name->text);
  }
  append_section(writer, id, &writer->section);
}

static void append_types(tfrt_bef_writer_t* writer, const uint32_t* types, uint32_t count) {
  tfrt_bef_bytes_append_vbr(&writer->section, count);
  for (uint32_t i = 0; types && i < count; ++i) {
    tfrt_bef_bytes_append_vbr(&writer->section, types[i]);
  }
}

static void append_function_index(tfrt_bef_writer_t* writer) {
  tfrt_string_builder_clear(&writer->section.builder);
  tfrt_bef_bytes_append_vbr(&writer->section, writer->function_count);
  for (const entry_t* entry = writer->first_entry; entry; entry = entry->next) {
    tfrt_bef_bytes_append_byte(&writer->section, (uint8_t)entry->kind);
    tfrt_bef_bytes_append_vbr(&writer->section, entry->body_offset);
    tfrt_bef_bytes_append_vbr(&writer->section, entry->name ? entry->name->offset : 0);
    append_types(writer, entry->argument_types, entry->argument_count);
    append_types(writer, entry->result_types, entry->result_count);
  }
  append_section(writer, TFRT_BEF_SECTION_FUNCTION_INDEX, &writer->section);
}

static void append_locations(tfrt_bef_writer_t* writer) {
  if (writer->location_count == 0) return;
  tfrt_string_builder_clear(&writer->section.builder);
  for (tfrt_bef_name_t* name = writer->location_names.first; name; name = name->next) {
    tfrt_bef_bytes_append(&writer->section, name->text.data, name->text.size + 1);
  }
  append_section(writer, TFRT_BEF_SECTION_LOCATION_STRINGS, &writer->section);
  append_section(writer, TFRT_BEF_SECTION_LOCATIONS, &writer->locations);
}

static void append_attribute_names(tfrt_bef_writer_t* writer) {
  tfrt_string_builder_clear(&writer->section.builder);
  tfrt_bef_bytes_append_vbr(&writer->section, writer->function_count);
  for (const entry_t* entry = writer->first_entry; entry; entry = entry->next) {
    if (entry->kind == TFRT_BEF_FUNCTION_NATIVE) continue;
    tfrt_bef_bytes_append_vbr(&writer->section, entry->kernel_count);
    for (uint32_t i = 0; i < entry->attribute_name_count; ++i) {
      const tfrt_bef_name_t* name = entry->attribute_names[i];
      tfrt_bef_bytes_append_vbr(&writer->section, name ? name->offset : 0);
    }
  }
  append_section(writer, TFRT_BEF_SECTION_ATTRIBUTE_NAMES, &writer->section);
}

static void append_extras(tfrt_bef_writer_t* writer) {
  if (writer->optional_sections) {
    append_counted_section(writer, TFRT_BEF_SECTION_ATTRIBUTE_TYPES, writer->attribute_count,
                           &writer->attribute_types);
    append_attribute_names(writer);
    append_counted_section(writer, TFRT_BEF_SECTION_REGISTER_TYPES, writer->function_count,
                           &writer->register_types);
  }
  if (writer->call_option_count > 0) {
    append_counted_section(writer, TFRT_BEF_SECTION_CALL_OPTIONS, writer->call_option_count,
                           &writer->call_options);
  }
  if (writer->argument_name_count > 0) {
    append_counted_section(writer, TFRT_BEF_SECTION_ARGUMENT_NAMES, writer->argument_name_count,
                           &writer->argument_names);
  }
}

tfrt_status_t tfrt_bef_writer_finish(tfrt_bef_writer_t* writer, void** out_bytes,
                                     size_t* out_size) {
  static const uint8_t kHeader[] = {TFRT_BEF_MAGIC_0, TFRT_BEF_MAGIC_1, TFRT_BEF_VERSION};
  *out_bytes = NULL;
  *out_size = 0;
  tfrt_bef_bytes_append(&writer->image, kHeader, sizeof(kHeader));
  append_strings(writer);
  append_section(writer, TFRT_BEF_SECTION_ATTRIBUTES, &writer->attributes);
  append_names(writer, TFRT_BEF_SECTION_KERNELS, &writer->kernel_names);
  append_names(writer, TFRT_BEF_SECTION_TYPES, &writer->types);
  append_function_index(writer);
  append_section(writer, TFRT_BEF_SECTION_FUNCTIONS, &writer->functions);
  append_locations(writer);
  append_extras(writer);
  size_t size = tfrt_bef_bytes_size(&writer->image);
  bool failed = writer->failed || writer->section.builder.failed || writer->image.builder.failed;
  void* bytes =
      failed || size > TFRT_BEF_MAX_SIZE ? NULL : tfrt_allocator_allocate(writer->allocator, size);
  if (!bytes) {
    return tfrt_status_create(TFRT_STATUS_RESOURCE_EXHAUSTED,
                              "no memory to write a BEF file of %zu bytes", size);
  }
  memcpy(bytes, writer->image.builder.data, size);
  *out_bytes = bytes;
  *out_size = size;
  return NULL;
}
