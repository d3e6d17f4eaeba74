// SPDX-License-Identifier: Apache-2.0
#include "distributed/domain/cancelled_requests.h"

#include <string.h>

#include "distributed/wire/limits.h"

static bool tfrt_cancelled_requests_reserve(tfrt_cancelled_requests_t* table,
                                            tfrt_allocator_t allocator) {
  if (table->count < table->capacity) return true;
  uint32_t capacity = table->capacity ? 2 * table->capacity : 4;
  tfrt_cancelled_request_t* grown = tfrt_allocator_reallocate(
      allocator, table->entries, table->capacity * sizeof(*grown), capacity * sizeof(*grown));
  if (!grown) return false;
  table->entries = grown;
  table->capacity = capacity;
  return true;
}

static void tfrt_cancelled_requests_remove_at(tfrt_cancelled_requests_t* table, uint32_t index) {
  tfrt_status_release(table->entries[index].reason);
  --table->count;
  memmove(&table->entries[index], &table->entries[index + 1],
          (table->count - index) * sizeof(*table->entries));
}

bool tfrt_cancelled_requests_add(tfrt_cancelled_requests_t* table, uint64_t request,
                                 tfrt_status_t reason, tfrt_allocator_t allocator) {
  if (tfrt_cancelled_requests_find(table, request)) return false;
  if (table->count == TFRT_WIRE_MAX_TOMBSTONES) tfrt_cancelled_requests_remove_at(table, 0);
  if (tfrt_cancelled_requests_reserve(table, allocator)) {
    table->entries[table->count++] =
        (tfrt_cancelled_request_t){.request = request, .reason = tfrt_status_retain(reason)};
  }
  return true;
}

tfrt_status_t tfrt_cancelled_requests_find(const tfrt_cancelled_requests_t* table,
                                           uint64_t request) {
  for (uint32_t i = 0; i < table->count; ++i) {
    if (table->entries[i].request == request) return table->entries[i].reason;
  }
  return NULL;
}

void tfrt_cancelled_requests_remove(tfrt_cancelled_requests_t* table, uint64_t request) {
  for (uint32_t i = 0; i < table->count; ++i) {
    if (table->entries[i].request != request) continue;
    tfrt_cancelled_requests_remove_at(table, i);
    return;
  }
}

void tfrt_cancelled_requests_free(tfrt_cancelled_requests_t* table, tfrt_allocator_t allocator) {
  while (table->count > 0) tfrt_cancelled_requests_remove_at(table, table->count - 1);
  tfrt_allocator_free(allocator, table->entries, table->capacity * sizeof(*table->entries));
  memset(table, 0, sizeof(*table));
}
