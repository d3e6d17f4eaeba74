// SPDX-License-Identifier: Apache-2.0
#include "embedding/program_source.h"

#include "compiler/translate.h"
#include "host_runtime/base/file.h"
#include "host_runtime/bef/bef_file.h"

tfrt_status_t tfrt_program_create_from_text(const char* name, tfrt_string_view_t text,
                                            const tfrt_kernel_registry_t* registry,
                                            tfrt_allocator_t allocator,
                                            tfrt_string_builder_t* report,
                                            tfrt_program_t** out_program) {
  *out_program = NULL;
  tfrt_op_tables_t tables = {0};
  tables.tables = tfrt_kernel_registry_tables(registry, &tables.count);
  void* bytes = NULL;
  size_t size = 0;
  TFRT_RETURN_IF_ERROR(
      tfrt_translate_text_to_bef(name, text, &tables, NULL, allocator, report, &bytes, &size));
  tfrt_bef_file_t* file = NULL;
  TFRT_RETURN_IF_ERROR(tfrt_bef_file_create_take(bytes, size, allocator, &file));
  tfrt_status_t status = tfrt_program_create(file, registry, allocator, out_program);
  tfrt_bef_file_release(file);
  return status;
}

// Takes what |contents| holds.
static tfrt_status_t program_create_from_image(const char* path, tfrt_file_contents_t* contents,
                                               const tfrt_kernel_registry_t* registry,
                                               tfrt_allocator_t allocator,
                                               tfrt_program_t** out_program) {
  tfrt_bef_file_t* file = NULL;
  tfrt_status_t status = tfrt_bef_file_create_take_contents(contents, &file);
  if (status) return tfrt_status_take_annotate(status, "%s", path);
  status = tfrt_program_create(file, registry, allocator, out_program);
  tfrt_bef_file_release(file);
  return status;
}

tfrt_status_t tfrt_program_create_from_file(const char* path,
                                            const tfrt_kernel_registry_t* registry,
                                            tfrt_allocator_t allocator,
                                            tfrt_string_builder_t* report,
                                            tfrt_program_t** out_program) {
  *out_program = NULL;
  tfrt_file_contents_t contents;
  TFRT_RETURN_IF_ERROR(tfrt_file_map(path, TFRT_BEF_MAX_SIZE, allocator, &contents));
  bool is_image = contents.size >= 1 && contents.data[0] == TFRT_BEF_MAGIC_0;
  tfrt_string_view_t text = tfrt_string_view_make((const char*)contents.data, contents.size);
  tfrt_status_t status =
      is_image
          ? program_create_from_image(path, &contents, registry, allocator, out_program)
          : tfrt_program_create_from_text(path, text, registry, allocator, report, out_program);
  tfrt_file_contents_deinitialize(&contents);
  return status;
}
