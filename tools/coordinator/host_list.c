// SPDX-License-Identifier: Apache-2.0
#include "tools/coordinator/host_list.h"

#include <string.h>

tfrt_status_t tfrt_host_list_parse(const char* text, tfrt_host_list_t* out_list) {
  out_list->count = 0;
  for (const char* host = text;; ++host) {
    size_t size = strcspn(host, ",");
    if (size == 0) {
      return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                                "--hosts %s: host %u has no address; it wants HOST:PORT,HOST:PORT",
                                text, out_list->count);
    }
    if (out_list->count == TFRT_HOST_LIST_MAX) {
      return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "--hosts names more than %d hosts",
                                TFRT_HOST_LIST_MAX);
    }
    out_list->addresses[out_list->count++] = tfrt_string_view_make(host, size);
    host += size;
    if (*host == '\0') return NULL;
  }
}

tfrt_status_t tfrt_host_list_choose(const char* text, const char* path, tfrt_hostfile_t* hostfile,
                                    tfrt_host_list_t* out_list) {
  out_list->count = 0;
  if (text && path) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "--hosts and --hostfile both name the workers: give one of them");
  }
  if (text) return tfrt_host_list_parse(text, out_list);
  if (!path) return NULL;
  tfrt_status_t status = tfrt_hostfile_read(path, hostfile);
  if (status) return tfrt_status_take_annotate(status, "--hostfile");
  for (uint32_t i = 0; i < hostfile->count; ++i) {
    out_list->addresses[i] = tfrt_string_view_of(hostfile->addresses[i]);
  }
  out_list->count = hostfile->count;
  return NULL;
}
