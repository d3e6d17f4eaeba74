// SPDX-License-Identifier: Apache-2.0
//
// Files of models, as mains take them: read, and translated with all op tables of this build.
//
// Thread rule: thread-compatible. Failure rule: the file's errors, or one that names the file; what
// is wrong with the model is in the report.
#ifndef TFRT_TOOLS_MODELS_MODEL_LOADER_H_
#define TFRT_TOOLS_MODELS_MODEL_LOADER_H_

#include "compiler/onnx/onnx_import.h"
#include "host_runtime/base/string_builder.h"
#include "host_runtime/bef/bef_file.h"
#include "tools/command_line/flags.h"

// The flags of a command line about a model.
typedef struct tfrt_model_flags_s {
  tfrt_flag_list_t shapes;  // --shape
  const char* split;        // --split, or NULL
  int64_t host_count;
  const char* around;  // --around, or NULL
  bool no_cache;       // --no-cache
} tfrt_model_flags_t;

#define TFRT_MODEL_SHAPE_HELP "of a model: the shape of an input, as in x=1x3x224x224"
#define TFRT_MODEL_NO_CACHE_HELP \
  "of a model: import it, and keep the program nowhere ($XDG_CACHE_HOME/tfrt/models)"
#define TFRT_MODEL_AROUND_HELP \
  "a program whose functions are put around the model's, which is @model then"
#define TFRT_MODEL_SPLIT_HELP \
  "of a model, over the hosts: pipeline (layers in stages) or data (a batch in parts)"

// Whether |path| is named as a model is: "*.onnx". Thread-safe.
bool tfrt_model_loader_is_model(const char* path);

// Sets |*out_file| (+1) to the program that the model in the file |path| is: that of an import
// before, if there is one (model_cache.h). Appends what is wrong with it to |report|, and lines
// about it to |summary|. A line on a terminal says that a large model is being imported.
tfrt_status_t tfrt_model_loader_load(const char* path, const tfrt_model_flags_t* flags,
                                     tfrt_string_builder_t* report, tfrt_string_builder_t* summary,
                                     tfrt_bef_file_t** out_file) TFRT_MUST_USE;

// Appends the BEF image of the program to |out|, or (|is_text|) its text.
tfrt_status_t tfrt_model_loader_translate(const char* path, const tfrt_model_flags_t* flags,
                                          bool is_text, tfrt_string_builder_t* report,
                                          tfrt_string_builder_t* summary,
                                          tfrt_string_builder_t* out) TFRT_MUST_USE;

#endif  // TFRT_TOOLS_MODELS_MODEL_LOADER_H_
