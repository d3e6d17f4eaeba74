// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/executor/program/program.h"

#include "host_runtime/executor/program/program_impl.h"
#include "host_runtime/executor/program/race_watch.h"
#include "host_runtime/executor/program/schedule.h"

tfrt_program_t* tfrt_program_retain(tfrt_program_t* program) {
  tfrt_ref_count_increment(&program->ref_count);
  return program;
}

void tfrt_program_release(tfrt_program_t* program) {
  if (!program || !tfrt_ref_count_decrement(&program->ref_count)) return;
  tfrt_allocator_t allocator = program->allocator;
  if (program->watches_races) tfrt_race_watch_forget(program);
  for (uint32_t i = 0; program->op && i < program->op->function_count; ++i) {
    tfrt_program_release((tfrt_program_t*)program->op->functions[i]->program);
  }
  for (uint32_t i = 0; program->functions && i < program->function_count; ++i) {
    tfrt_schedule_release_constants(program->functions[i].schedule);
  }
  tfrt_resource_context_deinitialize(&program->resources);
  tfrt_bef_file_release(program->file);
  tfrt_arena_deinitialize(&program->arena);
  tfrt_allocator_free(allocator, program, sizeof(*program));
}

void tfrt_program_set_error_listener(tfrt_program_t* program, tfrt_error_listener_t listener) {
  program->error_listener = listener;
}

tfrt_resource_context_t* tfrt_program_resources(tfrt_program_t* program) {
  return &program->resources;
}

tfrt_allocator_t tfrt_program_allocator(const tfrt_program_t* program) {
  return program->allocator;
}

tfrt_bef_file_t* tfrt_program_file(const tfrt_program_t* program) { return program->file; }

void tfrt_program_locate(const tfrt_program_t* program, uint32_t location,
                         tfrt_bef_source_location_t* out_place) {
  if (program->op) {
    *out_place = program->op->place;
  } else {
    tfrt_bef_file_source_location(program->file, location, out_place);
  }
}

uint32_t tfrt_program_function_count(const tfrt_program_t* program) {
  return program->function_count;
}

const tfrt_function_t* tfrt_program_function(const tfrt_program_t* program, uint32_t index) {
  return &program->functions[index].base;
}

const tfrt_function_t* tfrt_program_find_function(const tfrt_program_t* program, const char* name) {
  if (program->op) return NULL;
  const tfrt_bef_function_t* function = tfrt_bef_file_find_function(program->file, name);
  return function ? &program->functions[function->index].base : NULL;
}

const tfrt_function_t* tfrt_function_retain(const tfrt_function_t* function) {
  if (function->program) tfrt_program_retain((tfrt_program_t*)function->program);
  return function;
}

void tfrt_function_release(const tfrt_function_t* function) {
  tfrt_program_release((tfrt_program_t*)function->program);
}
