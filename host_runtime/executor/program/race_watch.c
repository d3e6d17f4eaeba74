// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/executor/program/race_watch.h"

#include <stdatomic.h>
#include <string.h>

#include "host_runtime/base/hash_table.h"
#include "host_runtime/base/log.h"
#include "host_runtime/base/sync.h"
#include "host_runtime/executor/program/race_clock.h"

// One access that something may still have to come behind.
typedef struct tfrt_race_access_s {
  uint64_t number;
  const tfrt_kernel_site_t* site;
  bool writes;
} tfrt_race_access_t;

typedef struct tfrt_race_memory_s {
  tfrt_hash_node_t node;
  const void* address;
  uint32_t count;
  tfrt_race_access_t accesses[TFRT_RACE_WATCH_MAX_ACCESSES];
} tfrt_race_memory_t;

// Two sites that were reported.
typedef struct tfrt_race_pair_s {
  tfrt_hash_node_t node;
  const tfrt_kernel_site_t* later;
  const tfrt_kernel_site_t* earlier;
} tfrt_race_pair_t;

typedef struct tfrt_race_found_s {
  const tfrt_kernel_site_t* earlier;
  bool earlier_writes;
  bool later_writes;
} tfrt_race_found_t;

// A run of a kernel.
typedef struct tfrt_race_run_s {
  const tfrt_race_watch_t* watch;
  tfrt_race_clock_t behind;  // what its arguments come behind
  uint64_t first;            // number of its own accesses
  uint64_t end;
  tfrt_race_found_t found[TFRT_RACE_WATCH_MAX_ACCESSES];
  uint32_t found_count;
} tfrt_race_run_t;

// A result that comes later.
typedef struct tfrt_race_late_s {
  tfrt_task_t task;
  tfrt_async_value_t* value;       // +1
  tfrt_indirect_value_t* outcome;  // +1: what others wait for
  tfrt_race_clock_t clock;
  bool knows_all;     // it comes behind all that was begun before it is there
  bool is_new;        // in new memory
  bool is_handed_on;  // others have noted what it comes behind: that comes behind the clock, too
} tfrt_race_late_t;

// --- All that is watched -----------------------------------------------------

static uint64_t race_hash_pointer(const void* key) {
  uint64_t number = (uint64_t)(uintptr_t)key;
  number *= 0x9e3779b97f4a7c15u;
  return number ^ number >> 29;
}

static bool race_memory_equal(const tfrt_hash_node_t* node, const void* key) {
  return TFRT_CONTAINER_OF(node, const tfrt_race_memory_t, node)->address == key;
}

static uint64_t race_pair_hash(const void* key) {
  const tfrt_race_pair_t* pair = key;
  return race_hash_pointer(pair->later) + 31 * race_hash_pointer(pair->earlier);
}

static bool race_pair_equal(const tfrt_hash_node_t* node, const void* key) {
  const tfrt_race_pair_t* a = TFRT_CONTAINER_OF(node, const tfrt_race_pair_t, node);
  const tfrt_race_pair_t* b = key;
  return a->later == b->later && a->earlier == b->earlier;
}

static const tfrt_hash_table_vtable_t tfrt_race_memory_vtable = {race_hash_pointer,
                                                                 race_memory_equal};
static const tfrt_hash_table_vtable_t tfrt_race_pair_vtable = {race_pair_hash, race_pair_equal};

typedef struct tfrt_race_state_s {
  tfrt_mutex_t mutex;  // guards all below
  tfrt_hash_table_t memories;
  tfrt_hash_table_t pairs;
  tfrt_race_clock_table_t clocks;
  uint64_t next;  // number of an access
} tfrt_race_state_t;

static tfrt_race_state_t tfrt_race;
static tfrt_once_t tfrt_race_once = TFRT_ONCE_INITIALIZER;
static _Atomic(tfrt_race_memory_fn_t) tfrt_race_memory_functions[TFRT_TYPE_MAX_COUNT];

static void race_initialize(void) {
  tfrt_allocator_t allocator = tfrt_allocator_system();
  tfrt_mutex_initialize(&tfrt_race.mutex);
  tfrt_hash_table_initialize(&tfrt_race.memories, &tfrt_race_memory_vtable, allocator);
  tfrt_hash_table_initialize(&tfrt_race.pairs, &tfrt_race_pair_vtable, allocator);
  tfrt_race_clock_table_initialize(&tfrt_race.clocks, allocator);
  tfrt_race.next = 1;
}

static void race_lock(void) {
  tfrt_once_run(&tfrt_race_once, race_initialize);
  tfrt_mutex_lock(&tfrt_race.mutex);
}

static void race_unlock(void) { tfrt_mutex_unlock(&tfrt_race.mutex); }

// --- Memory ------------------------------------------------------------------

void tfrt_race_watch_set_memory(tfrt_type_id_t type, tfrt_race_memory_fn_t memory) {
  // Relaxed: programs are made, and run, behind this.
  atomic_store_explicit(&tfrt_race_memory_functions[type], memory, memory_order_relaxed);
}

// The address that stands for the memory of |value|, or NULL.
static const void* race_memory_of(tfrt_async_value_t* value) {
  if (tfrt_async_value_state(value) != TFRT_ASYNC_VALUE_AVAILABLE) return NULL;
  value = tfrt_async_value_resolved(value);
  if (value->type_id < TFRT_TYPE_FIRST_REGISTERED) return NULL;
  const void* payload = tfrt_async_value_payload(value);
  tfrt_race_memory_fn_t memory =
      atomic_load_explicit(&tfrt_race_memory_functions[value->type_id], memory_order_relaxed);
  if (memory) return memory(payload);
  if (tfrt_type_get(value->type_id)->size != sizeof(void*)) return payload;
  const void* pointed = NULL;
  memcpy(&pointed, payload, sizeof(pointed));
  return pointed;
}

static tfrt_race_memory_t* race_find_memory(const void* address) {
  tfrt_hash_node_t* node = tfrt_hash_table_find(&tfrt_race.memories, address);
  return node ? TFRT_CONTAINER_OF(node, tfrt_race_memory_t, node) : NULL;
}

static tfrt_race_memory_t* race_add_memory(const void* address) {
  tfrt_race_memory_t* memory = race_find_memory(address);
  if (memory) return memory;
  memory = tfrt_allocator_allocate(tfrt_allocator_system(), sizeof(*memory));
  if (!memory) return NULL;
  memory->address = address;
  memory->count = 0;
  tfrt_hash_table_insert(&tfrt_race.memories, address, &memory->node);
  return memory;
}

// |value| is new, and so is its memory if |is_new|, or if it is the payload itself.
static void race_renew_memory(tfrt_async_value_t* value, bool is_new) {
  const void* address = race_memory_of(value);
  if (!address) return;
  is_new = is_new || address == tfrt_async_value_payload(tfrt_async_value_resolved(value));
  tfrt_race_memory_t* memory = is_new ? race_find_memory(address) : NULL;
  if (memory) memory->count = 0;
}

// --- Before a kernel runs ----------------------------------------------------

static void race_note_found(tfrt_race_run_t* run, const tfrt_race_access_t* earlier, bool writes) {
  if (run->found_count == TFRT_ARRAY_SIZE(run->found)) return;
  run->found[run->found_count++] = (tfrt_race_found_t){earlier->site, earlier->writes, writes};
}

// Compares an access of |site| with those of |memory|, and adds it.
static void race_access(tfrt_race_run_t* run, const tfrt_kernel_site_t* site,
                        tfrt_race_memory_t* memory, bool writes) {
  uint32_t kept = 0;
  bool is_known = false;
  for (uint32_t i = 0; i < memory->count; ++i) {
    tfrt_race_access_t* other = &memory->accesses[i];
    if (other->number >= run->first) {
      // The run has another argument in this memory.
      other->writes |= writes;
      is_known = true;
    } else {
      bool is_ordered = tfrt_race_clock_has(&run->behind, other->number);
      if (!is_ordered && (writes || other->writes)) race_note_found(run, other, writes);
      // Later ones that come behind this one come behind the other, too.
      if (is_ordered && writes) continue;
    }
    memory->accesses[kept++] = *other;
  }
  memory->count = kept;
  if (is_known) return;
  if (memory->count == TFRT_RACE_WATCH_MAX_ACCESSES) {
    memmove(&memory->accesses[0], &memory->accesses[1],
            sizeof(memory->accesses[0]) * --memory->count);
  }
  memory->accesses[memory->count++] = (tfrt_race_access_t){tfrt_race.next++, site, writes};
}

static void race_begin(tfrt_race_run_t* run, tfrt_kernel_frame_t* frame) {
  race_lock();
  for (uint32_t i = 0; i < frame->argument_count; ++i) {
    if (!frame->arguments[i] || !tfrt_async_value_is_available(frame->arguments[i])) continue;
    tfrt_race_clock_merge_value(&tfrt_race.clocks, tfrt_async_value_resolved(frame->arguments[i]),
                                &run->behind);
  }
  run->first = tfrt_race.next;
  for (uint32_t i = 0; i < frame->argument_count; ++i) {
    if (run->watch->accesses[i] == TFRT_RACE_NONE || !frame->arguments[i]) continue;
    const void* address = race_memory_of(frame->arguments[i]);
    tfrt_race_memory_t* memory = address ? race_add_memory(address) : NULL;
    if (!memory) continue;
    race_access(run, frame->site, memory, run->watch->accesses[i] == TFRT_RACE_WRITES);
  }
  run->end = tfrt_race.next;
  race_unlock();
}

// --- Behind it ---------------------------------------------------------------

// Sets |out_clock| to all that result |index| of the run comes behind.
static void race_result_clock(const tfrt_race_run_t* run, uint32_t index,
                              tfrt_race_clock_t* out_clock) {
  *out_clock = run->behind;
  if (run->watch->done != UINT32_MAX && run->watch->done != index) return;
  for (uint64_t number = run->first; number < run->end; ++number) {
    tfrt_race_clock_add(out_clock, number);
  }
}

static void race_settle(tfrt_async_value_t* value, tfrt_race_clock_t* clock, bool knows_all,
                        bool is_new) {
  if (knows_all) {
    clock->all_before = tfrt_race.next;
    clock->count = 0;
  }
  tfrt_race_clock_set(&tfrt_race.clocks, tfrt_async_value_resolved(value), clock);
  race_renew_memory(value, is_new);
}

// Puts a chain of its own in the place of |*value| (+1) if that is the one that all share, or an
// argument: it comes behind more. Returns false if there is no memory for one.
static bool race_own_chain(tfrt_async_value_t** value, bool is_argument) {
  tfrt_async_value_t* resolved = tfrt_async_value_resolved(*value);
  if (resolved->type_id != TFRT_TYPE_CHAIN) return true;
  if (!is_argument && resolved != tfrt_async_value_ready_chain()) return true;
  tfrt_async_value_t* chain = tfrt_async_value_create_available(TFRT_TYPE_CHAIN);
  if (!chain) return false;
  tfrt_async_value_release(*value);
  *value = chain;
  return true;
}

// Lets |*value|, which a function hands on, come behind |clock|, too. One that is an argument is
// the same value with another name, and comes behind both.
static void race_hand_on(tfrt_async_value_t** value, tfrt_race_clock_t* clock) {
  if (!tfrt_async_value_is_available(*value)) return;
  race_lock();
  tfrt_race_clock_merge_value(&tfrt_race.clocks, tfrt_async_value_resolved(*value), clock);
  race_unlock();
  if (!race_own_chain(value, true)) return;
  race_lock();
  tfrt_race_clock_set(&tfrt_race.clocks, tfrt_async_value_resolved(*value), clock);
  race_unlock();
}

static void race_on_late(tfrt_task_t* task) {
  tfrt_race_late_t* late = TFRT_CONTAINER_OF(task, tfrt_race_late_t, task);
  if (late->is_handed_on) {
    race_hand_on(&late->value, &late->clock);
  } else if (!tfrt_async_value_is_error(late->value) && race_own_chain(&late->value, false)) {
    race_lock();
    race_settle(late->value, &late->clock, late->knows_all, late->is_new);
    race_unlock();
  }
  tfrt_indirect_value_forward_take(late->outcome, late->value);
  tfrt_async_value_release(&late->outcome->base);
  tfrt_allocator_free(tfrt_allocator_system(), late, sizeof(*late));
}

// Puts a value in the place of |result|, which comes later, that is there only when it is known
// what it comes behind.
static void race_wait_for(tfrt_async_value_t** result, const tfrt_race_late_t* facts) {
  tfrt_race_late_t* late = tfrt_allocator_allocate(tfrt_allocator_system(), sizeof(*late));
  tfrt_indirect_value_t* outcome = late ? tfrt_indirect_value_create() : NULL;
  if (!outcome) {
    tfrt_allocator_free(tfrt_allocator_system(), late, sizeof(*late));
    return;
  }
  *late = *facts;
  late->value = *result;
  late->outcome = outcome;
  *result = tfrt_async_value_retain(&outcome->base);
  tfrt_task_initialize(&late->task, race_on_late);
  if (late->is_handed_on) {
    tfrt_async_value_await(late->value, &late->task);
  } else {
    tfrt_async_value_and_then(late->value, &late->task);
  }
}

static bool race_is_argument(const tfrt_kernel_frame_t* frame, const tfrt_async_value_t* value) {
  for (uint32_t i = 0; i < frame->argument_count; ++i) {
    if (frame->arguments[i] == value) return true;
  }
  return false;
}

// Whether |value| is in memory of an argument.
static bool race_is_view(const tfrt_kernel_frame_t* frame, tfrt_async_value_t* value) {
  const void* address = race_memory_of(value);
  for (uint32_t i = 0; i < frame->argument_count && address; ++i) {
    if (frame->arguments[i] && race_memory_of(frame->arguments[i]) == address) return true;
  }
  return false;
}

// Notes what |*result|, number |index|, comes behind.
static void race_end_result(const tfrt_race_run_t* run, const tfrt_kernel_frame_t* frame,
                            uint32_t index, tfrt_async_value_t** result) {
  bool is_argument = race_is_argument(frame, *result);
  tfrt_race_late_t late = {.knows_all = run->watch->results == TFRT_RACE_RESULTS_UNKNOWN,
                           .is_new = run->watch->gives_new_memory};
  race_result_clock(run, index, &late.clock);
  if (!tfrt_async_value_is_available(*result)) {
    if (!is_argument) race_wait_for(result, &late);
    return;
  }
  if (!race_own_chain(result, is_argument)) return;
  tfrt_async_value_t* resolved = tfrt_async_value_resolved(*result);
  race_lock();
  if (is_argument && resolved->type_id != TFRT_TYPE_CHAIN) {
    // The same value with another name: it comes behind both.
    tfrt_race_clock_merge_value(&tfrt_race.clocks, resolved, &late.clock);
    tfrt_race_clock_set(&tfrt_race.clocks, resolved, &late.clock);
  } else {
    bool is_new = late.is_new || !race_is_view(frame, *result);
    race_settle(*result, &late.clock, late.knows_all, is_new);
  }
  race_unlock();
}

static void race_end(const tfrt_race_run_t* run, tfrt_kernel_frame_t* frame) {
  for (uint32_t i = 0; i < frame->result_count; ++i) {
    tfrt_async_value_t** result = &frame->results[i];
    if (*result && !tfrt_async_value_is_error(*result)) {
      race_end_result(run, frame, i, result);
    }
  }
}

// --- Reports -----------------------------------------------------------------

// True the first time for two sites.
static bool race_is_news(const tfrt_kernel_site_t* later, const tfrt_kernel_site_t* earlier) {
  tfrt_race_pair_t key = {.later = later, .earlier = earlier};
  bool is_news = false;
  race_lock();
  if (!tfrt_hash_table_find(&tfrt_race.pairs, &key)) {
    tfrt_race_pair_t* pair = tfrt_allocator_allocate(tfrt_allocator_system(), sizeof(*pair));
    is_news = pair != NULL;
    if (pair) {
      *pair = key;
      tfrt_hash_table_insert(&tfrt_race.pairs, &key, &pair->node);
    }
  }
  race_unlock();
  return is_news;
}

// A number to read when all has ended; it orders nothing.
static _Atomic uint64_t tfrt_race_found_count;

uint64_t tfrt_race_watch_found(void) {
  return atomic_load_explicit(&tfrt_race_found_count, memory_order_relaxed);
}

static void race_report(const tfrt_kernel_site_t* site, const tfrt_race_found_t* found) {
  if (!race_is_news(site, found->earlier)) return;
  atomic_fetch_add_explicit(&tfrt_race_found_count, 1, memory_order_relaxed);
  tfrt_status_origin_t origin;
  tfrt_kernel_site_origin(found->earlier, &origin);
  tfrt_status_t status = tfrt_status_create(
      TFRT_STATUS_ABORTED,
      "race: '%s' %s memory that '%s' at %s:%u:%u %s, and no chain orders the two",
      site->binding->name, found->later_writes ? "writes to" : "reads",
      found->earlier->binding->name, origin.file ? origin.file : "-", (unsigned)origin.line,
      (unsigned)origin.column, found->earlier_writes ? "writes to" : "reads");
  status = tfrt_kernel_site_take_status(site, status);
  const tfrt_program_t* program = site->binding->owner->owner;
  if (!program->error_listener.on_error) {
    char text[TFRT_STATUS_MAX_TEXT_SIZE];
    tfrt_status_format(status, text, sizeof(text));
    tfrt_log(TFRT_LOG_WARNING, NULL, "%s", text);
  }
  tfrt_status_release(status);
}

// Sets |out_clock| to what the arguments come behind that the kernel of |frame| waits for itself;
// false: nothing.
static bool race_waited_clock(const tfrt_kernel_frame_t* frame, tfrt_race_clock_t* out_clock) {
  const uint8_t* uses = frame->site->binding->uses;
  *out_clock = (tfrt_race_clock_t){0};
  race_lock();
  for (uint32_t i = 0; i < frame->argument_count; ++i) {
    tfrt_async_value_t* argument = frame->arguments[i];
    if (uses[i] == TFRT_OPERAND_PASSED || !tfrt_async_value_is_available(argument)) continue;
    tfrt_race_clock_merge_value(&tfrt_race.clocks, tfrt_async_value_resolved(argument), out_clock);
  }
  race_unlock();
  return out_clock->count || out_clock->all_before;
}

// The functions that a kernel runs begin when it does: what they hand on comes behind |clock|.
static void race_hand_on_results(tfrt_kernel_frame_t* frame, const tfrt_race_clock_t* clock) {
  const tfrt_race_late_t late = {.clock = *clock, .is_handed_on = true};
  for (uint32_t i = 0; i < frame->result_count; ++i) {
    tfrt_async_value_t** result = &frame->results[i];
    if (!*result || tfrt_async_value_is_error(*result)) continue;
    if (tfrt_async_value_is_available(*result)) {
      tfrt_race_clock_t behind = *clock;
      race_hand_on(result, &behind);
    } else {
      race_wait_for(result, &late);
    }
  }
}

// A kernel that runs functions has no accesses of its own.
static void race_run_functions(const tfrt_race_watch_t* watch, tfrt_kernel_frame_t* frame) {
  if (watch->results == TFRT_RACE_RESULTS_INNER) {
    tfrt_race_clock_t clock;
    bool waits = race_waited_clock(frame, &clock);
    watch->run(frame);
    if (waits) race_hand_on_results(frame, &clock);
    return;
  }
  watch->run(frame);
  tfrt_race_run_t run = {.watch = watch};
  race_end(&run, frame);
}

void tfrt_race_watch_run(tfrt_kernel_frame_t* frame) {
  const tfrt_race_watch_t* watch = frame->site->binding->watch;
  if (watch->results != TFRT_RACE_RESULTS_OWN) {
    race_run_functions(watch, frame);
    return;
  }
  tfrt_race_run_t run = {.watch = watch};
  race_begin(&run, frame);
  for (uint32_t i = 0; i < run.found_count; ++i) race_report(frame->site, &run.found[i]);
  watch->run(frame);
  race_end(&run, frame);
}

// --- The end of a program ----------------------------------------------------

static bool race_is_of(const tfrt_kernel_site_t* site, const tfrt_program_t* program) {
  return site->binding->owner->owner == program;
}

static bool race_memory_is_over(tfrt_race_memory_t* memory, const tfrt_program_t* program) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < memory->count; ++i) {
    if (race_is_of(memory->accesses[i].site, program)) continue;
    memory->accesses[kept++] = memory->accesses[i];
  }
  memory->count = kept;
  return kept == 0;
}

void tfrt_race_watch_forget(const tfrt_program_t* program) {
  race_lock();
  for (size_t i = 0; i < tfrt_race.memories.chain_count; ++i) {
    tfrt_hash_node_t* node = *tfrt_hash_table_chain(&tfrt_race.memories, i);
    while (node) {
      tfrt_race_memory_t* memory = TFRT_CONTAINER_OF(node, tfrt_race_memory_t, node);
      node = node->next;
      if (!race_memory_is_over(memory, program)) continue;
      tfrt_hash_table_remove(&tfrt_race.memories, &memory->node);
      tfrt_allocator_free(tfrt_allocator_system(), memory, sizeof(*memory));
    }
  }
  for (size_t i = 0; i < tfrt_race.pairs.chain_count; ++i) {
    tfrt_hash_node_t* node = *tfrt_hash_table_chain(&tfrt_race.pairs, i);
    while (node) {
      tfrt_race_pair_t* pair = TFRT_CONTAINER_OF(node, tfrt_race_pair_t, node);
      node = node->next;
      if (!race_is_of(pair->later, program)) continue;
      tfrt_hash_table_remove(&tfrt_race.pairs, &pair->node);
      tfrt_allocator_free(tfrt_allocator_system(), pair, sizeof(*pair));
    }
  }
  if (tfrt_race.memories.count == 0) {
    tfrt_race_clock_table_clear(&tfrt_race.clocks);
    tfrt_hash_table_deinitialize(&tfrt_race.memories);
  }
  if (tfrt_race.pairs.count == 0) tfrt_hash_table_deinitialize(&tfrt_race.pairs);
  race_unlock();
}
