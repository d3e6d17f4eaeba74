// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/executor/program/race_clock.h"

#include <string.h>

// The clock of a value.
typedef struct tfrt_race_value_s {
  tfrt_hash_node_t node;
  const tfrt_async_value_t* value;  // may be gone
  uint64_t all_before;
  uint32_t count;
  uint32_t room;
  uint64_t numbers[];
} tfrt_race_value_t;

// --- Clocks ------------------------------------------------------------------

// The place of |number| among the |count| |numbers|: of the first that is not smaller.
static uint32_t race_place(const uint64_t* numbers, uint32_t count, uint64_t number) {
  uint32_t first = 0;
  while (first < count) {
    uint32_t middle = first + (count - first) / 2;
    if (numbers[middle] < number) {
      first = middle + 1;
    } else {
      count = middle;
    }
  }
  return first;
}

bool tfrt_race_clock_has(const tfrt_race_clock_t* clock, uint64_t number) {
  if (number < clock->all_before) return true;
  uint32_t place = race_place(clock->numbers, clock->count, number);
  return place < clock->count && clock->numbers[place] == number;
}

void tfrt_race_clock_add(tfrt_race_clock_t* clock, uint64_t number) {
  if (tfrt_race_clock_has(clock, number)) return;
  if (clock->count == TFRT_RACE_WATCH_MAX_BEHIND) {
    // The oldest, and all that are older, count as known.
    clock->all_before = clock->numbers[0] + 1;
    memmove(&clock->numbers[0], &clock->numbers[1], sizeof(uint64_t) * --clock->count);
    if (number < clock->all_before) return;
  }
  uint32_t place = race_place(clock->numbers, clock->count, number);
  memmove(&clock->numbers[place + 1], &clock->numbers[place],
          sizeof(uint64_t) * (clock->count - place));
  clock->numbers[place] = number;
  ++clock->count;
}

static void race_clock_raise(tfrt_race_clock_t* clock, uint64_t all_before) {
  if (all_before <= clock->all_before) return;
  clock->all_before = all_before;
  uint32_t place = race_place(clock->numbers, clock->count, all_before);
  memmove(&clock->numbers[0], &clock->numbers[place], sizeof(uint64_t) * (clock->count - place));
  clock->count -= place;
}

// --- Values ------------------------------------------------------------------

static uint64_t race_value_hash(const void* key) {
  uint64_t number = (uint64_t)(uintptr_t)key * 0x9e3779b97f4a7c15u;
  return number ^ number >> 29;
}

static bool race_value_equal(const tfrt_hash_node_t* node, const void* key) {
  return TFRT_CONTAINER_OF(node, const tfrt_race_value_t, node)->value == key;
}

static const tfrt_hash_table_vtable_t tfrt_race_value_vtable = {race_value_hash, race_value_equal};

void tfrt_race_clock_table_initialize(tfrt_race_clock_table_t* table, tfrt_allocator_t allocator) {
  table->allocator = allocator;
  tfrt_hash_table_initialize(&table->values, &tfrt_race_value_vtable, allocator);
}

static void race_value_free(tfrt_race_clock_table_t* table, tfrt_race_value_t* known) {
  tfrt_allocator_free(table->allocator, known, sizeof(*known) + known->room * sizeof(uint64_t));
}

void tfrt_race_clock_table_clear(tfrt_race_clock_table_t* table) {
  for (size_t i = 0; i < table->values.chain_count; ++i) {
    tfrt_hash_node_t* node = *tfrt_hash_table_chain(&table->values, i);
    while (node) {
      tfrt_race_value_t* known = TFRT_CONTAINER_OF(node, tfrt_race_value_t, node);
      node = node->next;
      race_value_free(table, known);
    }
  }
  tfrt_hash_table_deinitialize(&table->values);
}

static tfrt_race_value_t* race_value_find(const tfrt_race_clock_table_t* table,
                                          const tfrt_async_value_t* value) {
  tfrt_hash_node_t* node = tfrt_hash_table_find(&table->values, value);
  return node ? TFRT_CONTAINER_OF(node, tfrt_race_value_t, node) : NULL;
}

void tfrt_race_clock_merge_value(const tfrt_race_clock_table_t* table,
                                 const tfrt_async_value_t* value, tfrt_race_clock_t* clock) {
  const tfrt_race_value_t* known = race_value_find(table, value);
  if (!known) return;
  race_clock_raise(clock, known->all_before);
  for (uint32_t i = 0; i < known->count; ++i) tfrt_race_clock_add(clock, known->numbers[i]);
}

void tfrt_race_clock_set(tfrt_race_clock_table_t* table, const tfrt_async_value_t* value,
                         const tfrt_race_clock_t* clock) {
  tfrt_race_value_t* known = race_value_find(table, value);
  if (known && known->room < clock->count) {
    tfrt_hash_table_remove(&table->values, &known->node);
    race_value_free(table, known);
    known = NULL;
  }
  if (!known) {
    size_t size = sizeof(*known) + clock->count * sizeof(uint64_t);
    known = tfrt_allocator_allocate(table->allocator, size);
    if (!known) return;
    known->value = value;
    known->room = clock->count;
    tfrt_hash_table_insert(&table->values, value, &known->node);
  }
  known->all_before = clock->all_before;
  known->count = clock->count;
  memcpy(known->numbers, clock->numbers, clock->count * sizeof(uint64_t));
}
