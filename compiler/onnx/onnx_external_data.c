// SPDX-License-Identifier: Apache-2.0
#include "compiler/onnx/onnx_external_data.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host_runtime/base/number_text.h"

static const char* find_entry(const Onnx__TensorProto* tensor, const char* key) {
  for (size_t i = 0; i < tensor->n_external_data; ++i) {
    if (strcmp(tensor->external_data[i]->key, key) == 0) return tensor->external_data[i]->value;
  }
  return NULL;
}

static tfrt_status_t refuse(const Onnx__TensorProto* tensor, const char* location,
                            const char* reason) {
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "tensor '%s' lies in '%s': %s",
                            tensor->name, location, reason);
}

// Sets |*out_number| to the entry |key|, or |standard| if there is none.
static tfrt_status_t read_number(const Onnx__TensorProto* tensor, const char* key,
                                 uint64_t standard, uint64_t* out_number) {
  const char* text = find_entry(tensor, key);
  *out_number = standard;
  if (!text || tfrt_number_text_parse_u64(tfrt_string_view_of(text), out_number)) return NULL;
  return refuse(tensor, text, "that is no offset or length");
}

// Sets |resolved|, of PATH_MAX bytes, to the real path of |location| in |directory|.
static tfrt_status_t resolve(const Onnx__TensorProto* tensor, const char* directory,
                             const char* location, char* resolved) {
  char joined[PATH_MAX];
  char folder[PATH_MAX];
  if (!directory) return refuse(tensor, location, "this model may not have files beside it");
  int length = snprintf(joined, sizeof(joined), "%s/%s", directory, location);
  if (location[0] == '/' || length < 0 || (size_t)length >= sizeof(joined)) {
    return refuse(tensor, location, "data must lie in the model's folder");
  }
  if (!realpath(directory, folder) || !realpath(joined, resolved)) {
    return tfrt_status_create(TFRT_STATUS_NOT_FOUND,
                              "tensor '%s' lies in '%s', which can't be found beside the model: %s",
                              tensor->name, location, strerror(errno));
  }
  size_t size = strlen(folder);
  bool is_inside = strncmp(resolved, folder, size) == 0 && (resolved[size] == '/' || size == 1);
  return is_inside ? NULL : refuse(tensor, location, "data must lie in the model's folder");
}

// Reads |size| bytes from |offset| of the file |path|.
static tfrt_status_t read_part(const Onnx__TensorProto* tensor, const char* path, uint64_t offset,
                               size_t size, tfrt_file_contents_t* contents) {
  struct stat facts;
  int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  bool is_file = file >= 0 && fstat(file, &facts) == 0 && S_ISREG(facts.st_mode);
  if (!is_file || offset > (uint64_t)facts.st_size || size > (uint64_t)facts.st_size - offset) {
    if (file >= 0) close(file);
    return refuse(tensor, path, is_file ? "the file is too short" : "that is no readable file");
  }
  contents->data = tfrt_allocator_allocate(contents->allocator, size + 1);
  contents->capacity = size + 1;
  size_t done = 0;
  while (contents->data && done < size) {
    ssize_t part = pread(file, contents->data + done, size - done, (off_t)(offset + done));
    if (part <= 0) break;
    done += (size_t)part;
  }
  close(file);
  contents->size = done;
  if (!contents->data) return tfrt_status_out_of_memory();
  return done == size ? NULL : refuse(tensor, path, "the file can't be read");
}

tfrt_status_t tfrt_onnx_external_data_read(const Onnx__TensorProto* tensor, const char* directory,
                                           size_t size, tfrt_file_contents_t* out_contents,
                                           tfrt_string_view_t* out_bytes) {
  const char* location = find_entry(tensor, "location");
  uint64_t offset, length;
  char path[PATH_MAX];
  *out_contents = (tfrt_file_contents_t){.allocator = tfrt_allocator_system()};
  if (!location || !location[0]) return refuse(tensor, "", "no file is named");
  TFRT_RETURN_IF_ERROR(read_number(tensor, "offset", 0, &offset));
  TFRT_RETURN_IF_ERROR(read_number(tensor, "length", size, &length));
  if (length != size) return refuse(tensor, location, "its length is not that of its shape");
  TFRT_RETURN_IF_ERROR(resolve(tensor, directory, location, path));
  tfrt_status_t status = read_part(tensor, path, offset, size, out_contents);
  if (status) {
    tfrt_file_contents_deinitialize(out_contents);
    return status;
  }
  *out_bytes = tfrt_string_view_make((const char*)out_contents->data, size);
  return NULL;
}
