// SPDX-License-Identifier: Apache-2.0
#include "kernels/basic/basic_kernels.h"

#include <stdarg.h>
#include <string.h>

#include "host_runtime/async/join.h"
#include "host_runtime/async/value_storage.h"
#include "host_runtime/base/number_text.h"
#include "host_runtime/executor/kernel/kernel_site.h"
#include "host_runtime/executor/request/call_scope.h"
#include "host_runtime/executor/request/request_context.h"
#include "kernels/basic/ops.h"
#include "kernels/basic/sync_kernels.h"

// --- Constants ---------------------------------------------------------------

// A constant is the attribute's bytes.
static void basic_constant(tfrt_kernel_frame_t* frame, tfrt_type_id_t type, size_t size) {
  tfrt_kernel_frame_set(frame, 0, tfrt_async_value_create_copy(type, frame->attributes[0], size));
}
static void basic_constant_i1(tfrt_kernel_frame_t* frame) {
  basic_constant(frame, TFRT_TYPE_I1, sizeof(bool));
}
static void basic_constant_i32(tfrt_kernel_frame_t* frame) {
  basic_constant(frame, TFRT_TYPE_I32, sizeof(int32_t));
}
static void basic_constant_i64(tfrt_kernel_frame_t* frame) {
  basic_constant(frame, TFRT_TYPE_I64, sizeof(int64_t));
}
static void basic_constant_ui32(tfrt_kernel_frame_t* frame) {
  basic_constant(frame, TFRT_TYPE_UI32, sizeof(uint32_t));
}
static void basic_constant_ui64(tfrt_kernel_frame_t* frame) {
  basic_constant(frame, TFRT_TYPE_UI64, sizeof(uint64_t));
}
static void basic_constant_f32(tfrt_kernel_frame_t* frame) {
  basic_constant(frame, TFRT_TYPE_F32, sizeof(float));
}
static void basic_constant_f64(tfrt_kernel_frame_t* frame) {
  basic_constant(frame, TFRT_TYPE_F64, sizeof(double));
}
static void basic_constant_f16(tfrt_kernel_frame_t* frame) {
  basic_constant(frame, TFRT_TYPE_F16, sizeof(uint16_t));
}
static void basic_constant_bf16(tfrt_kernel_frame_t* frame) {
  basic_constant(frame, TFRT_TYPE_BF16, sizeof(uint16_t));
}

// Attributes stand in the order of their names: the imaginary part comes first.
static void basic_constant_complex64(tfrt_kernel_frame_t* frame) {
  float parts[2];
  memcpy(&parts[0], frame->attributes[1], sizeof(parts[0]));
  memcpy(&parts[1], frame->attributes[0], sizeof(parts[1]));
  tfrt_kernel_frame_set(frame, 0,
                        tfrt_async_value_create_copy(TFRT_TYPE_COMPLEX64, parts, sizeof(parts)));
}
static void basic_constant_complex128(tfrt_kernel_frame_t* frame) {
  double parts[2];
  memcpy(&parts[0], frame->attributes[1], sizeof(parts[0]));
  memcpy(&parts[1], frame->attributes[0], sizeof(parts[1]));
  tfrt_kernel_frame_set(frame, 0,
                        tfrt_async_value_create_copy(TFRT_TYPE_COMPLEX128, parts, sizeof(parts)));
}

// --- Arithmetic --------------------------------------------------------------

// A kernel of two operands of one type: |expression| of a and b is its result.
#define TFRT_BASIC_BINARY(name, operand, c_type, result, expression) \
  static void tfrt_basic_##name(tfrt_kernel_frame_t* frame) {        \
    c_type a = tfrt_kernel_frame_##operand(frame, 0);                \
    c_type b = tfrt_kernel_frame_##operand(frame, 1);                \
    tfrt_kernel_frame_set_##result(frame, 0, expression);            \
  }

// Signed sums, differences and products wrap around, as the hardware's do.
TFRT_BASIC_BINARY(add_i32, i32, int32_t, i32, (int32_t)((uint32_t)a + (uint32_t)b))
TFRT_BASIC_BINARY(add_i64, i64, int64_t, i64, (int64_t)((uint64_t)a + (uint64_t)b))
TFRT_BASIC_BINARY(minus_i32, i32, int32_t, i32, (int32_t)((uint32_t)a - (uint32_t)b))
TFRT_BASIC_BINARY(minus_i64, i64, int64_t, i64, (int64_t)((uint64_t)a - (uint64_t)b))
TFRT_BASIC_BINARY(mul_i32, i32, int32_t, i32, (int32_t)((uint32_t)a*(uint32_t)b))
TFRT_BASIC_BINARY(mul_i64, i64, int64_t, i64, (int64_t)((uint64_t)a*(uint64_t)b))
TFRT_BASIC_BINARY(add_f32, f32, float, f32, a + b)
TFRT_BASIC_BINARY(add_f64, f64, double, f64, a + b)
TFRT_BASIC_BINARY(multiply_f32, f32, float, f32, a* b)
TFRT_BASIC_BINARY(multiply_f64, f64, double, f64, a* b)
// For a NaN and a number the result is the first operand, since the comparison is false.
TFRT_BASIC_BINARY(minimum_f32, f32, float, f32, b < a || b != b ? b : a)
TFRT_BASIC_BINARY(minimum_f64, f64, double, f64, b < a || b != b ? b : a)
TFRT_BASIC_BINARY(equal_i32, i32, int32_t, i1, a == b)
TFRT_BASIC_BINARY(lessequal_i32, i32, int32_t, i1, a <= b)
TFRT_BASIC_BINARY(lessequal_i64, i64, int64_t, i1, a <= b)
TFRT_BASIC_BINARY(equal_i64, i64, int64_t, i1, a == b)
TFRT_BASIC_BINARY(and_i1, i1, bool, i1, a&& b)

static void basic_divide_by_zero(tfrt_kernel_frame_t* frame) {
  tfrt_kernel_frame_fail(frame, TFRT_STATUS_INTERNAL, "Divide by zero");
}

// Quotient toward zero and its remainder. The one quotient that doesn't fit wraps around.
static void basic_div_i32(tfrt_kernel_frame_t* frame) {
  int64_t a = tfrt_kernel_frame_i32(frame, 0);
  int64_t b = tfrt_kernel_frame_i32(frame, 1);
  if (b == 0) {
    basic_divide_by_zero(frame);
    return;
  }
  tfrt_kernel_frame_set_i32(frame, 0, (int32_t)(uint32_t)(uint64_t)(a / b));
  tfrt_kernel_frame_set_i32(frame, 1, (int32_t)(a % b));
}
static void basic_div_i64(tfrt_kernel_frame_t* frame) {
  int64_t a = tfrt_kernel_frame_i64(frame, 0);
  int64_t b = tfrt_kernel_frame_i64(frame, 1);
  if (b == 0) {
    basic_divide_by_zero(frame);
    return;
  }
  bool wraps = b == -1;
  tfrt_kernel_frame_set_i64(frame, 0, wraps ? (int64_t)(0 - (uint64_t)a) : a / b);
  tfrt_kernel_frame_set_i64(frame, 1, wraps ? 0 : a % b);
}
static void basic_div_f32(tfrt_kernel_frame_t* frame) {
  float b = tfrt_kernel_frame_f32(frame, 1);
  if (b == 0) {
    basic_divide_by_zero(frame);
    return;
  }
  tfrt_kernel_frame_set_f32(frame, 0, tfrt_kernel_frame_f32(frame, 0) / b);
}
static void basic_div_f64(tfrt_kernel_frame_t* frame) {
  double b = tfrt_kernel_frame_f64(frame, 1);
  if (b == 0) {
    basic_divide_by_zero(frame);
    return;
  }
  tfrt_kernel_frame_set_f64(frame, 0, tfrt_kernel_frame_f64(frame, 0) / b);
}

// --- Casts -------------------------------------------------------------------

// Toward zero; a value that no i64 holds, or NaN, is an error and no undefined number.
static void basic_cast_to_i64(tfrt_kernel_frame_t* frame, double value) {
  if (!(value >= -0x1p63 && value < 0x1p63)) {
    tfrt_kernel_frame_fail(frame, TFRT_STATUS_OUT_OF_RANGE, "%g is no i64", value);
    return;
  }
  tfrt_kernel_frame_set_i64(frame, 0, (int64_t)value);
}
static void basic_cast_f32_to_i64(tfrt_kernel_frame_t* frame) {
  basic_cast_to_i64(frame, tfrt_kernel_frame_f32(frame, 0));
}
static void basic_cast_f64_to_i64(tfrt_kernel_frame_t* frame) {
  basic_cast_to_i64(frame, tfrt_kernel_frame_f64(frame, 0));
}
static void basic_cast_i64_to_f32(tfrt_kernel_frame_t* frame) {
  tfrt_kernel_frame_set_f32(frame, 0, (float)tfrt_kernel_frame_i64(frame, 0));
}
static void basic_cast_i64_to_f64(tfrt_kernel_frame_t* frame) {
  tfrt_kernel_frame_set_f64(frame, 0, (double)tfrt_kernel_frame_i64(frame, 0));
}

// --- Chains and prints -------------------------------------------------------

static void basic_new_chain(tfrt_kernel_frame_t* frame) {
  tfrt_kernel_frame_set_ready_chain(frame, 0);
}

// Settles the chain of a merge once all of its operands are there.
typedef struct tfrt_basic_merge_s {
  tfrt_task_t task;
  tfrt_indirect_value_t* result;  // +1
  tfrt_call_scope_t* scope;       // entered
  uint32_t count;
  tfrt_async_value_t* values[];  // +1 each
} tfrt_basic_merge_t;

static size_t basic_merge_size(uint32_t count) {
  return sizeof(tfrt_basic_merge_t) + count * sizeof(tfrt_async_value_t*);
}

// Settles the chain of |merge| as |outcome| (+0), and gives |merge| back.
static void basic_merge_end(tfrt_basic_merge_t* merge, tfrt_async_value_t* outcome) {
  tfrt_indirect_value_forward_take(merge->result, tfrt_async_value_retain(outcome));
  tfrt_async_value_release(&merge->result->base);
  for (uint32_t i = 0; i < merge->count; ++i) tfrt_async_value_release(merge->values[i]);
  tfrt_call_scope_t* scope = merge->scope;
  tfrt_value_storage_free(merge, basic_merge_size(merge->count));
  tfrt_call_scope_leave(scope);
}

static void basic_merge_finish(tfrt_task_t* task) {
  tfrt_basic_merge_t* merge = TFRT_CONTAINER_OF(task, tfrt_basic_merge_t, task);
  tfrt_async_value_t* outcome = tfrt_async_value_ready_chain();
  for (uint32_t i = 0; i < merge->count; ++i) {
    if (!tfrt_async_value_is_error(merge->values[i])) continue;
    outcome = tfrt_async_value_resolved(merge->values[i]);
  }
  basic_merge_end(merge, outcome);
}

// A chain that is there when all arguments are; +1.
static tfrt_async_value_t* basic_merge_late(const tfrt_kernel_frame_t* frame) {
  const uint32_t count = frame->argument_count;
  tfrt_basic_merge_t* merge = tfrt_value_storage_allocate(basic_merge_size(count));
  tfrt_indirect_value_t* result = merge ? tfrt_indirect_value_create() : NULL;
  if (!result) {
    if (merge) tfrt_value_storage_free(merge, basic_merge_size(count));
    return tfrt_async_value_out_of_memory();
  }
  tfrt_task_initialize(&merge->task, basic_merge_finish);
  merge->result = (tfrt_indirect_value_t*)tfrt_async_value_retain(&result->base);
  merge->scope = frame->context->scope;
  merge->count = count;
  for (uint32_t i = 0; i < count; ++i) {
    merge->values[i] = tfrt_async_value_retain(frame->arguments[i]);
  }
  tfrt_call_scope_enter(merge->scope);
  tfrt_status_t status =
      tfrt_join_and_then(merge->values, count, &merge->task, tfrt_allocator_system());
  if (status) {
    tfrt_status_release(status);
    tfrt_async_value_t* error = tfrt_async_value_out_of_memory();
    basic_merge_end(merge, error);
    tfrt_async_value_release(error);
  }
  return &result->base;
}

// Mostly all operands are there, and good.
static void basic_merge_chains(tfrt_kernel_frame_t* frame) {
  tfrt_async_value_t* late = NULL;
  tfrt_async_value_t* error = NULL;
  uint32_t late_count = 0;
  uint32_t late_index = 0;
  for (uint32_t i = 0; i < frame->argument_count; ++i) {
    tfrt_async_value_t* value = frame->arguments[i];
    const bool is_there = tfrt_async_value_is_available(value);
    if (TFRT_LIKELY(is_there) && TFRT_LIKELY(!tfrt_async_value_is_error(value))) continue;
    if (!tfrt_kernel_site_waits_for(frame->site, i)) continue;
    late_count += !is_there;
    if (is_there) {
      error = tfrt_async_value_resolved(value);
    } else {
      late = value;
      late_index = i;
    }
  }
  if (TFRT_LIKELY(!late && !error)) {
    tfrt_kernel_frame_set_ready_chain(frame, 0);
  } else if (!late) {
    tfrt_kernel_frame_set(frame, 0, tfrt_async_value_retain(error));
  } else if (late_count == 1 && !error && tfrt_kernel_site_takes_chain(frame->site, late_index)) {
    // All the others are there: the chain is this one.
    tfrt_kernel_frame_set(frame, 0, tfrt_async_value_retain(late));
  } else {
    tfrt_kernel_frame_set(frame, 0, basic_merge_late(frame));
  }
}

// Values are handed on as they are: who needs the payload of one asks for it.
static void basic_alias_value(tfrt_kernel_frame_t* frame) {
  if (frame->argument_count != frame->result_count + 1) {
    tfrt_kernel_frame_fail(frame, TFRT_STATUS_INVALID_ARGUMENT,
                           "a chain and %u values for %u results", frame->argument_count - 1,
                           frame->result_count);
    return;
  }
  for (uint32_t i = 0; i < frame->result_count; ++i) {
    tfrt_kernel_frame_set(frame, i, tfrt_async_value_retain(frame->arguments[i + 1]));
  }
}

static void basic_print(tfrt_kernel_frame_t* frame, const char* format, ...) TFRT_PRINTF(2, 3);

// Prints one line where the request's lines go; the result is the line's chain.
static void basic_print(tfrt_kernel_frame_t* frame, const char* format, ...) {
  tfrt_string_builder_t line;
  tfrt_string_builder_initialize(&line, tfrt_allocator_system());
  va_list arguments;
  va_start(arguments, format);
  tfrt_string_builder_append_format_v(&line, format, arguments);
  va_end(arguments);
  tfrt_kernel_frame_set(
      frame, 0, tfrt_execution_context_print(frame->context, tfrt_string_builder_view(&line)));
  tfrt_string_builder_deinitialize(&line);
}
static void basic_print_i1(tfrt_kernel_frame_t* frame) {
  basic_print(frame, "int1 = %d", tfrt_kernel_frame_i1(frame, 0));
}
static void basic_print_i32(tfrt_kernel_frame_t* frame) {
  basic_print(frame, "int32 = %d", tfrt_kernel_frame_i32(frame, 0));
}
static void basic_print_i64(tfrt_kernel_frame_t* frame) {
  basic_print(frame, "int64 = %lld", (long long)tfrt_kernel_frame_i64(frame, 0));
}
static void basic_print_f32(tfrt_kernel_frame_t* frame) {
  basic_print(frame, "f32 = %f",
              tfrt_number_text_unsigned_nan((double)tfrt_kernel_frame_f32(frame, 0)));
}
static void basic_print_f64(tfrt_kernel_frame_t* frame) {
  basic_print(frame, "f64 = %f", tfrt_number_text_unsigned_nan(tfrt_kernel_frame_f64(frame, 0)));
}
// The bits, as TFRT prints them.
static void basic_print_f16(tfrt_kernel_frame_t* frame) {
  basic_print(frame, "f16 = %u", (unsigned)*(const uint16_t*)tfrt_kernel_frame_payload(frame, 0));
}
static void basic_print_complex64(tfrt_kernel_frame_t* frame) {
  const float* parts = tfrt_kernel_frame_payload(frame, 0);
  basic_print(frame, "complex64 = %f+%fi", tfrt_number_text_unsigned_nan((double)parts[0]),
              tfrt_number_text_unsigned_nan((double)parts[1]));
}
static void basic_print_complex128(tfrt_kernel_frame_t* frame) {
  const double* parts = tfrt_kernel_frame_payload(frame, 0);
  basic_print(frame, "complex128 = %f+%fi", tfrt_number_text_unsigned_nan(parts[0]),
              tfrt_number_text_unsigned_nan(parts[1]));
}

// --- Registration ------------------------------------------------------------

static const tfrt_kernel_registration_t kernels[] = {
    {"tfrt.constant.i1", basic_constant_i1},
    {"tfrt.constant.i32", basic_constant_i32},
    {"tfrt.constant.i64", basic_constant_i64},
    {"tfrt.constant.ui32", basic_constant_ui32},
    {"tfrt.constant.ui64", basic_constant_ui64},
    {"tfrt.constant.f32", basic_constant_f32},
    {"tfrt.constant.f64", basic_constant_f64},
    {"tfrt.constant.f16", basic_constant_f16},
    {"tfrt.constant.bf16", basic_constant_bf16},
    {"tfrt.constant.complex64", basic_constant_complex64},
    {"tfrt.constant.complex128", basic_constant_complex128},
    {"tfrt.add.i32", tfrt_basic_add_i32},
    {"tfrt.add.i64", tfrt_basic_add_i64},
    {"tfrt.add.f32", tfrt_basic_add_f32},
    {"tfrt.add.f64", tfrt_basic_add_f64},
    {"tfrt.div.i32", basic_div_i32},
    {"tfrt.div.i64", basic_div_i64},
    {"tfrt.div.f32", basic_div_f32},
    {"tfrt.div.f64", basic_div_f64},
    {"tfrt.multiply.f32", tfrt_basic_multiply_f32},
    {"tfrt.multiply.f64", tfrt_basic_multiply_f64},
    {"tfrt.minimum.f32", tfrt_basic_minimum_f32},
    {"tfrt.minimum.f64", tfrt_basic_minimum_f64},
    {"tfrt.equal.i32", tfrt_basic_equal_i32},
    {"tfrt.lessequal.i32", tfrt_basic_lessequal_i32},
    {"tfrt.lessequal.i64", tfrt_basic_lessequal_i64},
    {"tfrt.minus.i32", tfrt_basic_minus_i32},
    {"tfrt.minus.i64", tfrt_basic_minus_i64},
    {"tfrt.equal.i64", tfrt_basic_equal_i64},
    {"tfrt.and.i1", tfrt_basic_and_i1},
    {"tfrt.mul.i32", tfrt_basic_mul_i32},
    {"tfrt.mul.i64", tfrt_basic_mul_i64},
    {"tfrt.cast.f32_to_i64", basic_cast_f32_to_i64},
    {"tfrt.cast.f64_to_i64", basic_cast_f64_to_i64},
    {"tfrt.cast.i64_to_f32", basic_cast_i64_to_f32},
    {"tfrt.cast.i64_to_f64", basic_cast_i64_to_f64},
    {"tfrt.new.chain", basic_new_chain},
    {"tfrt.merge.chains", basic_merge_chains},
    {"tfrt.alias.value", basic_alias_value},
    {"tfrt.print.i1", basic_print_i1},
    {"tfrt.print.i32", basic_print_i32},
    {"tfrt.print.i64", basic_print_i64},
    {"tfrt.print.f32", basic_print_f32},
    {"tfrt.print.f64", basic_print_f64},
    {"tfrt.print.f16", basic_print_f16},
    {"tfrt.print.complex64", basic_print_complex64},
    {"tfrt.print.complex128", basic_print_complex128},
};

tfrt_status_t tfrt_basic_kernels_register(tfrt_kernel_registry_t* registry) {
  TFRT_RETURN_IF_ERROR(
      tfrt_kernel_registry_add_all(registry, &tfrt_basic_ops, kernels, TFRT_ARRAY_SIZE(kernels)));
  return tfrt_basic_sync_kernels_register(registry);
}
