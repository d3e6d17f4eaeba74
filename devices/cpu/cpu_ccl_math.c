// SPDX-License-Identifier: Apache-2.0
#include "devices/cpu/cpu_ccl_math.h"

#include <string.h>

#include "devices/cpu/cpu_element.h"

// --- One element ---------------------------------------------------------------------------

static bool cpu_ccl_is_float(tfrt_dtype_t dtype) {
  return dtype == TFRT_DTYPE_F16 || dtype == TFRT_DTYPE_BF16 || dtype == TFRT_DTYPE_F32 ||
         dtype == TFRT_DTYPE_F64;
}

static bool cpu_ccl_is_signed(tfrt_dtype_t dtype) {
  return dtype == TFRT_DTYPE_I8 || dtype == TFRT_DTYPE_I32 || dtype == TFRT_DTYPE_I64;
}

// Whole numbers are taken to 64 bits, with their sign, and back: sums and products come out right
// in the lower bits.
static int64_t cpu_ccl_get(const void* data, tfrt_dtype_t dtype, size_t index) {
  switch (dtype) {
    case TFRT_DTYPE_I8:
      return ((const int8_t*)data)[index];
    case TFRT_DTYPE_UI8:
      return ((const uint8_t*)data)[index];
    case TFRT_DTYPE_I32:
      return ((const int32_t*)data)[index];
    case TFRT_DTYPE_UI32:
      return ((const uint32_t*)data)[index];
    default:
      return ((const int64_t*)data)[index];
  }
}

static void cpu_ccl_set(void* data, tfrt_dtype_t dtype, size_t index, int64_t value) {
  size_t width = tfrt_dtype_size(dtype);
  if (width == 1) ((uint8_t*)data)[index] = (uint8_t)value;
  if (width == 4) ((uint32_t*)data)[index] = (uint32_t)value;
  if (width == 8) ((int64_t*)data)[index] = value;
}

// --- Reductions ----------------------------------------------------------------------------

static double cpu_ccl_reduce_float(const tfrt_ccl_call_t* call, int32_t size,
                                   const void* const* inputs, size_t index) {
  double sum = 0;
  for (int32_t r = 0; r < size; ++r) {
    double value = tfrt_cpu_element_get((tfrt_device_address_t)(uintptr_t)inputs[r], call->dtype,
                                        (int64_t)index);
    if (r == 0) {
      sum = value;
    } else if (call->reduction == TFRT_CCL_PRODUCT) {
      sum *= value;
    } else if (call->reduction == TFRT_CCL_MAX) {
      if (value > sum) sum = value;
    } else if (call->reduction == TFRT_CCL_MIN) {
      if (value < sum) sum = value;
    } else {
      sum += value;
    }
  }
  return call->reduction == TFRT_CCL_AVERAGE ? sum / size : sum;
}

static bool cpu_ccl_is_less(tfrt_dtype_t dtype, int64_t a, int64_t b) {
  return cpu_ccl_is_signed(dtype) ? a < b : (uint64_t)a < (uint64_t)b;
}

// An average is of the sum that fits the type, rounded towards 0.
static int64_t cpu_ccl_average(tfrt_dtype_t dtype, uint64_t sum, int32_t size) {
  int64_t fitting = 0;
  cpu_ccl_set(&fitting, dtype, 0, (int64_t)sum);
  fitting = cpu_ccl_get(&fitting, dtype, 0);
  if (cpu_ccl_is_signed(dtype)) return fitting / size;
  return (int64_t)((uint64_t)fitting / (uint64_t)size);
}

static int64_t cpu_ccl_reduce_whole(const tfrt_ccl_call_t* call, int32_t size,
                                    const void* const* inputs, size_t index) {
  uint64_t sum = 0;
  for (int32_t r = 0; r < size; ++r) {
    int64_t value = cpu_ccl_get(inputs[r], call->dtype, index);
    bool is_less = cpu_ccl_is_less(call->dtype, value, (int64_t)sum);
    if (r == 0) {
      sum = (uint64_t)value;
    } else if (call->reduction == TFRT_CCL_PRODUCT) {
      sum *= (uint64_t)value;
    } else if (call->reduction == TFRT_CCL_MAX || call->reduction == TFRT_CCL_MIN) {
      if (is_less == (call->reduction == TFRT_CCL_MIN)) sum = (uint64_t)value;
    } else {
      sum += (uint64_t)value;
    }
  }
  if (call->reduction != TFRT_CCL_AVERAGE) return (int64_t)sum;
  return cpu_ccl_average(call->dtype, sum, size);
}

// Reduces |count| elements from element |first| of the inputs.
static void cpu_ccl_reduce(const tfrt_ccl_call_t* call, int32_t size, const void* const* inputs,
                           size_t first) {
  void* target = (void*)(uintptr_t)call->target;
  for (size_t i = 0; i < call->count; ++i) {
    if (cpu_ccl_is_float(call->dtype)) {
      tfrt_cpu_element_set(call->target, call->dtype, (int64_t)i,
                           cpu_ccl_reduce_float(call, size, inputs, first + i));
    } else {
      cpu_ccl_set(target, call->dtype, i, cpu_ccl_reduce_whole(call, size, inputs, first + i));
    }
  }
}

// --- Calls ---------------------------------------------------------------------------------

size_t tfrt_cpu_ccl_input_size(const tfrt_ccl_call_t* call, int32_t size) {
  if (!call->source) return 0;
  size_t share = call->count * tfrt_dtype_size(call->dtype);
  return call->kind == TFRT_CCL_REDUCE_SCATTER ? share * (size_t)size : share;
}

void tfrt_cpu_ccl_compute(const tfrt_ccl_call_t* call, int32_t rank, int32_t size,
                          const void* const* inputs) {
  char* target = (char*)(uintptr_t)call->target;
  size_t share = call->count * tfrt_dtype_size(call->dtype);
  if (call->kind == TFRT_CCL_SEND || share == 0) return;
  if (call->kind == TFRT_CCL_RECEIVE) {
    memcpy(target, inputs[0], share);
  } else if (call->kind == TFRT_CCL_BROADCAST) {
    if (rank != call->peer) memcpy(target, inputs[call->peer], share);
  } else if (call->kind == TFRT_CCL_REDUCE && rank != call->peer) {
    // Only gives.
  } else if (call->kind == TFRT_CCL_ALL_GATHER) {
    for (int32_t r = 0; r < size; ++r) memcpy(target + (size_t)r * share, inputs[r], share);
  } else {
    bool is_scattered = call->kind == TFRT_CCL_REDUCE_SCATTER;
    cpu_ccl_reduce(call, size, inputs, is_scattered ? (size_t)rank * call->count : 0);
  }
}
