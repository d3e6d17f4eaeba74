// SPDX-License-Identifier: Apache-2.0
//
// The fake driver's door (tests/fakes/cuda/fake_cuda.h): entry points have the driver's names
// only in the table that cuGetProcAddress looks into; and what tests do behind its back.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/fakes/cuda/fake_cuda_call.h"

// --- The door --------------------------------------------------------------------------------

typedef struct fake_entry_s {
  const char* name;
  int version;
  void (*address)(void);
} fake_entry_t;

static const fake_entry_t entries[] = {
#define FAKE_ENTRY(name, version, is_required, parameters) \
  {"cu" #name, version, (void (*)(void))tfrt_fake_##name},
    TFRT_CUDA_ENTRIES(FAKE_ENTRY)
#undef FAKE_ENTRY
};

TFRT_EXPORT int cuGetProcAddress_v2(const char* name, void** address, int version, uint64_t flags,
                                    int* reason);

TFRT_EXPORT int cuGetProcAddress_v2(const char* name, void** address, int version, uint64_t flags,
                                    int* reason) {
  (void)flags;
  tfrt_fake_begin("cuGetProcAddress");
  *address = NULL;
  *reason = 1;
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(entries); ++i) {
    if (strcmp(entries[i].name, name) != 0) continue;
    bool is_known = entries[i].version <= tfrt_fake.version && version >= entries[i].version;
    *reason = is_known ? 0 : 2;
    if (is_known) memcpy(address, &entries[i].address, sizeof(*address));
  }
  return tfrt_fake_end(*reason == 0 ? 0 : TFRT_CUDA_ERROR_NOT_FOUND);
}

// --- Behind the driver's back ------------------------------------------------------------------

static void fake_set_seed(uint64_t seed) {
  tfrt_fake_begin("");
  tfrt_fake.seed = seed;
  tfrt_fake_end(0);
}

static void fake_set_version(int version) {
  tfrt_fake_begin("");
  tfrt_fake.version = version;
  tfrt_fake_end(0);
}

static void fake_set_failure(const char* name, uint32_t n, int result) {
  tfrt_fake_begin("");
  tfrt_fake.failing_name = name;
  tfrt_fake.failing_countdown = n;
  tfrt_fake.failing_result = result;
  tfrt_fake_end(0);
}

static void fake_hold_copies(int ordinal) {
  tfrt_fake_begin("");
  tfrt_fake.held_ordinal = ordinal;
  tfrt_condition_broadcast(&tfrt_fake.condition);
  tfrt_fake_end(0);
}

static size_t fake_held_size(void) {
  tfrt_fake_begin("");
  size_t size = tfrt_fake_held_size();
  tfrt_fake_end(0);
  return size;
}

static int fake_take_priority(void) {
  tfrt_fake_begin("");
  int priority = tfrt_fake.last_priority;
  tfrt_fake.last_priority = 0;
  tfrt_fake_end(0);
  return priority;
}

static int fake_defects(char* text, size_t size) {
  tfrt_fake_begin("");
  snprintf(text, size, "%s", tfrt_fake.defects);
  int count = tfrt_fake.defect_count;
  tfrt_fake_end(0);
  return count;
}

static int fake_live(void) {
  tfrt_fake_begin("");
  int count =
      tfrt_fake_count_in(&tfrt_fake.pools, NULL) + tfrt_fake_count_in(&tfrt_fake.streams, NULL) +
      tfrt_fake_count_in(&tfrt_fake.events, NULL) + tfrt_fake_count_in(&tfrt_fake.modules, NULL) +
      tfrt_fake_count_in(&tfrt_fake.graphs, NULL) +
      tfrt_fake_count_in(&tfrt_fake.graph_execs, NULL) +
      tfrt_fake_count_in(&tfrt_fake.libraries, NULL);
  for (tfrt_list_link_t* l = tfrt_fake.blocks.next; l != &tfrt_fake.blocks; l = l->next) {
    count += !TFRT_CONTAINER_OF(l, tfrt_fake_block_t, link)->is_dead;
  }
  for (int i = 0; i < TFRT_FAKE_CUDA_DEVICE_COUNT; ++i) {
    count += tfrt_fake.contexts[i].retain_count;
  }
  tfrt_fake_end(0);
  return count;
}

// A program that doesn't know of the fake has nobody who asks for defects: it fails by them, at its
// end.
__attribute__((destructor)) static void fake_fail_at_end(void) {
  if (tfrt_fake.defect_count == 0 || !getenv("TFRT_FAKE_CUDA_STRICT")) return;
  fprintf(stderr, "the fake driver: %d defects:\n%s", tfrt_fake.defect_count, tfrt_fake.defects);
  fflush(NULL);
  _exit(70);
}

static size_t fake_waiting_lists(void) {
  tfrt_fake_begin("");
  size_t count = tfrt_fake.waiting_lists;
  tfrt_fake_end(0);
  return count;
}

TFRT_EXPORT extern const tfrt_fake_cuda_control_t tfrt_fake_cuda_control_table;

const tfrt_fake_cuda_control_t tfrt_fake_cuda_control_table = {
    fake_set_seed,      fake_set_version,   fake_set_failure, fake_hold_copies, fake_held_size,
    fake_waiting_lists, fake_take_priority, fake_defects,     fake_live};
