// SPDX-License-Identifier: Apache-2.0
#include "compiler/onnx/onnx_composites.h"

#include "compiler/onnx/onnx_model.h"

typedef tfrt_ir_value_t* value_t;

// Element types of ONNX.
enum { ONNX_FLOAT = 1, ONNX_UINT8 = 2, ONNX_INT32 = 6 };

// An op on two operands, or three unless the last is NULL.
static value_t make_three(tfrt_onnx_builder_t* builder, const char* op, value_t a, value_t b,
                          value_t c, const tfrt_onnx_setting_t* settings, size_t setting_count) {
  value_t values[3] = {a, b, c};
  const tfrt_onnx_operands_t operands = {values, c ? 3 : 2};
  return a && b ? tfrt_onnx_make(builder, op, &operands, settings, setting_count, 1) : NULL;
}

static bool is_given(const tfrt_onnx_builder_t* builder, size_t index) {
  return index < builder->node->n_input && builder->node->input[index][0];
}

static value_t cast(tfrt_onnx_builder_t* builder, value_t x, int64_t element_type) {
  const tfrt_ir_type_t* type = element_type > 0 && element_type < INT32_MAX
                                   ? tfrt_onnx_element_type(builder->context, (int32_t)element_type)
                                   : NULL;
  if (!type) {
    tfrt_onnx_report(builder, "elements of that type are not supported");
    return NULL;
  }
  const tfrt_onnx_setting_t to = {"to", tfrt_ir_attribute_type(builder->context, type)};
  return tfrt_onnx_make_one(builder, "cast", x, NULL, &to, 1);
}

static bool define(tfrt_onnx_builder_t* builder, value_t value) {
  tfrt_onnx_define(builder, 0, value);
  return value != NULL;
}

static int64_t attribute_or(tfrt_onnx_builder_t* builder, const char* name, int64_t otherwise) {
  const Onnx__AttributeProto* attribute = tfrt_onnx_attribute(builder, name, TFRT_ONNX_INT);
  return attribute ? attribute->i : otherwise;
}

// --- Quantized numbers --------------------------------------------------------------

bool tfrt_onnx_convert_quantize(tfrt_onnx_builder_t* builder, const char* op) {
  value_t zero;
  if (is_given(builder, 2)) {
    zero = tfrt_onnx_input(builder, 2);
  } else {
    // The attribute names its type, which is u8 without.
    int64_t type = attribute_or(builder, "output_dtype", 0);
    value_t number = tfrt_onnx_number(builder, 0);
    zero = number ? cast(builder, number, type ? type : ONNX_UINT8) : NULL;
  }
  return zero && define(builder, make_three(builder, op, tfrt_onnx_input(builder, 0),
                                            tfrt_onnx_input(builder, 1), zero, NULL, 0));
}

bool tfrt_onnx_convert_dequantize(tfrt_onnx_builder_t* builder, const char* op) {
  value_t zero = tfrt_onnx_input(builder, 2);
  if (!zero && is_given(builder, 2)) return false;
  int64_t type = attribute_or(builder, "output_dtype", 0);
  value_t result = make_three(builder, op, tfrt_onnx_input(builder, 0), tfrt_onnx_input(builder, 1),
                              zero, NULL, 0);
  if (result && type && type != ONNX_FLOAT) result = cast(builder, result, type);
  return define(builder, result);
}

// Input |index| as floats: its scale is input |scale_index| (-1: 1), its zero point input
// |zero_index|, both along |axis|.
static value_t dequantize(tfrt_onnx_builder_t* builder, size_t index, int scale_index,
                          size_t zero_index, int64_t axis) {
  const float one = 1;
  const tfrt_onnx_setting_t settings[] = {{"axis", tfrt_onnx_i64(builder, axis)},
                                          {"block_size", tfrt_onnx_i64(builder, 0)}};
  value_t scale = scale_index < 0 ? tfrt_onnx_floats(builder, &one, 1, true)
                                  : tfrt_onnx_input(builder, (size_t)scale_index);
  value_t zero = tfrt_onnx_input(builder, zero_index);
  if (!zero && is_given(builder, zero_index)) return NULL;
  return make_three(builder, "dequantize_linear", tfrt_onnx_input(builder, index), scale, zero,
                    settings, 2);
}

// |x| with the scale and the zero point that are the inputs from |index| on.
static value_t quantize(tfrt_onnx_builder_t* builder, value_t x, size_t index) {
  const tfrt_onnx_setting_t settings[] = {{"axis", tfrt_onnx_i64(builder, -1)},
                                          {"block_size", tfrt_onnx_i64(builder, 0)}};
  value_t zero = tfrt_onnx_input(builder, index + 1);
  return zero ? make_three(builder, "quantize_linear", x, tfrt_onnx_input(builder, index), zero,
                           settings, 2)
              : NULL;
}

bool tfrt_onnx_convert_conv_integer(tfrt_onnx_builder_t* builder, const char* op) {
  value_t x = dequantize(builder, 0, -1, 2, 1);
  value_t w = x ? dequantize(builder, 1, -1, 3, 0) : NULL;
  value_t sums = w ? tfrt_onnx_make_one(builder, op, x, w, NULL, 0) : NULL;
  return sums && define(builder, cast(builder, sums, ONNX_INT32));
}

bool tfrt_onnx_convert_qlinear_conv(tfrt_onnx_builder_t* builder, const char* op) {
  enum { X, X_SCALE, X_ZERO, W, W_SCALE, W_ZERO, Y_SCALE, Y_ZERO, BIAS };
  const tfrt_onnx_setting_t settings[] = {{"axis", tfrt_onnx_i64(builder, 0)},
                                          {"block_size", tfrt_onnx_i64(builder, 0)}};
  value_t x = dequantize(builder, X, X_SCALE, X_ZERO, 1);
  value_t w = x ? dequantize(builder, W, W_SCALE, W_ZERO, 0) : NULL;
  value_t bias = NULL;
  if (w && is_given(builder, BIAS)) {
    // The scale of the bias is that of the products.
    value_t scale = tfrt_onnx_make_one(builder, "mul", tfrt_onnx_input(builder, X_SCALE),
                                       tfrt_onnx_input(builder, W_SCALE), NULL, 0);
    bias = make_three(builder, "dequantize_linear", tfrt_onnx_input(builder, BIAS), scale, NULL,
                      settings, 2);
    if (!bias) return false;
  }
  value_t y = w ? make_three(builder, op, x, w, bias, NULL, 0) : NULL;
  return y && define(builder, quantize(builder, y, Y_SCALE));
}

bool tfrt_onnx_convert_qlinear_mat_mul(tfrt_onnx_builder_t* builder, const char* op) {
  enum { A, A_SCALE, A_ZERO, B, B_SCALE, B_ZERO, Y_SCALE };
  value_t a = dequantize(builder, A, A_SCALE, A_ZERO, -2);
  value_t b = a ? dequantize(builder, B, B_SCALE, B_ZERO, -1) : NULL;
  value_t y = b ? tfrt_onnx_make_one(builder, op, a, b, NULL, 0) : NULL;
  return y && define(builder, quantize(builder, y, Y_SCALE));
}

// --- Others -------------------------------------------------------------------------

// x by its norm; x itself where that is 0.
bool tfrt_onnx_convert_lp_normalization(tfrt_onnx_builder_t* builder, const char* op) {
  (void)op;
  int64_t p = attribute_or(builder, "p", 2), axis = attribute_or(builder, "axis", -1);
  if (p != 1 && p != 2) {
    tfrt_onnx_report(builder, "its attribute 'p' must be 1 or 2");
    return false;
  }
  const float nothing = 0;
  value_t x = tfrt_onnx_input(builder, 0);
  value_t axes = tfrt_onnx_numbers(builder, &axis, 1);
  const tfrt_onnx_setting_t keep = {"keepdims", tfrt_onnx_i64(builder, 1)};
  value_t norm = tfrt_onnx_make_one(builder, p == 1 ? "reduce_l1" : "reduce_l2", x, axes, &keep, 1);
  value_t number = norm ? tfrt_onnx_floats(builder, &nothing, 1, true) : NULL;
  value_t zero = number ? tfrt_onnx_make_one(builder, "cast_like", number, norm, NULL, 0) : NULL;
  value_t is_zero = zero ? tfrt_onnx_make_one(builder, "equal", norm, zero, NULL, 0) : NULL;
  value_t quotient = is_zero ? tfrt_onnx_make_one(builder, "div", x, norm, NULL, 0) : NULL;
  return quotient && define(builder, make_three(builder, "where", is_zero, x, quotient, NULL, 0));
}

// x / (1 + e^(-alpha * x))
bool tfrt_onnx_convert_swish(tfrt_onnx_builder_t* builder, const char* op) {
  const Onnx__AttributeProto* alpha = tfrt_onnx_attribute(builder, "alpha", TFRT_ONNX_FLOAT);
  value_t x = tfrt_onnx_input(builder, 0);
  value_t slope = x;
  if (alpha && alpha->f != 1.0f) {
    value_t number = tfrt_onnx_floats(builder, &alpha->f, 1, true);
    value_t factor = number ? tfrt_onnx_make_one(builder, "cast_like", number, x, NULL, 0) : NULL;
    slope = factor ? tfrt_onnx_make_one(builder, "mul", x, factor, NULL, 0) : NULL;
  }
  value_t share = tfrt_onnx_make_one(builder, op, slope, NULL, NULL, 0);
  return share && define(builder, tfrt_onnx_make_one(builder, "mul", x, share, NULL, 0));
}

bool tfrt_onnx_convert_pair(tfrt_onnx_builder_t* builder, const char* op) {
  value_t a = tfrt_onnx_input(builder, 0), b = tfrt_onnx_input(builder, 1);
  if (!a || !b || builder->node->n_input != 2) {
    if (builder->diagnostics->error_count == 0) tfrt_onnx_report(builder, "it takes two inputs");
    return false;
  }
  const Onnx__AttributeProto* axis = tfrt_onnx_attribute(builder, "axis", TFRT_ONNX_INT);
  if (builder->opset < 7 && axis) {
    const tfrt_onnx_setting_t setting = {"axis", tfrt_onnx_i64(builder, axis->i)};
    b = tfrt_onnx_make_one(builder, "align_axes", a, b, &setting, 1);
    if (!b) return false;
  }
  return define(builder, tfrt_onnx_make_one(builder, op, a, b, NULL, 0));
}
