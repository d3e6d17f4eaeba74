// SPDX-License-Identifier: Apache-2.0
#include "tools/models/model_loader.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "compiler/onnx/onnx_translate.h"
#include "host_runtime/base/file.h"
#include "tools/kernels/op_tables.h"
#include "tools/models/model_cache.h"

// The format's own limit: what is longer is no such file.
#define MODEL_MAX_SIZE ((size_t)INT32_MAX)

// The smallest model whose import is shown on a terminal, in bytes.
#define SHOWN_SIZE ((size_t)16 << 20)

// The most bytes of a program around a model.
#define AROUND_MAX_SIZE ((size_t)64 << 20)

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

// The texts of one translation.
typedef struct model_texts_s {
  tfrt_file_contents_t model;
  tfrt_file_contents_t around;  // empty: none
} model_texts_t;

static tfrt_status_t read_texts(const char* path, const tfrt_model_flags_t* flags,
                                tfrt_onnx_options_t* options, model_texts_t* texts) {
  tfrt_allocator_t system = tfrt_allocator_system();
  if (flags->around) {
    TFRT_RETURN_IF_ERROR(
        tfrt_file_read_at_most(flags->around, AROUND_MAX_SIZE, system, &texts->around));
    options->around_name = flags->around;
    options->around = tfrt_string_view_make((const char*)texts->around.data, texts->around.size);
  }
  return tfrt_file_map(path, MODEL_MAX_SIZE, system, &texts->model);
}

// Translates to BEF, at |*out_bytes|, or to text, if |text| is not NULL.
static tfrt_status_t translate_texts(const char* path, const model_texts_t* files,
                                     const tfrt_onnx_options_t* options,
                                     const tfrt_onnx_texts_t* texts, tfrt_string_builder_t* text,
                                     void** out_bytes, size_t* out_size) {
  tfrt_allocator_t system = tfrt_allocator_system();
  tfrt_string_view_t model =
      tfrt_string_view_make((const char*)files->model.data, files->model.size);
  tfrt_status_t status =
      text ? tfrt_onnx_to_text(path, model, tfrt_all_op_tables(), options, system, texts, text)
           : tfrt_onnx_to_bef(path, model, tfrt_all_op_tables(), options, system, texts, out_bytes,
                              out_size);
  if (status) return tfrt_status_take_annotate(status, "%s can't be imported", path);
  return NULL;
}

// |uses_folder|: data may lie in files of the model's folder.
static tfrt_status_t translate(const char* path, const tfrt_model_flags_t* flags, bool uses_folder,
                               const tfrt_onnx_texts_t* texts, tfrt_string_builder_t* text,
                               void** out_bytes, size_t* out_size) {
  char directory[4096];
  tfrt_onnx_options_t options;
  model_texts_t files = {.around = {.allocator = tfrt_allocator_system()},
                         .model = {.allocator = tfrt_allocator_system()}};
  TFRT_RETURN_IF_ERROR(make_options(path, flags, directory, &options));
  if (!uses_folder) options.directory = NULL;
  tfrt_status_t status = read_texts(path, flags, &options, &files);
  if (!status) status = translate_texts(path, &files, &options, texts, text, out_bytes, out_size);
  tfrt_file_contents_deinitialize(&files.model);
  tfrt_file_contents_deinitialize(&files.around);
  return status;
}

// --- Imports that are kept -----------------------------------------------------------

// Sets |*out_place| to where the program of the model in the file |path| is kept; false: nowhere.
static bool find_place(const char* path, const tfrt_model_flags_t* flags,
                       tfrt_model_cache_place_t* out_place, size_t* out_size) {
  tfrt_file_contents_t model;
  tfrt_string_builder_t settings;
  tfrt_string_builder_initialize(&settings, tfrt_allocator_system());
  tfrt_string_builder_append_format(&settings, "%s %lld", flags->split ? flags->split : "none",
                                    (long long)flags->host_count);
  for (size_t i = 0; i < flags->shapes.count; ++i) {
    tfrt_string_builder_append_format(&settings, " %s", flags->shapes.values[i]);
  }
  tfrt_status_t status = tfrt_string_builder_status(&settings);
  if (!status) status = tfrt_file_map(path, MODEL_MAX_SIZE, tfrt_allocator_system(), &model);
  bool is_found = false;
  if (!status) {
    *out_size = model.size;
    is_found = tfrt_model_cache_find(
        tfrt_string_view_make((const char*)model.data, model.size),
        tfrt_string_view_make(tfrt_string_builder_text(&settings), settings.size), out_place);
    tfrt_file_contents_deinitialize(&model);
  }
  // The import says what is wrong with the file.
  tfrt_status_release(status);
  tfrt_string_builder_deinitialize(&settings);
  return is_found;
}

// Imports the model, and keeps the program at |place|; false if it can't be imported without other
// files of its folder, which are no part of the hash, or not at all.
static bool import_and_keep(const char* path, const tfrt_model_flags_t* flags,
                            const tfrt_model_cache_place_t* place, tfrt_string_builder_t* summary,
                            tfrt_bef_file_t** out_file) {
  tfrt_string_builder_t report, lines;
  tfrt_string_builder_initialize(&report, tfrt_allocator_system());
  tfrt_string_builder_initialize(&lines, tfrt_allocator_system());
  const tfrt_onnx_texts_t texts = {&report, &lines};
  void* bytes = NULL;
  size_t size = 0;
  tfrt_status_t status = translate(path, flags, false, &texts, NULL, &bytes, &size);
  if (!status) {
    tfrt_string_builder_append(summary, tfrt_string_builder_text(&lines), lines.size);
    tfrt_model_cache_store(place, bytes, size);
    // From the file, whose pages are taken as they are used.
    *out_file = tfrt_model_cache_load(place);
    if (*out_file) {
      tfrt_allocator_free(tfrt_allocator_system(), bytes, size);
    } else {
      status = tfrt_bef_file_create_take(bytes, size, tfrt_allocator_system(), out_file);
    }
  }
  tfrt_string_builder_deinitialize(&report);
  tfrt_string_builder_deinitialize(&lines);
  tfrt_status_release(status);
  return *out_file != NULL;
}

static tfrt_status_t import(const char* path, const tfrt_model_flags_t* flags,
                            const tfrt_onnx_texts_t* texts, const tfrt_model_cache_place_t* place,
                            tfrt_bef_file_t** out_file) {
  if (place && import_and_keep(path, flags, place, texts->summary, out_file)) return NULL;
  void* bytes = NULL;
  size_t size = 0;
  TFRT_RETURN_IF_ERROR(translate(path, flags, true, texts, NULL, &bytes, &size));
  return tfrt_bef_file_create_take(bytes, size, tfrt_allocator_system(), out_file);
}

tfrt_status_t tfrt_model_loader_load(const char* path, const tfrt_model_flags_t* flags,
                                     tfrt_string_builder_t* report, tfrt_string_builder_t* summary,
                                     tfrt_bef_file_t** out_file) {
  const tfrt_onnx_texts_t texts = {report, summary};
  tfrt_model_cache_place_t place;
  size_t size = 0;
  bool has_place = !flags->no_cache && find_place(path, flags, &place, &size);
  *out_file = has_place ? tfrt_model_cache_load(&place) : NULL;
  if (*out_file) {
    tfrt_string_builder_append_format(summary, "%s was imported before: %s\n", path, place.path);
    return NULL;
  }
  bool is_shown = size >= SHOWN_SIZE && isatty(STDERR_FILENO);
  if (is_shown) fprintf(stderr, "importing %s (%zu MB) ...", path, size / 1000000);
  tfrt_status_t status = import(path, flags, &texts, has_place ? &place : NULL, out_file);
  if (is_shown) fprintf(stderr, "\r\033[K");
  return status;
}

tfrt_status_t tfrt_model_loader_translate(const char* path, const tfrt_model_flags_t* flags,
                                          bool is_text, tfrt_string_builder_t* report,
                                          tfrt_string_builder_t* summary,
                                          tfrt_string_builder_t* out) {
  const tfrt_onnx_texts_t texts = {report, summary};
  void* bytes = NULL;
  size_t size = 0;
  TFRT_RETURN_IF_ERROR(translate(path, flags, true, &texts, is_text ? out : NULL, &bytes, &size));
  if (!is_text) tfrt_string_builder_append_take(out, bytes, size);
  return tfrt_string_builder_status(out);
}
