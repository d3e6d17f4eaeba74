// SPDX-License-Identifier: Apache-2.0
#include "tools/translation/program_loader.h"

#include <string.h>

#include "compiler/translate.h"
#include "host_runtime/base/file.h"
#include "tools/kernels/op_tables.h"

// Makes a file of the text in |contents|.
static tfrt_status_t program_loader_translate(const char* path,
                                              const tfrt_file_contents_t* contents,
                                              const tfrt_text_to_bef_options_t* options,
                                              tfrt_string_builder_t* out_diagnostics,
                                              tfrt_bef_file_t** out_file) {
  void* bytes = NULL;
  size_t size = 0;
  tfrt_string_view_t text = tfrt_string_view_make((const char*)contents->data, contents->size);
  tfrt_status_t status =
      tfrt_translate_text_to_bef(path, text, tfrt_all_op_tables(), options, tfrt_allocator_system(),
                                 out_diagnostics, &bytes, &size);
  // The diagnostics say what is wrong, and where.
  if (status) return tfrt_status_take_annotate(status, "%s can't be translated", path);
  return tfrt_bef_file_create_take(bytes, size, tfrt_allocator_system(), out_file);
}

static bool program_loader_is_named_bef(const char* path) {
  static const char kEnd[] = ".bef";
  size_t size = strlen(path);
  return size >= sizeof(kEnd) - 1 && strcmp(path + size - (sizeof(kEnd) - 1), kEnd) == 0;
}

tfrt_status_t tfrt_program_loader_load(const char* path, const tfrt_text_to_bef_options_t* options,
                                       tfrt_string_builder_t* out_diagnostics,
                                       tfrt_bef_file_t** out_file) {
  *out_file = NULL;
  tfrt_file_contents_t contents;
  TFRT_RETURN_IF_ERROR(tfrt_file_map(path, TFRT_BEF_MAX_SIZE, tfrt_allocator_system(), &contents));
  bool is_bef = contents.size >= 1 && contents.data[0] == TFRT_BEF_MAGIC_0;
  tfrt_status_t status = NULL;
  if (is_bef && options && options->profile) {
    status = tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                                "%s is BEF, which a profile can't change: give it to the "
                                "translation of the text, or give the text here",
                                path);
  } else if (is_bef || program_loader_is_named_bef(path)) {
    status = tfrt_bef_file_create_take_contents(&contents, out_file);
    if (status) status = tfrt_status_take_annotate(status, "%s", path);
  } else {
    status = program_loader_translate(path, &contents, options, out_diagnostics, out_file);
  }
  tfrt_file_contents_deinitialize(&contents);
  return status;
}
