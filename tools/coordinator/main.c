// SPDX-License-Identifier: Apache-2.0
//
// `tfrt`, the coordinator: runs programs. Each verb is a file of its own.
#include <stdio.h>
#include <string.h>

#include "host_runtime/base/macros.h"
#include "tools/command_line/flags.h"
#include "tools/command_line/spoken_protocol.h"
#include "tools/coordinator/attach_command.h"
#include "tools/coordinator/cancel_command.h"
#include "tools/coordinator/certs_command.h"
#include "tools/coordinator/drain_command.h"
#include "tools/coordinator/dump_command.h"
#include "tools/coordinator/import_command.h"
#include "tools/coordinator/list_command.h"
#include "tools/coordinator/run_command.h"
#include "tools/coordinator/run_report.h"
#include "tools/coordinator/status_command.h"
#include "tools/coordinator/trace_command.h"
#include "tools/process/address_space.h"
#include "tools/process/standard_streams.h"

typedef tfrt_exit_code_t (*tfrt_verb_fn_t)(int argument_count, char* const* arguments);

static const struct {
  const char* name;
  const char* summary;
  tfrt_verb_fn_t run;
} tfrt_verbs[] = {
    {"run", "runs a function of a program and prints what it returns", tfrt_run_command},
    {"import", "makes a program of a model (ONNX)", tfrt_import_command},
    {"attach", "shows what a detached job prints, and how it ends", tfrt_attach_command},
    {"certs", "makes and shows the certificates of a cluster", tfrt_certs_command},
    {"status", "asks workers how they are", tfrt_status_command},
    {"list", "lists hosts, jobs, calls or values of a cluster", tfrt_list_command},
    {"dump", "says what each call waits for, and what all wait for", tfrt_dump_command},
    {"trace", "records what runs on workers, and draws it", tfrt_trace_command},
    {"cancel", "ends a job or a call, also one of another client", tfrt_cancel_command},
    {"drain", "lets workers end when what they run is over", tfrt_drain_command},
};

static void print_help(FILE* stream) {
  fprintf(stream,
          "Usage: tfrt VERB [ARGUMENTS]\n\n"
          "Runs host programs: kernels that take and return asynchronous values.\n\nVerbs:\n");
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(tfrt_verbs); ++i) {
    fprintf(stream, "  %-8s %s\n", tfrt_verbs[i].name, tfrt_verbs[i].summary);
  }
  fprintf(stream, "\n`tfrt VERB --help` says more; `tfrt --version`, which version this is.\n");
}

// Says that |arguments| do not begin with a verb.
static void refuse_verb(int argument_count, char* const* arguments) {
  const char* output = tfrt_flags_last_value(argument_count, arguments, "o");
  if (argument_count > 0) {
    tfrt_status_t status =
        tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "there is no verb '%s'", arguments[0]);
    tfrt_run_report_failure(status, output && strcmp(output, "json") == 0);
    tfrt_status_release(status);
    fputc('\n', stderr);
  }
  print_help(stderr);
}

static tfrt_exit_code_t run_verb_or_help(int argc, char** argv) {
  static const char* const help[] = {"--help", "-h", "help"};
  for (size_t i = 0; argc >= 2 && i < TFRT_ARRAY_SIZE(help); ++i) {
    if (strcmp(argv[1], help[i]) != 0) continue;
    print_help(stdout);
    return TFRT_EXIT_SUCCESS;
  }
  if (argc >= 2 && (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "version") == 0)) {
    tfrt_version_print(tfrt_string_view_of("tfrt"), (tfrt_protocol_range_t)TFRT_SPOKEN_PROTOCOL);
    return TFRT_EXIT_SUCCESS;
  }
  for (size_t i = 0; argc >= 2 && i < TFRT_ARRAY_SIZE(tfrt_verbs); ++i) {
    if (strcmp(argv[1], tfrt_verbs[i].name) == 0) return tfrt_verbs[i].run(argc - 2, argv + 2);
  }
  refuse_verb(argc - 1, argv + 1);
  return TFRT_EXIT_USAGE;
}

int main(int argc, char** argv) {
  tfrt_standard_streams_open();
  tfrt_address_space_spare();
  // Jobs are closed and files written also when nobody reads what is printed any more.
  tfrt_standard_streams_hold_cut();
  // A program that reads our output gets each line of a kernel when the kernel prints it.
  setvbuf(stdout, NULL, _IOLBF, 0);
  tfrt_exit_code_t exit_code = run_verb_or_help(argc, argv);
  fflush(stdout);
  tfrt_standard_streams_pass_on_cut();
  return exit_code;
}
