// SPDX-License-Identifier: Apache-2.0

#include "compiler/ir/device_operation.h"

#define LAUNCH_SEGMENTS 13
#define NOT_FIXED UINT32_MAX

// The name of each kind, and how many operands its rest has.
static const struct {
  const char* name;
  uint32_t rest_count;
} kinds[] = {
    [TFRT_IR_DEVICE_WAIT] = {"gpu.wait", 0},
    [TFRT_IR_DEVICE_ALLOC] = {"gpu.alloc", NOT_FIXED},
    [TFRT_IR_DEVICE_DEALLOC] = {"gpu.dealloc", 1},
    [TFRT_IR_DEVICE_COPY] = {"gpu.memcpy", 2},
    [TFRT_IR_DEVICE_SET] = {"gpu.memset", 2},
    [TFRT_IR_DEVICE_LAUNCH] = {"gpu.launch_func", NOT_FIXED},
};

static bool find_kind(const tfrt_ir_operation_t* operation, tfrt_ir_device_kind_t* out_kind) {
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(kinds); ++i) {
    if (!tfrt_ir_operation_is(operation, kinds[i].name)) continue;
    *out_kind = (tfrt_ir_device_kind_t)i;
    return true;
  }
  return false;
}

bool tfrt_ir_is_device_operation(const tfrt_ir_operation_t* operation) {
  tfrt_ir_device_kind_t kind;
  return operation->descriptor && find_kind(operation, &kind);
}

static bool is_token(const tfrt_ir_value_t* value) {
  return tfrt_ir_type_is(value->type, TFRT_IR_DEVICE_TOKEN);
}

static bool is_memory(const tfrt_ir_value_t* value) {
  return value->type->kind == TFRT_IR_TYPE_MEMREF && value->type->is_ranked;
}

static uint32_t unknown_sizes(const tfrt_ir_type_t* type) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < type->rank; ++i) count += type->dims[i] == TFRT_IR_DYNAMIC;
  return count;
}

// The sum of the |count| segments from |first| on; -1 if they are none.
static int64_t sum_segments(const tfrt_ir_attribute_t* sizes, uint32_t first, uint32_t count) {
  int64_t sum = 0;
  for (uint32_t i = first; i < first + count; ++i) {
    int64_t size = tfrt_ir_segment_size(sizes, i);
    if (size < 0) return -1;
    sum += size;
  }
  return sum;
}

// Reads the numbers of operands of a launch.
static bool read_launch(const tfrt_ir_operation_t* operation, tfrt_ir_device_operation_t* parts) {
  const tfrt_ir_attribute_t* sizes = tfrt_ir_operation_attribute(operation, "operandSegmentSizes");
  const tfrt_ir_attribute_t* kernel = tfrt_ir_operation_attribute(operation, "kernel");
  if (!kernel || kernel->kind != TFRT_IR_ATTRIBUTE_SYMBOL || kernel->count != 2) return false;
  if (sum_segments(sizes, 0, LAUNCH_SEGMENTS) != operation->operand_count) return false;
  for (uint32_t i = 1; i <= 6; ++i) {
    if (tfrt_ir_segment_size(sizes, i) != 1) return false;
  }
  int64_t clusters = tfrt_ir_segment_size(sizes, 7);
  int64_t shared = tfrt_ir_segment_size(sizes, 10);
  bool are_axes = clusters <= 1 && tfrt_ir_segment_size(sizes, 8) == clusters &&
                  tfrt_ir_segment_size(sizes, 9) == clusters;
  // An object of another dialect isn't waited for here.
  if (!are_axes || shared > 1 || tfrt_ir_segment_size(sizes, 12) != 0) return false;
  parts->token_count = (uint32_t)tfrt_ir_segment_size(sizes, 0);
  parts->has_clusters = clusters == 1;
  parts->has_shared_size = shared == 1;
  parts->argument_count = (uint32_t)tfrt_ir_segment_size(sizes, 11);
  return true;
}

// Reads how many operands are tokens.
static bool read_token_count(const tfrt_ir_operation_t* operation,
                             tfrt_ir_device_operation_t* parts) {
  if (parts->kind == TFRT_IR_DEVICE_LAUNCH) return read_launch(operation, parts);
  uint32_t fixed = kinds[parts->kind].rest_count;
  if (parts->kind == TFRT_IR_DEVICE_ALLOC) {
    const tfrt_ir_attribute_t* sizes =
        tfrt_ir_operation_attribute(operation, "operandSegmentSizes");
    int64_t tokens = tfrt_ir_segment_size(sizes, 0);
    // No layout with symbols is known here.
    if (tokens < 0 || tfrt_ir_segment_size(sizes, 2) != 0 ||
        sum_segments(sizes, 0, 3) != operation->operand_count) {
      return false;
    }
    parts->token_count = (uint32_t)tokens;
    return true;
  }
  if (operation->operand_count < fixed) return false;
  parts->token_count = operation->operand_count - fixed;
  return true;
}

// Whether the types of what |operation| takes and gives beside tokens are those of its kind.
static bool has_types(const tfrt_ir_operation_t* operation,
                      const tfrt_ir_device_operation_t* parts) {
  const tfrt_ir_operand_t* rest = operation->operands + parts->token_count;
  uint32_t own_results = operation->result_count - (parts->gives_token ? 1 : 0);
  if (own_results != (parts->kind == TFRT_IR_DEVICE_ALLOC ? 1 : 0)) return false;
  switch (parts->kind) {
    case TFRT_IR_DEVICE_WAIT:
    case TFRT_IR_DEVICE_LAUNCH:
      return true;
    case TFRT_IR_DEVICE_ALLOC:
      return is_memory(&operation->results[0]) &&
             unknown_sizes(operation->results[0].type) == parts->rest_count;
    case TFRT_IR_DEVICE_DEALLOC:
      return is_memory(rest[0].value);
    case TFRT_IR_DEVICE_COPY:
      return is_memory(rest[0].value) && is_memory(rest[1].value) &&
             rest[0].value->type->element == rest[1].value->type->element;
    case TFRT_IR_DEVICE_SET:
      return is_memory(rest[0].value) && rest[0].value->type->element == rest[1].value->type;
  }
  return false;
}

bool tfrt_ir_device_operation_read(const tfrt_ir_operation_t* operation,
                                   tfrt_ir_device_operation_t* out_parts) {
  *out_parts = (tfrt_ir_device_operation_t){0};
  if (!operation->descriptor || operation->region_count || operation->successor_count ||
      !find_kind(operation, &out_parts->kind) || !read_token_count(operation, out_parts)) {
    return false;
  }
  for (uint32_t i = 0; i < out_parts->token_count; ++i) {
    if (!is_token(operation->operands[i].value)) return false;
  }
  uint32_t count = operation->result_count;
  out_parts->gives_token = count && is_token(&operation->results[count - 1]);
  out_parts->rest_count = operation->operand_count - out_parts->token_count;
  return has_types(operation, out_parts);
}
