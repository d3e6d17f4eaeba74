// SPDX-License-Identifier: Apache-2.0
//
// Runs benchmarks of the host runtime and prints a table, or JSON for compare.py.
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "tests/bench/runner.h"
#include "tools/command_line/flags.h"

enum { EXIT_OK = 0, EXIT_RUN_FAILED = 1, EXIT_WRONG_USAGE = 2 };

typedef struct settings_s {
  const char* filter;
  int64_t repeats;
  bool small;
  const char* format;
  const char* tools;
} settings_t;

static tfrt_status_t parse(settings_t* settings, int count, char** arguments, bool* out_help) {
  const tfrt_flag_t flags[] = {
      {"filter", TFRT_FLAG_TEXT, &settings->filter, "TEXT",
       "only those with TEXT in their names, or, as =NAME, only that one", 0, 0},
      {"repeat", TFRT_FLAG_NUMBER, &settings->repeats, "N", "samples of each (15)", 1,
       TFRT_BENCH_MAX_REPEATS},
      {"small", TFRT_FLAG_BOOL, &settings->small, NULL, "tiny sizes: shows only that it works", 0,
       0},
      {"o", TFRT_FLAG_TEXT, &settings->format, "FORMAT", "table (as without this flag) or json", 0,
       0},
      {"tools", TFRT_FLAG_TEXT, &settings->tools, "DIR", "where bef_executor and mlir_to_bef are",
       0, 0},
  };
  const tfrt_flag_table_t table = {
      .usage = "bench [FLAGS]",
      .summary =
          "Measures the host runtime. docs/performance_method.md says how each figure is taken.",
      .footer = "Exit codes: 0 measured; 1 a benchmark failed; 2 wrong usage.",
      .flags = flags,
      .flag_count = TFRT_ARRAY_SIZE(flags)};
  tfrt_flag_list_t rest;
  TFRT_RETURN_IF_ERROR(tfrt_flags_parse(&table, count, arguments, &rest, out_help));
  if (*out_help) return NULL;
  if (rest.count > 0) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "'%s' is no flag", rest.values[0]);
  }
  if (strcmp(settings->format, "table") != 0 && strcmp(settings->format, "json") != 0) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "-o %s: there are table and json",
                              settings->format);
  }
  return NULL;
}

static int run(const settings_t* settings) {
  static tfrt_bench_results_t results;
  bool json = strcmp(settings->format, "json") == 0;
  tfrt_bench_options_t options = {.filter = settings->filter,
                                  .repeats = (int)settings->repeats,
                                  .small = settings->small,
                                  .files = {.tools = settings->tools}};
  tfrt_status_t status = tfrt_bench_run(&options, &results);
  tfrt_string_builder_t out;
  tfrt_string_builder_initialize(&out, tfrt_allocator_system());
  if (json) {
    tfrt_bench_append_json(&results, &out);
  } else {
    tfrt_bench_append_table(&results, &out);
  }
  fputs(tfrt_string_builder_text(&out), stdout);
  tfrt_string_builder_deinitialize(&out);
  if (!status) return EXIT_OK;
  fprintf(stderr, "bench: %s\n", tfrt_status_message(status));
  tfrt_status_release(status);
  return EXIT_RUN_FAILED;
}

int main(int argument_count, char** arguments) {
  // Bazel lays out this program and the tools in the same way in bazel-bin and in runfiles.
  static char self[PATH_MAX];
  static char tools[PATH_MAX + 16];
  snprintf(self, sizeof(self), "%s", arguments[0]);
  snprintf(tools, sizeof(tools), "%s/../../tools", dirname(self));
  settings_t settings = {.filter = "", .repeats = 15, .format = "table", .tools = tools};
  bool help = false;
  tfrt_status_t status = parse(&settings, argument_count - 1, arguments + 1, &help);
  if (status) {
    fprintf(stderr, "bench: %s\n", tfrt_status_message(status));
    tfrt_status_release(status);
    return EXIT_WRONG_USAGE;
  }
  return help ? EXIT_OK : run(&settings);
}
