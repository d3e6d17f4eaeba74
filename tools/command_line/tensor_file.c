// SPDX-License-Identifier: Apache-2.0
#include "tools/command_line/tensor_file.h"

#include <string.h>
#include <zlib.h>

#include "host_runtime/base/file.h"
#include "host_runtime/base/string_builder.h"
#include "host_runtime/tensor/btf.h"
#include "host_runtime/tensor/idx.h"
#include "host_runtime/tensor/npy.h"
#include "host_runtime/tensor/tensor_types.h"
#include "kernels/tensor/files/npz.h"

#define TFRT_TENSOR_FILE_BLOCK ((size_t)256 * 1024)
#define TFRT_TENSOR_FILE_MAX_PATH 4096

// Unpacks what |stream| has been given into |out|, up to the end of the gzip file.
static tfrt_status_t tensor_file_inflate(z_stream* stream, tfrt_string_builder_t* out) {
  static unsigned char block[TFRT_TENSOR_FILE_BLOCK];
  int result = Z_OK;
  while (result != Z_STREAM_END) {
    stream->next_out = block;
    stream->avail_out = sizeof(block);
    result = inflate(stream, Z_NO_FLUSH);
    size_t made = sizeof(block) - stream->avail_out;
    bool stuck = result == Z_BUF_ERROR || (result == Z_OK && made == 0 && stream->avail_in == 0);
    if ((result != Z_OK && result != Z_STREAM_END) || stuck) {
      return tfrt_status_create(TFRT_STATUS_DATA_LOSS, "the gzip data are broken or cut (%s)",
                                stream->msg ? stream->msg : "unexpected end");
    }
    if (out->size + made > TFRT_TENSOR_FILE_MAX_UNPACKED) {
      return tfrt_status_create(TFRT_STATUS_RESOURCE_EXHAUSTED,
                                "the file unpacks to more than %zu bytes",
                                TFRT_TENSOR_FILE_MAX_UNPACKED);
    }
    tfrt_string_builder_append(out, block, made);
  }
  return tfrt_string_builder_status(out);
}

static tfrt_status_t tensor_file_unpack(const tfrt_file_contents_t* contents,
                                        tfrt_string_builder_t* out) {
  z_stream stream = {.next_in = contents->data, .avail_in = (uInt)contents->size};
  if (contents->size > UINT32_MAX) {
    return tfrt_status_create(TFRT_STATUS_RESOURCE_EXHAUSTED, "a gzip file of more than 4 GiB");
  }
  // 16 more than the window's size: a gzip header is expected.
  if (inflateInit2(&stream, 16 + MAX_WBITS) != Z_OK) {
    return tfrt_status_create(TFRT_STATUS_RESOURCE_EXHAUSTED, "no memory to unpack");
  }
  tfrt_status_t status = tensor_file_inflate(&stream, out);
  inflateEnd(&stream);
  return status;
}

// Makes |*out_tensor| what the |size| bytes at |data| are, by their first bytes.
static tfrt_status_t tensor_file_parse(const uint8_t* data, size_t size,
                                       tfrt_dense_host_tensor_t* out_tensor) {
  if (tfrt_idx_matches(data, size)) {
    return tfrt_idx_read(data, size, tfrt_allocator_system(), out_tensor);
  }
  if (tfrt_npy_matches(data, size)) {
    return tfrt_npy_read(data, size, tfrt_allocator_system(), out_tensor);
  }
  // A BTF file begins with a number of tensors, and a table of their offsets.
  uint64_t count = 0;
  if (size >= 16) memcpy(&count, data, sizeof(count));
  if (count == 0 || count > size / 8) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "the file is neither .npy nor idx (plain or gzip) nor .npz nor BTF");
  }
  tfrt_host_buffer_t* buffer = NULL;
  TFRT_RETURN_IF_ERROR(tfrt_host_buffer_create(size, tfrt_allocator_system(), &buffer));
  memcpy(buffer->data, data, size);
  tfrt_status_t status = tfrt_btf_read(buffer, 0, tfrt_allocator_system(), out_tensor);
  tfrt_host_buffer_release(buffer);
  return status;
}

static tfrt_status_t tensor_file_parse_contents(const tfrt_file_contents_t* contents,
                                                tfrt_dense_host_tensor_t* out_tensor) {
  bool gzip = contents->size >= 2 && contents->data[0] == 0x1f && contents->data[1] == 0x8b;
  if (!gzip) return tensor_file_parse(contents->data, contents->size, out_tensor);
  tfrt_string_builder_t unpacked;
  tfrt_string_builder_initialize(&unpacked, tfrt_allocator_system());
  tfrt_status_t status = tensor_file_unpack(contents, &unpacked);
  if (!status) {
    status = tensor_file_parse((const uint8_t*)tfrt_string_builder_text(&unpacked), unpacked.size,
                               out_tensor);
  }
  tfrt_string_builder_deinitialize(&unpacked);
  return status;
}

// Splits |text| into the path of a file, at most |size| - 1 bytes, and the name of an array of an
// archive behind it, of size 0 if there is none: "a.npz:x".
static tfrt_status_t tensor_file_split(const char* text, size_t size, char* out_path,
                                       tfrt_string_view_t* out_name) {
  static const char end[] = ".npz:";
  const char* found = strstr(text, end);
  size_t length = found ? (size_t)(found - text) + sizeof(end) - 2 : strlen(text);
  *out_name = found ? tfrt_string_view_of(found + sizeof(end) - 1) : tfrt_string_view_of("");
  if (length >= size) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "the path of a file is too long");
  }
  memcpy(out_path, text, length);
  out_path[length] = '\0';
  return NULL;
}

tfrt_status_t tfrt_tensor_file_read(const char* text, tfrt_async_value_t** out_value) {
  *out_value = NULL;
  char path[TFRT_TENSOR_FILE_MAX_PATH];
  tfrt_string_view_t name;
  tfrt_file_contents_t contents;
  TFRT_RETURN_IF_ERROR(tensor_file_split(text, sizeof(path), path, &name));
  TFRT_RETURN_IF_ERROR(tfrt_file_read(path, tfrt_allocator_system(), &contents));
  tfrt_dense_host_tensor_t tensor;
  tfrt_string_view_t bytes = tfrt_string_view_make((const char*)contents.data, contents.size);
  tfrt_status_t status = name.size > 0 || tfrt_npz_matches(bytes)
                             ? tfrt_npz_read(bytes, name, tfrt_allocator_system(), &tensor)
                             : tensor_file_parse_contents(&contents, &tensor);
  tfrt_file_contents_deinitialize(&contents);
  if (status) return tfrt_status_take_annotate(status, "%s", path);
  *out_value = tfrt_async_value_create_tensor_take(&tensor);
  return NULL;
}
