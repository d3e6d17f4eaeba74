// SPDX-License-Identifier: Apache-2.0
#include "tools/translation/bef_flags.h"

#include <string.h>

#include "host_runtime/base/file.h"
#include "host_runtime/base/macros.h"
#include "tools/kernels/shared_libraries.h"
#include "tools/translation/cost_profile_file.h"

void tfrt_bef_flags_initialize(tfrt_bef_flags_t* storage, tfrt_flag_t* flags) {
  *storage = (tfrt_bef_flags_t){.output = TFRT_FILE_STANDARD_INPUT};
  const tfrt_flag_t all[TFRT_BEF_FLAG_COUNT] = {
      {.name = "o",
       .kind = TFRT_FLAG_PATH,
       .storage = &storage->output,
       .value = "FILE",
       .help = "where the result goes; - (as without this flag) is the standard output"},
      {.name = "disable-optional-sections",
       .kind = TFRT_FLAG_BOOL,
       .storage = &storage->options.no_optional_sections,
       .help = "leave out what only turns BEF back into text, and the names of parameters"},
      {.name = "exact-tfrt-bytes",
       .kind = TFRT_FLAG_BOOL,
       .storage = &storage->options.exact_tfrt_bytes,
       .help = "write the very bytes that TFRT's translator writes: no names of parameters, and "
               "none but its own options of ops"},
      {.name = "no-insert-chains",
       .kind = TFRT_FLAG_BOOL,
       .storage = &storage->options.no_insert_chains,
       .help = "refuse a text that lacks chains, and put none in"},
      {.name = TFRT_USE_PROFILE_FLAG,
       .kind = TFRT_FLAG_PATH,
       .storage = &storage->profile_path,
       .value = "FILE",
       .help = TFRT_USE_PROFILE_HELP},
      {.name = "split-input-file",
       .kind = TFRT_FLAG_BOOL,
       .storage = &storage->split_input,
       .help = "take the text between lines '// -----' for programs of their own"},
      {.name = "verify-diagnostics",
       .kind = TFRT_FLAG_BOOL,
       .storage = &storage->verify_diagnostics,
       .help = "succeed if the errors are those of the comments 'expected-error {{...}}'"},
      {.name = TFRT_SHARED_LIBRARIES_FLAG,
       .kind = TFRT_FLAG_TEXT,
       .storage = &storage->shared_libs,
       .value = TFRT_SHARED_LIBRARIES_VALUE,
       .help = TFRT_SHARED_LIBRARIES_HELP},
  };
  memcpy(flags, all, sizeof(all));
}

tfrt_status_t tfrt_bef_flags_prepare(tfrt_bef_flags_t* storage) {
  if (!storage->profile_path) return NULL;
  if (storage->options.exact_tfrt_bytes) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "--exact-tfrt-bytes knows no costs but those of the text: leave out "
                              "--" TFRT_USE_PROFILE_FLAG);
  }
  // Lives as long as the process.
  tfrt_cost_profile_initialize(&storage->profile, tfrt_allocator_system());
  storage->options.profile = &storage->profile;
  return tfrt_cost_profile_file_load(storage->profile_path, &storage->profile);
}

tfrt_translate_program_t tfrt_bef_flags_program(const tfrt_bef_flags_t* storage,
                                                const tfrt_flag_table_t* table,
                                                tfrt_check_flags_fn_t check,
                                                tfrt_prepare_fn_t prepare,
                                                tfrt_translate_fn_t translate) {
  return (tfrt_translate_program_t){.table = table,
                                    .output = &storage->output,
                                    .split_input = &storage->split_input,
                                    .verify_diagnostics = &storage->verify_diagnostics,
                                    .shared_libs = &storage->shared_libs,
                                    .separator = "",
                                    .check = check,
                                    .prepare = prepare,
                                    .translate = translate};
}
