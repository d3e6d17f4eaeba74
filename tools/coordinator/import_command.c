// SPDX-License-Identifier: Apache-2.0
#include "tools/coordinator/import_command.h"

#include <stdio.h>
#include <string.h>

#include "host_runtime/base/file.h"
#include "tools/command_line/spoken_protocol.h"
#include "tools/coordinator/run_report.h"
#include "tools/models/model_loader.h"
#include "tools/process/standard_streams.h"

typedef struct tfrt_import_options_s {
  const char* path;
  const char* output;
  const char* emit;
  tfrt_model_flags_t model;
} tfrt_import_options_t;

static const char tfrt_import_summary[] =
    "Makes a program of a model of the ONNX format. Its function `main` has a parameter for each\n"
    "input of the model and a result for each output, all tensors.";

static const char tfrt_import_footer[] =
    "  tfrt import model.onnx -o model.bef --shape x=1x3x224x224\n"
    "  tfrt run model.bef --arg x=photo.npy\n"
    "\n"
    "`tfrt run model.onnx` does both. Exit codes: 0 success; 2 the model can't be imported.";

static tfrt_status_t import_parse(int argument_count, char* const* arguments,
                                  tfrt_import_options_t* options, bool* out_help) {
  const tfrt_flag_t flags[] = {
      {"o", TFRT_FLAG_PATH, &options->output, "FILE", "write the program to it (- : stdout)", 0, 0},
      {"emit", TFRT_FLAG_TEXT, &options->emit, "FORMAT", "bef (default) or mlir, to be read", 0, 0},
      {"shape", TFRT_FLAG_LIST, &options->model.shapes, "NAME=SHAPE", TFRT_MODEL_SHAPE_HELP, 0, 0},
      {"split", TFRT_FLAG_TEXT, &options->model.split, "HOW", TFRT_MODEL_SPLIT_HELP, 0, 0},
      {"around", TFRT_FLAG_PATH, &options->model.around, "FILE.mlir", TFRT_MODEL_AROUND_HELP, 0, 0},
      {"host-count", TFRT_FLAG_NUMBER, &options->model.host_count, "N",
       "with --split: over so many hosts", 1, 1024},
  };
  const tfrt_flag_table_t table = {.usage = "tfrt import [FLAGS] FILE.onnx",
                                   .summary = tfrt_import_summary,
                                   .footer = tfrt_import_footer,
                                   .flags = flags,
                                   .flag_count = TFRT_ARRAY_SIZE(flags),
                                   .protocol = TFRT_SPOKEN_PROTOCOL};
  tfrt_flag_list_t files;
  TFRT_RETURN_IF_ERROR(tfrt_flags_parse(&table, argument_count, arguments, &files, out_help));
  if (*out_help) return NULL;
  if (files.count != 1) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "give one model, FILE.onnx; --help says more");
  }
  options->path = files.values[0];
  if (strcmp(options->emit, "bef") == 0 || strcmp(options->emit, "mlir") == 0) return NULL;
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "--emit %s: there are bef and mlir",
                            options->emit);
}

// Writes |program|; a text without -o goes to the standard output, and BEF nowhere.
static tfrt_status_t import_write(const tfrt_import_options_t* options, bool is_text,
                                  const tfrt_string_builder_t* program) {
  bool is_standard = options->output && strcmp(options->output, "-") == 0;
  if (is_standard || (is_text && !options->output)) {
    fwrite(tfrt_string_builder_text(program), 1, program->size, stdout);
    return NULL;
  }
  if (!options->output) return NULL;
  return tfrt_file_write(options->output, tfrt_string_builder_text(program), program->size);
}

static tfrt_status_t import_run(const tfrt_import_options_t* options) {
  tfrt_string_builder_t report, summary, program;
  bool is_text = strcmp(options->emit, "mlir") == 0;
  tfrt_string_builder_initialize(&report, tfrt_allocator_system());
  tfrt_string_builder_initialize(&summary, tfrt_allocator_system());
  tfrt_string_builder_initialize(&program, tfrt_allocator_system());
  tfrt_status_t status = tfrt_model_loader_translate(options->path, &options->model, is_text,
                                                     &report, &summary, &program);
  fputs(tfrt_string_builder_text(&report), stderr);
  if (!status) status = import_write(options, is_text, &program);
  // A program on the standard output is not mixed with lines about it.
  if (!status) fputs(tfrt_string_builder_text(&summary), stderr);
  tfrt_string_builder_deinitialize(&report);
  tfrt_string_builder_deinitialize(&summary);
  tfrt_string_builder_deinitialize(&program);
  return status;
}

tfrt_exit_code_t tfrt_import_command(int argument_count, char* const* arguments) {
  static tfrt_import_options_t options;
  options = (tfrt_import_options_t){.emit = "bef", .model = {.host_count = 1}};
  bool help = false;
  tfrt_status_t status = import_parse(argument_count, arguments, &options, &help);
  if (!status && !help) status = import_run(&options);
  if (!status) status = tfrt_standard_streams_flush();
  if (!status) return TFRT_EXIT_SUCCESS;
  tfrt_run_report_failure(status, false);
  tfrt_status_release(status);
  return TFRT_EXIT_USAGE;
}
