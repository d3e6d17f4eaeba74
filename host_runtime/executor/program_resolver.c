// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/executor/program_resolver.h"

#include <string.h>

#include "host_runtime/bef/bef_attribute.h"
#include "host_runtime/executor/attribute_layout.h"
#include "host_runtime/executor/schedule.h"
#include "host_runtime/executor/sync_resolver.h"

// How many arguments of one kernel that are |register_index| have been met.
typedef struct tfrt_program_resolver_seen_s {
  uint32_t register_index;
  uint32_t occurrences;
} tfrt_program_resolver_seen_t;

static tfrt_status_t tfrt_program_resolver_out_of_memory(void) {
  return tfrt_status_create(TFRT_STATUS_RESOURCE_EXHAUSTED, "no memory to load the program");
}

// Gives |status| the place of |kernel| in |function| as its origin.
static tfrt_status_t tfrt_program_resolver_take_locate(tfrt_status_t status,
                                                       const tfrt_bef_function_t* function,
                                                       const tfrt_bef_kernel_t* kernel,
                                                       const tfrt_program_t* program) {
  tfrt_bef_source_location_t location;
  tfrt_program_locate(program, kernel->location, &location);
  tfrt_status_origin_t origin = {.rank = TFRT_STATUS_NO_RANK,
                                 .function = function->name,
                                 .kernel = kernel->name,
                                 .file = location.file,
                                 .line = location.line,
                                 .column = location.column};
  tfrt_status_t located = tfrt_status_with_origin(status, &origin);
  tfrt_status_release(status);
  return located;
}

// Checks that |actual| of something named |what| fits the table's |expected|.
static tfrt_status_t tfrt_program_resolver_check_count(const char* kernel, const char* what,
                                                       uint32_t actual, uint32_t expected,
                                                       bool variadic) {
  uint32_t least = variadic ? expected - 1 : expected;
  if (actual == least || (variadic && actual > least)) return NULL;
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "kernel '%s' takes %s%u %s but has %u",
                            kernel, variadic ? "at least " : "", least, what, actual);
}

// Checks the shape of |kernel| against its entry in the op table, so that the C function
// can read its frame without looking.
static tfrt_status_t tfrt_program_resolver_check_signature(
    const tfrt_bef_kernel_t* kernel, const tfrt_kernel_descriptor_t* descriptor) {
  uint32_t operands = kernel->argument_count;
  bool trailing_chain = (descriptor->flags & TFRT_KERNEL_TRAILING_CHAIN) &&
                        operands == (uint32_t)descriptor->operand_count + 1;
  TFRT_RETURN_IF_ERROR(tfrt_program_resolver_check_count(
      kernel->name, "operands", trailing_chain ? operands - 1 : operands, descriptor->operand_count,
      descriptor->flags & TFRT_KERNEL_VARIADIC_OPERANDS));
  TFRT_RETURN_IF_ERROR(tfrt_program_resolver_check_count(
      kernel->name, "results", kernel->result_count, descriptor->result_count,
      descriptor->flags & TFRT_KERNEL_VARIADIC_RESULTS));
  uint32_t attributes = 0;
  uint32_t functions = descriptor->region_count;
  bool any_functions = false;
  for (uint32_t i = 0; i < descriptor->attribute_count; ++i) {
    tfrt_attribute_kind_t kind = descriptor->attributes[i].kind;
    if (kind == TFRT_ATTRIBUTE_SYMBOL) ++functions;
    if (kind == TFRT_ATTRIBUTE_SYMBOL_ARRAY) any_functions = true;
    if (kind < TFRT_ATTRIBUTE_SYMBOL) ++attributes;
  }
  TFRT_RETURN_IF_ERROR(tfrt_program_resolver_check_count(
      kernel->name, "attributes", kernel->attribute_count, attributes, false));
  return tfrt_program_resolver_check_count(kernel->name, "functions", kernel->function_count,
                                           functions + any_functions, any_functions);
}

// Checks each attribute of |kernel| against the table, and makes addresses of them.
static tfrt_status_t tfrt_program_resolver_resolve_attributes(
    tfrt_program_t* program, const tfrt_bef_kernel_t* kernel,
    const tfrt_kernel_descriptor_t* descriptor, tfrt_kernel_site_t* site) {
  if (kernel->attribute_count == 0) return NULL;
  const void** addresses =
      tfrt_arena_allocate_array(&program->arena, kernel->attribute_count, sizeof(void*));
  if (!addresses) return tfrt_program_resolver_out_of_memory();
  uint32_t entry = 0;
  for (uint32_t i = 0; i < kernel->attribute_count; ++i, ++entry) {
    while (descriptor->attributes[entry].kind >= TFRT_ATTRIBUTE_SYMBOL) ++entry;
    const tfrt_attribute_descriptor_t* attribute = &descriptor->attributes[entry];
    tfrt_status_t status =
        tfrt_bef_attribute_check(program->attributes, program->attributes_size,
                                 kernel->attributes[i], tfrt_attribute_layout(attribute->kind));
    if (status) {
      return tfrt_status_take_annotate(status, "kernel '%s', attribute '%s'", kernel->name,
                                       attribute->name);
    }
    addresses[i] = program->attributes + kernel->attributes[i];
  }
  site->attributes = addresses;
  return NULL;
}

static tfrt_status_t tfrt_program_resolver_resolve_functions(tfrt_program_t* program,
                                                             const tfrt_bef_kernel_t* kernel,
                                                             tfrt_kernel_site_t* site) {
  if (kernel->function_count == 0) return NULL;
  if (program->op) {
    site->functions = program->op->functions;
    return NULL;
  }
  const tfrt_function_t** functions =
      tfrt_arena_allocate_array(&program->arena, kernel->function_count, sizeof(*functions));
  if (!functions) return tfrt_program_resolver_out_of_memory();
  for (uint32_t i = 0; i < kernel->function_count; ++i) {
    functions[i] = &program->functions[kernel->functions[i]].base;
  }
  site->functions = functions;
  return NULL;
}

static tfrt_status_t tfrt_program_resolver_resolve_call_options(tfrt_program_t* program,
                                                                const tfrt_bef_kernel_t* kernel,
                                                                tfrt_kernel_site_t* site) {
  const tfrt_bef_call_options_t* from = kernel->call_options;
  if (!from) return NULL;
  tfrt_call_options_t* options = tfrt_arena_allocate(&program->arena, sizeof(*options));
  if (!options) return tfrt_program_resolver_out_of_memory();
  *options = (tfrt_call_options_t){.has_host = from->has_host,
                                   .pure = from->pure,
                                   .host = from->host,
                                   .deadline_ms = from->deadline_ms,
                                   .retries = from->retries,
                                   .device = from->device};
  site->call_options = options;
  return NULL;
}

// What |kernel| does with its argument |index|. One that is `bef.nonstrict` waits for none but
// those whose payload it reads: that there must be one, a program can't argue away.
static tfrt_operand_use_t tfrt_program_resolver_use(const tfrt_bef_kernel_t* kernel,
                                                    const tfrt_kernel_descriptor_t* descriptor,
                                                    uint32_t index) {
  if (!descriptor) return TFRT_OPERAND_DEMANDED;
  const tfrt_operand_descriptor_t* operand = tfrt_kernel_descriptor_operand(descriptor, index);
  tfrt_operand_use_t use = operand ? operand->use : TFRT_OPERAND_AWAITED;  // a trailing chain
  bool nonstrict = kernel->call_options && kernel->call_options->nonstrict;
  return nonstrict && use == TFRT_OPERAND_AWAITED ? TFRT_OPERAND_PASSED : use;
}

tfrt_type_id_t tfrt_program_resolver_type_id(const char* type) {
  if (!tfrt_kernel_descriptor_type_is_known(type)) return TFRT_TYPE_NONE;
  tfrt_type_id_t id = TFRT_TYPE_NONE;
  // A type that nobody has registered has no values, so no value can pass: any id that
  // is never given will do.
  return tfrt_type_find(type, &id) ? id : UINT16_MAX;
}

// The type that argument |index| of |kernel| must have at run time, or 0 if any will do
// or the type is known already: |register_types| says what the op table proves.
static tfrt_type_id_t tfrt_program_resolver_type_to_check(
    const tfrt_bef_kernel_t* kernel, const tfrt_kernel_descriptor_t* descriptor, uint32_t index,
    const char* const* register_types) {
  if (!descriptor) return TFRT_TYPE_NONE;
  const tfrt_operand_descriptor_t* operand = tfrt_kernel_descriptor_operand(descriptor, index);
  const char* type = operand ? operand->type : "!tfrt.chain";
  const char* known = register_types[kernel->arguments[index]];
  // One type is mostly one string, since the linker keeps one of each.
  if (known && (known == type || strcmp(known, type) == 0)) return TFRT_TYPE_NONE;
  return tfrt_program_resolver_type_id(type);
}

// Sets |site->uses|. Sites of one kernel share them, if they have as many arguments and nothing of
// their own is said of either call.
static tfrt_status_t tfrt_program_resolver_resolve_uses(tfrt_program_t* program,
                                                        const tfrt_kernel_descriptor_t* descriptor,
                                                        const tfrt_kernel_site_t* model,
                                                        tfrt_kernel_site_t* site) {
  const tfrt_bef_kernel_t* kernel = site->bef;
  if (model && model->bef->argument_count == kernel->argument_count && !kernel->call_options &&
      !model->bef->call_options) {
    site->uses = model->uses;
    return NULL;
  }
  uint8_t* uses = tfrt_arena_allocate_array(&program->arena, kernel->argument_count, sizeof(*uses));
  if (!uses) return tfrt_program_resolver_out_of_memory();
  for (uint32_t i = 0; i < kernel->argument_count; ++i) {
    uses[i] = (uint8_t)tfrt_program_resolver_use(kernel, descriptor, i);
  }
  site->uses = uses;
  return NULL;
}

// Makes |type| the one to check of argument |index| of |site|.
static tfrt_status_t tfrt_program_resolver_add_check(tfrt_program_t* program, uint32_t index,
                                                     tfrt_type_id_t type, tfrt_type_id_t** checks,
                                                     tfrt_kernel_site_t* site) {
  if (!*checks) {
    *checks =
        tfrt_arena_allocate_array(&program->arena, site->bef->argument_count, sizeof(**checks));
    if (!*checks) return tfrt_program_resolver_out_of_memory();
    site->checks = *checks;
  }
  (*checks)[index] = type;
  return NULL;
}

static tfrt_status_t tfrt_program_resolver_resolve_arguments(
    tfrt_program_t* program, tfrt_bef_callable_t* callable,
    const tfrt_kernel_descriptor_t* descriptor, const char* const* register_types,
    tfrt_kernel_site_t* site) {
  const tfrt_bef_kernel_t* kernel = site->bef;
  tfrt_type_id_t* checks = NULL;
  for (uint32_t i = 0; i < kernel->argument_count; ++i) {
    uint8_t* flags = &callable->register_flags[kernel->arguments[i]];
    if (site->uses[i] == TFRT_OPERAND_PASSED) {
      *flags |= TFRT_REGISTER_ANTICIPATED;
      site->nonstrict = true;
      continue;
    }
    ++site->waited_count;
    bool is_awaited = site->uses[i] == TFRT_OPERAND_AWAITED;
    *flags |= is_awaited ? TFRT_REGISTER_AWAITED : TFRT_REGISTER_DEMANDED;
    if (is_awaited) continue;
    tfrt_type_id_t type =
        tfrt_program_resolver_type_to_check(kernel, descriptor, i, register_types);
    if (type == TFRT_TYPE_NONE) continue;
    TFRT_RETURN_IF_ERROR(tfrt_program_resolver_add_check(program, i, type, &checks, site));
  }
  return NULL;
}

// The types that the results of |site| must have, for programs that check all of them.
static tfrt_status_t tfrt_program_resolver_resolve_results(
    tfrt_program_t* program, const tfrt_kernel_descriptor_t* descriptor, tfrt_kernel_site_t* site) {
  uint32_t count = site->bef->result_count;
  if (!descriptor || count == 0) return NULL;
  tfrt_type_id_t* checks = tfrt_arena_allocate_array(&program->arena, count, sizeof(*checks));
  if (!checks) return tfrt_program_resolver_out_of_memory();
  for (uint32_t i = 0; i < count; ++i) {
    const tfrt_result_descriptor_t* result = tfrt_kernel_descriptor_result(descriptor, i);
    checks[i] = result ? tfrt_program_resolver_type_id(result->type) : TFRT_TYPE_NONE;
  }
  site->result_checks = checks;
  return NULL;
}

// Sets the C function of |site|: the form that its function can run.
static tfrt_status_t tfrt_program_resolver_resolve_form(const tfrt_kernel_t* kernel,
                                                        tfrt_kernel_site_t* site) {
  const char* name = site->bef->name;
  if (!kernel->function && !kernel->sync_function) {
    // The first half is what texts expect of TFRT; behind it, what is mostly the reason.
    return tfrt_status_create(TFRT_STATUS_NOT_FOUND,
                              "unknown kernel name '%s' (a kernel library that has it is named "
                              "with --shared_libs)",
                              name);
  }
  if (site->owner->base.kind == TFRT_FUNCTION_SYNC) {
    site->run_sync = kernel->sync_function;
    if (site->run_sync) return NULL;
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "kernel '%s' has no synchronous form, and '%s' is a synchronous "
                              "function (tfrt.sync)",
                              name, site->owner->base.name);
  }
  site->run = kernel->function;
  if (site->run) return NULL;
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                            "kernel '%s' runs only in synchronous functions (tfrt.sync)", name);
}

// Whether |a| and |b|, of one kernel, have as many of everything.
static bool tfrt_program_resolver_has_signature_of(const tfrt_bef_kernel_t* a,
                                                   const tfrt_bef_kernel_t* b) {
  return a->argument_count == b->argument_count && a->result_count == b->result_count &&
         a->attribute_count == b->attribute_count && a->function_count == b->function_count;
}

// |model| is another site of the kernel, which is resolved; or NULL.
static tfrt_status_t tfrt_program_resolver_resolve_kernel(tfrt_program_t* program,
                                                          const tfrt_kernel_t* kernel,
                                                          const tfrt_kernel_site_t* model,
                                                          const char* const* register_types,
                                                          tfrt_kernel_site_t* site) {
  TFRT_RETURN_IF_ERROR(tfrt_program_resolver_resolve_form(kernel, site));
  if (kernel->descriptor) {
    if (!model || !tfrt_program_resolver_has_signature_of(site->bef, model->bef)) {
      TFRT_RETURN_IF_ERROR(tfrt_program_resolver_check_signature(site->bef, kernel->descriptor));
    }
    TFRT_RETURN_IF_ERROR(
        tfrt_program_resolver_resolve_attributes(program, site->bef, kernel->descriptor, site));
  }
  TFRT_RETURN_IF_ERROR(tfrt_program_resolver_resolve_functions(program, site->bef, site));
  TFRT_RETURN_IF_ERROR(tfrt_program_resolver_resolve_call_options(program, site->bef, site));
  TFRT_RETURN_IF_ERROR(
      tfrt_program_resolver_resolve_uses(program, kernel->descriptor, model, site));
  return tfrt_program_resolver_resolve_arguments(program, (tfrt_bef_callable_t*)site->owner,
                                                 kernel->descriptor, register_types, site);
}

tfrt_status_t tfrt_program_resolver_look_up(const tfrt_bef_file_t* file,
                                            const tfrt_kernel_registry_t* registry,
                                            tfrt_arena_t* scratch,
                                            tfrt_program_kernels_t* out_kernels) {
  uint32_t count = tfrt_bef_file_kernel_name_count(file);
  tfrt_kernel_t* by_code = tfrt_arena_allocate_array(scratch, count, sizeof(*by_code));
  const tfrt_kernel_site_t** models = tfrt_arena_allocate_array(scratch, count, sizeof(*models));
  if (!by_code || !models) return tfrt_program_resolver_out_of_memory();
  for (uint32_t i = 0; i < count; ++i) {
    const char* name = tfrt_bef_file_kernel_name(file, i);
    // Nothing need use a name that is listed.
    (void)tfrt_kernel_registry_find(registry, tfrt_string_view_of(name), &by_code[i]);
  }
  *out_kernels = (tfrt_program_kernels_t){
      .by_code = by_code,
      .models = models,
      .checks_types = tfrt_kernel_registry_type_checks(registry),
  };
  return NULL;
}

// Sets |register_types|, for the results of |kernel|, to what the op table says of them. Where it
// leaves the type open that proves nothing: no operand that is checked is of such a type.
static void tfrt_program_resolver_note_types(const tfrt_bef_kernel_t* kernel,
                                             const tfrt_kernel_descriptor_t* descriptor,
                                             const char** register_types) {
  for (uint32_t r = 0; descriptor && r < kernel->result_count; ++r) {
    register_types[kernel->results[r]] =
        r < descriptor->result_count ? descriptor->results[r].type : NULL;
  }
}

// Lists the non-strict kernels of |callable|, which are counted.
static tfrt_status_t tfrt_program_resolver_collect_nonstrict(tfrt_program_t* program,
                                                             tfrt_bef_callable_t* callable) {
  if (callable->nonstrict_count == 0) return NULL;
  callable->nonstrict = tfrt_arena_allocate_array(&program->arena, callable->nonstrict_count,
                                                  sizeof(*callable->nonstrict));
  if (!callable->nonstrict) return tfrt_program_resolver_out_of_memory();
  uint32_t count = 0;
  for (uint32_t k = 1; k < callable->bef->kernel_count; ++k) {
    if (callable->sites[k].nonstrict) callable->nonstrict[count++] = k;
  }
  return NULL;
}

// How argument number |occurrence| (from 0) of |site| that is |register_index| is used.
static bool tfrt_program_resolver_is_passed(const tfrt_kernel_site_t* site, uint32_t register_index,
                                            uint32_t occurrence) {
  for (uint32_t i = 0; i < site->bef->argument_count; ++i) {
    if (site->bef->arguments[i] != register_index) continue;
    if (occurrence-- == 0) return site->uses[i] == TFRT_OPERAND_PASSED;
  }
  return false;
}

// Tells, for each user of the results of |site|, whether the value is only passed to it. A
// kernel stands once in a list of users for each argument; the words are taken to mean these
// arguments in their order. |seen| is room for one pair per kernel.
static tfrt_status_t tfrt_program_resolver_mark_users(tfrt_program_t* program,
                                                      tfrt_bef_callable_t* callable,
                                                      tfrt_kernel_site_t* site,
                                                      tfrt_program_resolver_seen_t* seen) {
  uint32_t count = 0;
  for (uint32_t r = 0; r < site->bef->result_count; ++r) count += site->bef->user_counts[r];
  if (count == 0) return NULL;
  uint8_t* passed_users = tfrt_arena_allocate_array(&program->arena, count, 1);
  if (!passed_users) return tfrt_program_resolver_out_of_memory();
  uint32_t word = 0;
  for (uint32_t r = 0; r < site->bef->result_count; ++r) {
    uint32_t register_index = site->bef->results[r];
    for (uint32_t u = 0; u < site->bef->user_counts[r]; ++u, ++word) {
      uint32_t user = site->bef->users[word];
      if (!callable->sites[user].nonstrict) continue;
      if (seen[user].register_index != register_index) {
        seen[user] = (tfrt_program_resolver_seen_t){.register_index = register_index};
      }
      passed_users[word] = tfrt_program_resolver_is_passed(&callable->sites[user], register_index,
                                                           seen[user].occurrences++);
      if (passed_users[word]) site->passed_users = passed_users;
    }
  }
  return NULL;
}

// Marks the users of all kernels, if any kernel is non-strict.
static tfrt_status_t tfrt_program_resolver_mark_all_users(tfrt_program_t* program,
                                                          tfrt_bef_callable_t* callable,
                                                          tfrt_arena_t* scratch) {
  if (callable->nonstrict_count == 0) return NULL;
  uint32_t kernel_count = callable->bef->kernel_count;
  tfrt_program_resolver_seen_t* seen =
      tfrt_arena_allocate_array(scratch, kernel_count, sizeof(*seen));
  if (!seen) return tfrt_program_resolver_out_of_memory();
  for (uint32_t k = 0; k < kernel_count; ++k) seen[k].register_index = UINT32_MAX;
  for (uint32_t k = 0; k < kernel_count; ++k) {
    TFRT_RETURN_IF_ERROR(
        tfrt_program_resolver_mark_users(program, callable, &callable->sites[k], seen));
  }
  return NULL;
}

// Resolves kernel |index| of |callable|. |register_types| are those that its op table proves, of
// all registers that are set before it.
static tfrt_status_t tfrt_program_resolver_resolve_site(tfrt_program_t* program,
                                                        tfrt_bef_callable_t* callable,
                                                        uint32_t index,
                                                        const tfrt_program_kernels_t* kernels,
                                                        const char** register_types) {
  const tfrt_bef_kernel_t* bef = &callable->bef->kernels[index];
  const tfrt_kernel_t* kernel = &kernels->by_code[bef->code];
  tfrt_kernel_site_t* site = &callable->sites[index];
  *site = (tfrt_kernel_site_t){.bef = bef, .owner = callable};
  TFRT_RETURN_IF_ERROR(tfrt_program_resolver_resolve_kernel(
      program, kernel, kernels->models[bef->code], register_types, site));
  kernels->models[bef->code] = site;
  callable->nonstrict_count += site->nonstrict;
  if (kernels->checks_types) {
    // No type counts as known then.
    TFRT_RETURN_IF_ERROR(tfrt_program_resolver_resolve_results(program, kernel->descriptor, site));
  } else {
    tfrt_program_resolver_note_types(bef, kernel->descriptor, register_types);
  }
  return callable->base.kind == TFRT_FUNCTION_SYNC ? tfrt_sync_resolver_check_kernel(site) : NULL;
}

// Resolves all kernels of |callable|, for whose sites there is room, and tells |survey| of each;
// NULL: nobody wants to know.
static tfrt_status_t tfrt_program_resolver_resolve_sites(tfrt_program_t* program,
                                                         tfrt_bef_callable_t* callable,
                                                         const tfrt_program_kernels_t* kernels,
                                                         const char** register_types,
                                                         tfrt_schedule_survey_t* survey) {
  const tfrt_bef_function_t* bef = callable->bef;
  callable->sites[0] = (tfrt_kernel_site_t){.bef = &bef->kernels[0], .owner = callable};
  for (uint32_t k = 1; k < bef->kernel_count; ++k) {
    tfrt_status_t status =
        tfrt_program_resolver_resolve_site(program, callable, k, kernels, register_types);
    if (status) {
      return tfrt_program_resolver_take_locate(status, bef, &bef->kernels[k], program);
    }
    if (survey) tfrt_schedule_survey_add(survey, &callable->sites[k], k);
  }
  return NULL;
}

tfrt_status_t tfrt_program_resolver_run(tfrt_program_t* program, tfrt_bef_callable_t* callable,
                                        const tfrt_program_kernels_t* kernels,
                                        tfrt_arena_t* scratch) {
  const tfrt_bef_function_t* bef = callable->bef;
  bool is_sync = callable->base.kind == TFRT_FUNCTION_SYNC;
  const char** register_types =
      tfrt_arena_allocate_array(scratch, (size_t)bef->register_count + 1, sizeof(*register_types));
  callable->sites =
      tfrt_arena_allocate_room(&program->arena, bef->kernel_count, sizeof(*callable->sites));
  callable->register_flags =
      tfrt_arena_allocate_array(&program->arena, (size_t)bef->register_count + 1, 1);
  if (!register_types || !callable->sites || !callable->register_flags) {
    return tfrt_program_resolver_out_of_memory();
  }
  tfrt_schedule_survey_t survey;
  TFRT_RETURN_IF_ERROR(
      tfrt_schedule_survey_initialize(&survey, callable, kernels->by_code, scratch));
  TFRT_RETURN_IF_ERROR(tfrt_program_resolver_resolve_sites(
      program, callable, kernels, register_types, is_sync ? NULL : &survey));
  if (is_sync) return tfrt_sync_resolver_run(program, callable, scratch);
  for (uint32_t i = 0; i < bef->result_count; ++i) {
    callable->register_flags[bef->result_registers[i]] |= TFRT_REGISTER_ANTICIPATED;
  }
  TFRT_RETURN_IF_ERROR(tfrt_program_resolver_collect_nonstrict(program, callable));
  TFRT_RETURN_IF_ERROR(tfrt_program_resolver_mark_all_users(program, callable, scratch));
  return tfrt_schedule_create(program, callable, &survey, scratch);
}
