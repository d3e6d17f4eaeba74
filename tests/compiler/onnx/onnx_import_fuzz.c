// SPDX-License-Identifier: Apache-2.0
//
// The importer of models, with bytes of a stranger: a program, or an error.
#include "compiler/onnx/onnx_translate.h"
#include "tests/support/fuzz_target.h"
#include "tools/kernels/op_tables.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const char* const shapes[] = {"x=1x3"};
  // The first byte says how it is imported.
  const tfrt_onnx_options_t options = {
      .shapes = shapes,
      .shape_count = size > 0 && data[0] & 4 ? 1 : 0,
      .split = size > 0 ? (tfrt_onnx_split_t)(data[0] % 3) : TFRT_ONNX_SPLIT_NONE,
      .host_count = 2};
  tfrt_string_builder_t report, summary;
  void* bytes = NULL;
  size_t bef_size = 0;
  if (size == 0) return 0;
  tfrt_string_builder_initialize(&report, tfrt_allocator_system());
  tfrt_string_builder_initialize(&summary, tfrt_allocator_system());
  const tfrt_onnx_texts_t texts = {&report, &summary};
  tfrt_status_release(tfrt_onnx_to_bef(
      "model.onnx", tfrt_string_view_make((const char*)data + 1, size - 1), tfrt_all_op_tables(),
      &options, tfrt_allocator_system(), &texts, &bytes, &bef_size));
  tfrt_allocator_free(tfrt_allocator_system(), bytes, bef_size);
  tfrt_string_builder_deinitialize(&report);
  tfrt_string_builder_deinitialize(&summary);
  return 0;
}
