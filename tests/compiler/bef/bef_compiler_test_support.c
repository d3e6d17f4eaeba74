// SPDX-License-Identifier: Apache-2.0

#include "tests/compiler/bef/bef_compiler_test_support.h"

#include <check.h>
#include <dirent.h>
#include <stdio.h>
#include <string.h>

#include "kernels/basic/ops.h"
#include "kernels/control_flow/ops.h"
#include "kernels/test/ops.h"

const tfrt_op_tables_t* test_tables(void) {
  static tfrt_kernel_table_t tables[3];
  static const tfrt_op_tables_t op_tables = {.tables = tables, .count = 3};
  tables[0] = tfrt_basic_ops;
  tables[1] = tfrt_control_flow_ops;
  tables[2] = tfrt_test_ops;
  return &op_tables;
}

test_image_t test_emit(const char* file, tfrt_string_view_t text,
                       const tfrt_bef_emitter_options_t* options) {
  test_image_t image = {.bytes = NULL};
  tfrt_allocator_t allocator = tfrt_allocator_system();
  tfrt_ir_context_t* context;
  tfrt_diagnostics_t diagnostics;
  ck_assert(tfrt_status_is_ok(tfrt_ir_context_allocate(allocator, &context)));
  tfrt_diagnostics_initialize(&diagnostics, file, text, allocator);
  tfrt_ir_operation_t* module = tfrt_parse_module(context, test_tables(), &diagnostics);
  if (module) {
    tfrt_status_t status =
        tfrt_bef_emit(context, module, options, &diagnostics, allocator, &image.bytes, &image.size);
    ck_assert(tfrt_status_is_ok(status) == (image.bytes != NULL));
    tfrt_status_release(status);
  }
  tfrt_string_builder_t errors;
  tfrt_string_builder_initialize(&errors, allocator);
  tfrt_diagnostics_render(&diagnostics, &errors);
  snprintf(image.errors, sizeof(image.errors), "%s", tfrt_string_builder_text(&errors));
  tfrt_string_builder_deinitialize(&errors);
  tfrt_diagnostics_deinitialize(&diagnostics);
  tfrt_ir_context_free(context);
  return image;
}

void test_image_free(test_image_t* image) {
  tfrt_allocator_free(tfrt_allocator_system(), image->bytes, image->size);
}

static size_t visit_folder(const char* folder, const char* suffix,
                           void (*visit)(const char* path)) {
  size_t count = 0;
  DIR* directory = opendir(folder);
  ck_assert_msg(directory != NULL, "cannot open %s", folder);
  for (struct dirent* entry = readdir(directory); entry; entry = readdir(directory)) {
    const char* dot = strrchr(entry->d_name, '.');
    if (!dot || strcmp(dot, suffix) != 0) continue;
    char path[512];
    snprintf(path, sizeof(path), "%s/%.255s", folder, entry->d_name);
    visit(path);
    ++count;
  }
  closedir(directory);
  return count;
}

size_t test_for_each_program_path(const char* suffix, void (*visit)(const char* path)) {
  return visit_folder("tests/programs", suffix, visit) +
         visit_folder("tests/programs/random", suffix, visit);
}
