// SPDX-License-Identifier: Apache-2.0
#include "tools/output/top_results.h"

#include <string.h>

#include "host_runtime/base/file.h"
#include "host_runtime/base/number_text.h"
#include "host_runtime/tensor/tensor_types.h"

// The lines of the file with the labels, or nothing.
typedef struct tfrt_labels_s {
  const char* path;
  tfrt_file_contents_t contents;
  int64_t count;
} tfrt_labels_t;

static tfrt_status_t labels_read(const char* path, tfrt_labels_t* out_labels) {
  *out_labels = (tfrt_labels_t){.path = path};
  if (!path) return NULL;
  TFRT_RETURN_IF_ERROR(tfrt_file_read(path, tfrt_allocator_system(), &out_labels->contents));
  const uint8_t* bytes = out_labels->contents.data;
  size_t size = out_labels->contents.size;
  for (size_t i = 0; i < size; ++i) out_labels->count += bytes[i] == '\n';
  // The last line may lack its end.
  if (size > 0 && bytes[size - 1] != '\n') ++out_labels->count;
  return NULL;
}

// Line |index|, less than the number of lines.
static tfrt_string_view_t labels_get(const tfrt_labels_t* labels, int64_t index) {
  const char* line = (const char*)labels->contents.data;
  const char* end = line + labels->contents.size;
  for (; index > 0; --index) line = (const char*)memchr(line, '\n', (size_t)(end - line)) + 1;
  const char* line_end = memchr(line, '\n', (size_t)(end - line));
  size_t size = (size_t)((line_end ? line_end : end) - line);
  if (size > 0 && line[size - 1] == '\r') --size;
  return tfrt_string_view_make(line, size);
}

// Whether the element |a| comes before |b|, which stand at |a_index| and |b_index|.
static bool top_is_before(float a, int64_t a_index, float b, int64_t b_index) {
  bool a_is_nan = a != a, b_is_nan = b != b;
  if (a_is_nan || b_is_nan) return a_is_nan == b_is_nan ? a_index < b_index : b_is_nan;
  return a > b || (a == b && a_index < b_index);
}

// The index of the first of the |count| |elements| that comes after the one at |last| (-1: of all).
static int64_t top_find_next(const float* elements, int64_t count, int64_t last) {
  int64_t best = -1;
  for (int64_t i = 0; i < count; ++i) {
    if (last >= 0 && !top_is_before(elements[last], last, elements[i], i)) continue;
    if (best < 0 || top_is_before(elements[i], i, elements[best], best)) best = i;
  }
  return best;
}

static void top_append_row(const float* elements, int64_t count, uint32_t top,
                           const tfrt_labels_t* labels, tfrt_string_builder_t* out) {
  int64_t index = -1;
  for (uint32_t i = 0; i < top && i < count; ++i) {
    index = top_find_next(elements, count, index);
    tfrt_string_builder_append_format(out, "  %.4f ", (double)elements[index]);
    if (labels->path) {
      tfrt_string_view_t label = labels_get(labels, index);
      tfrt_string_builder_append(out, label.data, label.size);
    } else {
      tfrt_string_builder_append_format(out, "%lld", (long long)index);
    }
    tfrt_string_builder_append_char(out, '\n');
  }
}

// The scores that |result| is, or NULL.
static const tfrt_dense_host_tensor_t* top_scores(tfrt_async_value_t* result) {
  tfrt_async_value_t* value = tfrt_async_value_resolved(result);
  if (value->type_id != tfrt_host_tensor_type_id()) return NULL;
  const tfrt_host_tensor_t* tensor = tfrt_async_value_payload(value);
  bool has_rows = tensor->layout == TFRT_TENSOR_LAYOUT_DENSE &&
                  tensor->dense.dtype == TFRT_DTYPE_F32 && tensor->dense.shape.rank > 0;
  return has_rows ? &tensor->dense : NULL;
}

// Appends the rows of |tensor|, result |index|, each under its position if there are several.
static tfrt_status_t top_append_result(const tfrt_dense_host_tensor_t* tensor, uint32_t index,
                                       uint32_t top, const tfrt_labels_t* labels,
                                       tfrt_string_builder_t* out) {
  const tfrt_shape_t* shape = &tensor->shape;
  int64_t count = shape->dims[shape->rank - 1];
  int64_t rows = count > 0 ? tfrt_shape_element_count(shape) / count : 0;
  if (labels->path && labels->count != count) {
    return tfrt_status_create(
        TFRT_STATUS_INVALID_ARGUMENT,
        "--labels: %s has %lld lines, but a row of result %u, of shape %s, has "
        "%lld elements",
        labels->path, (long long)labels->count, index, tfrt_shape_text(shape).text,
        (long long)count);
  }
  const float* elements = tfrt_dense_host_tensor_data(tensor);
  for (int64_t row = 0; row < rows; ++row) {
    tfrt_string_builder_append_format(out, "result %u, row %lld:\n", index, (long long)row);
    top_append_row(elements + row * count, count, top, labels, out);
  }
  return NULL;
}

tfrt_status_t tfrt_top_results_append(tfrt_async_value_t* const* results, uint32_t count,
                                      uint32_t top, const char* labels_path,
                                      tfrt_string_builder_t* out) {
  tfrt_labels_t labels;
  TFRT_RETURN_IF_ERROR(labels_read(labels_path, &labels));
  tfrt_status_t status = NULL;
  bool has_scores = false;
  for (uint32_t i = 0; i < count && !status; ++i) {
    const tfrt_dense_host_tensor_t* scores = top_scores(results[i]);
    if (!scores) continue;
    has_scores = true;
    status = top_append_result(scores, i, top, &labels, out);
  }
  if (!status && !has_scores) {
    status = tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                                "--top: no result is a tensor of f32 with rows");
  }
  if (labels_path) tfrt_file_contents_deinitialize(&labels.contents);
  return status;
}
