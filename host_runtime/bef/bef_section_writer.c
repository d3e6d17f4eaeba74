// SPDX-License-Identifier: Apache-2.0

#include <stdlib.h>

#include "host_runtime/bef/bef_image.h"
#include "host_runtime/bef/bef_writer_impl.h"

// Adds a section that is a number and |rest|.
static void add_counted_section(tfrt_bef_image_t* image, tfrt_bef_section_id_t id, uint32_t count,
                                const tfrt_bef_bytes_t* rest) {
  tfrt_bef_bytes_append_vbr(tfrt_bef_image_add(image, id, rest), count);
}

static int compare_names(const void* a, const void* b) {
  return tfrt_string_view_compare((*(tfrt_bef_name_t* const*)a)->text,
                                  (*(tfrt_bef_name_t* const*)b)->text);
}

static void add_strings(tfrt_bef_writer_t* writer, tfrt_bef_image_t* image) {
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
  tfrt_bef_bytes_t* section = tfrt_bef_image_add(image, TFRT_BEF_SECTION_STRINGS, NULL);
  for (i = 0; i < count; ++i) {
    sorted[i]->offset = (uint32_t)tfrt_bef_bytes_size(section);
    tfrt_bef_bytes_append(section, sorted[i]->text.data, sorted[i]->text.size + 1);
  }
}

static void add_names(tfrt_bef_writer_t* writer, tfrt_bef_image_t* image, tfrt_bef_section_id_t id,
                      const tfrt_bef_name_table_t* table) {
  tfrt_bef_bytes_t* section = tfrt_bef_image_add(image, id, NULL);
  tfrt_bef_bytes_append_vbr(section, table->count);
  for (tfrt_bef_name_t* name = table->first; name; name = name->next) {
    const tfrt_bef_name_t* string = tfrt_bef_writer_name(writer, &writer->strings, name->text);
    tfrt_bef_bytes_append_vbr(section, string ? string->offset : 0);
  }
}

static void append_types(tfrt_bef_bytes_t* section, const uint32_t* types, uint32_t count) {
  tfrt_bef_bytes_append_vbr(section, count);
  if (types) tfrt_bef_bytes_append_vbrs(section, types, count);
}

static void add_function_index(const tfrt_bef_writer_t* writer, tfrt_bef_image_t* image) {
  tfrt_bef_bytes_t* section = tfrt_bef_image_add(image, TFRT_BEF_SECTION_FUNCTION_INDEX, NULL);
  tfrt_bef_bytes_append_vbr(section, writer->function_count);
  for (const tfrt_bef_writer_entry_t* entry = writer->first_entry; entry; entry = entry->next) {
    tfrt_bef_bytes_append_byte(section, (uint8_t)entry->kind);
    tfrt_bef_bytes_append_vbr(section, entry->body_offset);
    tfrt_bef_bytes_append_vbr(section, entry->name ? entry->name->offset : 0);
    append_types(section, entry->argument_types, entry->argument_count);
    append_types(section, entry->result_types, entry->result_count);
  }
}

static void add_locations(const tfrt_bef_writer_t* writer, tfrt_bef_image_t* image) {
  if (writer->location_count == 0) return;
  tfrt_bef_bytes_t* section = tfrt_bef_image_add(image, TFRT_BEF_SECTION_LOCATION_STRINGS, NULL);
  for (tfrt_bef_name_t* name = writer->location_names.first; name; name = name->next) {
    tfrt_bef_bytes_append(section, name->text.data, name->text.size + 1);
  }
  tfrt_bef_image_add(image, TFRT_BEF_SECTION_LOCATIONS, &writer->locations);
}

static void add_attribute_names(const tfrt_bef_writer_t* writer, tfrt_bef_image_t* image) {
  tfrt_bef_bytes_t* section = tfrt_bef_image_add(image, TFRT_BEF_SECTION_ATTRIBUTE_NAMES, NULL);
  tfrt_bef_bytes_append_vbr(section, writer->function_count);
  for (const tfrt_bef_writer_entry_t* entry = writer->first_entry; entry; entry = entry->next) {
    if (entry->kind == TFRT_BEF_FUNCTION_NATIVE) continue;
    tfrt_bef_bytes_append_vbr(section, entry->kernel_count);
    for (uint32_t i = 0; i < entry->attribute_name_count; ++i) {
      const tfrt_bef_name_t* name = entry->attribute_names[i];
      tfrt_bef_bytes_append_vbr(section, name ? name->offset : 0);
    }
  }
}

static void add_extras(const tfrt_bef_writer_t* writer, tfrt_bef_image_t* image) {
  if (writer->optional_sections) {
    add_counted_section(image, TFRT_BEF_SECTION_ATTRIBUTE_TYPES, writer->attribute_count,
                        &writer->attribute_types);
    add_attribute_names(writer, image);
    add_counted_section(image, TFRT_BEF_SECTION_REGISTER_TYPES, writer->function_count,
                        &writer->register_types);
  }
  if (writer->call_option_count > 0) {
    add_counted_section(image, TFRT_BEF_SECTION_CALL_OPTIONS, writer->call_option_count,
                        &writer->call_options);
  }
  if (writer->argument_name_count > 0) {
    add_counted_section(image, TFRT_BEF_SECTION_ARGUMENT_NAMES, writer->argument_name_count,
                        &writer->argument_names);
  }
}

tfrt_status_t tfrt_bef_writer_finish(tfrt_bef_writer_t* writer, void** out_bytes,
                                     size_t* out_size) {
  *out_bytes = NULL;
  *out_size = 0;
  tfrt_bef_image_t image;
  tfrt_bef_image_initialize(&image, writer->allocator);
  add_strings(writer, &image);
  tfrt_bef_image_add(&image, TFRT_BEF_SECTION_ATTRIBUTES, &writer->attributes);
  add_names(writer, &image, TFRT_BEF_SECTION_KERNELS, &writer->kernel_names);
  add_names(writer, &image, TFRT_BEF_SECTION_TYPES, &writer->types);
  add_function_index(writer, &image);
  tfrt_bef_image_add(&image, TFRT_BEF_SECTION_FUNCTIONS, &writer->functions);
  add_locations(writer, &image);
  add_extras(writer, &image);
  tfrt_status_t status = writer->failed ? tfrt_status_create(TFRT_STATUS_RESOURCE_EXHAUSTED,
                                                             "no memory for a BEF file")
                                        : tfrt_bef_image_build(&image, out_bytes, out_size);
  tfrt_bef_image_deinitialize(&image);
  return status;
}
