// SPDX-License-Identifier: Apache-2.0
#include "tools/coordinator/device_placement.h"

#include <string.h>

// The program, and the function that asks a host for a device.
typedef struct tfrt_device_placement_s {
  const tfrt_bef_file_t* file;
  uint32_t host_count;
  tfrt_device_placement_ask_fn_t ask;
  void* self;
} tfrt_device_placement_t;

// The error for a call that is placed on a device that host |rank| lacks, with the place of the
// call; |status| is consumed.
static tfrt_status_t device_placement_refuse(const tfrt_device_placement_t* placement,
                                             const tfrt_bef_function_t* function,
                                             const tfrt_bef_kernel_t* kernel, uint32_t rank,
                                             tfrt_status_t status) {
  // A new one: the error of the host that was asked has an origin already, and the first one stays.
  tfrt_status_t plain =
      tfrt_status_create(tfrt_status_code(status), "host %u lacks the device %s of a call: %s",
                         rank, kernel->call_options->device, tfrt_status_message(status));
  tfrt_status_origin_t origin = {
      .rank = TFRT_STATUS_NO_RANK,
      .function = tfrt_bef_file_enclosing_function(placement->file, function)->name,
      .kernel = kernel->name};
  tfrt_bef_source_location_t location;
  if (tfrt_bef_file_source_location(placement->file, kernel->location, &location)) {
    origin.file = location.file;
    origin.line = location.line;
    origin.column = location.column;
  }
  tfrt_status_t located = tfrt_status_with_origin(plain, &origin);
  tfrt_status_release(plain);
  tfrt_status_release(status);
  return located;
}

static tfrt_status_t device_placement_check_call(const tfrt_device_placement_t* placement,
                                                 const tfrt_bef_function_t* function,
                                                 const tfrt_bef_kernel_t* kernel) {
  const tfrt_bef_call_options_t* options = kernel->call_options;
  if (!options->device) return NULL;
  bool is_for_all = strcmp(kernel->name, "tfrt_dist.call_all") == 0;
  if (!options->has_host && !is_for_all) return NULL;
  for (uint32_t rank = 0; rank < placement->host_count; ++rank) {
    if (!is_for_all && rank != options->host) continue;
    tfrt_status_t status = placement->ask(placement->self, rank, options->device);
    if (status) return device_placement_refuse(placement, function, kernel, rank, status);
  }
  return NULL;
}

tfrt_status_t tfrt_device_placement_check(const tfrt_bef_file_t* file, uint32_t host_count,
                                          tfrt_device_placement_ask_fn_t ask, void* self) {
  const tfrt_device_placement_t placement = {
      .file = file, .host_count = host_count, .ask = ask, .self = self};
  for (uint32_t i = 0; i < tfrt_bef_file_function_count(file); ++i) {
    const tfrt_bef_function_t* function = tfrt_bef_file_function(file, i);
    for (uint32_t c = 0; c < function->call_options_count; ++c) {
      const tfrt_bef_kernel_t kernel =
          tfrt_bef_file_kernel(file, function, function->call_options[c].kernel);
      TFRT_RETURN_IF_ERROR(device_placement_check_call(&placement, function, &kernel));
    }
  }
  return NULL;
}

bool tfrt_device_placement_is_needed(const tfrt_bef_file_t* file) {
  for (uint32_t i = 0; i < tfrt_bef_file_function_count(file); ++i) {
    const tfrt_bef_function_t* function = tfrt_bef_file_function(file, i);
    for (uint32_t c = 0; c < function->call_options_count; ++c) {
      if (function->call_options[c].options.device) return true;
    }
  }
  return false;
}
