// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/executor/loader/program_resolver.h"

static bool native_resolver_count_fits(uint32_t count, uint32_t entries, bool variadic) {
  return variadic ? count + 1 >= entries : count == entries;
}

// Checks the signature that the program declares against that of the C function.
static tfrt_status_t native_resolver_check(const tfrt_function_t* function,
                                           const tfrt_kernel_descriptor_t* descriptor) {
  if (!native_resolver_count_fits(function->argument_count, descriptor->operand_count,
                                  descriptor->flags & TFRT_KERNEL_VARIADIC_OPERANDS) ||
      !native_resolver_count_fits(function->result_count, descriptor->result_count,
                                  descriptor->flags & TFRT_KERNEL_VARIADIC_RESULTS)) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "native function '%s' doesn't take %u arguments and give %u results",
                              function->name, function->argument_count, function->result_count);
  }
  for (uint32_t i = 0; i < function->argument_count; ++i) {
    const char* type = tfrt_kernel_descriptor_operand(descriptor, i)->type;
    if (tfrt_kernel_descriptor_type_allows(type, function->argument_types[i])) continue;
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "native function '%s' takes %s as argument %u, not %s",
                              function->name, type, i, function->argument_types[i]);
  }
  for (uint32_t i = 0; i < function->result_count; ++i) {
    const char* type = tfrt_kernel_descriptor_result(descriptor, i)->type;
    if (tfrt_kernel_descriptor_type_allows(type, function->result_types[i])) continue;
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "native function '%s' gives %s as result %u, not %s", function->name,
                              type, i, function->result_types[i]);
  }
  return NULL;
}

// Gives |callable| its one site.
static tfrt_status_t native_resolver_make_site(tfrt_program_t* program,
                                               tfrt_bef_callable_t* callable,
                                               const tfrt_kernel_t* native) {
  const tfrt_function_t* function = &callable->base;
  tfrt_kernel_site_t* site = tfrt_arena_allocate(&program->arena, sizeof(*site));
  tfrt_kernel_binding_t* binding = tfrt_arena_allocate(&program->arena, sizeof(*binding));
  tfrt_bef_record_t* record = tfrt_arena_allocate(&program->arena, sizeof(*record));
  tfrt_type_id_t* checks = tfrt_arena_allocate_array(
      &program->arena, (size_t)function->argument_count + 1, sizeof(*checks));
  if (!site || !binding || !record || !checks) {
    return tfrt_status_create(TFRT_STATUS_RESOURCE_EXHAUSTED, "no memory to load the program");
  }
  for (uint32_t i = 0; i < function->argument_count; ++i) {
    checks[i] =
        tfrt_kernel_binder_type_id(tfrt_kernel_descriptor_operand(native->descriptor, i)->type);
  }
  // The site has no kernel, only the names that errors and traces show.
  *record = (tfrt_bef_record_t){.location = TFRT_KERNEL_SITE_NATIVE,
                                .argument_count = function->argument_count,
                                .result_count = function->result_count};
  *binding = (tfrt_kernel_binding_t){.run = native->function,
                                     .name = function->name,
                                     .owner = callable,
                                     .records = (const uint8_t*)record,
                                     .checks = checks};
  *site = (tfrt_kernel_site_t){.binding = binding};
  callable->sites = site;
  return NULL;
}

tfrt_status_t tfrt_native_resolver_run(tfrt_program_t* program, tfrt_bef_callable_t* callable,
                                       const tfrt_kernel_registry_t* registry) {
  const char* name = callable->base.name;
  tfrt_kernel_t native;
  if (!tfrt_kernel_registry_find_native(registry, tfrt_string_view_of(name), &native)) {
    return tfrt_status_create(
        TFRT_STATUS_NOT_FOUND,
        "native function '%s' is not registered in this process (a library that "
        "has it is named with --shared_libs)",
        name);
  }
  TFRT_RETURN_IF_ERROR(native_resolver_check(&callable->base, native.descriptor));
  return native_resolver_make_site(program, callable, &native);
}
