// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/tensor/tensor_types.h"
#include "kernels/distributed/collective_impl.h"

bool tfrt_collective_ignores_operand(const tfrt_collective_t* collective) {
  return collective->record.kind == TFRT_COLLECTIVE_BROADCAST &&
         collective->record.root != collective->position;
}

// Describes the tensor |value|, which the host can read, in our record.
static tfrt_status_t describe_host_tensor(tfrt_collective_t* collective,
                                          tfrt_async_value_t* value) {
  tfrt_collective_record_t* record = &collective->record;
  const char* name = tfrt_collective_kind_name(record->kind);
  if (value->type_id != tfrt_host_tensor_type_id()) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "%s takes a tensor, not a %s", name,
                              tfrt_type_get(value->type_id)->name);
  }
  const tfrt_host_tensor_t* tensor = tfrt_async_value_payload(value);
  if (tensor->layout != TFRT_TENSOR_LAYOUT_DENSE) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "%s takes a dense tensor, not a %s",
                              name, tfrt_tensor_layout_name(tensor->layout));
  }
  record->dtype = tensor->dense.dtype;
  record->shape = tensor->dense.shape;
  return NULL;
}

tfrt_status_t tfrt_collective_describe_operand(tfrt_collective_t* collective) {
  tfrt_collective_record_t* record = &collective->record;
  const char* name = tfrt_collective_kind_name(record->kind);
  if (tfrt_async_value_is_error(collective->operand)) {
    return tfrt_status_retain(tfrt_async_value_error(collective->operand));
  }
  tfrt_async_value_t* value = tfrt_async_value_resolved(collective->operand);
  if (record->is_on_device) {
    TFRT_RETURN_IF_ERROR(tfrt_collective_describe_device(collective, value));
  } else {
    TFRT_RETURN_IF_ERROR(describe_host_tensor(collective, value));
  }
  if (tfrt_collective_kind_reduces(record->kind) &&
      !tfrt_reduction_can(record->reduction, record->dtype)) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "there is no %s of %s",
                              tfrt_reduction_name(record->reduction),
                              tfrt_dtype_name(record->dtype));
  }
  if (tfrt_collective_kind_is_about_rows(record->kind) && record->shape.rank == 0) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "%s takes a tensor with an axis 0, not a single element", name);
  }
  return NULL;
}

void tfrt_collective_add_elements(tfrt_collective_t* collective) {
  tfrt_collective_record_t* record = &collective->record;
  size_t size = tfrt_collective_record_size(record);
  size_t senders = record->kind == TFRT_COLLECTIVE_BROADCAST ? 1 : collective->group->count;
  if (size > TFRT_COLLECTIVE_MAX_RECORD_ELEMENTS / senders || record->is_on_device) return;
  record->has_elements = true;
  const void* data = tfrt_dense_host_tensor_data(tfrt_collective_operand(collective));
  record->elements = tfrt_string_view_make(data, size);
}
