// SPDX-License-Identifier: Apache-2.0
#include "tools/command_line/image_file.h"

#include <math.h>
#include <string.h>

#include "host_runtime/base/file.h"
#include "host_runtime/base/number_text.h"
#include "host_runtime/tensor/tensor_types.h"
#include "kernels/tensor/files/jpeg.h"
#include "kernels/tensor/files/png.h"

#define TFRT_IMAGE_COLOURS 3

// The longest side that --size may ask for.
#define TFRT_IMAGE_MAX_SIDE 16384

// The flags as numbers.
typedef struct tfrt_image_form_s {
  int64_t height;  // 0: the image's own
  int64_t width;
  float mean[TFRT_IMAGE_COLOURS];
  float deviation[TFRT_IMAGE_COLOURS];
  bool channels_last;
} tfrt_image_form_t;

// --- Flags -----------------------------------------------------------------------------

// Sets |out_numbers| to the three numbers that |text| is; NULL leaves them.
static tfrt_status_t image_parse_colours(const char* flag, const char* text,
                                         float out_numbers[TFRT_IMAGE_COLOURS]) {
  const char* next = text;
  for (int i = 0; next && i < TFRT_IMAGE_COLOURS; ++i) {
    const char* end = NULL;
    out_numbers[i] = tfrt_number_text_parse_f32(next, &end);
    char wanted = i < TFRT_IMAGE_COLOURS - 1 ? ',' : '\0';
    if (end == next || *end != wanted || !isfinite(out_numbers[i])) {
      return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                                "--%s wants a number for each colour, such as 0.485,0.456,0.406, "
                                "not '%s'",
                                flag, text);
    }
    next = end + 1;
  }
  return NULL;
}

static tfrt_status_t image_parse_size(const char* text, tfrt_image_form_t* form) {
  if (!text) return NULL;
  const char* times = strchr(text, 'x');
  tfrt_string_view_t height =
      times ? tfrt_string_view_make(text, (size_t)(times - text)) : tfrt_string_view_of(text);
  tfrt_string_view_t width = times ? tfrt_string_view_of(times + 1) : height;
  bool are_numbers = tfrt_number_text_parse_i64(height, &form->height) &&
                     tfrt_number_text_parse_i64(width, &form->width);
  if (are_numbers && form->height > 0 && form->height <= TFRT_IMAGE_MAX_SIDE && form->width > 0 &&
      form->width <= TFRT_IMAGE_MAX_SIDE) {
    return NULL;
  }
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                            "--size wants N or HEIGHTxWIDTH, from 1 to %d, not '%s'",
                            TFRT_IMAGE_MAX_SIDE, text);
}

static tfrt_status_t image_parse_form(const tfrt_image_flags_t* flags,
                                      tfrt_image_form_t* out_form) {
  *out_form = (tfrt_image_form_t){.deviation = {1, 1, 1}, .channels_last = flags->channels_last};
  TFRT_RETURN_IF_ERROR(image_parse_size(flags->size, out_form));
  TFRT_RETURN_IF_ERROR(image_parse_colours("mean", flags->mean, out_form->mean));
  TFRT_RETURN_IF_ERROR(image_parse_colours("std", flags->deviation, out_form->deviation));
  for (int i = 0; i < TFRT_IMAGE_COLOURS; ++i) {
    if (out_form->deviation[i] == 0) {
      return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "--std: no colour is divided by 0");
    }
  }
  return NULL;
}

// --- Resizing --------------------------------------------------------------------------

// Old pixels along one axis that make a new one: the weight of pixel |first| + i is that of its
// distance from |middle|.
typedef struct tfrt_image_span_s {
  double middle;
  double reach;  // the weight is 0 from this distance on
  int64_t first;
  int64_t end;
  double sum;  // of the weights
} tfrt_image_span_t;

static double image_weight(const tfrt_image_span_t* span, int64_t index) {
  double distance = fabs((double)index + 0.5 - span->middle);
  return distance < span->reach ? 1 - distance / span->reach : 0;
}

// The old pixels for the new pixel |index|. There are |length| old ones and |new_length| new ones,
// and a new one covers |scale| old ones.
static tfrt_image_span_t image_span(int64_t index, int64_t length, int64_t new_length,
                                    double scale) {
  double offset = ((double)length - (double)new_length * scale) / 2;
  tfrt_image_span_t span = {.middle = offset + ((double)index + 0.5) * scale,
                            .reach = scale > 1 ? scale : 1};
  double first = floor(span.middle - span.reach), end = ceil(span.middle + span.reach);
  span.first = first < 0 ? 0 : (int64_t)first;
  span.end = end > (double)length ? length : (int64_t)end;
  for (int64_t i = span.first; i < span.end; ++i) span.sum += image_weight(&span, i);
  return span;
}

// Sets |row| to the mean of the rows of |image| that |span| says.
static void image_mix_rows(const tfrt_dense_host_tensor_t* image, const tfrt_image_span_t* span,
                           float* row) {
  const uint8_t* pixels = tfrt_dense_host_tensor_data(image);
  int64_t size = image->shape.dims[1] * TFRT_IMAGE_COLOURS;
  memset(row, 0, (size_t)size * sizeof(*row));
  for (int64_t i = span->first; i < span->end; ++i) {
    float weight = (float)(image_weight(span, i) / span->sum);
    for (int64_t k = 0; k < size; ++k) row[k] += weight * (float)pixels[i * size + k];
  }
}

// Writes row |y| of the result, whose old pixels |row| has.
static void image_write_row(const tfrt_image_form_t* form, const float* row, int64_t old_width,
                            double scale, int64_t y, float* out_pixels) {
  for (int64_t x = 0; x < form->width; ++x) {
    tfrt_image_span_t span = image_span(x, old_width, form->width, scale);
    for (int c = 0; c < TFRT_IMAGE_COLOURS; ++c) {
      double colour = 0;
      for (int64_t i = span.first; i < span.end; ++i) {
        colour += image_weight(&span, i) * (double)row[i * TFRT_IMAGE_COLOURS + c];
      }
      float value = (float)(colour / span.sum / 255);
      int64_t place = form->channels_last ? (y * form->width + x) * TFRT_IMAGE_COLOURS + c
                                          : (c * form->height + y) * form->width + x;
      out_pixels[place] = (value - form->mean[c]) / form->deviation[c];
    }
  }
}

// Makes |*out_tensor| the model's input from |image|, [height, width, 3] of ui8.
static tfrt_status_t image_prepare(const tfrt_dense_host_tensor_t* image, tfrt_image_form_t* form,
                                   tfrt_dense_host_tensor_t* out_tensor) {
  tfrt_allocator_t system = tfrt_allocator_system();
  int64_t height = image->shape.dims[0], width = image->shape.dims[1];
  if (form->height == 0) form->height = height;
  if (form->width == 0) form->width = width;
  const int64_t planes[] = {1, TFRT_IMAGE_COLOURS, form->height, form->width};
  const int64_t pixels[] = {1, form->height, form->width, TFRT_IMAGE_COLOURS};
  tfrt_shape_t shape;
  TFRT_RETURN_IF_ERROR(tfrt_shape_make(form->channels_last ? pixels : planes, 4, &shape));
  size_t row_size = (size_t)width * TFRT_IMAGE_COLOURS * sizeof(float);
  float* row = tfrt_allocator_allocate(system, row_size);
  if (!row) return tfrt_status_out_of_memory();
  tfrt_status_t status =
      tfrt_dense_host_tensor_initialize(TFRT_DTYPE_F32, &shape, system, out_tensor);
  if (!status) {
    double scale = fmin((double)height / (double)form->height, (double)width / (double)form->width);
    float* result = tfrt_dense_host_tensor_data(out_tensor);
    for (int64_t y = 0; y < form->height; ++y) {
      tfrt_image_span_t span = image_span(y, height, form->height, scale);
      image_mix_rows(image, &span, row);
      image_write_row(form, row, width, scale, y, result);
    }
  }
  tfrt_allocator_free(system, row, row_size);
  return status;
}

// --- Files -----------------------------------------------------------------------------

static tfrt_status_t image_decode(const tfrt_file_contents_t* contents,
                                  tfrt_dense_host_tensor_t* out_image) {
  static const uint8_t jpeg[] = {0xff, 0xd8};
  static const uint8_t png[] = {0x89, 'P', 'N', 'G'};
  tfrt_string_view_t bytes = tfrt_string_view_make((const char*)contents->data, contents->size);
  if (bytes.size >= sizeof(jpeg) && memcmp(bytes.data, jpeg, sizeof(jpeg)) == 0) {
    return tfrt_jpeg_decode(bytes, tfrt_allocator_system(), out_image);
  }
  if (bytes.size >= sizeof(png) && memcmp(bytes.data, png, sizeof(png)) == 0) {
    return tfrt_png_decode(bytes, tfrt_allocator_system(), out_image);
  }
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "the file is neither JPEG nor PNG");
}

tfrt_status_t tfrt_image_file_read(const char* path, const tfrt_image_flags_t* flags,
                                   tfrt_async_value_t** out_value) {
  *out_value = NULL;
  tfrt_image_form_t form;
  TFRT_RETURN_IF_ERROR(image_parse_form(flags, &form));
  tfrt_file_contents_t contents;
  TFRT_RETURN_IF_ERROR(tfrt_file_read(path, tfrt_allocator_system(), &contents));
  tfrt_dense_host_tensor_t image;
  tfrt_status_t status = image_decode(&contents, &image);
  tfrt_file_contents_deinitialize(&contents);
  if (status) return tfrt_status_take_annotate(status, "%s", path);
  tfrt_dense_host_tensor_t tensor;
  status = image_prepare(&image, &form, &tensor);
  tfrt_dense_host_tensor_deinitialize(&image);
  if (status) return tfrt_status_take_annotate(status, "%s", path);
  *out_value = tfrt_async_value_create_tensor_take(&tensor);
  return NULL;
}
