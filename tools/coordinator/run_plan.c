// SPDX-License-Identifier: Apache-2.0
#include "tools/coordinator/run_plan.h"

#include <stdio.h>

#include "tools/command_line/argument_values.h"
#include "tools/models/model_loader.h"
#include "tools/translation/cost_profile_file.h"
#include "tools/translation/program_loader.h"

// Loads the file that |options| name, with |profile| for a text (NULL: none).
static tfrt_status_t run_plan_load_file_with(tfrt_run_plan_t* plan,
                                             const tfrt_run_options_t* options,
                                             tfrt_cost_profile_t* profile) {
  const tfrt_text_to_bef_options_t translation = {.no_insert_chains = options->no_insert_chains,
                                                  .profile = profile};
  if (profile && tfrt_model_loader_is_model(options->path)) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "%s is a model: --" TFRT_USE_PROFILE_FLAG
                              " goes with programs as text; see tfrt import",
                              options->path);
  }
  tfrt_string_builder_t diagnostics, summary;
  tfrt_string_builder_initialize(&diagnostics, tfrt_allocator_system());
  tfrt_string_builder_initialize(&summary, tfrt_allocator_system());
  tfrt_status_t status =
      tfrt_model_loader_is_model(options->path)
          ? tfrt_model_loader_load(options->path, &options->model, &diagnostics, &summary,
                                   &plan->file)
          : tfrt_program_loader_load(options->path, &translation, &diagnostics, &plan->file);
  fputs(tfrt_string_builder_text(&diagnostics), stderr);
  if (options->is_verbose) fputs(tfrt_string_builder_text(&summary), stderr);
  // People have read the reasons just now; a program that reads JSON has not.
  if (status && diagnostics.size > 0 && !options->is_json) {
    tfrt_status_code_t code = tfrt_status_code(status);
    tfrt_status_release(status);
    status = tfrt_status_create(code, "%s can't be translated", options->path);
  }
  tfrt_string_builder_deinitialize(&diagnostics);
  tfrt_string_builder_deinitialize(&summary);
  return status;
}

static tfrt_status_t run_plan_load_file(tfrt_run_plan_t* plan, const tfrt_run_options_t* options) {
  if (!options->records.used_profile) return run_plan_load_file_with(plan, options, NULL);
  tfrt_cost_profile_t profile;
  tfrt_cost_profile_initialize(&profile, tfrt_allocator_system());
  tfrt_status_t status = tfrt_cluster_file_locate(
      &options->cluster_file, options->records.used_profile,
      tfrt_cost_profile_file_load(options->records.used_profile, &profile));
  if (!status) status = run_plan_load_file_with(plan, options, &profile);
  tfrt_cost_profile_deinitialize(&profile);
  return status;
}

static size_t run_plan_value_count(const tfrt_run_plan_t* plan) {
  return (size_t)plan->function->argument_count + plan->function->result_count;
}

tfrt_status_t tfrt_run_plan_load(tfrt_run_plan_t* plan, const tfrt_run_options_t* options,
                                 const tfrt_kernel_registry_t* registry) {
  *plan = (tfrt_run_plan_t){0};
  TFRT_RETURN_IF_ERROR(run_plan_load_file(plan, options));
  TFRT_RETURN_IF_ERROR(
      tfrt_program_create(plan->file, registry, tfrt_allocator_system(), &plan->program));
  plan->function = tfrt_program_find_function(plan->program, options->function_name);
  if (!plan->function) {
    return tfrt_status_create(TFRT_STATUS_NOT_FOUND,
                              "%s: there is no function '%s'; --function names another",
                              options->path, options->function_name);
  }
  size_t count = run_plan_value_count(plan);
  plan->arguments = tfrt_allocator_allocate_zeroed(tfrt_allocator_system(),
                                                   (count + 1) * sizeof(*plan->arguments));
  if (!plan->arguments) return tfrt_status_out_of_memory();
  plan->results = plan->arguments + plan->function->argument_count;
  plan->ended = plan->results + plan->function->result_count;
  return tfrt_argument_values_parse(tfrt_bef_file_function(plan->file, plan->function->index),
                                    &options->arguments, &options->images, plan->arguments);
}

void tfrt_run_plan_deinitialize(tfrt_run_plan_t* plan) {
  if (plan->arguments) {
    size_t count = run_plan_value_count(plan);
    for (size_t i = 0; i <= count; ++i) tfrt_async_value_release(plan->arguments[i]);
    tfrt_allocator_free(tfrt_allocator_system(), plan->arguments,
                        (count + 1) * sizeof(*plan->arguments));
  }
  tfrt_program_release(plan->program);
  tfrt_bef_file_release(plan->file);
}
