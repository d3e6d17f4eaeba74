// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/executor/loader/program_resolver.h"

#include "host_runtime/bef/bef_walk.h"
#include "host_runtime/executor/loader/schedule_builder.h"
#include "host_runtime/executor/loader/sync_resolver.h"

// Room for the bindings of a function that has few, and for what is small.
#define TFRT_PROGRAM_RESOLVER_BINDINGS_SIZE ((size_t)2048)

// How many arguments of one kernel that are |register_index| have been met.
typedef struct tfrt_program_resolver_seen_s {
  uint32_t register_index;
  uint32_t occurrences;
} tfrt_program_resolver_seen_t;

static tfrt_status_t program_resolver_out_of_memory(void) {
  return tfrt_status_create(TFRT_STATUS_RESOURCE_EXHAUSTED, "no memory to load the program");
}

// Gives |status| the place of the kernel of |record|, named |name|, in |function| as its origin.
static tfrt_status_t program_resolver_take_locate(tfrt_status_t status,
                                                  const tfrt_bef_function_t* function,
                                                  const tfrt_bef_record_t* record, const char* name,
                                                  const tfrt_program_t* program) {
  tfrt_bef_source_location_t location;
  tfrt_program_locate(program, record->location, &location);
  tfrt_status_origin_t origin = {.rank = TFRT_STATUS_NO_RANK,
                                 .function = function->name,
                                 .kernel = name,
                                 .file = location.file,
                                 .line = location.line,
                                 .column = location.column};
  tfrt_status_t located = tfrt_status_with_origin(status, &origin);
  tfrt_status_release(status);
  return located;
}

// --- Users -------------------------------------------------------------------

// Lists the non-strict kernels of |callable|, which are counted.
static tfrt_status_t program_resolver_collect_nonstrict(tfrt_program_t* program,
                                                        tfrt_bef_callable_t* callable) {
  callable->nonstrict = tfrt_arena_allocate_array(&program->arena, callable->nonstrict_count,
                                                  sizeof(*callable->nonstrict));
  if (!callable->nonstrict) return program_resolver_out_of_memory();
  uint32_t count = 0;
  for (uint32_t k = 1; k < callable->bef->kernel_count; ++k) {
    if (callable->sites[k].binding->nonstrict) callable->nonstrict[count++] = k;
  }
  return NULL;
}

// How argument number |occurrence| (from 0) of |site| that is |register_index| is used.
static bool program_resolver_is_passed(const tfrt_kernel_site_t* site, uint32_t register_index,
                                       uint32_t occurrence) {
  const uint32_t* arguments = tfrt_bef_record_arguments(tfrt_kernel_site_record(site));
  for (uint32_t i = 0; i < tfrt_kernel_site_record(site)->argument_count; ++i) {
    if (arguments[i] != register_index) continue;
    if (occurrence-- == 0) return site->binding->uses[i] == TFRT_OPERAND_PASSED;
  }
  return false;
}

// Writes to |passed_users|, for each user of the results of kernel |index|, whether the value is
// only passed to it, and sets |*out_count| to the number of these users. A kernel stands once in a
// list of users for each argument; the words are taken to mean these arguments in their order.
// |seen| has one pair per kernel. Returns true if one of the users is PASSED.
static bool program_resolver_mark_users(const tfrt_bef_callable_t* callable, uint32_t index,
                                        tfrt_program_resolver_seen_t* seen, uint8_t* passed_users,
                                        uint32_t* out_count) {
  const tfrt_bef_record_t* record = tfrt_kernel_site_record(&callable->sites[index]);
  const uint32_t* user_counts = tfrt_bef_record_user_counts(record);
  const uint32_t* users = tfrt_bef_record_users(record);
  bool any = false;
  uint32_t word = 0;
  for (uint32_t r = 0; r < record->result_count; ++r) {
    uint32_t register_index = tfrt_bef_record_results(record)[r];
    for (uint32_t u = 0; u < user_counts[r]; ++u, ++word) {
      uint32_t user = users[word];
      passed_users[word] = false;
      if (!callable->sites[user].binding->nonstrict) continue;
      if (seen[user].register_index != register_index) {
        seen[user] = (tfrt_program_resolver_seen_t){.register_index = register_index};
      }
      passed_users[word] = program_resolver_is_passed(&callable->sites[user], register_index,
                                                      seen[user].occurrences++);
      any |= passed_users[word];
    }
  }
  *out_count = word;
  return any;
}

// Marks the users of all kernels. |seen| has one pair per kernel.
static tfrt_status_t program_resolver_mark_all_users(tfrt_program_t* program,
                                                     tfrt_bef_callable_t* callable,
                                                     tfrt_program_resolver_seen_t* seen) {
  const tfrt_bef_function_t* bef = callable->bef;
  // Each argument of a kernel, and each kernel without arguments, is a word.
  const size_t most_words = (size_t)bef->value_count + bef->kernel_count;
  uint8_t* passed_users = tfrt_arena_allocate_room(&program->arena, most_words, 1);
  uint32_t* first = tfrt_arena_allocate_array(&program->arena, bef->kernel_count, sizeof(*first));
  if (!passed_users || !first) return program_resolver_out_of_memory();
  for (uint32_t k = 0; k < bef->kernel_count; ++k) seen[k].register_index = UINT32_MAX;
  tfrt_bef_walk_t walk = tfrt_bef_walk_begin(program->file, bef->records);
  uint32_t end = 0;
  for (uint32_t k = 0; k < bef->kernel_count; ++k) {
    uint32_t count;
    tfrt_bef_walk_pass(&walk, tfrt_kernel_site_record(&callable->sites[k]));
    if (!program_resolver_mark_users(callable, k, seen, passed_users + end, &count)) continue;
    first[k] = end + 1;
    end += count;
  }
  callable->first_passed_users = first;
  callable->passed_users = passed_users;
  return NULL;
}

// Tells which users values are only passed to.
static tfrt_status_t program_resolver_resolve_users(tfrt_program_t* program,
                                                    tfrt_bef_callable_t* callable) {
  tfrt_arena_t scratch;
  tfrt_arena_initialize(&scratch, program->allocator);
  tfrt_program_resolver_seen_t* seen =
      tfrt_arena_allocate_room(&scratch, callable->bef->kernel_count, sizeof(*seen));
  tfrt_status_t status = seen ? program_resolver_mark_all_users(program, callable, seen)
                              : program_resolver_out_of_memory();
  tfrt_arena_deinitialize(&scratch);
  return status;
}

// --- Sites -------------------------------------------------------------------

// Lists |site|, a kernel that does |run| for cancelled calls.
static tfrt_status_t program_resolver_add_withdrawal(tfrt_program_t* program,
                                                     const tfrt_kernel_site_t* site,
                                                     tfrt_kernel_withdraw_fn_t run) {
  tfrt_program_withdrawal_t* withdrawal = tfrt_arena_allocate(&program->arena, sizeof(*withdrawal));
  if (!withdrawal) return program_resolver_out_of_memory();
  *withdrawal = (tfrt_program_withdrawal_t){.next = program->withdrawals, .site = site, .run = run};
  program->withdrawals = withdrawal;
  return NULL;
}

// Binds kernel |index| of the function that |binder| is at, for which |options| (NULL: nothing) are
// said, and which doesn't share its model's binding, and tells |survey| of it, unless that is NULL.
static tfrt_status_t program_resolver_bind_site(tfrt_kernel_binder_t* binder, uint32_t index,
                                                const tfrt_bef_call_options_t* options,
                                                tfrt_schedule_survey_t* survey) {
  tfrt_bef_callable_t* callable = binder->callable;
  tfrt_kernel_site_t* site = &callable->sites[index];
  const tfrt_bef_record_t* record = tfrt_bef_function_record(callable->bef, index);
  const tfrt_kernel_model_t* model = &binder->models[record->code];
  tfrt_status_t status = tfrt_kernel_binder_bind(binder, record, options, &site->binding);
  if (!status && callable->base.kind == TFRT_FUNCTION_SYNC) {
    status = tfrt_sync_resolver_check_kernel(site);
  }
  if (!status && model->kernel.withdraw) {
    status = program_resolver_add_withdrawal(binder->program, site, model->kernel.withdraw);
  }
  if (status) {
    return program_resolver_take_locate(status, callable->bef, record, model->name,
                                        binder->program);
  }
  if (survey) tfrt_schedule_survey_look_at(survey, site, model->kernel.descriptor, index);
  return NULL;
}

// The site of the pseudo kernel, which is bound to nothing.
static tfrt_status_t program_resolver_resolve_start(tfrt_program_t* program,
                                                    tfrt_bef_callable_t* callable) {
  tfrt_kernel_binding_t* binding = tfrt_arena_allocate(&program->arena, sizeof(*binding));
  if (!binding) return program_resolver_out_of_memory();
  binding->name = "";
  binding->owner = callable;
  binding->records = callable->bef->records;
  callable->sites[0] =
      (tfrt_kernel_site_t){.binding = binding,
                           .record_offset = callable->bef->offsets[0],
                           .stream_id = tfrt_bef_function_stream_id(callable->bef, 0)};
  return NULL;
}

// Raises |*cost| to the one that |*options| names. Sets |*options| to NULL if there is nothing else
// in them: the kernel may share its binding then.
static void program_resolver_take_cost(const tfrt_bef_call_options_t** options, uint64_t* cost) {
  const tfrt_bef_call_options_t* own = *options;
  if (own->cost > *cost) *cost = own->cost;
  if (!own->has_host && !own->pure && !own->nonstrict && own->deadline_ms == 0 &&
      own->retries == 0 && !own->device) {
    *options = NULL;
  }
}

// Resolves all kernels of the function that |binder| is at, for whose sites there is room, and
// tells |survey| of each; NULL: nobody wants to know.
static tfrt_status_t program_resolver_resolve_sites(tfrt_kernel_binder_t* binder,
                                                    tfrt_schedule_survey_t* survey) {
  const tfrt_bef_function_t* bef = binder->callable->bef;
  TFRT_RETURN_IF_ERROR(program_resolver_resolve_start(binder->program, binder->callable));
  tfrt_bef_walk_t walk = tfrt_bef_walk_begin(binder->program->file, bef->records);
  uint32_t entry = 0;  // of the call options, which are sorted by kernel
  for (uint32_t k = 1; k < bef->kernel_count; ++k) {
    tfrt_kernel_site_t* site = &binder->callable->sites[k];
    const tfrt_bef_record_t* record = tfrt_bef_function_record(bef, k);
    tfrt_bef_walk_pass(&walk, record);
    const tfrt_kernel_model_t* model = &binder->models[record->code];
    const bool has_options =
        entry < bef->call_options_count && bef->call_options[entry].kernel == k;
    const tfrt_bef_call_options_t* options =
        has_options ? &bef->call_options[entry++].options : NULL;
    uint64_t cost = model->cost;
    if (options) program_resolver_take_cost(&options, &cost);
    *site = (tfrt_kernel_site_t){.record_offset = bef->offsets[k],
                                 .stream_id = tfrt_bef_function_stream_id(bef, k)};
    if (TFRT_LIKELY(!options && tfrt_kernel_binder_share(binder, model, record))) {
      site->binding = model->shared;
    } else {
      TFRT_RETURN_IF_ERROR(program_resolver_bind_site(binder, k, options, survey));
    }
    binder->callable->nonstrict_count += site->binding->nonstrict;
    if (survey) tfrt_schedule_survey_add(survey, site, cost);
  }
  return NULL;
}

// Resolves what the kernels of |callable|, an asynchronous function, are to each other.
static tfrt_status_t program_resolver_resolve_order(tfrt_program_t* program,
                                                    tfrt_bef_callable_t* callable,
                                                    const tfrt_schedule_survey_t* survey,
                                                    tfrt_arena_t* scratch) {
  const tfrt_bef_function_t* bef = callable->bef;
  for (uint32_t i = 0; i < bef->result_count; ++i) {
    callable->register_flags[bef->result_registers[i]] |= TFRT_REGISTER_ANTICIPATED;
  }
  if (callable->nonstrict_count > 0) {
    TFRT_RETURN_IF_ERROR(program_resolver_collect_nonstrict(program, callable));
    TFRT_RETURN_IF_ERROR(program_resolver_resolve_users(program, callable));
  }
  return tfrt_schedule_create(program, callable, survey, scratch);
}

// Resolves all kernels of |callable|, one by one, and tells |survey| of each; NULL: nobody wants to
// know. Frees what is known of the types of registers.
static tfrt_status_t program_resolver_resolve_kernels(tfrt_kernel_binder_t* binder,
                                                      tfrt_bef_callable_t* callable,
                                                      tfrt_schedule_survey_t* survey) {
  tfrt_arena_t types;
  tfrt_arena_initialize(&types, binder->program->allocator);
  const char** register_types = tfrt_arena_allocate_room(
      &types, (size_t)callable->bef->register_count + 1, sizeof(*register_types));
  tfrt_status_t status = register_types ? NULL : program_resolver_out_of_memory();
  if (!status) {
    tfrt_kernel_binder_enter(binder, callable, register_types);
    status = program_resolver_resolve_sites(binder, survey);
  }
  tfrt_arena_deinitialize(&types);
  return status;
}

tfrt_status_t tfrt_program_resolver_run(tfrt_kernel_binder_t* binder, tfrt_bef_callable_t* callable,
                                        tfrt_arena_t* scratch) {
  tfrt_program_t* program = binder->program;
  const tfrt_bef_function_t* bef = callable->bef;
  bool is_sync = callable->base.kind == TFRT_FUNCTION_SYNC;
  // Mostly that is all that a function takes, but for some bindings.
  tfrt_arena_reserve(&program->arena, TFRT_PROGRAM_RESOLVER_BINDINGS_SIZE +
                                          bef->kernel_count * sizeof(*callable->sites) +
                                          bef->register_count + tfrt_schedule_size(bef));
  callable->sites =
      tfrt_arena_allocate_room(&program->arena, bef->kernel_count, sizeof(*callable->sites));
  callable->register_flags =
      tfrt_arena_allocate_array(&program->arena, (size_t)bef->register_count + 1, 1);
  if (!callable->sites || !callable->register_flags) return program_resolver_out_of_memory();
  tfrt_schedule_survey_t survey;
  TFRT_RETURN_IF_ERROR(tfrt_schedule_survey_initialize(&survey, callable, scratch));
  TFRT_RETURN_IF_ERROR(
      program_resolver_resolve_kernels(binder, callable, is_sync ? NULL : &survey));
  if (is_sync) return tfrt_sync_resolver_run(program, callable, scratch);
  return program_resolver_resolve_order(program, callable, &survey, scratch);
}
