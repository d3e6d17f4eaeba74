// SPDX-License-Identifier: Apache-2.0
//
// The flags of the mains that write BEF (mlir_to_bef, tfrt_translate), each said once.
//
// Thread rule: main thread only. Failure rule: none fails.
#ifndef TFRT_TOOLS_TRANSLATION_BEF_FLAGS_H_
#define TFRT_TOOLS_TRANSLATION_BEF_FLAGS_H_

#include "compiler/translate.h"
#include "tools/command_line/flags.h"
#include "tools/translation/translate_main.h"

#define TFRT_BEF_FLAG_COUNT 8

// Where what the flags say is put.
typedef struct tfrt_bef_flags_s {
  const char* output;
  const char* shared_libs;
  const char* profile_path;  // NULL: none
  tfrt_cost_profile_t profile;
  tfrt_text_to_bef_options_t options;
  bool split_input;
  bool verify_diagnostics;
} tfrt_bef_flags_t;

// Sets |storage|, which outlives the flags, to the defaults and |flags|, of
// TFRT_BEF_FLAG_COUNT entries, to the flags that put their values there. Main thread only.
void tfrt_bef_flags_initialize(tfrt_bef_flags_t* storage, tfrt_flag_t* flags);

// Reads the profile that the flags name, if they do. Main thread only.
tfrt_status_t tfrt_bef_flags_prepare(tfrt_bef_flags_t* storage) TFRT_MUST_USE;

// A program with |table| whose flags put their values into |storage|, which does |prepare|
// and |translate| after |check|. Main thread only.
tfrt_translate_program_t tfrt_bef_flags_program(const tfrt_bef_flags_t* storage,
                                                const tfrt_flag_table_t* table,
                                                tfrt_check_flags_fn_t check,
                                                tfrt_prepare_fn_t prepare,
                                                tfrt_translate_fn_t translate);

#endif  // TFRT_TOOLS_TRANSLATION_BEF_FLAGS_H_
