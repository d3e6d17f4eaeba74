// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/executor/call/strict_call.h"
#include "host_runtime/executor/loader/program_resolver.h"

// By kind of function, TFRT_BEF_FUNCTION_*.
static const struct {
  tfrt_function_kind_t kind;
  tfrt_function_vtable_t vtable;
} tfrt_program_loader_kinds[] = {
    [TFRT_BEF_FUNCTION_ASYNC] = {TFRT_FUNCTION_ASYNC,
                                 {tfrt_bef_callable_execute, tfrt_bef_callable_execute_take}},
    [TFRT_BEF_FUNCTION_NATIVE] = {TFRT_FUNCTION_NATIVE,
                                  {tfrt_native_function_execute,
                                   tfrt_native_function_execute_take}},
    [TFRT_BEF_FUNCTION_SYNC] = {TFRT_FUNCTION_SYNC,
                                {tfrt_sync_function_execute, tfrt_sync_function_execute_take}},
};

static tfrt_status_t program_loader_out_of_memory(void) {
  return tfrt_status_create(TFRT_STATUS_RESOURCE_EXHAUSTED, "no memory to load the program");
}

static void program_loader_initialize_function(tfrt_program_t* program, uint32_t index) {
  tfrt_bef_callable_t* callable = &program->functions[index];
  const tfrt_bef_function_t* bef = tfrt_bef_file_function(program->file, index);
  callable->bef = bef;
  callable->owner = program;
  callable->base = (tfrt_function_t){.vtable = &tfrt_program_loader_kinds[bef->kind].vtable,
                                     .name = bef->name,
                                     .argument_types = bef->argument_types,
                                     .result_types = bef->result_types,
                                     .argument_count = bef->argument_count,
                                     .result_count = bef->result_count,
                                     .kind = tfrt_program_loader_kinds[bef->kind].kind,
                                     .program = program,
                                     .index = index};
}

static tfrt_status_t program_loader_resolve_function(tfrt_program_t* program,
                                                     tfrt_bef_callable_t* callable,
                                                     const tfrt_kernel_registry_t* registry,
                                                     tfrt_kernel_binder_t* binder) {
  if (callable->base.kind == TFRT_FUNCTION_NATIVE) {
    return tfrt_native_resolver_run(program, callable, registry);
  }
  tfrt_arena_t scratch;
  tfrt_arena_initialize(&scratch, program->allocator);
  tfrt_status_t status = tfrt_program_resolver_run(binder, callable, &scratch);
  tfrt_arena_deinitialize(&scratch);
  return status;
}

// |scratch| is for what is needed until all functions are resolved.
static tfrt_status_t program_loader_resolve(tfrt_program_t* program,
                                            const tfrt_kernel_registry_t* registry,
                                            tfrt_arena_t* scratch) {
  program->functions = tfrt_arena_allocate_array(&program->arena, program->function_count,
                                                 sizeof(*program->functions));
  if (!program->functions && program->function_count > 0) return program_loader_out_of_memory();
  for (uint32_t i = 0; i < program->function_count; ++i) {
    program_loader_initialize_function(program, i);
  }
  tfrt_kernel_binder_t binder;
  TFRT_RETURN_IF_ERROR(tfrt_kernel_binder_initialize(
      &binder, program, registry, tfrt_bef_file_kernel_names(program->file),
      tfrt_bef_file_kernel_name_count(program->file), scratch));
  for (uint32_t i = 0; i < program->function_count; ++i) {
    TFRT_RETURN_IF_ERROR(
        program_loader_resolve_function(program, &program->functions[i], registry, &binder));
  }
  return NULL;
}

tfrt_status_t tfrt_program_create(tfrt_bef_file_t* file, const tfrt_kernel_registry_t* registry,
                                  tfrt_allocator_t allocator, tfrt_program_t** out_program) {
  *out_program = NULL;
  tfrt_program_t* program = tfrt_allocator_allocate_zeroed(allocator, sizeof(*program));
  if (!program) return program_loader_out_of_memory();
  tfrt_ref_count_initialize(&program->ref_count);
  program->allocator = allocator;
  tfrt_arena_initialize(&program->arena, allocator);
  tfrt_resource_context_initialize(&program->resources);
  program->file = tfrt_bef_file_retain(file);
  program->attributes = tfrt_bef_file_attributes(file, &program->attributes_size);
  program->function_count = tfrt_bef_file_function_count(file);
  tfrt_arena_t scratch;
  tfrt_arena_initialize(&scratch, allocator);
  tfrt_status_t status = program_loader_resolve(program, registry, &scratch);
  tfrt_arena_deinitialize(&scratch);
  if (tfrt_status_is_ok(status)) {
    *out_program = program;
  } else {
    tfrt_program_release(program);
  }
  return status;
}
