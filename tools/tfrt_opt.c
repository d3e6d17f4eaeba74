// SPDX-License-Identifier: Apache-2.0
//
// Reads a host program, checks it, runs passes on it, and writes it again.

#include "compiler/translate.h"
#include "host_runtime/base/file.h"
#include "tools/kernels/constant_evaluator.h"
#include "tools/kernels/op_tables.h"
#include "tools/kernels/shared_libraries.h"
#include "tools/translation/cost_profile_file.h"
#include "tools/translation/text_splitter.h"
#include "tools/translation/translate_main.h"

static const char* output = TFRT_FILE_STANDARD_INPUT;
static const char* shared_libs = NULL;
static bool split_input = false;
static bool verify_diagnostics = false;
static bool allow_unregistered_dialect = false;
static bool generic = false;
static bool locations = false;
static bool keep_names = false;
static bool lowers = false;
static const char* profile_path = NULL;
static tfrt_cost_profile_t profile;  // lives as long as the process
static tfrt_flag_list_t steps;

// The flags that are no pass; behind them comes one for each pass.
static const tfrt_flag_t common_flags[] = {
    {.name = "o",
     .kind = TFRT_FLAG_PATH,
     .storage = &output,
     .value = "FILE",
     .help = "where the text goes; - (as without this flag) is the standard output"},
    {.name = "split-input-file",
     .kind = TFRT_FLAG_BOOL,
     .storage = &split_input,
     .help = "take the text between lines '// -----' for programs of their own"},
    {.name = "verify-diagnostics",
     .kind = TFRT_FLAG_BOOL,
     .storage = &verify_diagnostics,
     .help = "succeed if what is reported is what the comments 'expected-error {{...}}' say"},
    {.name = "allow-unregistered-dialect",
     .kind = TFRT_FLAG_BOOL,
     .storage = &allow_unregistered_dialect,
     .help = "take ops of dialects that no op table has"},
    {.name = "mlir-print-op-generic",
     .kind = TFRT_FLAG_BOOL,
     .storage = &generic,
     .help = "write every op in generic form, as a stock mlir-opt reads it"},
    {.name = "mlir-print-debuginfo",
     .kind = TFRT_FLAG_BOOL,
     .storage = &locations,
     .help = "write the location behind each op"},
    {.name = "keep-value-names",
     .kind = TFRT_FLAG_BOOL,
     .storage = &keep_names,
     .help = "call values as the text does, where MLIR's tools number them"},
    {.name = "lower-async",
     .kind = TFRT_FLAG_BOOL,
     .storage = &lowers,
     .help = "lower asynchronous programs to kernels, after all passes, as mlir_to_bef does"},
    {.name = TFRT_USE_PROFILE_FLAG,
     .kind = TFRT_FLAG_PATH,
     .storage = &profile_path,
     .value = "FILE",
     .help = "give ops the costs (_tfrt_cost) of a run that wrote FILE with --profile, before all "
             "passes"},
    {.name = TFRT_SHARED_LIBRARIES_FLAG,
     .kind = TFRT_FLAG_TEXT,
     .storage = &shared_libs,
     .value = TFRT_SHARED_LIBRARIES_VALUE,
     .help = TFRT_SHARED_LIBRARIES_HELP},
};

static tfrt_status_t translate(tfrt_string_view_t input, tfrt_diagnostics_t* diagnostics,
                               tfrt_string_builder_t* result) {
  (void)input;
  const tfrt_pass_t* passes[TFRT_FLAG_MAX_LIST];
  for (size_t i = 0; i < steps.count; ++i) passes[i] = tfrt_pass_find(steps.values[i]);
  tfrt_text_to_text_options_t options = {.passes = passes,
                                         .pass_count = steps.count,
                                         .lowers = lowers,
                                         .profile = profile_path ? &profile : NULL,
                                         .known_dialects_only = !allow_unregistered_dialect,
                                         .unnamed_values = !keep_names,
                                         .generic = generic,
                                         .locations = locations};
  tfrt_op_tables_t tables = *tfrt_all_op_tables();
  tables.evaluator = tfrt_constant_evaluator();
  return tfrt_optimize_text(&tables, &options, tfrt_allocator_system(), diagnostics, result);
}

static tfrt_status_t prepare(void) {
  tfrt_cost_profile_initialize(&profile, tfrt_allocator_system());
  return profile_path ? tfrt_cost_profile_file_load(profile_path, &profile) : NULL;
}

int main(int argument_count, char** arguments) {
  tfrt_flag_t flags[TFRT_ARRAY_SIZE(common_flags) + TFRT_FLAG_MAX_LIST];
  size_t flag_count = 0;
  for (; flag_count < TFRT_ARRAY_SIZE(common_flags); ++flag_count) {
    flags[flag_count] = common_flags[flag_count];
  }
  size_t pass_count = 0;
  const tfrt_pass_t* passes = tfrt_all_passes(&pass_count);
  for (size_t i = 0; i < pass_count; ++i) {
    flags[flag_count++] = (tfrt_flag_t){.name = passes[i].name,
                                        .kind = TFRT_FLAG_STEP,
                                        .storage = &steps,
                                        .help = passes[i].summary};
  }
  const tfrt_flag_table_t table = {
      .usage = "tfrt_opt [FLAGS] [PASSES] [FILE.mlir]",
      .summary =
          "Reads a host program as MLIR text, checks it, runs passes on it, and writes it again.\n"
          "Without a file, or with -, it reads the standard input. Passes run in the order in\n"
          "which they are given.",
      .footer =
          "Exit codes: 0 done; 1 the input is wrong, or a file can't be read or written; 2 usage.\n"
          "\n"
          "Example: tfrt_opt -inline -canonicalize fib.mlir\n",
      .flags = flags,
      .flag_count = flag_count,
  };
  const tfrt_translate_program_t program = {.table = &table,
                                            .output = &output,
                                            .split_input = &split_input,
                                            .verify_diagnostics = &verify_diagnostics,
                                            .shared_libs = &shared_libs,
                                            .prepare = prepare,
                                            .separator = TFRT_TEXT_SPLITTER_MARKER "\n",
                                            .translate = translate};
  return tfrt_translate_main(&program, argument_count, arguments);
}
