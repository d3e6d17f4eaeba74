// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/executor/loader/kernel_binder.h"

#include <string.h>

#include "host_runtime/base/plural.h"
#include "host_runtime/bef/bef_attribute.h"
#include "host_runtime/executor/descriptor/attribute_layout.h"
#include "host_runtime/executor/descriptor/similar_name.h"
#include "host_runtime/executor/program/race_watch.h"

// A kernel while it is bound.
typedef struct tfrt_kernel_binder_job_s {
  tfrt_kernel_binder_t* binder;
  tfrt_kernel_model_t* model;
  const tfrt_bef_record_t* record;
  const tfrt_bef_call_options_t* options;  // NULL: none
  tfrt_kernel_binding_t* binding;
} tfrt_kernel_binder_job_t;

static tfrt_status_t kernel_binder_out_of_memory(void) {
  return tfrt_status_create(TFRT_STATUS_RESOURCE_EXHAUSTED, "no memory to load the program");
}

// --- Signatures --------------------------------------------------------------

// The first half is what texts expect of TFRT; behind it, what is mostly the reason.
static tfrt_status_t kernel_binder_unknown(const tfrt_kernel_binder_job_t* job) {
  const char* name = job->model->name;
  size_t count;
  const tfrt_kernel_table_t* tables = tfrt_kernel_registry_tables(job->binder->registry, &count);
  const tfrt_kernel_descriptor_t* similar =
      tfrt_similar_name_find(tables, count, tfrt_string_view_of(name));
  if (similar) {
    return tfrt_status_create(TFRT_STATUS_NOT_FOUND, "unknown kernel name '%s'; did you mean '%s'?",
                              name, similar->name);
  }
  return tfrt_status_create(TFRT_STATUS_NOT_FOUND,
                            "unknown kernel name '%s' (a kernel library that has it is named "
                            "with --shared_libs)",
                            name);
}

// Sets the C function: the form that the function can run.
static tfrt_status_t kernel_binder_bind_function(const tfrt_kernel_binder_job_t* job) {
  const char* name = job->model->name;
  const tfrt_kernel_t* kernel = &job->model->kernel;
  const tfrt_function_t* owner = &job->binder->callable->base;
  if (!kernel->function && !kernel->sync_function) return kernel_binder_unknown(job);
  if (owner->kind == TFRT_FUNCTION_SYNC) {
    job->binding->run_sync = kernel->sync_function;
    if (kernel->sync_function) return NULL;
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "kernel '%s' has no synchronous form, and '%s' is a synchronous "
                              "function (tfrt.sync)",
                              name, owner->name);
  }
  job->binding->run = kernel->function;
  if (kernel->function) return NULL;
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                            "kernel '%s' runs only in synchronous functions (tfrt.sync)", name);
}

// Checks that |actual|, a count of things named |what|, fits the table's |expected|.
static tfrt_status_t kernel_binder_check_count(const char* kernel, const char* what,
                                               uint32_t actual, uint32_t expected, bool variadic) {
  uint32_t least = variadic ? expected - 1 : expected;
  if (actual == least || (variadic && actual > least)) return NULL;
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "kernel '%s' takes %s%u %s%s but has %u",
                            kernel, variadic ? "at least " : "", least, what, tfrt_plural(least),
                            actual);
}

// Checks the counts of |record| against the op table, so that the C function can read its frame
// without looking.
static tfrt_status_t kernel_binder_check_signature(const char* name,
                                                   const tfrt_bef_record_t* record,
                                                   const tfrt_kernel_descriptor_t* descriptor) {
  uint32_t operands = record->argument_count;
  bool trailing_chain = (descriptor->flags & TFRT_KERNEL_TRAILING_CHAIN) &&
                        operands == (uint32_t)descriptor->operand_count + 1;
  TFRT_RETURN_IF_ERROR(kernel_binder_check_count(
      name, "operand", trailing_chain ? operands - 1 : operands, descriptor->operand_count,
      descriptor->flags & TFRT_KERNEL_VARIADIC_OPERANDS));
  uint32_t results = record->result_count;
  bool chain_result = (descriptor->flags & TFRT_KERNEL_TRAILING_CHAIN_RESULT) &&
                      results == (uint32_t)descriptor->result_count + 1;
  TFRT_RETURN_IF_ERROR(kernel_binder_check_count(
      name, "result", chain_result ? results - 1 : results, descriptor->result_count,
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
  TFRT_RETURN_IF_ERROR(
      kernel_binder_check_count(name, "attribute", record->attribute_count, attributes, false));
  return kernel_binder_check_count(name, "function", record->function_count,
                                   functions + any_functions, any_functions);
}

// --- What the kernel is given ------------------------------------------------

// Checks each attribute against the table, and makes addresses of them.
static tfrt_status_t kernel_binder_bind_attributes(const tfrt_kernel_binder_job_t* job) {
  const uint32_t count = job->record->attribute_count;
  const tfrt_program_t* program = job->binder->program;
  const tfrt_kernel_descriptor_t* descriptor = job->model->kernel.descriptor;
  if (count == 0 || !descriptor) return NULL;
  const uint32_t* offsets = tfrt_bef_record_attributes(job->record);
  const void** addresses =
      tfrt_arena_allocate_array(&job->binder->program->arena, count, sizeof(void*));
  if (!addresses) return kernel_binder_out_of_memory();
  uint32_t entry = 0;
  for (uint32_t i = 0; i < count; ++i, ++entry) {
    while (descriptor->attributes[entry].kind >= TFRT_ATTRIBUTE_SYMBOL) ++entry;
    const tfrt_attribute_descriptor_t* attribute = &descriptor->attributes[entry];
    tfrt_status_t status =
        tfrt_bef_attribute_check(program->attributes, program->attributes_size, offsets[i],
                                 tfrt_attribute_layout(attribute->kind));
    if (status) {
      return tfrt_status_take_annotate(status, "kernel '%s', attribute '%s'", job->model->name,
                                       attribute->name);
    }
    addresses[i] = program->attributes + offsets[i];
  }
  job->binding->attributes = addresses;
  return NULL;
}

static tfrt_status_t kernel_binder_bind_functions(const tfrt_kernel_binder_job_t* job) {
  tfrt_program_t* program = job->binder->program;
  const uint32_t count = job->record->function_count;
  if (count == 0) return NULL;
  if (program->op) {
    job->binding->functions = program->op->functions;
    return NULL;
  }
  const uint32_t* indices = tfrt_bef_record_functions(job->record);
  const tfrt_function_t** functions =
      tfrt_arena_allocate_array(&program->arena, count, sizeof(*functions));
  if (!functions) return kernel_binder_out_of_memory();
  for (uint32_t i = 0; i < count; ++i) functions[i] = &program->functions[indices[i]].base;
  job->binding->functions = functions;
  return NULL;
}

static tfrt_status_t kernel_binder_bind_options(const tfrt_kernel_binder_job_t* job) {
  const tfrt_bef_call_options_t* from = job->options;
  if (!from) return NULL;
  tfrt_call_options_t* options =
      tfrt_arena_allocate(&job->binder->program->arena, sizeof(*options));
  if (!options) return kernel_binder_out_of_memory();
  *options = (tfrt_call_options_t){.has_host = from->has_host,
                                   .pure = from->pure,
                                   .host = from->host,
                                   .deadline_ms = from->deadline_ms,
                                   .retries = from->retries,
                                   .device = from->device};
  job->binding->call_options = options;
  return NULL;
}

// --- Arguments and results ---------------------------------------------------

// The kernel's use of its argument |index|. One that is `bef.nonstrict` waits for none but those
// whose payload it reads: that there must be one, a program can't argue away.
static tfrt_operand_use_t kernel_binder_use(const tfrt_kernel_binder_job_t* job, uint32_t index) {
  const tfrt_kernel_descriptor_t* descriptor = job->model->kernel.descriptor;
  if (!descriptor) return TFRT_OPERAND_DEMANDED;
  const tfrt_operand_descriptor_t* operand = tfrt_kernel_descriptor_operand(descriptor, index);
  tfrt_operand_use_t use = operand ? operand->use : TFRT_OPERAND_AWAITED;  // a trailing chain
  bool nonstrict = job->options && job->options->nonstrict;
  return nonstrict && use == TFRT_OPERAND_AWAITED ? TFRT_OPERAND_PASSED : use;
}

// Sites with as many arguments share their uses, unless something is said of a call.
static tfrt_status_t kernel_binder_bind_uses(const tfrt_kernel_binder_job_t* job) {
  const uint32_t count = job->record->argument_count;
  tfrt_kernel_model_t* model = job->model;
  tfrt_kernel_binding_t* binding = job->binding;
  binding->uses = model->uses;
  if (job->options || !model->uses || model->checked->argument_count != count) {
    uint8_t* uses = tfrt_arena_allocate_array(&job->binder->program->arena, count, sizeof(*uses));
    if (!uses) return kernel_binder_out_of_memory();
    for (uint32_t i = 0; i < count; ++i) uses[i] = (uint8_t)kernel_binder_use(job, i);
    binding->uses = uses;
  }
  model->checked = job->record;
  model->uses = job->options ? NULL : binding->uses;
  for (uint32_t i = 0; i < count; ++i) {
    bool is_passed = binding->uses[i] == TFRT_OPERAND_PASSED;
    binding->nonstrict |= is_passed;
    binding->waited_count += !is_passed;
  }
  return NULL;
}

tfrt_type_id_t tfrt_kernel_binder_type_id(const char* type) {
  if (!tfrt_kernel_descriptor_type_is_known(type)) return TFRT_TYPE_NONE;
  tfrt_type_id_t id = TFRT_TYPE_NONE;
  // A type that nobody has registered has no values, so no value can pass: any id that
  // is never given will do.
  return tfrt_type_find(type, &id) ? id : UINT16_MAX;
}

bool tfrt_kernel_binder_type_is_proven(const char* type, const char* known) {
  return !type || (known && strcmp(type, known) == 0);
}

// The type that argument |index| must be known to have, or NULL if any will do: nobody reads the
// payload of what is only waited for or passed on.
static const char* kernel_binder_wanted_type(const tfrt_kernel_binder_job_t* job, uint32_t index) {
  const tfrt_kernel_descriptor_t* descriptor = job->model->kernel.descriptor;
  const uint8_t use = job->binding->uses[index];
  if (!descriptor || use == TFRT_OPERAND_AWAITED || use == TFRT_OPERAND_PASSED) return NULL;
  const tfrt_operand_descriptor_t* operand = tfrt_kernel_descriptor_operand(descriptor, index);
  const char* type = operand ? operand->type : "!tfrt.chain";
  return tfrt_kernel_descriptor_type_is_known(type) ? type : NULL;
}

// Notes which types of |wanted|, one for each argument, are to be checked at run time: those that
// the op table wants, but doesn't prove.
static tfrt_status_t kernel_binder_bind_checks(const tfrt_kernel_binder_job_t* job,
                                               const tfrt_kernel_model_argument_t* wanted) {
  const uint32_t* arguments = tfrt_bef_record_arguments(job->record);
  const uint32_t count = job->record->argument_count;
  tfrt_type_id_t* checks = NULL;
  for (uint32_t i = 0; i < count; ++i) {
    const char* known = job->binder->register_types[arguments[i]];
    if (tfrt_kernel_binder_type_is_proven(wanted[i].type, known)) continue;
    if (!checks) {
      checks = tfrt_arena_allocate_array(&job->binder->program->arena, count, sizeof(*checks));
    }
    if (!checks) return kernel_binder_out_of_memory();
    checks[i] = tfrt_kernel_binder_type_id(wanted[i].type);
  }
  job->binding->checks = checks;
  const tfrt_kernel_descriptor_t* descriptor = job->model->kernel.descriptor;
  const tfrt_kernel_flags_t both = TFRT_KERNEL_VARIADIC_OPERANDS | TFRT_KERNEL_TRAILING_CHAIN;
  job->binding->may_end_in_chain = descriptor && (descriptor->flags & both) == both;
  return NULL;
}

// The types that the results must have, for programs that check all of them.
static tfrt_status_t kernel_binder_bind_result_checks(const tfrt_kernel_binder_job_t* job) {
  const tfrt_kernel_descriptor_t* descriptor = job->model->kernel.descriptor;
  uint32_t count = job->record->result_count;
  if (!job->binder->checks_types || !descriptor || count == 0) return NULL;
  tfrt_type_id_t* checks =
      tfrt_arena_allocate_array(&job->binder->program->arena, count, sizeof(*checks));
  if (!checks) return kernel_binder_out_of_memory();
  for (uint32_t i = 0; i < count; ++i) {
    const tfrt_result_descriptor_t* result = tfrt_kernel_descriptor_result(descriptor, i);
    checks[i] = result ? tfrt_kernel_binder_type_id(result->type) : TFRT_TYPE_NONE;
  }
  job->binding->result_checks = checks;
  return NULL;
}

// The type of result |index| by the op table. Where it leaves the type open that proves nothing: no
// operand that is checked is of such a type. Where all types are checked, none counts as known.
static const char* kernel_binder_known_type(const tfrt_kernel_binder_job_t* job, uint32_t index) {
  const tfrt_kernel_descriptor_t* descriptor = job->model->kernel.descriptor;
  if (job->binder->checks_types || !descriptor || index >= descriptor->result_count) return NULL;
  return descriptor->results[index].type;
}

// Notes what the site does with its registers, as |arguments| says of those.
static void kernel_binder_note_registers(const tfrt_kernel_binder_job_t* job,
                                         const tfrt_kernel_model_argument_t* arguments) {
  const tfrt_bef_record_t* record = job->record;
  uint8_t* flags = job->binder->callable->register_flags;
  for (uint32_t i = 0; i < record->argument_count; ++i) {
    flags[tfrt_bef_record_arguments(record)[i]] |= arguments[i].flags;
  }
  for (uint32_t i = 0; i < record->result_count; ++i) {
    job->binder->register_types[tfrt_bef_record_results(record)[i]] =
        kernel_binder_known_type(job, i);
  }
}

// Whether the binding has nothing that only its own site has, but for functions.
static bool kernel_binder_may_share(const tfrt_kernel_binder_job_t* job) {
  const tfrt_kernel_binding_t* binding = job->binding;
  const tfrt_kernel_t* kernel = &job->model->kernel;
  // A constant keeps its value in its binding; a kernel with an action for cancelled calls is
  // listed site by site.
  if (kernel->withdraw) return false;
  if (kernel->descriptor && (kernel->descriptor->flags & TFRT_KERNEL_CONSTANT)) return false;
  return !binding->checks && !binding->result_checks && !binding->call_options &&
         job->record->attribute_count == 0 && !job->binder->program->op;
}

// Lets other sites share the binding, whose arguments are |arguments|, if it is nobody's own.
static tfrt_status_t kernel_binder_let_share(const tfrt_kernel_binder_job_t* job,
                                             const tfrt_kernel_model_argument_t* arguments) {
  tfrt_kernel_model_t* model = job->model;
  if (!kernel_binder_may_share(job)) return NULL;
  const uint32_t result_count = job->record->result_count;
  const char** types =
      tfrt_arena_allocate_array(job->binder->scratch, result_count, sizeof(*types));
  if (!types) return kernel_binder_out_of_memory();
  for (uint32_t i = 0; i < result_count; ++i) types[i] = kernel_binder_known_type(job, i);
  model->shared = job->binding;
  model->shape = job->record;
  model->arguments = arguments;
  model->result_types = types;
  return NULL;
}

// Sets |*out_arguments| to how the site uses its arguments.
static tfrt_status_t kernel_binder_list_arguments(const tfrt_kernel_binder_job_t* job,
                                                  tfrt_kernel_model_argument_t** out_arguments) {
  static const uint8_t kFlags[] = {
      [TFRT_OPERAND_DEMANDED] = TFRT_REGISTER_DEMANDED,
      [TFRT_OPERAND_AWAITED] = TFRT_REGISTER_AWAITED,
      [TFRT_OPERAND_MUTATED] = TFRT_REGISTER_DEMANDED,
      [TFRT_OPERAND_CONSUMED] = TFRT_REGISTER_DEMANDED,
      [TFRT_OPERAND_PASSED] = TFRT_REGISTER_ANTICIPATED,
  };
  const uint32_t count = job->record->argument_count;
  *out_arguments = NULL;
  tfrt_kernel_model_argument_t* arguments =
      tfrt_arena_allocate_array(job->binder->scratch, count, sizeof(*arguments));
  if (!arguments) return kernel_binder_out_of_memory();
  for (uint32_t i = 0; i < count; ++i) {
    arguments[i].type = kernel_binder_wanted_type(job, i);
    arguments[i].flags = kFlags[job->binding->uses[i]];
  }
  *out_arguments = arguments;
  return NULL;
}

// Finds out which types are to be checked, and what is known of the registers.
static tfrt_status_t kernel_binder_bind_types(const tfrt_kernel_binder_job_t* job) {
  tfrt_kernel_binding_t* binding = job->binding;
  tfrt_kernel_model_argument_t* arguments;
  TFRT_RETURN_IF_ERROR(kernel_binder_list_arguments(job, &arguments));
  TFRT_RETURN_IF_ERROR(kernel_binder_bind_checks(job, arguments));
  TFRT_RETURN_IF_ERROR(kernel_binder_bind_result_checks(job));
  binding->is_plain = !binding->checks && !binding->result_checks && !binding->nonstrict &&
                      !binding->call_options && job->record->attribute_count == 0 &&
                      job->record->function_count == 0;
  const tfrt_kernel_descriptor_t* descriptor = job->model->kernel.descriptor;
  // A call elsewhere begins when all is there; so does one whose values are checked or watched.
  binding->takes_late = descriptor && descriptor->flags & TFRT_KERNEL_WAITS_ITSELF &&
                        !binding->checks && !binding->result_checks && !binding->call_options &&
                        !job->binder->program->watches_races;
  // A kernel whose program is watched for races needs all of its arguments.
  const bool needs_all = job->binder->program->watches_races;
  for (uint32_t i = 0; i < job->record->argument_count && !binding->takes_late; ++i) {
    const bool is_passed = binding->uses[i] == TFRT_OPERAND_PASSED;
    if (needs_all || !is_passed) arguments[i].flags |= TFRT_REGISTER_NEEDED;
  }
  kernel_binder_note_registers(job, arguments);
  return kernel_binder_let_share(job, arguments);
}

// --- Effects -----------------------------------------------------------------

static bool kernel_binder_writes(const tfrt_kernel_binder_job_t* job) {
  for (uint32_t i = 0; i < job->record->argument_count; ++i) {
    if (job->binding->uses[i] == TFRT_OPERAND_MUTATED) return true;
  }
  return false;
}

static tfrt_kernel_idleness_t kernel_binder_idleness(const tfrt_kernel_binder_job_t* job) {
  const tfrt_kernel_descriptor_t* descriptor = job->model->kernel.descriptor;
  if (!descriptor || kernel_binder_writes(job)) return TFRT_KERNEL_ACTS;
  if (descriptor->flags & TFRT_KERNEL_FAILS_AGAIN) return TFRT_KERNEL_IDLE_FAILED;
  const tfrt_kernel_effects_t effects = tfrt_kernel_descriptor_effects(descriptor);
  const tfrt_kernel_effects_t none = TFRT_EFFECT_NONE | TFRT_EFFECT_READS_NO_CONTENTS;
  if (effects & ~(none | TFRT_EFFECT_OF_FUNCTIONS)) return TFRT_KERNEL_ACTS;
  if (!(effects & TFRT_EFFECT_OF_FUNCTIONS)) return TFRT_KERNEL_IDLE_PURE;
  if (!(descriptor->flags & TFRT_KERNEL_HANDS_ON)) return TFRT_KERNEL_IDLE_FUNCTIONS;
  return descriptor->flags & TFRT_KERNEL_RESULTS_AS_OPERANDS ? TFRT_KERNEL_IDLE_LOOP
                                                             : TFRT_KERNEL_IDLE_CALL;
}

// --- Races -------------------------------------------------------------------

// The result that says that the kernel is done, or UINT32_MAX: all of them do.
static uint32_t kernel_binder_done_result(const tfrt_kernel_binder_job_t* job) {
  const tfrt_kernel_descriptor_t* descriptor = job->model->kernel.descriptor;
  uint32_t fixed_count = tfrt_kernel_descriptor_fixed_results(descriptor);
  for (uint32_t i = 0; i < fixed_count; ++i) {
    if (tfrt_kernel_descriptor_is_chain(descriptor->results[i].type)) return i;
  }
  bool is_one_more = descriptor->flags & TFRT_KERNEL_TRAILING_CHAIN_RESULT &&
                     job->record->result_count == (uint32_t)descriptor->result_count + 1;
  return is_one_more ? job->record->result_count - 1 : UINT32_MAX;
}

static tfrt_race_results_t kernel_binder_race_results(const tfrt_kernel_binder_job_t* job) {
  const tfrt_kernel_descriptor_t* descriptor = job->model->kernel.descriptor;
  const tfrt_kernel_flags_t both = TFRT_KERNEL_VARIADIC_OPERANDS | TFRT_KERNEL_VARIADIC_RESULTS;
  if (!job->binding->nonstrict && !job->record->function_count) return TFRT_RACE_RESULTS_OWN;
  bool hands_on = (descriptor->flags & both) == both && descriptor->result_count == 1 &&
                  descriptor->effects & TFRT_EFFECT_OF_FUNCTIONS && !job->binding->call_options &&
                  !(descriptor->flags & TFRT_KERNEL_CALLS_HOSTS);
  for (uint32_t i = 0; i < job->record->function_count; ++i) {
    if (job->binding->functions[i]->kind != TFRT_FUNCTION_ASYNC) hands_on = false;
  }
  return hands_on ? TFRT_RACE_RESULTS_INNER : TFRT_RACE_RESULTS_UNKNOWN;
}

// The use of the memory of argument |index|.
static uint8_t kernel_binder_race_access(const tfrt_kernel_binder_job_t* job, uint32_t index) {
  const tfrt_kernel_descriptor_t* descriptor = job->model->kernel.descriptor;
  switch (job->binding->uses[index]) {
    case TFRT_OPERAND_MUTATED:
      return TFRT_RACE_WRITES;
    case TFRT_OPERAND_DEMANDED:
    case TFRT_OPERAND_CONSUMED:
      return tfrt_kernel_descriptor_effects(descriptor) & TFRT_EFFECT_READS_NO_CONTENTS
                 ? TFRT_RACE_NONE
                 : TFRT_RACE_READS;
    default:
      return TFRT_RACE_NONE;
  }
}

// Lets the kernel be watched, if the program is to watch its kernels. Constants are made before any
// call, and synchronous functions run in order.
static tfrt_status_t kernel_binder_watch(const tfrt_kernel_binder_job_t* job) {
  const tfrt_kernel_descriptor_t* descriptor = job->model->kernel.descriptor;
  if (!job->binder->program->watches_races || !descriptor) return NULL;
  if (descriptor->flags & TFRT_KERNEL_CONSTANT) return NULL;
  if (job->binder->callable->base.kind == TFRT_FUNCTION_SYNC) return NULL;
  tfrt_arena_t* arena = &job->binder->program->arena;
  tfrt_race_watch_t* watch = tfrt_arena_allocate(arena, sizeof(*watch));
  uint8_t* accesses = tfrt_arena_allocate_array(arena, (size_t)job->record->argument_count + 1, 1);
  if (!watch || !accesses) return kernel_binder_out_of_memory();
  for (uint32_t i = 0; i < job->record->argument_count; ++i) {
    accesses[i] = kernel_binder_race_access(job, i);
  }
  *watch = (tfrt_race_watch_t){.run = job->binding->run,
                               .results = kernel_binder_race_results(job),
                               .done = kernel_binder_done_result(job),
                               .gives_new_memory = !descriptor->shares,
                               .accesses = accesses};
  job->binding->watch = watch;
  job->binding->run = tfrt_race_watch_run;
  return NULL;
}

// --- The whole ---------------------------------------------------------------

static tfrt_status_t kernel_binder_fill_in(const tfrt_kernel_binder_job_t* job) {
  const tfrt_kernel_model_t* model = job->model;
  TFRT_RETURN_IF_ERROR(kernel_binder_bind_function(job));
  bool is_checked =
      !model->kernel.descriptor ||
      (model->checked && tfrt_kernel_binder_has_counts_of(job->record, model->checked));
  if (!is_checked) {
    TFRT_RETURN_IF_ERROR(
        kernel_binder_check_signature(model->name, job->record, model->kernel.descriptor));
  }
  TFRT_RETURN_IF_ERROR(kernel_binder_bind_attributes(job));
  TFRT_RETURN_IF_ERROR(kernel_binder_bind_functions(job));
  TFRT_RETURN_IF_ERROR(kernel_binder_bind_options(job));
  TFRT_RETURN_IF_ERROR(kernel_binder_bind_uses(job));
  TFRT_RETURN_IF_ERROR(kernel_binder_bind_types(job));
  job->binding->idleness = (uint8_t)kernel_binder_idleness(job);
  return kernel_binder_watch(job);
}

tfrt_status_t tfrt_kernel_binder_bind(tfrt_kernel_binder_t* binder, const tfrt_bef_record_t* record,
                                      const tfrt_bef_call_options_t* options,
                                      const tfrt_kernel_binding_t** out_binding) {
  *out_binding = NULL;
  tfrt_kernel_binding_t* binding = tfrt_arena_allocate(&binder->program->arena, sizeof(*binding));
  if (!binding) return kernel_binder_out_of_memory();
  tfrt_kernel_binder_job_t job = {.binder = binder,
                                  .model = &binder->models[record->code],
                                  .record = record,
                                  .options = options,
                                  .binding = binding};
  binding->name = job.model->name;
  binding->owner = binder->callable;
  binding->records = binder->callable->bef->records;
  binding->attribute_count = record->attribute_count;
  binding->function_count = record->function_count;
  TFRT_RETURN_IF_ERROR(kernel_binder_fill_in(&job));
  *out_binding = binding;
  return NULL;
}

tfrt_status_t tfrt_kernel_binder_initialize(tfrt_kernel_binder_t* binder, tfrt_program_t* program,
                                            const tfrt_kernel_registry_t* registry,
                                            const char* const* names, uint32_t count,
                                            tfrt_arena_t* scratch) {
  *binder = (tfrt_kernel_binder_t){.program = program,
                                   .registry = registry,
                                   .checks_types = tfrt_kernel_registry_type_checks(registry),
                                   .scratch = scratch};
  program->watches_races = tfrt_kernel_registry_race_checks(registry);
  binder->models = tfrt_arena_allocate_array(scratch, count, sizeof(*binder->models));
  if (!binder->models) return kernel_binder_out_of_memory();
  for (uint32_t i = 0; i < count; ++i) {
    tfrt_kernel_model_t* model = &binder->models[i];
    model->name = names[i];
    // Nothing need use a name that is listed.
    (void)tfrt_kernel_registry_find(registry, tfrt_string_view_of(names[i]), &model->kernel);
    model->cost = tfrt_schedule_cost(model->kernel.descriptor);
  }
  return NULL;
}

void tfrt_kernel_binder_enter(tfrt_kernel_binder_t* binder, tfrt_bef_callable_t* callable,
                              const char** register_types) {
  binder->callable = callable;
  binder->register_types = register_types;
  // All other registers are set by a kernel before one uses them.
  for (uint32_t i = 0; i < callable->bef->argument_count; ++i) register_types[i] = NULL;
}
