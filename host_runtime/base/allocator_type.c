// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/base/allocator_type.h"

void tfrt_allocation_counts_append(const tfrt_allocation_counts_t* counts,
                                   tfrt_string_builder_t* out) {
  tfrt_allocation_counts_append_as("HostAllocator", counts, out);
}

void tfrt_allocation_counts_append_as(const char* name, const tfrt_allocation_counts_t* counts,
                                      tfrt_string_builder_t* out) {
  tfrt_string_builder_append_format(
      out,
      "%s profile:\n"
      "Current number of allocations = %lld\nMax number of allocations = %lld\n"
      "Total number of allocations = %lld\nCurrent number of bytes allocated = %lld\n"
      "Max number of bytes allocated = %lld\n",
      name, (long long)counts->current_count, (long long)counts->max_count,
      (long long)counts->total_count, (long long)counts->current_bytes,
      (long long)counts->max_bytes);
}

// --- The types that are built in --------------------------------------------------

static tfrt_status_t create_system(const char* arguments, tfrt_allocator_t* out_allocator) {
  (void)arguments;
  *out_allocator = tfrt_allocator_system();
  return NULL;
}

static bool finish_system(tfrt_allocator_t allocator, tfrt_string_builder_t* report) {
  (void)allocator;
  (void)report;
  return true;
}

static tfrt_status_t create_counting(const char* arguments, tfrt_allocator_t* out_allocator) {
  (void)arguments;
  tfrt_counting_allocator_t* counting =
      tfrt_allocator_allocate(tfrt_allocator_system(), sizeof(*counting));
  if (!counting) return tfrt_status_out_of_memory();
  tfrt_counting_allocator_initialize(counting, tfrt_allocator_system(),
                                     TFRT_COUNTING_ALLOCATOR_UNLIMITED);
  *out_allocator = tfrt_counting_allocator_interface(counting);
  return NULL;
}

// Gives back the counting |allocator| and returns what it has counted.
static tfrt_allocation_counts_t end_counting(tfrt_allocator_t allocator) {
  tfrt_counting_allocator_t* counting = (tfrt_counting_allocator_t*)allocator.self;
  tfrt_allocation_counts_t counts = tfrt_counting_allocator_counts(counting);
  tfrt_allocator_free(tfrt_allocator_system(), counting, sizeof(*counting));
  return counts;
}

static bool finish_profiled(tfrt_allocator_t allocator, tfrt_string_builder_t* report) {
  tfrt_allocation_counts_t counts = end_counting(allocator);
  tfrt_allocation_counts_append(&counts, report);
  return true;
}

static bool finish_leak_check(tfrt_allocator_t allocator, tfrt_string_builder_t* report) {
  tfrt_allocation_counts_t counts = end_counting(allocator);
  if (counts.current_bytes == 0) return true;
  tfrt_allocation_counts_append(&counts, report);
  tfrt_string_builder_append_format(
      report, "Memory leak detected: %lld alive allocations, %lld alive bytes\n",
      (long long)counts.current_count, (long long)counts.current_bytes);
  return false;
}

static const tfrt_allocator_type_t system_type = {
    {"malloc", ""}, "Choosing malloc.", create_system, finish_system};
static const tfrt_allocator_type_t profiled_type = {{"profiled_allocator", ""},
                                                    "Choosing profiled allocator based on malloc.",
                                                    create_counting,
                                                    finish_profiled};
static const tfrt_allocator_type_t leak_check_type = {{"leak_check_allocator", ""},
                                                      "Choosing memory leak check allocator.",
                                                      create_counting,
                                                      finish_leak_check};

const tfrt_allocator_type_t* tfrt_profiled_allocator_type(void) { return &profiled_type; }

// --- All types ---------------------------------------------------------------------

static tfrt_choice_table_t types = {
    .what = "allocator",
    .mutex = TFRT_MUTEX_INITIALIZER,
    .count = 3,
    .entries = {&system_type.choice, &profiled_type.choice, &leak_check_type.choice}};

tfrt_status_t tfrt_allocator_type_register(const tfrt_allocator_type_t* type) {
  return tfrt_choice_add(&types, &type->choice);
}

tfrt_status_t tfrt_allocator_create_by_name(const char* text, tfrt_allocator_t* out_allocator,
                                            const tfrt_allocator_type_t** out_type) {
  *out_allocator = (tfrt_allocator_t){.vtable = NULL};
  *out_type = NULL;
  const tfrt_choice_t* choice = NULL;
  const char* arguments = NULL;
  TFRT_RETURN_IF_ERROR(tfrt_choice_find(&types, text, &choice, &arguments));
  const tfrt_allocator_type_t* type = (const tfrt_allocator_type_t*)choice;
  TFRT_RETURN_IF_ERROR(type->create(arguments, out_allocator));
  *out_type = type;
  return NULL;
}
