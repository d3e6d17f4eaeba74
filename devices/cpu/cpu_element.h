// SPDX-License-Identifier: Apache-2.0
//
// Elements of memory as numbers: f32, f64, f16, bf16, i8 and i32. Private to this room's maths.
//
// Thread rule: thread-safe. Failure rule: none fails; the place is the caller's.
#ifndef TFRT_DEVICES_CPU_CPU_ELEMENT_H_
#define TFRT_DEVICES_CPU_CPU_ELEMENT_H_

#include <math.h>

#include "devices/device.h"
#include "host_runtime/tensor/dtype.h"
#include "host_runtime/tensor/small_float.h"

// Element |index| of the |dtype|s at |address|. Thread-safe.
static inline double tfrt_cpu_element_get(tfrt_device_address_t address, tfrt_dtype_t dtype,
                                          int64_t index) {
  const void* data = (const void*)(uintptr_t)address;
  if (dtype == TFRT_DTYPE_F64) return ((const double*)data)[index];
  if (dtype == TFRT_DTYPE_F32) return (double)((const float*)data)[index];
  if (dtype == TFRT_DTYPE_I8) return ((const int8_t*)data)[index];
  if (dtype == TFRT_DTYPE_I32) return ((const int32_t*)data)[index];
  uint16_t bits = ((const uint16_t*)data)[index];
  return dtype == TFRT_DTYPE_F16 ? tfrt_f16_to_double(bits) : tfrt_bf16_to_double(bits);
}

// The integer from |least| to |most| that is nearest to |value|; 0 for what is no number.
// Thread-safe.
static inline int32_t tfrt_cpu_element_integer(double value, int32_t least, int32_t most) {
  double rounded = rint(value);
  if (rounded <= least) return least;
  if (rounded >= most) return most;
  return isnan(value) ? 0 : (int32_t)rounded;
}

// Makes that element |value|, rounded. Thread-compatible.
static inline void tfrt_cpu_element_set(tfrt_device_address_t address, tfrt_dtype_t dtype,
                                        int64_t index, double value) {
  void* data = (void*)(uintptr_t)address;
  if (dtype == TFRT_DTYPE_F64) {
    ((double*)data)[index] = value;
  } else if (dtype == TFRT_DTYPE_F32) {
    ((float*)data)[index] = (float)value;
  } else if (dtype == TFRT_DTYPE_I8) {
    ((int8_t*)data)[index] = (int8_t)tfrt_cpu_element_integer(value, INT8_MIN, INT8_MAX);
  } else if (dtype == TFRT_DTYPE_I32) {
    ((int32_t*)data)[index] = tfrt_cpu_element_integer(value, INT32_MIN, INT32_MAX);
  } else {
    ((uint16_t*)data)[index] =
        dtype == TFRT_DTYPE_F16 ? tfrt_f16_from_double(value) : tfrt_bf16_from_double(value);
  }
}

#endif  // TFRT_DEVICES_CPU_CPU_ELEMENT_H_
