// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/executor/descriptor/similar_name.h"

#include <stdint.h>
#include <string.h>

// Longer names get no suggestion.
#define TFRT_SIMILAR_NAME_MAX_SIZE 64

static size_t similar_name_minimum(size_t a, size_t b) { return a < b ? a : b; }

// The bytes that are in |name|, those that are equal modulo 64 as one.
static uint64_t similar_name_bytes(tfrt_string_view_t name) {
  uint64_t bytes = 0;
  for (size_t i = 0; i < name.size; ++i) bytes |= (uint64_t)1 << ((uint8_t)name.data[i] & 63);
  return bytes;
}

// No more than the number of edits that turn |a| into |b|: each edit adds one byte or takes one
// out.
static size_t similar_name_least(tfrt_string_view_t a, tfrt_string_view_t b) {
  size_t longer = a.size > b.size ? a.size - b.size : b.size - a.size;
  uint64_t in_a = similar_name_bytes(a);
  uint64_t in_b = similar_name_bytes(b);
  size_t only_a = (size_t)__builtin_popcountll(in_a & ~in_b);
  size_t only_b = (size_t)__builtin_popcountll(in_b & ~in_a);
  size_t different = only_a > only_b ? only_a : only_b;
  return longer > different ? longer : different;
}

// The number of bytes to insert, delete or replace to turn |a| into |b|, both short. SIZE_MAX,
// which is known before the end, if that isn't below |limit|.
static size_t similar_name_edits(tfrt_string_view_t a, tfrt_string_view_t b, size_t limit) {
  if (similar_name_least(a, b) >= limit) return SIZE_MAX;
  size_t row[TFRT_SIMILAR_NAME_MAX_SIZE + 1];
  for (size_t j = 0; j <= b.size; ++j) row[j] = j;
  for (size_t i = 1; i <= a.size; ++i) {
    size_t diagonal = row[0];
    size_t least = row[0] = i;
    for (size_t j = 1; j <= b.size; ++j) {
      size_t replaced = diagonal + (a.data[i - 1] == b.data[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = similar_name_minimum(replaced, similar_name_minimum(row[j], row[j - 1]) + 1);
      least = similar_name_minimum(least, row[j]);
    }
    if (least >= limit) return SIZE_MAX;
  }
  return row[b.size] < limit ? row[b.size] : SIZE_MAX;
}

// The part of |name| behind its dialect.
static tfrt_string_view_t similar_name_op(tfrt_string_view_t name) {
  const char* dot = name.size ? memchr(name.data, '.', name.size) : NULL;
  if (!dot) return (tfrt_string_view_t){0};
  return (tfrt_string_view_t){dot + 1, (size_t)(name.data + name.size - dot - 1)};
}

size_t tfrt_similar_name_distance(tfrt_string_view_t name, tfrt_string_view_t other) {
  if (name.size > TFRT_SIMILAR_NAME_MAX_SIZE || other.size > TFRT_SIMILAR_NAME_MAX_SIZE) {
    return SIZE_MAX;
  }
  tfrt_string_view_t op = similar_name_op(name);
  // A name in two parts, at least, says what the op does.
  bool has_parts = op.size && memchr(op.data, '.', op.size);
  if (has_parts && tfrt_string_view_equal(op, similar_name_op(other))) return 1;
  return similar_name_edits(name, other, name.size / 5 + 2);
}

const tfrt_kernel_descriptor_t* tfrt_similar_name_find(const tfrt_kernel_table_t* tables,
                                                       size_t table_count,
                                                       tfrt_string_view_t name) {
  const tfrt_kernel_descriptor_t* best = NULL;
  size_t best_distance = SIZE_MAX;
  for (size_t t = 0; t < table_count; ++t) {
    for (size_t i = 0; i < tables[t].count; ++i) {
      const tfrt_kernel_descriptor_t* entry = &tables[t].descriptors[i];
      size_t distance = tfrt_similar_name_distance(name, tfrt_string_view_of(entry->name));
      if (distance >= best_distance) continue;
      best_distance = distance;
      best = entry;
    }
  }
  return best;
}
