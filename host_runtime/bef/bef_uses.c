// SPDX-License-Identifier: Apache-2.0
//
// The long way to check the uses of registers: any order of users, and what is wrong with them.
// bef_body.c takes it where the short one doesn't do. Linear, too.

#include <inttypes.h>

#include "host_runtime/bef/bef_loader.h"

// One body whose registers and kernels are all right, but for their uses.
typedef struct uses_s {
  const tfrt_bef_function_t* function;
  tfrt_bef_cursor_t cursor;
  uint32_t* argument_uses;  // per register and the special one
  uint32_t* first_users;    // per register: where its part of |users| begins; one more
  uint32_t* users;          // kernels by register, one for each argument
  uint32_t* balance;        // per kernel: users expected less users seen
  tfrt_arena_t arena;       // what is listed here
} uses_t;

static tfrt_status_t allocate_words(tfrt_arena_t* arena, size_t count, uint32_t** out_words) {
  void* memory;
  tfrt_status_t status = tfrt_bef_load_allocate(arena, count, sizeof(**out_words), &memory);
  *out_words = memory;
  return status;
}

static tfrt_status_t count_uses(uses_t* uses) {
  const tfrt_bef_function_t* function = uses->function;
  TFRT_RETURN_IF_ERROR(
      allocate_words(&uses->arena, (size_t)function->register_count + 1, &uses->argument_uses));
  for (uint32_t k = 1; k < function->kernel_count; ++k) {
    const tfrt_bef_record_t* record = tfrt_bef_function_record(function, k);
    const uint32_t* arguments = tfrt_bef_record_arguments(record);
    if (record->argument_count == 0) ++uses->argument_uses[function->register_count];
    for (uint32_t i = 0; i < record->argument_count; ++i) ++uses->argument_uses[arguments[i]];
  }
  return NULL;
}

// Use counts are arguments and function results.
static tfrt_status_t check_use_counts(uses_t* uses) {
  const tfrt_bef_function_t* function = uses->function;
  uint32_t* result_uses;
  TFRT_RETURN_IF_ERROR(allocate_words(&uses->arena, function->register_count, &result_uses));
  for (uint32_t i = 0; i < function->result_count; ++i) {
    ++result_uses[function->result_registers[i]];
  }
  for (uint32_t i = 0; i < function->register_count; ++i) {
    uint64_t count = (uint64_t)uses->argument_uses[i] + result_uses[i];
    if (count == function->use_counts[i]) continue;
    return tfrt_bef_cursor_error(&uses->cursor, uses->cursor.position,
                                 "register %" PRIu32 " has %" PRIu64
                                 " uses, but its use count is %" PRIu32,
                                 i, count, function->use_counts[i]);
  }
  return NULL;
}

// Sorts the kernels by the registers that they use: a counting sort.
static tfrt_status_t collect_users(uses_t* uses) {
  uint32_t register_count = uses->function->register_count;
  uint32_t* next;
  TFRT_RETURN_IF_ERROR(
      allocate_words(&uses->arena, (size_t)register_count + 2, &uses->first_users));
  TFRT_RETURN_IF_ERROR(allocate_words(&uses->arena, (size_t)register_count + 1, &next));
  for (uint32_t i = 0; i <= register_count; ++i) {
    next[i] = uses->first_users[i];
    uses->first_users[i + 1] = uses->first_users[i] + uses->argument_uses[i];
  }
  TFRT_RETURN_IF_ERROR(
      allocate_words(&uses->arena, uses->first_users[register_count + 1], &uses->users));
  for (uint32_t k = 1; k < uses->function->kernel_count; ++k) {
    const tfrt_bef_record_t* record = tfrt_bef_function_record(uses->function, k);
    const uint32_t* arguments = tfrt_bef_record_arguments(record);
    if (record->argument_count == 0) uses->users[next[register_count]++] = k;
    for (uint32_t i = 0; i < record->argument_count; ++i) uses->users[next[arguments[i]]++] = k;
  }
  return NULL;
}

// The |count| words of |users| must be the kernels that use register |number|, each as
// often as it does, in any order.
static tfrt_status_t check_users(uses_t* uses, uint32_t number, const uint32_t* users,
                                 uint32_t count) {
  uint32_t first = uses->first_users[number];
  uint32_t expected = uses->first_users[number + 1] - first;
  if (count != expected) {
    return tfrt_bef_cursor_error(&uses->cursor, uses->cursor.position,
                                 "register %" PRIu32 " has %" PRIu32 " users, but %" PRIu32
                                 " are listed",
                                 number, expected, count);
  }
  TFRT_RETURN_IF_ERROR(tfrt_bef_cursor_check_range(&uses->cursor, "user", users, count,
                                                   uses->function->kernel_count));
  for (uint32_t i = 0; i < count; ++i) ++uses->balance[uses->users[first + i]];
  for (uint32_t i = 0; i < count; ++i) {
    if (uses->balance[users[i]]-- > 0) continue;
    return tfrt_bef_cursor_error(&uses->cursor, (const uint8_t*)(const void*)&users[i],
                                 "kernel %" PRIu32 " is listed as a user of register %" PRIu32
                                 " more often than it uses it",
                                 users[i], number);
  }
  return NULL;
}

static tfrt_status_t check_all_users(uses_t* uses) {
  TFRT_RETURN_IF_ERROR(collect_users(uses));
  TFRT_RETURN_IF_ERROR(allocate_words(&uses->arena, uses->function->kernel_count, &uses->balance));
  for (uint32_t k = 0; k < uses->function->kernel_count; ++k) {
    const tfrt_bef_record_t* record = tfrt_bef_function_record(uses->function, k);
    const uint32_t* results = tfrt_bef_record_results(record);
    const uint32_t* user_counts = tfrt_bef_record_user_counts(record);
    const uint32_t* users = tfrt_bef_record_users(record);
    uses->cursor.kernel = k;
    for (uint32_t i = 0; i < record->result_count; ++i) {
      TFRT_RETURN_IF_ERROR(check_users(uses, results[i], users, user_counts[i]));
      users += user_counts[i];
    }
  }
  uses->cursor.kernel = TFRT_BEF_NO_INDEX;
  return NULL;
}

static tfrt_status_t check_all(uses_t* uses) {
  TFRT_RETURN_IF_ERROR(count_uses(uses));
  TFRT_RETURN_IF_ERROR(check_use_counts(uses));
  return check_all_users(uses);
}

tfrt_status_t tfrt_bef_load_check_uses(const tfrt_bef_load_t* load,
                                       const tfrt_bef_function_t* function,
                                       const tfrt_bef_cursor_t* cursor) {
  uses_t uses = {.function = function, .cursor = *cursor};
  tfrt_arena_initialize(&uses.arena, load->file->allocator);
  tfrt_status_t status = check_all(&uses);
  tfrt_arena_deinitialize(&uses.arena);
  return status;
}
