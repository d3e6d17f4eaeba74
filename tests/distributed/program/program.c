// SPDX-License-Identifier: Apache-2.0
#include "tests/distributed/program/program.h"

#include <check.h>
#include <string.h>

#include "compiler/translate.h"
#include "host_runtime/bef/bef_file.h"
#include "tools/kernels/op_tables.h"

void tfrt_test_program_initialize(tfrt_test_program_t* program, const char* text) {
  memset(program, 0, sizeof(*program));
  tfrt_string_builder_t report;
  tfrt_string_builder_initialize(&report, tfrt_allocator_system());
  tfrt_text_to_bef_options_t options = {0};
  tfrt_status_t status = tfrt_translate_text_to_bef(
      "test.mlir", tfrt_string_view_of(text), tfrt_all_op_tables(), &options,
      tfrt_allocator_system(), &report, &program->bytes, &program->size);
  ck_assert_msg(!status, "%s", tfrt_string_builder_text(&report));
  tfrt_string_builder_deinitialize(&report);
  tfrt_bef_file_t* file = NULL;
  ck_assert_ptr_null(
      tfrt_bef_file_create(program->bytes, program->size, tfrt_allocator_system(), &file));
  const tfrt_bef_function_t* entry = tfrt_bef_file_find_function(file, "main");
  ck_assert_ptr_nonnull(entry);
  program->function = entry->index;
  program->result_count = entry->result_count;
  tfrt_bef_file_release(file);
}

void tfrt_test_program_deinitialize(tfrt_test_program_t* program) {
  tfrt_allocator_free(tfrt_allocator_system(), program->bytes, program->size);
}

uint64_t tfrt_test_program_start(const tfrt_test_program_t* program, tfrt_client_t* client,
                                 tfrt_async_value_t* const* arguments, uint32_t argument_count,
                                 tfrt_async_value_t** out_results) {
  tfrt_client_start_t start = {.program = tfrt_string_view_make(program->bytes, program->size),
                               .function = program->function,
                               .name = tfrt_string_view_of("main"),
                               .arguments = arguments,
                               .argument_count = argument_count,
                               .result_count = program->result_count};
  uint64_t number = tfrt_client_start(client, &start, out_results);
  ck_assert_uint_ne(number, 0);
  for (uint32_t i = 0; i < program->result_count; ++i) tfrt_async_value_demand(out_results[i]);
  return number;
}
