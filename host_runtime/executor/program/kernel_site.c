// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/executor/kernel/kernel_site.h"

#include "host_runtime/executor/program/program_impl.h"

// The name of the function that an error of |callable| is said to come from: a region has none.
static const char* kernel_site_function_name(const tfrt_bef_callable_t* callable) {
  if (callable->base.name[0] != '\0' || !callable->owner->file) return callable->base.name;
  return tfrt_bef_file_enclosing_function(callable->owner->file, callable->bef)->name;
}

void tfrt_kernel_site_origin(const tfrt_kernel_site_t* site, tfrt_status_origin_t* out_origin) {
  *out_origin = (tfrt_status_origin_t){.rank = TFRT_STATUS_NO_RANK};
  if (!site) return;
  tfrt_bef_source_location_t location;
  tfrt_program_locate(site->binding->owner->owner, tfrt_kernel_site_record(site)->location,
                      &location);
  out_origin->function = kernel_site_function_name(site->binding->owner);
  out_origin->kernel = site->binding->name;
  out_origin->file = location.file;
  out_origin->line = location.line;
  out_origin->column = location.column;
}

bool tfrt_kernel_site_takes_chain(const tfrt_kernel_site_t* site, uint32_t index) {
  if (!site) return false;
  const tfrt_function_t* function = &site->binding->owner->base;
  // The function's arguments have the first registers.
  const uint32_t argument = tfrt_bef_record_arguments(tfrt_kernel_site_record(site))[index];
  return argument < function->argument_count &&
         strcmp(function->argument_types[argument], "!tfrt.chain") == 0;
}

bool tfrt_kernel_site_waits_for(const tfrt_kernel_site_t* site, uint32_t index) {
  return !site || site->binding->uses[index] != TFRT_OPERAND_PASSED;
}

// The most users of a result that are looked at.
#define TFRT_KERNEL_SITE_MAX_USERS 16u

static bool kernel_site_is_returned(const tfrt_kernel_site_t* site, uint32_t result) {
  const tfrt_bef_function_t* function = site->binding->owner->bef;
  const uint32_t value = tfrt_bef_record_results(tfrt_kernel_site_record(site))[result];
  for (uint32_t i = 0; i < function->result_count; ++i) {
    if (function->result_registers[i] == value) return true;
  }
  return false;
}

uint32_t tfrt_kernel_site_user_hosts(const tfrt_kernel_site_t* site, uint32_t result,
                                     uint32_t* hosts, uint32_t room, bool* out_all) {
  *out_all = false;
  const tfrt_bef_record_t* record = tfrt_kernel_site_record(site);
  if (result >= record->result_count) return 0;
  const uint32_t* user_counts = tfrt_bef_record_user_counts(record);
  const uint32_t* users = tfrt_bef_record_users(record);
  for (uint32_t r = 0; r < result; ++r) users += user_counts[r];
  uint32_t count = 0;
  for (uint32_t u = 0; u < user_counts[result] && u < TFRT_KERNEL_SITE_MAX_USERS; ++u) {
    const tfrt_call_options_t* options =
        site->binding->owner->sites[users[u]].binding->call_options;
    if (options && options->has_host && count < room) hosts[count++] = options->host;
  }
  *out_all = count == user_counts[result] && !kernel_site_is_returned(site, result);
  return count;
}

struct tfrt_program_s* tfrt_kernel_site_program(const tfrt_kernel_site_t* site) {
  return site->binding->owner->owner;
}

const tfrt_kernel_site_t* tfrt_kernel_site_retain(const tfrt_kernel_site_t* site) {
  if (site) tfrt_program_retain(site->binding->owner->owner);
  return site;
}

void tfrt_kernel_site_release(const tfrt_kernel_site_t* site) {
  if (site) tfrt_program_release(site->binding->owner->owner);
}

uint32_t tfrt_kernel_site_location(const tfrt_kernel_site_t* site) {
  return tfrt_kernel_site_record(site)->location;
}

bool tfrt_kernel_site_append_debug_name(const tfrt_kernel_site_t* site,
                                        tfrt_string_builder_t* out) {
  const tfrt_program_t* program = site->binding->owner->owner;
  if (program->op) return false;
  return tfrt_bef_file_location_append_debug_name(program->file,
                                                  tfrt_kernel_site_record(site)->location, out);
}

tfrt_status_t tfrt_kernel_site_take_status(const tfrt_kernel_site_t* site, tfrt_status_t status) {
  tfrt_status_origin_t origin;
  tfrt_kernel_site_origin(site, &origin);
  tfrt_status_t located = tfrt_status_with_origin(status, &origin);
  // An error with an origin was reported when it was made.
  bool is_new = located != status;
  tfrt_status_release(status);
  if (!is_new || !site || tfrt_kernel_site_record(site)->location == TFRT_KERNEL_SITE_NATIVE)
    return located;
  const tfrt_error_listener_t* listener = &site->binding->owner->owner->error_listener;
  if (listener->on_error) listener->on_error(listener->data, located);
  return located;
}

void tfrt_kernel_site_fail_take(const tfrt_kernel_site_t* site, tfrt_async_value_t* value,
                                tfrt_status_t status) {
  tfrt_status_t located = tfrt_kernel_site_take_status(site, status);
  tfrt_async_value_set_error(value, located);
  tfrt_status_release(located);
}
