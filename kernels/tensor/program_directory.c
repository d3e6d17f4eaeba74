// SPDX-License-Identifier: Apache-2.0
#include "kernels/tensor/program_directory.h"

#include <string.h>
#include <unistd.h>

typedef struct program_directory_s {
  tfrt_request_resource_t base;
  tfrt_allocator_t allocator;
  size_t length;
  char path[];  // with a NUL
} program_directory_t;

static void destroy(tfrt_request_resource_t* resource) {
  program_directory_t* directory = TFRT_CONTAINER_OF(resource, program_directory_t, base);
  tfrt_allocator_free(directory->allocator, directory, sizeof(*directory) + directory->length + 1);
}

tfrt_status_t tfrt_program_directory_set(tfrt_request_context_t* request, const char* path) {
  size_t length = strlen(path);
  program_directory_t* directory =
      tfrt_allocator_allocate(request->allocator, sizeof(*directory) + length + 1);
  if (!directory) {
    return tfrt_status_create(TFRT_STATUS_RESOURCE_EXHAUSTED,
                              "no memory for the program's directory");
  }
  *directory = (program_directory_t){.base.name = TFRT_PROGRAM_DIRECTORY_NAME,
                                     .base.destroy = destroy,
                                     .allocator = request->allocator,
                                     .length = length};
  memcpy(directory->path, path, length + 1);
  tfrt_request_context_add_resource(request, &directory->base);
  return NULL;
}

void tfrt_program_directory_resolve(tfrt_request_context_t* request, tfrt_string_view_t path,
                                    tfrt_string_builder_t* out) {
  bool is_absolute = path.size > 0 && path.data[0] == '/';
  tfrt_request_resource_t* resource =
      is_absolute ? NULL : tfrt_request_context_find_resource(request, TFRT_PROGRAM_DIRECTORY_NAME);
  if (resource) {
    const program_directory_t* directory = TFRT_CONTAINER_OF(resource, program_directory_t, base);
    tfrt_string_builder_append(out, directory->path, directory->length);
    tfrt_string_builder_append_char(out, '/');
    tfrt_string_builder_append_view(out, path);
    if (access(tfrt_string_builder_text(out), F_OK) == 0) return;
    tfrt_string_builder_clear(out);
  }
  tfrt_string_builder_append_view(out, path);
}
