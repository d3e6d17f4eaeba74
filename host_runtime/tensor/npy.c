// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/tensor/npy.h"

#include <stdlib.h>
#include <string.h>

#include "host_runtime/base/number_text.h"

static const char magic[] = "\x93NUMPY";
#define MAGIC_SIZE 6
// No header that numpy writes is longer; this one fits on the stack.
#define MAX_HEADER 4096

static const struct {
  const char* text;
  tfrt_dtype_t dtype;
} kinds[] = {
    {"<f4", TFRT_DTYPE_F32},  {"<f8", TFRT_DTYPE_F64},  {"<f2", TFRT_DTYPE_F16},
    {"|b1", TFRT_DTYPE_I1},   {"|i1", TFRT_DTYPE_I8},   {"<i2", TFRT_DTYPE_I16},
    {"<i4", TFRT_DTYPE_I32},  {"<i8", TFRT_DTYPE_I64},  {"|u1", TFRT_DTYPE_UI8},
    {"<u2", TFRT_DTYPE_UI16}, {"<u4", TFRT_DTYPE_UI32}, {"<u8", TFRT_DTYPE_UI64},
};

bool tfrt_npy_matches(const uint8_t* data, size_t size) {
  return size >= MAGIC_SIZE && memcmp(data, magic, MAGIC_SIZE) == 0;
}

static tfrt_status_t damaged(const char* what) {
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "the .npy file is damaged: %s", what);
}

// --- The header -------------------------------------------------------------------

// Returns the text behind the entry |key| of the header and its colon; NULL if there is none.
static const char* find_entry(const char* header, const char* key) {
  const char* at = strstr(header, key);
  if (!at) return NULL;
  at += strlen(key);
  at += strspn(at, " :");
  return at;
}

static tfrt_status_t read_dtype(const char* header, tfrt_dtype_t* out_dtype) {
  const char* text = find_entry(header, "'descr'");
  if (!text || (*text != '\'' && *text != '[')) return damaged("it has no type");
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(kinds); ++i) {
    size_t size = strlen(kinds[i].text);
    if (strncmp(text + 1, kinds[i].text, size) != 0 || text[1 + size] != '\'') continue;
    *out_dtype = kinds[i].dtype;
    return NULL;
  }
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                            "the .npy file has elements of the type %.*s, which are not supported",
                            (int)strcspn(text, ","), text);
}

static tfrt_status_t read_shape(const char* header, tfrt_shape_t* out_shape) {
  const char* text = find_entry(header, "'shape'");
  int64_t dims[TFRT_SHAPE_MAX_RANK];
  size_t rank = 0;
  if (!text || *text != '(') return damaged("it has no shape");
  for (++text; *text != ')'; text += strspn(text, ", ")) {
    const char* end = text + strspn(text, "0123456789");
    int64_t length = 0;
    if (!tfrt_number_text_parse_i64(tfrt_string_view_make(text, (size_t)(end - text)), &length)) {
      return damaged("its shape can't be read");
    }
    if (rank == TFRT_SHAPE_MAX_RANK) return damaged("it has too many axes");
    dims[rank++] = length;
    text = end;
  }
  return tfrt_shape_make(dims, rank, out_shape);
}

// Copies the header to |header|, and sets |*out_begin| to where the elements are.
static tfrt_status_t copy_header(const uint8_t* data, size_t size, char* header,
                                 size_t* out_begin) {
  bool is_long = size > MAGIC_SIZE && data[MAGIC_SIZE] >= 2;
  size_t begin = MAGIC_SIZE + 2 + (is_long ? 4 : 2);
  if (size < begin) return damaged("it is cut");
  size_t length = data[8] | (size_t)data[9] << 8;
  if (is_long) length |= (size_t)data[10] << 16 | (size_t)data[11] << 24;
  if (length >= MAX_HEADER || length > size - begin) return damaged("its header is too long");
  memcpy(header, data + begin, length);
  header[length] = '\0';
  *out_begin = begin + length;
  return NULL;
}

// A truth value is a byte of 0 or 1.
static tfrt_status_t check_booleans(const tfrt_dense_host_tensor_t* tensor) {
  const uint8_t* bytes = tfrt_dense_host_tensor_data(tensor);
  int64_t count = tfrt_dense_host_tensor_element_count(tensor);
  for (int64_t i = 0; tensor->dtype == TFRT_DTYPE_I1 && i < count; ++i) {
    if (bytes[i] > 1) return damaged("a truth value is neither 0 nor 1");
  }
  return NULL;
}

tfrt_status_t tfrt_npy_read(const uint8_t* data, size_t size, tfrt_allocator_t allocator,
                            tfrt_dense_host_tensor_t* out_tensor) {
  char header[MAX_HEADER];
  tfrt_dtype_t dtype = TFRT_DTYPE_INVALID;
  tfrt_shape_t shape;
  size_t begin = 0, bytes = 0;
  memset(out_tensor, 0, sizeof(*out_tensor));
  TFRT_RETURN_IF_ERROR(copy_header(data, size, header, &begin));
  TFRT_RETURN_IF_ERROR(read_dtype(header, &dtype));
  TFRT_RETURN_IF_ERROR(read_shape(header, &shape));
  const char* order = find_entry(header, "'fortran_order'");
  if (!order || strncmp(order, "False", 5) != 0) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "the .npy file has its elements in Fortran's order: save "
                              "numpy.ascontiguousarray(x)");
  }
  TFRT_RETURN_IF_ERROR(tfrt_dense_host_tensor_compute_size(dtype, &shape, &bytes));
  if (bytes != size - begin) return damaged("its elements are not as many as its shape says");
  TFRT_RETURN_IF_ERROR(tfrt_dense_host_tensor_initialize(dtype, &shape, allocator, out_tensor));
  if (bytes) memcpy(tfrt_dense_host_tensor_data(out_tensor), data + begin, bytes);
  tfrt_status_t status = check_booleans(out_tensor);
  if (status) tfrt_dense_host_tensor_deinitialize(out_tensor);
  return status;
}

// --- Writing ----------------------------------------------------------------------

static void append_header(const char* kind, const tfrt_shape_t* shape, tfrt_string_builder_t* out) {
  char header[1024];
  tfrt_string_builder_t text;
  tfrt_string_builder_initialize(&text, out->allocator);
  tfrt_string_builder_append_format(&text, "{'descr': '%s', 'fortran_order': False, 'shape': (",
                                    kind);
  for (uint32_t i = 0; i < shape->rank; ++i) {
    tfrt_string_builder_append_format(&text, "%lld,%s", (long long)shape->dims[i],
                                      i + 1 < shape->rank ? " " : "");
  }
  tfrt_string_builder_append_text(&text, "), }");
  // The elements begin at a multiple of 64.
  size_t begin = MAGIC_SIZE + 4;
  size_t length = (begin + text.size + 1 + 63) / 64 * 64 - begin;
  memset(header, ' ', sizeof(header));
  memcpy(header, tfrt_string_builder_text(&text), text.size);
  header[length - 1] = '\n';
  const uint8_t sizes[4] = {1, 0, (uint8_t)(length & 255), (uint8_t)(length >> 8)};
  tfrt_string_builder_append(out, magic, MAGIC_SIZE);
  tfrt_string_builder_append(out, sizes, sizeof(sizes));
  tfrt_string_builder_append(out, header, length);
  tfrt_string_builder_deinitialize(&text);
}

// A bf16 is the upper half of an f32.
static void append_bfloats(const tfrt_dense_host_tensor_t* tensor, tfrt_string_builder_t* out) {
  const uint16_t* bits = tfrt_dense_host_tensor_data(tensor);
  int64_t count = tfrt_dense_host_tensor_element_count(tensor);
  for (int64_t i = 0; i < count; ++i) {
    uint32_t wide = (uint32_t)bits[i] << 16;
    tfrt_string_builder_append(out, &wide, sizeof(wide));
  }
}

tfrt_status_t tfrt_npy_write(const tfrt_dense_host_tensor_t* tensor, tfrt_string_builder_t* out) {
  bool is_bfloat = tensor->dtype == TFRT_DTYPE_BF16;
  tfrt_dtype_t dtype = is_bfloat ? TFRT_DTYPE_F32 : tensor->dtype;
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(kinds); ++i) {
    if (kinds[i].dtype != dtype) continue;
    append_header(kinds[i].text, &tensor->shape, out);
    if (is_bfloat) {
      append_bfloats(tensor, out);
    } else if (tfrt_dense_host_tensor_size(tensor) > 0) {
      tfrt_string_builder_append(out, tfrt_dense_host_tensor_data(tensor),
                                 tfrt_dense_host_tensor_size(tensor));
    }
    return tfrt_string_builder_status(out);
  }
  return tfrt_status_create(TFRT_STATUS_UNIMPLEMENTED, "a .npy file can't hold elements of %s",
                            tfrt_dtype_name(tensor->dtype));
}
