// SPDX-License-Identifier: Apache-2.0
//
// Command lines: a table of flags, from which parsing, errors and the help text follow. Each
// program also has `--help` (`-h`) and `--version`.
// `--name=value`, `--name value` and `-name value` all work (TFRT's tools take one dash
// too); a boolean flag may stand alone, a step always does; `--` ends the flags. Steps that
// share a list keep the order in which they were given.
//
// Life: the table and its storage are the caller's; parsed texts point into argv.
//
// Thread rule: thread-compatible. Failure rule: INVALID_ARGUMENT with one line that names
// the flag and what it wants; storage of other flags may be set by then.
#ifndef TFRT_TOOLS_COMMAND_LINE_FLAGS_H_
#define TFRT_TOOLS_COMMAND_LINE_FLAGS_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host_runtime/base/status.h"
#include "tools/command_line/version.h"

typedef enum tfrt_flag_kind_e {
  TFRT_FLAG_BOOL,    // storage: bool
  TFRT_FLAG_TEXT,    // storage: const char*
  TFRT_FLAG_PATH,    // the same, of a file or a folder: not empty
  TFRT_FLAG_NUMBER,  // storage: int64_t, within [minimum, maximum]
  TFRT_FLAG_LIST,    // storage: tfrt_flag_list_t; may be given several times
  TFRT_FLAG_STEP,    // storage: tfrt_flag_list_t, to which the flag's name is added
} tfrt_flag_kind_t;

// The values of a flag that was given several times, in their order.
#define TFRT_FLAG_MAX_LIST 256
typedef struct tfrt_flag_list_s {
  const char* values[TFRT_FLAG_MAX_LIST];
  size_t count;
  size_t default_count;  // the first ones, from a file: the others override them
} tfrt_flag_list_t;

typedef struct tfrt_flag_s {
  const char* name;  // without dashes
  tfrt_flag_kind_t kind;
  void* storage;      // holds the default until parsed
  const char* value;  // what to call the value in the help, e.g. "FILE"; NULL for bool, step
  const char* help;   // one line
  int64_t minimum;    // of a number
  int64_t maximum;
} tfrt_flag_t;

// The description of a program's command line.
typedef struct tfrt_flag_table_s {
  const char* usage;    // the first line of the help, behind "Usage: "
  const char* summary;  // what the program does, one or more lines
  const char* footer;   // behind the flags: exit codes, examples; may be NULL
  const tfrt_flag_t* flags;
  size_t flag_count;
  tfrt_protocol_range_t protocol;  // that the program speaks
} tfrt_flag_table_t;

// Parses |arguments| (without the program's name) by |table|. Arguments that are no flags are
// gathered in |out_positional|. If `--help`, `-h` or `--version` is among them, prints the answer
// on the standard output, sets |*out_help| and looks no further. Thread-compatible.
tfrt_status_t tfrt_flags_parse(const tfrt_flag_table_t* table, int argument_count,
                               char* const* arguments, tfrt_flag_list_t* out_positional,
                               bool* out_help) TFRT_MUST_USE;

// The last value of the flag |name| in |arguments|, even if the other arguments are wrong; NULL:
// none. For callers that report a wrong command line in the form that a flag chooses. Thread-safe.
const char* tfrt_flags_last_value(int argument_count, char* const* arguments, const char* name);

#endif  // TFRT_TOOLS_COMMAND_LINE_FLAGS_H_
