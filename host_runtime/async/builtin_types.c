// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/async/builtin_types.h"

#include <inttypes.h>
#include <string.h>

#include "host_runtime/base/number_text.h"

// --- Printing, as bef_executor shows results ---------------------------------

static void print_i1(const void* payload, tfrt_string_builder_t* out) {
  tfrt_string_builder_append_char(out, *(const bool*)payload ? '1' : '0');
}

static void print_i32(const void* payload, tfrt_string_builder_t* out) {
  tfrt_string_builder_append_format(out, "%" PRId32, *(const int32_t*)payload);
}

static void print_i64(const void* payload, tfrt_string_builder_t* out) {
  tfrt_string_builder_append_format(out, "%" PRId64, *(const int64_t*)payload);
}

static void print_f32(const void* payload, tfrt_string_builder_t* out) {
  tfrt_string_builder_append_format(out, "%e",
                                    tfrt_number_text_unsigned_nan((double)*(const float*)payload));
}

static void print_f64(const void* payload, tfrt_string_builder_t* out) {
  tfrt_string_builder_append_format(out, "%e",
                                    tfrt_number_text_unsigned_nan(*(const double*)payload));
}

// --- Codecs ------------------------------------------------------------------
//
// The body of a scalar is its payload as it lies in memory, little-endian on every
// machine that this is built for.

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "scalars travel as they lie");
_Static_assert(sizeof(bool) == 1, "a bool travels as one byte");

static tfrt_status_t encode_fixed(const void* payload, size_t size, tfrt_encoding_t* out_encoding) {
  out_encoding->header_size = 0;
  out_encoding->body = payload;
  out_encoding->body_size = size;
  return NULL;
}

static tfrt_status_t check_sizes(size_t header_size, size_t body_size, size_t expected) {
  if (header_size == 0 && body_size == expected) return NULL;
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                            "a value of %zu bytes came with a header of %zu and a body of %zu",
                            expected, header_size, body_size);
}

static tfrt_status_t decode_fixed(size_t header_size, size_t body_size, size_t expected,
                                  void* payload, void** out_body) {
  *out_body = NULL;
  TFRT_RETURN_IF_ERROR(check_sizes(header_size, body_size, expected));
  memset(payload, 0, expected);
  *out_body = payload;
  return NULL;
}

static tfrt_status_t encode_0(const void* payload, tfrt_encoding_t* out_encoding) {
  return encode_fixed(payload, 0, out_encoding);
}
static tfrt_status_t encode_1(const void* payload, tfrt_encoding_t* out_encoding) {
  return encode_fixed(payload, 1, out_encoding);
}
static tfrt_status_t encode_2(const void* payload, tfrt_encoding_t* out_encoding) {
  return encode_fixed(payload, 2, out_encoding);
}
static tfrt_status_t encode_4(const void* payload, tfrt_encoding_t* out_encoding) {
  return encode_fixed(payload, 4, out_encoding);
}
static tfrt_status_t encode_8(const void* payload, tfrt_encoding_t* out_encoding) {
  return encode_fixed(payload, 8, out_encoding);
}
static tfrt_status_t encode_16(const void* payload, tfrt_encoding_t* out_encoding) {
  return encode_fixed(payload, 16, out_encoding);
}

static tfrt_status_t decode_0(const uint8_t* header, size_t header_size, size_t body_size,
                              tfrt_allocator_t allocator, void* payload, void** out_body) {
  (void)header, (void)allocator;
  return decode_fixed(header_size, body_size, 0, payload, out_body);
}
static tfrt_status_t decode_1(const uint8_t* header, size_t header_size, size_t body_size,
                              tfrt_allocator_t allocator, void* payload, void** out_body) {
  (void)header, (void)allocator;
  return decode_fixed(header_size, body_size, 1, payload, out_body);
}
static tfrt_status_t decode_2(const uint8_t* header, size_t header_size, size_t body_size,
                              tfrt_allocator_t allocator, void* payload, void** out_body) {
  (void)header, (void)allocator;
  return decode_fixed(header_size, body_size, 2, payload, out_body);
}
static tfrt_status_t decode_4(const uint8_t* header, size_t header_size, size_t body_size,
                              tfrt_allocator_t allocator, void* payload, void** out_body) {
  (void)header, (void)allocator;
  return decode_fixed(header_size, body_size, 4, payload, out_body);
}
static tfrt_status_t decode_8(const uint8_t* header, size_t header_size, size_t body_size,
                              tfrt_allocator_t allocator, void* payload, void** out_body) {
  (void)header, (void)allocator;
  return decode_fixed(header_size, body_size, 8, payload, out_body);
}
static tfrt_status_t decode_16(const uint8_t* header, size_t header_size, size_t body_size,
                               tfrt_allocator_t allocator, void* payload, void** out_body) {
  (void)header, (void)allocator;
  return decode_fixed(header_size, body_size, 16, payload, out_body);
}

// A bool that is neither 0 nor 1 is undefined behaviour to read, so it is looked at as
// the byte that it is.
static tfrt_status_t complete_i1(void* payload) {
  unsigned byte = *(const unsigned char*)payload;
  if (byte <= 1) return NULL;
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "an i1 came as %u; it is 0 or 1", byte);
}

static const tfrt_codec_t codec_0 = {encode_0, decode_0, NULL};
static const tfrt_codec_t codec_1 = {encode_1, decode_1, NULL};
static const tfrt_codec_t codec_2 = {encode_2, decode_2, NULL};
static const tfrt_codec_t codec_4 = {encode_4, decode_4, NULL};
static const tfrt_codec_t codec_8 = {encode_8, decode_8, NULL};
static const tfrt_codec_t codec_16 = {encode_16, decode_16, NULL};
static const tfrt_codec_t codec_i1 = {encode_1, decode_1, complete_i1};

// --- Strings -----------------------------------------------------------------

// Makes |string| one of |size| bytes that are undefined, before a NUL. To clear them would touch
// each page of a long one, on a thread that reads messages. Returns false when memory is out.
static bool initialize_string(tfrt_string_t* string, size_t size, tfrt_allocator_t allocator) {
  *string = (tfrt_string_t){.allocator = allocator};
  if (size == 0) return true;
  size_t capacity = 0;
  if (!tfrt_size_add(size, 1, &capacity)) return false;
  string->data = tfrt_allocator_allocate(allocator, capacity);
  if (!string->data) return false;
  string->data[size] = '\0';
  string->size = size;
  return true;
}

static void destroy_string(void* payload) {
  tfrt_string_t* string = payload;
  tfrt_allocator_free(string->allocator, string->data, string->size + 1);
}

static tfrt_status_t encode_string(const void* payload, tfrt_encoding_t* out_encoding) {
  const tfrt_string_t* string = payload;
  return encode_fixed(string->data, string->size, out_encoding);
}

static tfrt_status_t decode_string(const uint8_t* header, size_t header_size, size_t body_size,
                                   tfrt_allocator_t allocator, void* payload, void** out_body) {
  (void)header;
  *out_body = NULL;
  TFRT_RETURN_IF_ERROR(check_sizes(header_size, body_size, body_size));
  tfrt_string_t* string = payload;
  if (!initialize_string(string, body_size, allocator)) {
    return tfrt_status_create(TFRT_STATUS_RESOURCE_EXHAUSTED,
                              "memory for a string of %zu bytes is out", body_size);
  }
  *out_body = string->data;
  return NULL;
}

static const tfrt_codec_t codec_string = {encode_string, decode_string, NULL};

// --- The table ---------------------------------------------------------------

const tfrt_type_t tfrt_builtin_types[TFRT_TYPE_FIRST_REGISTERED] = {
    [TFRT_TYPE_NONE] = {.name = "none"},
    [TFRT_TYPE_CHAIN] = {.name = "!tfrt.chain", .codec = &codec_0},
    [TFRT_TYPE_I1] = {.name = "i1", .size = 1, .codec = &codec_i1, .print = print_i1},
    [TFRT_TYPE_I8] = {.name = "i8", .size = 1, .codec = &codec_1},
    [TFRT_TYPE_I16] = {.name = "i16", .size = 2, .codec = &codec_2},
    [TFRT_TYPE_I32] = {.name = "i32", .size = 4, .codec = &codec_4, .print = print_i32},
    [TFRT_TYPE_I64] = {.name = "i64", .size = 8, .codec = &codec_8, .print = print_i64},
    [TFRT_TYPE_UI8] = {.name = "ui8", .size = 1, .codec = &codec_1},
    [TFRT_TYPE_UI16] = {.name = "ui16", .size = 2, .codec = &codec_2},
    [TFRT_TYPE_UI32] = {.name = "ui32", .size = 4, .codec = &codec_4},
    [TFRT_TYPE_UI64] = {.name = "ui64", .size = 8, .codec = &codec_8},
    [TFRT_TYPE_F32] = {.name = "f32", .size = 4, .codec = &codec_4, .print = print_f32},
    [TFRT_TYPE_F64] = {.name = "f64", .size = 8, .codec = &codec_8, .print = print_f64},
    [TFRT_TYPE_STRING] = {.name = "!tfrt.string",
                          .size = sizeof(tfrt_string_t),
                          .destroy = destroy_string,
                          .codec = &codec_string},
    [TFRT_TYPE_F16] = {.name = "f16", .size = 2, .codec = &codec_2},
    [TFRT_TYPE_BF16] = {.name = "bf16", .size = 2, .codec = &codec_2},
    [TFRT_TYPE_COMPLEX64] = {.name = "complex<f32>", .size = 8, .codec = &codec_8},
    [TFRT_TYPE_COMPLEX128] = {.name = "complex<f64>", .size = 16, .codec = &codec_16},
};

// --- Values ------------------------------------------------------------------

// A scalar of the |size| <= 8 bytes at |bytes|.
static tfrt_async_value_t* create_scalar(tfrt_type_id_t type_id, const void* bytes, size_t size) {
  tfrt_async_value_t* value = tfrt_async_value_create_scalar(type_id);
  if (TFRT_UNLIKELY(!value)) return tfrt_async_value_out_of_memory();
  memcpy(tfrt_async_value_payload(value), bytes, size);
  return value;
}

tfrt_async_value_t* tfrt_async_value_create_copy(tfrt_type_id_t type_id, const void* bytes,
                                                 size_t size) {
  if (type_id >= TFRT_TYPE_I1 && type_id <= TFRT_TYPE_F64) {
    return create_scalar(type_id, bytes, size);
  }
  tfrt_async_value_t* value = tfrt_async_value_create_available(type_id);
  if (!value) return tfrt_async_value_out_of_memory();
  if (size) memcpy(tfrt_async_value_payload(value), bytes, size);
  return value;
}

tfrt_async_value_t* tfrt_async_value_create_i1(bool value) {
  return create_scalar(TFRT_TYPE_I1, &value, sizeof value);
}

tfrt_async_value_t* tfrt_async_value_create_i32(int32_t value) {
  return create_scalar(TFRT_TYPE_I32, &value, sizeof value);
}

tfrt_async_value_t* tfrt_async_value_create_i64(int64_t value) {
  return create_scalar(TFRT_TYPE_I64, &value, sizeof value);
}

tfrt_async_value_t* tfrt_async_value_create_f32(float value) {
  return create_scalar(TFRT_TYPE_F32, &value, sizeof value);
}

tfrt_async_value_t* tfrt_async_value_create_f64(double value) {
  return create_scalar(TFRT_TYPE_F64, &value, sizeof value);
}

tfrt_async_value_t* tfrt_async_value_create_string(tfrt_string_view_t text) {
  tfrt_string_t string;
  if (!initialize_string(&string, text.size, tfrt_allocator_system())) {
    return tfrt_async_value_out_of_memory();
  }
  if (text.size) memcpy(string.data, text.data, text.size);
  tfrt_async_value_t* value = tfrt_async_value_create_available(TFRT_TYPE_STRING);
  if (!value) {
    destroy_string(&string);
    return tfrt_async_value_out_of_memory();
  }
  *(tfrt_string_t*)tfrt_async_value_payload(value) = string;
  return value;
}

bool tfrt_async_value_is_text(tfrt_async_value_t* value) {
  if (!tfrt_async_value_is_available(value) || tfrt_async_value_is_error(value)) return false;
  return tfrt_type_get(tfrt_async_value_resolved(value)->type_id)->destroy == destroy_string;
}

tfrt_string_view_t tfrt_async_value_string(tfrt_async_value_t* value) {
  if (!tfrt_async_value_is_text(value)) return tfrt_string_view_of("");
  const tfrt_string_t* string = tfrt_async_value_payload(tfrt_async_value_resolved(value));
  return tfrt_string_view_make(string->data ? string->data : "", string->size);
}
