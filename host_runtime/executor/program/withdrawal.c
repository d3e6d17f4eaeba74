// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/executor/kernel/withdrawal.h"

#include "host_runtime/executor/program/program_impl.h"

// --- Which kernels ---------------------------------------------------------------

// The functions that a call may come to.
typedef struct tfrt_withdrawal_search_s {
  const tfrt_program_t* program;
  bool* is_found;  // of each function; NULL: all are
  uint32_t* open;  // indices of those whose own calls were not looked at
  uint32_t open_count;
} tfrt_withdrawal_search_t;

// Makes |search| one that has found nothing; or, without memory to find out what a call may come
// to, everything, and returns false.
static bool withdrawal_search_initialize(tfrt_withdrawal_search_t* search,
                                         const tfrt_program_t* program) {
  const uint32_t count = program->function_count;
  bool* is_found = tfrt_allocator_allocate_zeroed(program->allocator, count * sizeof(bool));
  uint32_t* open = tfrt_allocator_allocate_zeroed(program->allocator, count * sizeof(uint32_t));
  *search = (tfrt_withdrawal_search_t){.program = program, .is_found = is_found, .open = open};
  if (is_found && open) return true;
  tfrt_allocator_free(program->allocator, is_found, count * sizeof(bool));
  search->is_found = NULL;
  return false;
}

static void withdrawal_search_deinitialize(tfrt_withdrawal_search_t* search) {
  const uint32_t count = search->program->function_count;
  tfrt_allocator_free(search->program->allocator, search->is_found, count * sizeof(bool));
  tfrt_allocator_free(search->program->allocator, search->open, count * sizeof(uint32_t));
}

static void withdrawal_search_add(tfrt_withdrawal_search_t* search,
                                  const tfrt_function_t* function) {
  if (function->program != search->program || search->is_found[function->index]) return;
  search->is_found[function->index] = true;
  search->open[search->open_count++] = function->index;
}

static void withdrawal_search_add_called(tfrt_withdrawal_search_t* search,
                                         const tfrt_kernel_site_t* site) {
  for (uint32_t i = 0; i < tfrt_kernel_site_record(site)->function_count; ++i) {
    withdrawal_search_add(search, site->binding->functions[i]);
  }
}

static void withdrawal_search_run(tfrt_withdrawal_search_t* search) {
  while (search->open_count > 0) {
    const tfrt_bef_callable_t* callable =
        &search->program->functions[search->open[--search->open_count]];
    if (callable->base.kind == TFRT_FUNCTION_NATIVE) continue;
    for (uint32_t k = 1; k < callable->bef->kernel_count; ++k) {
      withdrawal_search_add_called(search, &callable->sites[k]);
    }
  }
}

// Has the kernels of the functions that |search| has found tell of |reason|.
static void withdrawal_search_tell(const tfrt_withdrawal_search_t* search,
                                   const tfrt_execution_context_t* context, tfrt_status_t reason) {
  const tfrt_program_withdrawal_t* kernel = search->program->withdrawals;
  for (; kernel; kernel = kernel->next) {
    const tfrt_kernel_binding_t* binding = kernel->site->binding;
    if (search->is_found && !search->is_found[binding->owner->base.index]) continue;
    const tfrt_kernel_withdrawal_t withdrawal = {.context = context,
                                                 .site = kernel->site,
                                                 .attributes = binding->attributes,
                                                 .reason = reason};
    kernel->run(&withdrawal);
  }
}

// Does so for what |function| may come to, or if that is NULL, what the kernel at |site| calls.
static void withdrawal_search_and_tell(const tfrt_program_t* program,
                                       const tfrt_function_t* function,
                                       const tfrt_kernel_site_t* site,
                                       const tfrt_execution_context_t* context,
                                       tfrt_status_t reason) {
  tfrt_withdrawal_search_t search;
  if (withdrawal_search_initialize(&search, program)) {
    if (function) {
      withdrawal_search_add(&search, function);
    } else {
      withdrawal_search_add_called(&search, site);
    }
    withdrawal_search_run(&search);
  }
  withdrawal_search_tell(&search, context, reason);
  withdrawal_search_deinitialize(&search);
}

// --- What is asked -----------------------------------------------------------------

bool tfrt_function_withdraws(const tfrt_function_t* function) {
  return function->program && function->program->withdrawals;
}

void tfrt_function_withdraw(const tfrt_function_t* function,
                            const tfrt_execution_context_t* context, tfrt_status_t reason) {
  withdrawal_search_and_tell(function->program, function, NULL, context, reason);
}

bool tfrt_kernel_site_withdraws(const tfrt_kernel_site_t* site) {
  return tfrt_kernel_site_program(site)->withdrawals != NULL;
}

void tfrt_kernel_site_withdraw(const tfrt_kernel_site_t* site,
                               const tfrt_execution_context_t* context, tfrt_status_t reason) {
  withdrawal_search_and_tell(tfrt_kernel_site_program(site), NULL, site, context, reason);
}

void tfrt_value_withdraw(tfrt_async_value_t* value, const tfrt_execution_context_t* context,
                         tfrt_status_t reason) {
  tfrt_async_value_t* resolved = tfrt_async_value_resolved(value);
  const tfrt_kernel_withdrawal_t withdrawal = {.context = context, .reason = reason};
  tfrt_type_get(resolved->type_id)->withdraw(tfrt_async_value_payload(resolved), &withdrawal);
}
