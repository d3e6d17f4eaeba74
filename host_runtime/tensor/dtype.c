// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/tensor/dtype.h"

#include <inttypes.h>

#include "host_runtime/base/macros.h"
#include "host_runtime/base/number_text.h"

typedef struct dtype_info_s {
  const char* name;
  uint8_t size;
  bool is_plain;
} dtype_info_t;

static const dtype_info_t dtype_infos[TFRT_DTYPE_COUNT] = {
    [TFRT_DTYPE_INVALID] = {"invalid", 0, false},
    [TFRT_DTYPE_UI8] = {"ui8", 1, true},
    [TFRT_DTYPE_UI16] = {"ui16", 2, true},
    [TFRT_DTYPE_UI32] = {"ui32", 4, true},
    [TFRT_DTYPE_UI64] = {"ui64", 8, true},
    [TFRT_DTYPE_I1] = {"i1", 1, true},
    [TFRT_DTYPE_I8] = {"i8", 1, true},
    [TFRT_DTYPE_I16] = {"i16", 2, true},
    [TFRT_DTYPE_I32] = {"i32", 4, true},
    [TFRT_DTYPE_I64] = {"i64", 8, true},
    [TFRT_DTYPE_F32] = {"f32", 4, true},
    [TFRT_DTYPE_F64] = {"f64", 8, true},
    [TFRT_DTYPE_COMPLEX64] = {"complex64", 8, false},
    [TFRT_DTYPE_COMPLEX128] = {"complex128", 16, false},
    [TFRT_DTYPE_F16] = {"f16", 2, false},
    [TFRT_DTYPE_BF16] = {"bf16", 2, false},
    [TFRT_DTYPE_STRING] = {"string", 0, false},
    [TFRT_DTYPE_RESOURCE] = {"resource", 0, false},
    [TFRT_DTYPE_VARIANT] = {"variant", 0, false},
    [TFRT_DTYPE_QUI8] = {"qui8", 1, false},
    [TFRT_DTYPE_QUI16] = {"qui16", 2, false},
    [TFRT_DTYPE_QI8] = {"qi8", 1, false},
    [TFRT_DTYPE_QI16] = {"qi16", 2, false},
    [TFRT_DTYPE_QI32] = {"qi32", 4, false},
};

// The value may come from a file or a peer: anything that fits into the enum's type.
static const dtype_info_t* info_of(tfrt_dtype_t dtype) {
  size_t index = (size_t)dtype;
  return &dtype_infos[index < TFRT_DTYPE_COUNT ? index : TFRT_DTYPE_INVALID];
}

size_t tfrt_dtype_size(tfrt_dtype_t dtype) { return info_of(dtype)->size; }

const char* tfrt_dtype_name(tfrt_dtype_t dtype) { return info_of(dtype)->name; }

bool tfrt_dtype_is_plain(tfrt_dtype_t dtype) { return info_of(dtype)->is_plain; }

static void print_bytes(const uint8_t* bytes, size_t size, tfrt_string_builder_t* out) {
  tfrt_string_builder_append_text(out, "0x");
  for (size_t i = size; i-- > 0;) tfrt_string_builder_append_format(out, "%02x", bytes[i]);
}

static void print_unsigned(uint64_t value, tfrt_string_builder_t* out) {
  tfrt_string_builder_append_format(out, "%" PRIu64, value);
}

static void print_signed(int64_t value, tfrt_string_builder_t* out) {
  tfrt_string_builder_append_format(out, "%" PRId64, value);
}

static void print_float(double value, tfrt_string_builder_t* out) {
  tfrt_string_builder_append_format(out, "%e", tfrt_number_text_unsigned_nan(value));
}

static void print_complex(double real, double imaginary, tfrt_string_builder_t* out) {
  tfrt_string_builder_append_format(out, "(%e,%e)", tfrt_number_text_unsigned_nan(real),
                                    tfrt_number_text_unsigned_nan(imaginary));
}

void tfrt_dtype_print_element(tfrt_dtype_t dtype, const void* element, tfrt_string_builder_t* out) {
  switch (dtype) {
    case TFRT_DTYPE_UI8:
    case TFRT_DTYPE_I1:
      return print_unsigned(*(const uint8_t*)element, out);
    case TFRT_DTYPE_UI16:
      return print_unsigned(*(const uint16_t*)element, out);
    case TFRT_DTYPE_UI32:
      return print_unsigned(*(const uint32_t*)element, out);
    case TFRT_DTYPE_UI64:
      return print_unsigned(*(const uint64_t*)element, out);
    case TFRT_DTYPE_I8:
      return print_signed(*(const int8_t*)element, out);
    case TFRT_DTYPE_I16:
      return print_signed(*(const int16_t*)element, out);
    case TFRT_DTYPE_I32:
      return print_signed(*(const int32_t*)element, out);
    case TFRT_DTYPE_I64:
      return print_signed(*(const int64_t*)element, out);
    case TFRT_DTYPE_F32:
      return print_float((double)*(const float*)element, out);
    case TFRT_DTYPE_F64:
      return print_float(*(const double*)element, out);
    case TFRT_DTYPE_COMPLEX64:
      return print_complex((double)((const float*)element)[0], (double)((const float*)element)[1],
                           out);
    case TFRT_DTYPE_COMPLEX128:
      return print_complex(((const double*)element)[0], ((const double*)element)[1], out);
    case TFRT_DTYPE_F16:
    case TFRT_DTYPE_BF16:
      tfrt_string_builder_append_format(out, "fp16(%" PRIu16 ")", *(const uint16_t*)element);
      return;
    default:
      return print_bytes(element, tfrt_dtype_size(dtype), out);
  }
}
