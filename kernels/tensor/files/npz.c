// SPDX-License-Identifier: Apache-2.0
#include "kernels/tensor/files/npz.h"

#include <string.h>
#include <zip.h>

#include "host_runtime/base/dynamic_library/dynamic_library.h"
#include "host_runtime/base/string_builder.h"
#include "host_runtime/tensor/npy.h"

// The bytes that are unpacked at a time.
#define BLOCK_SIZE ((size_t)64 * 1024)

// The most names in the message about one that is missing.
#define MAX_SHOWN_NAMES 16

// --- The library -------------------------------------------------------------------

// Each function of the library that is called here: X(name).
#define FUNCTIONS(X)          \
  X(zip_discard)              \
  X(zip_error_fini)           \
  X(zip_error_init)           \
  X(zip_error_strerror)       \
  X(zip_fclose)               \
  X(zip_file_get_error)       \
  X(zip_fopen_index)          \
  X(zip_fread)                \
  X(zip_get_error)            \
  X(zip_get_name)             \
  X(zip_get_num_entries)      \
  X(zip_open_from_source)     \
  X(zip_source_buffer_create) \
  X(zip_source_free)

TFRT_DYNAMIC_LIBRARY_TABLE(FUNCTIONS, "libzip.so.4", "the archive library libzip", "libzip4")

// --- Archives ----------------------------------------------------------------------

static tfrt_status_t open_archive(tfrt_string_view_t bytes, zip_t** out_archive) {
  zip_error_t error;
  library.zip_error_init(&error);
  zip_source_t* source = library.zip_source_buffer_create(bytes.data, bytes.size, 0, &error);
  *out_archive =
      source ? library.zip_open_from_source(source, ZIP_RDONLY | ZIP_CHECKCONS, &error) : NULL;
  tfrt_status_t status = NULL;
  if (!*out_archive) {
    status = tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "the archive can't be read: %s",
                                library.zip_error_strerror(&error));
    if (source) library.zip_source_free(source);
  }
  library.zip_error_fini(&error);
  return status;
}

// The name of the array that member |index| is, a part of the archive's text; of size 0 if it is
// none.
static tfrt_string_view_t array_name(zip_t* archive, int64_t index) {
  static const char end[] = ".npy";
  const char* name = library.zip_get_name(archive, (zip_uint64_t)index, 0);
  size_t size = name ? strlen(name) : 0;
  if (size < sizeof(end) || strcmp(name + size - (sizeof(end) - 1), end) != 0) size = 0;
  return tfrt_string_view_make(name, size ? size - (sizeof(end) - 1) : 0);
}

static tfrt_status_t missing(zip_t* archive, int64_t count, tfrt_string_view_t name) {
  tfrt_string_builder_t names;
  tfrt_string_builder_initialize(&names, tfrt_allocator_system());
  int shown = 0;
  for (int64_t i = 0; i < count && shown <= MAX_SHOWN_NAMES; ++i) {
    tfrt_string_view_t other = array_name(archive, i);
    if (other.size == 0) continue;
    if (shown > 0) tfrt_string_builder_append_text(&names, ", ");
    tfrt_string_builder_append(&names, shown < MAX_SHOWN_NAMES ? other.data : "...",
                               shown < MAX_SHOWN_NAMES ? other.size : 3);
    ++shown;
  }
  const char* list = shown > 0 ? tfrt_string_builder_text(&names) : "none";
  tfrt_status_t status =
      name.size > 0
          ? tfrt_status_create(TFRT_STATUS_NOT_FOUND, "the archive has no array '%.*s'; it has %s",
                               TFRT_STRING_VIEW_ARGUMENTS(name), list)
          : tfrt_status_create(TFRT_STATUS_NOT_FOUND,
                               "name one array of the archive, as in FILE.npz:NAME; it has %s",
                               list);
  tfrt_string_builder_deinitialize(&names);
  return status;
}

static tfrt_status_t find_array(zip_t* archive, tfrt_string_view_t name, int64_t* out_index) {
  int64_t count = library.zip_get_num_entries(archive, 0);
  int64_t found = -1, arrays = 0;
  for (int64_t i = 0; i < count; ++i) {
    tfrt_string_view_t other = array_name(archive, i);
    if (other.size == 0 || (name.size > 0 && !tfrt_string_view_equal(other, name))) continue;
    if (found < 0) found = i;
    ++arrays;
  }
  *out_index = found;
  if (found >= 0 && (name.size > 0 || arrays == 1)) return NULL;
  return missing(archive, count, name);
}

// Appends what |member| unpacks to to |out|; the library checks its sum at the end.
static tfrt_status_t unpack(zip_file_t* member, tfrt_string_builder_t* out) {
  char block[BLOCK_SIZE];
  while (true) {
    zip_int64_t count = library.zip_fread(member, block, sizeof(block));
    if (count == 0) return tfrt_string_builder_status(out);
    if (count < 0) {
      return tfrt_status_create(TFRT_STATUS_DATA_LOSS, "the member of the archive is broken: %s",
                                library.zip_error_strerror(library.zip_file_get_error(member)));
    }
    if (out->size + (size_t)count > TFRT_NPZ_MAX_UNPACKED) {
      return tfrt_status_create(TFRT_STATUS_RESOURCE_EXHAUSTED,
                                "the member of the archive unpacks to more than %zu bytes",
                                TFRT_NPZ_MAX_UNPACKED);
    }
    tfrt_string_builder_append(out, block, (size_t)count);
  }
}

static tfrt_status_t read_array(zip_t* archive, tfrt_string_view_t name, tfrt_allocator_t allocator,
                                tfrt_dense_host_tensor_t* out_tensor) {
  int64_t index;
  TFRT_RETURN_IF_ERROR(find_array(archive, name, &index));
  zip_file_t* member = library.zip_fopen_index(archive, (zip_uint64_t)index, 0);
  if (!member) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "the member of the archive can't be read: %s",
                              library.zip_error_strerror(library.zip_get_error(archive)));
  }
  tfrt_string_builder_t unpacked;
  tfrt_string_builder_initialize(&unpacked, allocator);
  tfrt_status_t status = unpack(member, &unpacked);
  library.zip_fclose(member);
  if (!status) {
    status = tfrt_npy_read((const uint8_t*)tfrt_string_builder_text(&unpacked), unpacked.size,
                           allocator, out_tensor);
  }
  tfrt_string_builder_deinitialize(&unpacked);
  return status;
}

bool tfrt_npz_matches(tfrt_string_view_t bytes) {
  return bytes.size >= 4 && memcmp(bytes.data, "PK\3\4", 4) == 0;
}

tfrt_status_t tfrt_npz_read(tfrt_string_view_t bytes, tfrt_string_view_t name,
                            tfrt_allocator_t allocator, tfrt_dense_host_tensor_t* out_tensor) {
  *out_tensor = (tfrt_dense_host_tensor_t){.buffer = NULL};
  TFRT_RETURN_IF_ERROR(open_library());
  zip_t* archive;
  TFRT_RETURN_IF_ERROR(open_archive(bytes, &archive));
  tfrt_status_t status = read_array(archive, name, allocator, out_tensor);
  library.zip_discard(archive);
  return status;
}
