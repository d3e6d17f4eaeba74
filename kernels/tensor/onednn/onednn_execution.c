// SPDX-License-Identifier: Apache-2.0
#include "kernels/tensor/onednn/onednn_execution.h"

#include <stdint.h>

#include "kernels/tensor/onednn/onednn_library.h"

dnnl_status_t tfrt_onednn_execution_add(tfrt_onednn_execution_t* execution, dnnl_engine_t engine,
                                        int index, const dnnl_memory_desc_t* layout,
                                        const void* data) {
  // The library has one type for what it reads and what it writes.
  dnnl_status_t result = tfrt_onednn()->dnnl_memory_create(
      &execution->arguments[execution->count].memory, layout, engine, (void*)(uintptr_t)data);
  if (result == dnnl_success) execution->arguments[execution->count++].arg = index;
  return result;
}

dnnl_status_t tfrt_onednn_execution_finish(tfrt_onednn_execution_t* execution, dnnl_status_t result,
                                           const_dnnl_primitive_t primitive) {
  const tfrt_onednn_library_t* library = tfrt_onednn();
  if (result == dnnl_success) {
    result = library->dnnl_primitive_execute(primitive, execution->stream, execution->count,
                                             execution->arguments);
  }
  if (result == dnnl_success) result = library->dnnl_stream_wait(execution->stream);
  for (int i = 0; i < execution->count; ++i) {
    library->dnnl_memory_destroy(execution->arguments[i].memory);
  }
  if (execution->stream) library->dnnl_stream_destroy(execution->stream);
  return result;
}
