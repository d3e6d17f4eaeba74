// SPDX-License-Identifier: Apache-2.0
#include "kernels/tensor/files/png.h"

#include <png.h>
#include <string.h>

#include "host_runtime/base/dynamic_library/dynamic_library.h"

// --- The library -------------------------------------------------------------------

// Each function of the library that is called here: X(name).
#define FUNCTIONS(X)                  \
  X(png_image_begin_read_from_memory) \
  X(png_image_finish_read)            \
  X(png_image_free)

// The file's name carries the version that the header is of.
TFRT_DYNAMIC_LIBRARY_TABLE(FUNCTIONS, "libpng16.so.16", "the image library libpng", "libpng16-16")

// --- Decoding ----------------------------------------------------------------------

static tfrt_status_t invalid(const png_image* image) {
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "the PNG image can't be decoded: %s",
                            image->message);
}

// Makes room for |image|, whose header was read, and decodes it.
static tfrt_status_t decode(png_image* image, tfrt_allocator_t allocator,
                            tfrt_dense_host_tensor_t* out_image) {
  if ((int64_t)image->width * image->height > TFRT_PNG_MAX_PIXELS) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "the PNG image has %u times %u pixels; the limit is %lld in all",
                              image->height, image->width, (long long)TFRT_PNG_MAX_PIXELS);
  }
  image->format = PNG_FORMAT_RGB;
  // Else samples of 16 bits count as linear light.
  image->flags |= PNG_IMAGE_FLAG_16BIT_sRGB;
  const int64_t dims[] = {image->height, image->width, 3};
  tfrt_shape_t shape;
  TFRT_RETURN_IF_ERROR(tfrt_shape_make(dims, 3, &shape));
  TFRT_RETURN_IF_ERROR(
      tfrt_dense_host_tensor_initialize(TFRT_DTYPE_UI8, &shape, allocator, out_image));
  static const png_color black = {0, 0, 0};
  void* pixels = tfrt_dense_host_tensor_data(out_image);
  if (library.png_image_finish_read(image, &black, pixels, 0, NULL)) return NULL;
  tfrt_dense_host_tensor_deinitialize(out_image);
  memset(out_image, 0, sizeof(*out_image));
  return invalid(image);
}

tfrt_status_t tfrt_png_decode(tfrt_string_view_t bytes, tfrt_allocator_t allocator,
                              tfrt_dense_host_tensor_t* out_image) {
  memset(out_image, 0, sizeof(*out_image));
  TFRT_RETURN_IF_ERROR(open_library());
  png_image image = {.version = PNG_IMAGE_VERSION};
  if (!library.png_image_begin_read_from_memory(&image, bytes.data, bytes.size)) {
    return invalid(&image);
  }
  tfrt_status_t status = decode(&image, allocator, out_image);
  library.png_image_free(&image);
  return status;
}
