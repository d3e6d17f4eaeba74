// SPDX-License-Identifier: Apache-2.0
#include "tools/models/model_loader.h"

#include <stdio.h>
#include <string.h>

#include "compiler/onnx/onnx_translate.h"
#include "host_runtime/base/file.h"
#include "tools/kernels/op_tables.h"

// The format's own limit: what is longer is no such file.
#define MODEL_MAX_SIZE ((size_t)INT32_MAX)

bool tfrt_model_loader_is_model(const char* path) {
  static const char end[] = ".onnx";
  size_t size = strlen(path);
  return size >= sizeof(end) - 1 && strcmp(path + size - (sizeof(end) - 1), end) == 0;
}

static tfrt_status_t read_split(const char* text, tfrt_onnx_split_t* out_split) {
  static const char* const names[] = {
      [TFRT_ONNX_SPLIT_NONE] = "none",
      [TFRT_ONNX_SPLIT_PIPELINE] = "pipeline",
      [TFRT_ONNX_SPLIT_DATA] = "data",
  };
  *out_split = TFRT_ONNX_SPLIT_NONE;
  for (size_t i = 0; text && i < TFRT_ARRAY_SIZE(names); ++i) {
    if (strcmp(text, names[i]) != 0) continue;
    *out_split = (tfrt_onnx_split_t)i;
    return NULL;
  }
  if (!text) return NULL;
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                            "--split %s: there are pipeline, data and none", text);
}

// Sets |*out_options| to what |flags| and |path| say; |directory| is room for the folder.
static tfrt_status_t make_options(const char* path, const tfrt_model_flags_t* flags,
                                  char directory[4096], tfrt_onnx_options_t* out_options) {
  const char* slash = strrchr(path, '/');
  int length = slash ? (int)(slash - path) : 1;
  snprintf(directory, 4096, "%.*s", length ? length : 1, slash ? path : ".");
  *out_options = (tfrt_onnx_options_t){.directory = directory,
                                       .shapes = flags->shapes.values,
                                       .shape_count = flags->shapes.count,
                                       .host_count = (uint32_t)flags->host_count};
  return read_split(flags->split, &out_options->split);
}

// Translates to BEF, at |*out_bytes|, or to text, if |text| is not NULL.
static tfrt_status_t translate(const char* path, const tfrt_model_flags_t* flags,
                               const tfrt_onnx_texts_t* texts, tfrt_string_builder_t* text,
                               void** out_bytes, size_t* out_size) {
  char directory[4096];
  tfrt_onnx_options_t options;
  tfrt_file_contents_t contents;
  TFRT_RETURN_IF_ERROR(make_options(path, flags, directory, &options));
  TFRT_RETURN_IF_ERROR(
      tfrt_file_read_at_most(path, MODEL_MAX_SIZE, tfrt_allocator_system(), &contents));
  tfrt_string_view_t model = tfrt_string_view_make((const char*)contents.data, contents.size);
  tfrt_status_t status =
      text ? tfrt_onnx_to_text(path, model, tfrt_all_op_tables(), &options, tfrt_allocator_system(),
                               texts, text)
           : tfrt_onnx_to_bef(path, model, tfrt_all_op_tables(), &options, tfrt_allocator_system(),
                              texts, out_bytes, out_size);
  tfrt_file_contents_deinitialize(&contents);
  if (status) return tfrt_status_take_annotate(status, "%s can't be imported", path);
  return NULL;
}

tfrt_status_t tfrt_model_loader_load(const char* path, const tfrt_model_flags_t* flags,
                                     tfrt_string_builder_t* report, tfrt_string_builder_t* summary,
                                     tfrt_bef_file_t** out_file) {
  const tfrt_onnx_texts_t texts = {report, summary};
  void* bytes = NULL;
  size_t size = 0;
  *out_file = NULL;
  TFRT_RETURN_IF_ERROR(translate(path, flags, &texts, NULL, &bytes, &size));
  return tfrt_bef_file_create_take(bytes, size, tfrt_allocator_system(), out_file);
}

tfrt_status_t tfrt_model_loader_translate(const char* path, const tfrt_model_flags_t* flags,
                                          bool is_text, tfrt_string_builder_t* report,
                                          tfrt_string_builder_t* summary,
                                          tfrt_string_builder_t* out) {
  const tfrt_onnx_texts_t texts = {report, summary};
  void* bytes = NULL;
  size_t size = 0;
  TFRT_RETURN_IF_ERROR(translate(path, flags, &texts, is_text ? out : NULL, &bytes, &size));
  if (!is_text) tfrt_string_builder_append_take(out, bytes, size);
  return tfrt_string_builder_status(out);
}
