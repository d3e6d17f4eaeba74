// SPDX-License-Identifier: Apache-2.0

#include "tools/translation/program_translation.h"

#include "tools/kernels/op_tables.h"

tfrt_status_t tfrt_program_text_to_bef(tfrt_string_view_t text,
                                       const tfrt_text_to_bef_options_t* options,
                                       tfrt_diagnostics_t* diagnostics,
                                       tfrt_string_builder_t* result) {
  (void)text;
  void* bytes = NULL;
  size_t size = 0;
  TFRT_RETURN_IF_ERROR(tfrt_assemble_text(tfrt_all_op_tables(), options, result->allocator,
                                          diagnostics, &bytes, &size));
  tfrt_string_builder_append_take(result, bytes, size);
  return tfrt_string_builder_status(result);
}

tfrt_status_t tfrt_program_bef_to_text_take(tfrt_file_contents_t* image,
                                            const tfrt_bef_to_text_options_t* options,
                                            tfrt_diagnostics_t* diagnostics,
                                            tfrt_string_builder_t* result) {
  // Offsets into an image are no lines of a text.
  diagnostics->text = tfrt_string_view_make(NULL, 0);
  return tfrt_disassemble_take_contents(image, tfrt_all_op_tables(), options, result->allocator,
                                        diagnostics, result);
}
