// SPDX-License-Identifier: Apache-2.0
#include "tools/output/npy_results.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "host_runtime/base/file.h"
#include "host_runtime/tensor/npy.h"
#include "host_runtime/tensor/tensor_types.h"

static tfrt_status_t write_one(const char* directory, uint32_t index, tfrt_async_value_t* result) {
  tfrt_async_value_t* value = tfrt_async_value_resolved(result);
  if (value->type_id != tfrt_host_tensor_type_id()) {
    return tfrt_status_create(TFRT_STATUS_UNIMPLEMENTED, "result %u is no tensor", index);
  }
  const tfrt_host_tensor_t* tensor = tfrt_async_value_payload(value);
  if (tensor->layout != TFRT_TENSOR_LAYOUT_DENSE) {
    return tfrt_status_create(TFRT_STATUS_UNIMPLEMENTED, "result %u is a %s, no dense tensor",
                              index, tfrt_tensor_layout_name(tensor->layout));
  }
  char path[4096];
  tfrt_string_builder_t text;
  snprintf(path, sizeof(path), "%s/result_%u.npy", directory, index);
  tfrt_string_builder_initialize(&text, tfrt_allocator_system());
  tfrt_status_t status = tfrt_npy_write(&tensor->dense, &text);
  if (!status) status = tfrt_file_write(path, tfrt_string_builder_text(&text), text.size);
  tfrt_string_builder_deinitialize(&text);
  if (status) return tfrt_status_take_annotate(status, "result %u", index);
  printf("%s: %s %s\n", path, tfrt_dtype_name(tensor->dense.dtype),
         tfrt_shape_text(&tensor->dense.shape).text);
  return NULL;
}

tfrt_status_t tfrt_npy_results_write(const char* directory, tfrt_async_value_t* const* results,
                                     uint32_t count) {
  if (mkdir(directory, 0777) != 0 && errno != EEXIST) {
    return tfrt_status_create(TFRT_STATUS_UNKNOWN, "the folder %s can't be made: %s", directory,
                              strerror(errno));
  }
  for (uint32_t i = 0; i < count; ++i) {
    TFRT_RETURN_IF_ERROR(write_one(directory, i, results[i]));
  }
  return NULL;
}
