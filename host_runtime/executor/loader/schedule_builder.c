// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/executor/loader/schedule_builder.h"

#include "host_runtime/bef/bef_walk.h"
#include "host_runtime/executor/call/arrival.h"

// A register while the schedule is made.
typedef struct tfrt_schedule_register_s {
  uint32_t slot;
  uint32_t uses_left;  // those that have not happened
} tfrt_schedule_register_t;

// The inputs to making a schedule.
typedef struct tfrt_schedule_builder_s {
  tfrt_program_t* program;
  tfrt_bef_callable_t* callable;
  tfrt_schedule_t* schedule;
  tfrt_schedule_step_t* step;  // the next one
  uint32_t* slots;             // where its slots go
  const uint32_t* use_counts;  // per register
  tfrt_schedule_register_t* registers;
  uint32_t* free_slots;      // those that nobody has any more, the last one on top
  uint32_t* free_slots_end;  // behind them
  uint32_t new_slot;         // the first one that was never used
  uint32_t first_own_slot;   // behind arguments and constants
} tfrt_schedule_builder_t;

static tfrt_status_t schedule_out_of_memory(void) {
  return tfrt_status_create(TFRT_STATUS_RESOURCE_EXHAUSTED, "no memory to load the program");
}

// --- Survey ------------------------------------------------------------------

tfrt_status_t tfrt_schedule_survey_initialize(tfrt_schedule_survey_t* survey,
                                              const tfrt_bef_callable_t* callable,
                                              tfrt_arena_t* scratch) {
  *survey = (tfrt_schedule_survey_t){.costs = NULL};
  const tfrt_bef_function_t* bef = callable->bef;
  survey->costs = tfrt_arena_allocate_array(scratch, bef->stream_count, sizeof(*survey->costs));
  return survey->costs ? NULL : schedule_out_of_memory();
}

uint64_t tfrt_schedule_cost(const tfrt_kernel_descriptor_t* descriptor) {
  bool is_known = descriptor && (descriptor->flags & TFRT_KERNEL_PURE) &&
                  descriptor->cost != TFRT_KERNEL_COST_UNKNOWN;
  if (!is_known) return UINT32_MAX;
  if (descriptor->cost <= TFRT_SCHEDULE_START_COST) return 0;
  return descriptor->cost - TFRT_SCHEDULE_START_COST;
}

// Whether the kernel at |site| makes the same scalar each time. In a program that checks all
// types it is an ordinary kernel.
static bool schedule_is_constant(const tfrt_kernel_descriptor_t* descriptor,
                                 const tfrt_kernel_site_t* site) {
  return descriptor && (descriptor->flags & TFRT_KERNEL_CONSTANT) &&
         tfrt_kernel_site_record(site)->argument_count == 0 &&
         tfrt_kernel_site_record(site)->result_count == 1 && !site->binding->result_checks;
}

void tfrt_schedule_survey_look_at(tfrt_schedule_survey_t* survey, tfrt_kernel_site_t* site,
                                  const tfrt_kernel_descriptor_t* descriptor, uint32_t index) {
  const tfrt_bef_record_t* record = tfrt_kernel_site_record(site);
  survey->is_too_wide |= record->argument_count > TFRT_SCHEDULE_MAX_VALUES ||
                         record->result_count > TFRT_SCHEDULE_MAX_VALUES;
  site->prompt = schedule_is_constant(descriptor, site);
  if (!site->prompt) return;
  if (survey->constant_count++ == 0) survey->first_constant = index;
  survey->constants_end = index + 1;
}

// --- Streams -----------------------------------------------------------------

// Marks the sites of expensive streams, and returns whether one thread is enough for the function.
static bool schedule_look_at_streams(tfrt_bef_callable_t* callable, const uint64_t* costs) {
  const tfrt_bef_function_t* bef = callable->bef;
  uint32_t expensive_count = 0;
  for (uint32_t s = 0; s < bef->stream_count; ++s) {
    expensive_count += costs[s] > TFRT_SCHEDULE_CHEAP_STREAM;
  }
  for (uint32_t k = 1; expensive_count > 0 && k < bef->kernel_count; ++k) {
    callable->sites[k].expensive = costs[callable->sites[k].stream_id] > TFRT_SCHEDULE_CHEAP_STREAM;
  }
  return expensive_count <= 1;
}

// A walk over the records of |callable| from that of |kernel| on.
static tfrt_bef_walk_t schedule_walk(const tfrt_bef_callable_t* callable, uint32_t kernel) {
  return tfrt_bef_walk_begin(callable->owner->file,
                             tfrt_bef_function_record(callable->bef, kernel));
}

// Marks the sites of early streams: those that hold a non-strict kernel, or one that such a
// kernel depends on.
static tfrt_status_t schedule_mark_early(tfrt_bef_callable_t* callable, tfrt_arena_t* scratch) {
  if (callable->nonstrict_count == 0) return NULL;
  const tfrt_bef_function_t* bef = callable->bef;
  tfrt_kernel_site_t* sites = callable->sites;
  bool* streams = tfrt_arena_allocate_array(scratch, bef->stream_count, sizeof(*streams));
  if (!streams) return schedule_out_of_memory();
  tfrt_bef_walk_t walk = schedule_walk(callable, bef->kernel_count - 1);
  // Users stand behind the kernels that they use.
  for (uint32_t k = bef->kernel_count - 1; k > 0; --k) {
    const tfrt_bef_record_t* record = tfrt_kernel_site_record(&sites[k]);
    tfrt_bef_walk_pass(&walk, record);
    const uint32_t* user_counts = tfrt_bef_record_user_counts(record);
    const uint32_t* users = tfrt_bef_record_users(record);
    sites[k].early = sites[k].binding->nonstrict;
    for (uint32_t r = 0; r < record->result_count; users += user_counts[r++]) {
      for (uint32_t u = 0; u < user_counts[r]; ++u) sites[k].early |= sites[users[u]].early;
    }
    streams[sites[k].stream_id] |= sites[k].early;
  }
  for (uint32_t k = 1; k < bef->kernel_count; ++k) sites[k].early = streams[sites[k].stream_id];
  return NULL;
}

// --- Constants ---------------------------------------------------------------

// Runs the constant at |site|; NULL if there is no plain value to keep.
static tfrt_async_value_t* schedule_make_constant(const tfrt_kernel_site_t* site) {
  tfrt_async_value_t* value = NULL;
  tfrt_kernel_frame_t frame = {.results = &value,
                               .attributes = site->binding->attributes,
                               .result_count = 1,
                               .attribute_count = tfrt_kernel_site_record(site)->attribute_count,
                               .site = site};
  site->binding->run(&frame);
  if (value && value->kind == TFRT_ASYNC_VALUE_CONCRETE &&
      tfrt_async_value_state(value) == TFRT_ASYNC_VALUE_AVAILABLE) {
    return value;
  }
  tfrt_async_value_release(value);
  return NULL;
}

// Makes the values of all constants and gives their registers slots; what has none is an
// ordinary kernel.
static tfrt_status_t schedule_make_constants(tfrt_schedule_builder_t* builder,
                                             const tfrt_schedule_survey_t* survey) {
  if (survey->constant_count == 0) return NULL;
  tfrt_bef_callable_t* callable = builder->callable;
  tfrt_schedule_t* schedule = builder->schedule;
  schedule->constants = tfrt_arena_allocate_array(&builder->program->arena, survey->constant_count,
                                                  sizeof(*schedule->constants));
  if (!schedule->constants) return schedule_out_of_memory();
  for (uint32_t k = survey->first_constant; k < survey->constants_end; ++k) {
    const tfrt_kernel_site_t* site = &callable->sites[k];
    if (!site->prompt) continue;
    tfrt_async_value_t* constant = schedule_make_constant(site);
    if (!constant) continue;
    // A constant shares its binding with no other site (kernel_binder.h); only readers see it as
    // immutable.
    ((tfrt_kernel_binding_t*)site->binding)->constant = constant;
    const uint32_t number = tfrt_bef_record_results(tfrt_kernel_site_record(site))[0];
    // One use more than there are: it lasts longer than the call.
    builder->registers[number] =
        (tfrt_schedule_register_t){.slot = callable->base.argument_count + schedule->constant_count,
                                   .uses_left = builder->use_counts[number] + 1};
    schedule->constants[schedule->constant_count++] = constant;
  }
  return NULL;
}

// --- Steps -------------------------------------------------------------------

static inline uint32_t schedule_take_slot(tfrt_schedule_builder_t* builder) {
  if (TFRT_LIKELY(builder->free_slots_end != builder->free_slots)) {
    return *--builder->free_slots_end;
  }
  return builder->new_slot++;
}

// Lists |slot|, which nobody reads any more, at |dead|. That of an argument of the function is not
// used again: it may hold what the call doesn't own.
static inline uint32_t* schedule_drop(tfrt_schedule_builder_t* builder, uint32_t slot,
                                      uint32_t* dead) {
  if (slot >= builder->first_own_slot) *builder->free_slots_end++ = slot;
  *dead = slot;
  return dead + 1;
}

// Puts the slots of the arguments of |record| at |slots|, and those that nobody reads behind it at
// |dead|; returns what is behind these.
static inline uint32_t* schedule_add_arguments(tfrt_schedule_builder_t* builder,
                                               const tfrt_bef_record_t* record, uint32_t* slots,
                                               uint32_t* dead) {
  const uint32_t* argument = tfrt_bef_record_arguments(record);
  const uint32_t* const end = argument + record->argument_count;
  for (; argument != end; ++argument) {
    tfrt_schedule_register_t* used = &builder->registers[*argument];
    const uint32_t slot = used->slot;
    *slots++ = slot;
    if (--used->uses_left == 0) dead = schedule_drop(builder, slot, dead);
  }
  return dead;
}

// Gives slots to the results of |record| and puts them at |slots|. Returns whether all have uses.
static inline bool schedule_add_results(tfrt_schedule_builder_t* builder,
                                        const tfrt_bef_record_t* record, uint32_t* slots) {
  const uint32_t* result = tfrt_bef_record_results(record);
  const uint32_t* const end = result + record->result_count;
  bool all_used = true;
  for (; result != end; ++result) {
    const uint32_t slot = schedule_take_slot(builder);
    const uint32_t uses = builder->use_counts[*result];
    builder->registers[*result] = (tfrt_schedule_register_t){.slot = slot, .uses_left = uses};
    *slots++ = slot;
    all_used &= uses > 0;
  }
  return all_used;
}

// Lists the slots of those results of |record| that have no uses at |dead|; returns what is behind
// these.
static uint32_t* schedule_drop_unused(tfrt_schedule_builder_t* builder,
                                      const tfrt_bef_record_t* record, uint32_t* dead) {
  const uint32_t* results = tfrt_bef_record_results(record);
  for (uint32_t i = 0; i < record->result_count; ++i) {
    const tfrt_schedule_register_t* result = &builder->registers[results[i]];
    if (result->uses_left == 0) dead = schedule_drop(builder, result->slot, dead);
  }
  return dead;
}

// Whether results of |site| may be late: no kernel needs any of them to be there, and what makes
// them later keeps the call from being over.
static inline bool schedule_gives_late(const tfrt_schedule_builder_t* builder,
                                       const tfrt_kernel_site_t* site) {
  if (!site->binding->takes_late) return false;
  const tfrt_bef_record_t* record = tfrt_kernel_site_record(site);
  const uint32_t* result = tfrt_bef_record_results(record);
  const uint32_t* const end = result + record->result_count;
  const uint8_t* flags = builder->callable->register_flags;
  while (result != end && !(flags[*result] & TFRT_REGISTER_NEEDED)) ++result;
  return result == end;
}

// Adds the step for |site|.
TFRT_ALWAYS_INLINE void tfrt_schedule_add_step(tfrt_schedule_builder_t* builder,
                                               const tfrt_kernel_site_t* site) {
  const tfrt_bef_record_t* record = tfrt_kernel_site_record(site);
  uint32_t* arguments = builder->slots;
  uint32_t* results = arguments + record->argument_count;
  uint32_t* const dead = results + record->result_count;
  // Results are put down before arguments are dropped, so that they can't have their slots.
  const bool all_used = schedule_add_results(builder, record, results);
  uint32_t* end = schedule_add_arguments(builder, record, arguments, dead);
  if (TFRT_UNLIKELY(!all_used)) end = schedule_drop_unused(builder, record, end);
  *builder->step++ = (tfrt_schedule_step_t){.kernel = (uint32_t)(site - builder->callable->sites),
                                            .argument_count = (uint8_t)record->argument_count,
                                            .result_count = (uint8_t)record->result_count,
                                            .dead_count = (uint8_t)(end - dead),
                                            .is_plain = site->binding->is_plain,
                                            .gives_late = schedule_gives_late(builder, site)};
  builder->slots = end;
}

// Whether |number| is one of the arguments of |record|.
static inline bool schedule_uses(const tfrt_bef_record_t* record, uint32_t number) {
  const uint32_t* argument = tfrt_bef_record_arguments(record);
  const uint32_t* const end = argument + record->argument_count;
  while (argument != end && *argument != number) ++argument;
  return argument != end;
}

// Whether, but for constants, each kernel of |callable| waits for the first result of the one
// before: then there is no other order than the file's.
static bool schedule_is_chain(const tfrt_bef_callable_t* callable) {
  const tfrt_kernel_site_t* site = callable->sites;
  const tfrt_kernel_site_t* const end = site + callable->bef->kernel_count;
  tfrt_bef_walk_t walk = schedule_walk(callable, 0);
  const tfrt_bef_record_t* last = NULL;
  while (++site != end) {
    tfrt_bef_walk_pass(&walk, tfrt_kernel_site_record(site));
    if (site->binding->constant) continue;
    if (last && last->result_count == 0) return false;
    if (last && !schedule_uses(tfrt_kernel_site_record(site), *tfrt_bef_record_results(last)))
      return false;
    last = tfrt_kernel_site_record(site);
  }
  return true;
}

// Adds a step for each kernel, in the order of the file. Not a part of its caller, whose variables
// would leave it too few of the machine's registers.
TFRT_NO_INLINE static void tfrt_schedule_add_chain(tfrt_schedule_builder_t* builder) {
  const tfrt_kernel_site_t* site = builder->callable->sites;
  const tfrt_kernel_site_t* const end = site + builder->callable->bef->kernel_count;
  tfrt_bef_walk_t walk = schedule_walk(builder->callable, 0);
  while (++site != end) {
    tfrt_bef_walk_pass(&walk, tfrt_kernel_site_record(site));
    if (!site->binding->constant) tfrt_schedule_add_step(builder, site);
  }
}

// Runs the function of |ready| with the executor's lists, and adds a step for each kernel as it
// comes.
static void schedule_add_as_ready(tfrt_schedule_builder_t* builder, tfrt_ready_list_t* ready) {
  const tfrt_kernel_site_t* sites = builder->callable->sites;
  tfrt_arrival_start(ready);
  tfrt_arrival_tell_all(ready, &sites[0], 1);
  for (uint32_t kernel; (kernel = tfrt_ready_list_pop_in_sequence(ready));) {
    const tfrt_kernel_site_t* site = &sites[kernel];
    if (!site->binding->constant) tfrt_schedule_add_step(builder, site);
    tfrt_arrival_tell_all(ready, site, 0);
  }
}

// Adds a step for each kernel of a function that is no chain.
static tfrt_status_t schedule_add_steps(tfrt_schedule_builder_t* builder, tfrt_arena_t* scratch) {
  const tfrt_bef_callable_t* callable = builder->callable;
  size_t count = callable->bef->kernel_count;
  tfrt_call_frame_t frame = {.callable = callable};
  frame.pending = tfrt_arena_allocate_room(scratch, count, sizeof(*frame.pending));
  frame.next = tfrt_arena_allocate_room(scratch, count, sizeof(*frame.next));
  if (!frame.pending || !frame.next) return schedule_out_of_memory();
  tfrt_call_frame_set_pending(&frame);
  if (callable->nonstrict_count > 0) {
    frame.passed = tfrt_arena_allocate_room(scratch, count, sizeof(*frame.passed));
    if (!frame.passed) return schedule_out_of_memory();
    tfrt_call_frame_set_passed(&frame);
  }
  tfrt_ready_list_t ready = tfrt_ready_list_make(&frame, callable->sites[0].stream_id);
  schedule_add_as_ready(builder, &ready);
  return NULL;
}

static tfrt_status_t schedule_make_steps(tfrt_schedule_builder_t* builder, tfrt_arena_t* scratch) {
  if (!schedule_is_chain(builder->callable)) return schedule_add_steps(builder, scratch);
  tfrt_schedule_add_chain(builder);
  return NULL;
}

// --- The whole ---------------------------------------------------------------

// Room for the slots of all steps: those of arguments and results, and each register dies once.
static size_t schedule_slot_room(const tfrt_bef_function_t* function) {
  return (size_t)function->value_count + function->register_count;
}

size_t tfrt_schedule_size(const tfrt_bef_function_t* function) {
  return sizeof(tfrt_schedule_t) + function->kernel_count * sizeof(tfrt_schedule_step_t) +
         schedule_slot_room(function) * sizeof(uint32_t);
}

// Allocates what |builder| fills in.
static bool schedule_allocate(tfrt_schedule_builder_t* builder, tfrt_arena_t* scratch) {
  const tfrt_bef_function_t* bef = builder->callable->bef;
  tfrt_arena_t* arena = &builder->program->arena;
  size_t register_count = (size_t)bef->register_count + 1;
  builder->schedule = tfrt_arena_allocate(arena, sizeof(*builder->schedule));
  builder->step = tfrt_arena_allocate_room(arena, bef->kernel_count, sizeof(*builder->step));
  builder->slots =
      tfrt_arena_allocate_room(arena, schedule_slot_room(bef), sizeof(*builder->slots));
  builder->registers =
      tfrt_arena_allocate_room(scratch, register_count, sizeof(*builder->registers));
  builder->free_slots = tfrt_arena_allocate_room(scratch, register_count, sizeof(uint32_t));
  builder->free_slots_end = builder->free_slots;
  return builder->schedule && builder->step && builder->slots && builder->registers &&
         builder->free_slots;
}

// Gives the function's arguments their slots, and lists those that nobody uses.
static tfrt_status_t schedule_begin(tfrt_schedule_builder_t* builder) {
  const tfrt_bef_function_t* bef = builder->callable->bef;
  uint32_t* unused = tfrt_arena_allocate_array(&builder->program->arena,
                                               (size_t)bef->argument_count + 1, sizeof(*unused));
  if (!unused) return schedule_out_of_memory();
  for (uint32_t i = 0; i < bef->argument_count; ++i) {
    builder->registers[i] = (tfrt_schedule_register_t){.slot = i, .uses_left = bef->use_counts[i]};
    if (bef->use_counts[i] == 0) unused[builder->schedule->unused_count++] = i;
  }
  builder->schedule->unused_arguments = unused;
  return NULL;
}

// Notes in which slots the function's results are.
static tfrt_status_t schedule_end(tfrt_schedule_builder_t* builder) {
  const tfrt_bef_function_t* bef = builder->callable->bef;
  tfrt_schedule_t* schedule = builder->schedule;
  tfrt_arena_t* arena = &builder->program->arena;
  size_t count = (size_t)bef->result_count + 1;
  uint32_t* slots = tfrt_arena_allocate_array(arena, count, sizeof(*slots));
  bool* is_last = tfrt_arena_allocate_array(arena, count, sizeof(*is_last));
  if (!slots || !is_last) return schedule_out_of_memory();
  for (uint32_t i = 0; i < bef->result_count; ++i) {
    tfrt_schedule_register_t* result = &builder->registers[bef->result_registers[i]];
    slots[i] = result->slot;
    is_last[i] = --result->uses_left == 0;
  }
  schedule->result_slots = slots;
  schedule->result_is_last = is_last;
  schedule->step_count = (uint32_t)(builder->step - schedule->steps);
  schedule->slot_count = builder->new_slot;
  return NULL;
}

tfrt_status_t tfrt_schedule_create(tfrt_program_t* program, tfrt_bef_callable_t* callable,
                                   const tfrt_schedule_survey_t* survey, tfrt_arena_t* scratch) {
  bool is_one_path = schedule_look_at_streams(callable, survey->costs);
  TFRT_RETURN_IF_ERROR(schedule_mark_early(callable, scratch));
  if (!is_one_path || survey->is_too_wide) return NULL;
  tfrt_schedule_builder_t builder = {
      .program = program, .callable = callable, .use_counts = callable->bef->use_counts};
  if (!schedule_allocate(&builder, scratch)) return schedule_out_of_memory();
  tfrt_schedule_t* schedule = builder.schedule;
  schedule->steps = builder.step;
  schedule->slots = builder.slots;
  // From here on the program releases the constants.
  callable->schedule = schedule;
  TFRT_RETURN_IF_ERROR(schedule_begin(&builder));
  TFRT_RETURN_IF_ERROR(schedule_make_constants(&builder, survey));
  builder.first_own_slot = callable->base.argument_count + schedule->constant_count;
  builder.new_slot = builder.first_own_slot;
  TFRT_RETURN_IF_ERROR(schedule_make_steps(&builder, scratch));
  return schedule_end(&builder);
}
