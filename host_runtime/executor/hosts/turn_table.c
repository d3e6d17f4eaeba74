// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/executor/hosts/turn_table.h"

#include <string.h>

typedef struct tfrt_turn_series_s {
  tfrt_list_link_t link;
  uint64_t request;
  uint64_t next;
  uint32_t active;
  tfrt_status_t broken;  // +1; NULL: it is not
  size_t name_size;
  char name[];
} tfrt_turn_series_t;

void tfrt_turn_table_initialize(tfrt_turn_table_t* table, tfrt_allocator_t allocator) {
  table->allocator = allocator;
  tfrt_mutex_initialize(&table->mutex);
  tfrt_list_initialize(&table->series);
}

static void turn_table_free(tfrt_turn_table_t* table, tfrt_turn_series_t* series) {
  tfrt_status_release(series->broken);
  tfrt_allocator_free(table->allocator, series, sizeof(*series) + series->name_size);
}

void tfrt_turn_table_deinitialize(tfrt_turn_table_t* table) {
  for (tfrt_list_link_t* link; (link = tfrt_list_pop_front(&table->series));) {
    turn_table_free(table, TFRT_CONTAINER_OF(link, tfrt_turn_series_t, link));
  }
  tfrt_mutex_deinitialize(&table->mutex);
}

// With the mutex held; NULL if there is none.
static tfrt_turn_series_t* turn_table_find(tfrt_turn_table_t* table, uint64_t request,
                                           tfrt_string_view_t name) {
  for (tfrt_list_link_t* link = table->series.next; link != &table->series; link = link->next) {
    tfrt_turn_series_t* series = TFRT_CONTAINER_OF(link, tfrt_turn_series_t, link);
    tfrt_string_view_t own = tfrt_string_view_make(series->name, series->name_size);
    if (series->request == request && tfrt_string_view_equal(own, name)) return series;
  }
  return NULL;
}

// With the mutex held; NULL when memory is out.
static tfrt_turn_series_t* turn_table_add(tfrt_turn_table_t* table, uint64_t request,
                                          tfrt_string_view_t name) {
  tfrt_turn_series_t* series =
      tfrt_allocator_allocate_zeroed(table->allocator, sizeof(*series) + name.size);
  if (!series) return NULL;
  series->request = request;
  series->name_size = name.size;
  if (name.size > 0) memcpy(series->name, name.data, name.size);
  tfrt_list_push_back(&table->series, &series->link);
  return series;
}

tfrt_status_t tfrt_turn_table_begin(tfrt_turn_table_t* table, uint64_t request,
                                    tfrt_string_view_t series, tfrt_turn_t* out_turn) {
  *out_turn = (tfrt_turn_t){0};
  tfrt_mutex_lock(&table->mutex);
  tfrt_turn_series_t* found = turn_table_find(table, request, series);
  if (!found) found = turn_table_add(table, request, series);
  tfrt_status_t status = found ? tfrt_status_retain(found->broken) : tfrt_status_out_of_memory();
  if (!status) *out_turn = (tfrt_turn_t){.number = found->next++, .overlaps = found->active++ > 0};
  tfrt_mutex_unlock(&table->mutex);
  return status;
}

void tfrt_turn_table_break(tfrt_turn_table_t* table, uint64_t request, tfrt_string_view_t series,
                           tfrt_status_t status) {
  tfrt_mutex_lock(&table->mutex);
  tfrt_turn_series_t* found = turn_table_find(table, request, series);
  if (found && !found->broken) found->broken = tfrt_status_retain(status);
  tfrt_mutex_unlock(&table->mutex);
}

void tfrt_turn_table_end(tfrt_turn_table_t* table, uint64_t request, tfrt_string_view_t series) {
  tfrt_mutex_lock(&table->mutex);
  tfrt_turn_series_t* found = turn_table_find(table, request, series);
  if (found) --found->active;
  tfrt_mutex_unlock(&table->mutex);
}

bool tfrt_turn_table_forget(tfrt_turn_table_t* table, uint64_t request) {
  bool was_there = false;
  tfrt_mutex_lock(&table->mutex);
  for (tfrt_list_link_t* link = table->series.next; link != &table->series;) {
    tfrt_turn_series_t* series = TFRT_CONTAINER_OF(link, tfrt_turn_series_t, link);
    link = link->next;
    if (series->request != request) continue;
    was_there = true;
    if (series->active > 0) continue;
    tfrt_list_remove(&series->link);
    turn_table_free(table, series);
  }
  tfrt_mutex_unlock(&table->mutex);
  return was_there;
}
