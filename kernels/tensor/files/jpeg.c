// SPDX-License-Identifier: Apache-2.0
#include "kernels/tensor/files/jpeg.h"

// jpeglib.h takes FILE and size_t from these.
#include <stddef.h>
#include <stdio.h>
//
#include <jerror.h>
#include <jpeglib.h>
#include <setjmp.h>
#include <string.h>

#include "host_runtime/base/dynamic_library/dynamic_library.h"

// The file's name carries the version that the header is of: another one has other structs.
#define FILE_NAME(version) "libjpeg.so." TFRT_DYNAMIC_LIBRARY_TEXT_OF(version)

// The most memory that the codec itself may use for an image whose scans must all be kept.
#define MAX_MEMORY (2l * TFRT_JPEG_MAX_PIXELS)

// --- The library -------------------------------------------------------------------

// Each function of the library that is called here: X(name).
#define FUNCTIONS(X)         \
  X(jpeg_CreateDecompress)   \
  X(jpeg_destroy_decompress) \
  X(jpeg_finish_decompress)  \
  X(jpeg_mem_src)            \
  X(jpeg_read_header)        \
  X(jpeg_read_scanlines)     \
  X(jpeg_start_decompress)   \
  X(jpeg_std_error)

TFRT_DYNAMIC_LIBRARY_TABLE(FUNCTIONS, FILE_NAME(JPEG_LIB_VERSION), "the image library libjpeg",
                           "libjpeg62-turbo")

// --- Decoding ----------------------------------------------------------------------

// An image that is being decoded.
typedef struct decoder_s {
  struct jpeg_decompress_struct info;
  struct jpeg_error_mgr errors;
  struct jpeg_progress_mgr progress;
  jmp_buf failed;  // where the library's errors go: they can't come back as results
  char message[JMSG_LENGTH_MAX];
  tfrt_dense_host_tensor_t* image;
  bool has_image;
} decoder_t;

static void fail(decoder_t* decoder, const char* message) {
  snprintf(decoder->message, sizeof(decoder->message), "%s", message);
  longjmp(decoder->failed, 1);
}

// The library has found something that it can't go on with.
static void on_error(j_common_ptr info) {
  decoder_t* decoder = info->client_data;
  char message[JMSG_LENGTH_MAX];
  info->err->format_message(info, message);
  fail(decoder, message);
}

// The library calls this after it repaired the input. It is an error here if the library made up
// the rest of the image; other repairs are accepted silently.
static void on_message(j_common_ptr info, int level) {
  if (level < 0 &&
      (info->err->msg_code == JWRN_JPEG_EOF || info->err->msg_code == JWRN_HIT_MARKER)) {
    on_error(info);
  }
}

static void on_progress(j_common_ptr info) {
  if (((j_decompress_ptr)info)->input_scan_number > TFRT_JPEG_MAX_SCANS) {
    fail(info->client_data, "it has too many scans");
  }
}

static tfrt_status_t invalid(const char* problem) {
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "the JPEG image can't be decoded: %s",
                            problem);
}

// Reads the header, and makes room for the image that it tells of.
static tfrt_status_t begin(decoder_t* decoder, tfrt_string_view_t bytes,
                           tfrt_allocator_t allocator) {
  struct jpeg_decompress_struct* info = &decoder->info;
  library.jpeg_CreateDecompress(info, JPEG_LIB_VERSION, sizeof(*info));
  info->progress = &decoder->progress;
  info->mem->max_memory_to_use = MAX_MEMORY;
  library.jpeg_mem_src(info, (const unsigned char*)bytes.data, bytes.size);
  library.jpeg_read_header(info, TRUE);
  if ((int64_t)info->image_width * info->image_height > TFRT_JPEG_MAX_PIXELS) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "the JPEG image has %u times %u pixels; the limit is %lld in all",
                              info->image_height, info->image_width,
                              (long long)TFRT_JPEG_MAX_PIXELS);
  }
  int64_t dims[] = {info->image_height, info->image_width, 3};
  tfrt_shape_t shape;
  TFRT_RETURN_IF_ERROR(tfrt_shape_make(dims, 3, &shape));
  TFRT_RETURN_IF_ERROR(
      tfrt_dense_host_tensor_initialize(TFRT_DTYPE_UI8, &shape, allocator, decoder->image));
  decoder->has_image = true;
  return NULL;
}

// Nothing that changes here lies on the stack: the library's errors come back to the first line.
static tfrt_status_t run(decoder_t* decoder, tfrt_string_view_t bytes, tfrt_allocator_t allocator) {
  if (setjmp(decoder->failed)) return invalid(decoder->message);
  TFRT_RETURN_IF_ERROR(begin(decoder, bytes, allocator));
  struct jpeg_decompress_struct* info = &decoder->info;
  info->out_color_space = JCS_RGB;
  info->dct_method = JDCT_IFAST;
  library.jpeg_start_decompress(info);
  size_t row_size = (size_t)info->output_width * 3;
  while (info->output_scanline < info->output_height) {
    JSAMPROW row =
        (JSAMPROW)tfrt_dense_host_tensor_data(decoder->image) + row_size * info->output_scanline;
    library.jpeg_read_scanlines(info, &row, 1);
  }
  library.jpeg_finish_decompress(info);
  return NULL;
}

tfrt_status_t tfrt_jpeg_decode(tfrt_string_view_t bytes, tfrt_allocator_t allocator,
                               tfrt_dense_host_tensor_t* out_image) {
  *out_image = (tfrt_dense_host_tensor_t){.buffer = NULL};
  if (bytes.size < 3 || memcmp(bytes.data, "\xff\xd8\xff", 3) != 0) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "image does not have jpeg format");
  }
  TFRT_RETURN_IF_ERROR(open_library());
  decoder_t decoder = {.image = out_image};
  decoder.info.err = library.jpeg_std_error(&decoder.errors);
  decoder.errors.error_exit = on_error;
  decoder.errors.emit_message = on_message;
  decoder.progress.progress_monitor = on_progress;
  decoder.info.client_data = &decoder;
  tfrt_status_t status = run(&decoder, bytes, allocator);
  library.jpeg_destroy_decompress(&decoder.info);
  if (status && decoder.has_image) tfrt_dense_host_tensor_deinitialize(out_image);
  return status;
}
