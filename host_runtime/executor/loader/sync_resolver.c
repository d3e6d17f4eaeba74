// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/executor/loader/sync_resolver.h"

tfrt_status_t tfrt_sync_resolver_check_kernel(const tfrt_kernel_site_t* site) {
  const tfrt_kernel_binding_t* binding = site->binding;
  const char* name = binding->owner->base.name;
  if (binding->call_options && binding->call_options->has_host) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "'%s' calls a function on another host, but is a synchronous "
                              "function (tfrt.sync), which doesn't wait",
                              name);
  }
  for (uint32_t i = 0; i < tfrt_kernel_site_record(site)->function_count; ++i) {
    const tfrt_function_t* function = binding->functions[i];
    if (function->kind == TFRT_FUNCTION_SYNC) continue;
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "kernel '%s' in the synchronous function '%s' runs %s%s%s, which "
                              "isn't synchronous (tfrt.sync)",
                              binding->name, name, function->name[0] ? "'" : "a region",
                              function->name, function->name[0] ? "'" : "");
  }
  return NULL;
}

static tfrt_status_t sync_resolver_out_of_memory(void) {
  return tfrt_status_create(TFRT_STATUS_RESOURCE_EXHAUSTED, "no memory to load the program");
}

// Marks the registers of results and arguments in |kept|, whose entries are false.
static tfrt_status_t sync_resolver_mark_kept(const tfrt_bef_function_t* bef, bool* kept) {
  for (uint32_t i = 0; i < bef->argument_count; ++i) kept[i] = true;
  for (uint32_t i = 0; i < bef->result_count; ++i) {
    if (kept[bef->result_registers[i]]) {
      return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                                "result %u of the synchronous function '%s' is one of its "
                                "arguments, or a result before it",
                                i, bef->name);
    }
    kept[bef->result_registers[i]] = true;
  }
  return NULL;
}

// Notes that |kernel| is the last one so far to touch the |count| |registers|.
static void sync_resolver_touch(const uint32_t* registers, uint32_t count, uint32_t kernel,
                                uint32_t* last) {
  for (uint32_t i = 0; i < count; ++i) last[registers[i]] = kernel;
}

// Lists each register that isn't |kept| at the last kernel that touches it.
static tfrt_status_t sync_resolver_list_dead(tfrt_program_t* program, tfrt_bef_callable_t* callable,
                                             const bool* kept, const uint32_t* last) {
  uint32_t register_count = callable->bef->register_count;
  uint32_t* dead =
      tfrt_arena_allocate_array(&program->arena, (size_t)register_count + 1, sizeof(*dead));
  if (!dead) return sync_resolver_out_of_memory();
  callable->dead = dead;
  // First how many die at each kernel; then where its part begins, which moves as it is filled.
  tfrt_kernel_site_t* sites = callable->sites;
  for (uint32_t k = 0; k < callable->bef->kernel_count; ++k) sites[k].dead_end = 0;
  for (uint32_t r = 0; r < register_count; ++r) {
    if (!kept[r]) ++sites[last[r]].dead_end;
  }
  uint32_t begin = 0;
  for (uint32_t k = 0; k < callable->bef->kernel_count; ++k) {
    uint32_t count = sites[k].dead_end;
    sites[k].dead_end = begin;
    begin += count;
  }
  for (uint32_t r = 0; r < register_count; ++r) {
    if (!kept[r]) dead[sites[last[r]].dead_end++] = r;
  }
  return NULL;
}

tfrt_status_t tfrt_sync_resolver_run(tfrt_program_t* program, tfrt_bef_callable_t* callable,
                                     tfrt_arena_t* scratch) {
  const tfrt_bef_function_t* bef = callable->bef;
  size_t count = (size_t)bef->register_count + 1;
  bool* kept = tfrt_arena_allocate_array(scratch, count, sizeof(*kept));
  uint32_t* last = tfrt_arena_allocate_array(scratch, count, sizeof(*last));
  if (!kept || !last) return sync_resolver_out_of_memory();
  TFRT_RETURN_IF_ERROR(sync_resolver_mark_kept(bef, kept));
  for (uint32_t k = 1; k < bef->kernel_count; ++k) {
    const tfrt_bef_record_t* record = tfrt_bef_function_record(bef, k);
    sync_resolver_touch(tfrt_bef_record_arguments(record), record->argument_count, k, last);
    sync_resolver_touch(tfrt_bef_record_results(record), record->result_count, k, last);
  }
  return sync_resolver_list_dead(program, callable, kept, last);
}
