// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/base/metric_table.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "host_runtime/base/number_text.h"

// The longest text of a gauge; what is longer is cut.
#define MAX_TEXT_SIZE 128

// The common part of gauges and histograms, behind their public part.
typedef struct metric_s {
  tfrt_list_link_t link;
  const char* name;
  bool is_histogram;
  tfrt_metric_table_t* table;
} metric_t;

typedef struct gauge_s {
  tfrt_gauge_t base;
  metric_t metric;
  _Atomic double number;
  atomic_bool is_text;
  char text[MAX_TEXT_SIZE];  // guarded by the table's mutex
} gauge_t;

typedef struct histogram_s {
  tfrt_histogram_t base;
  metric_t metric;
  const double* bounds;
  size_t bound_count;
  _Atomic double sum;
  _Atomic uint64_t counts[];  // one more than bounds
} histogram_t;

// --- Recording -----------------------------------------------------------------------
//
// All operations are relaxed: each number stands for itself.

static void set_number(tfrt_gauge_t* base, double number) {
  gauge_t* gauge = (gauge_t*)base;
  atomic_store_explicit(&gauge->number, number, memory_order_relaxed);
  atomic_store_explicit(&gauge->is_text, false, memory_order_relaxed);
}

static void set_text(tfrt_gauge_t* base, const char* text) {
  gauge_t* gauge = (gauge_t*)base;
  tfrt_mutex_lock(&gauge->metric.table->mutex);
  snprintf(gauge->text, sizeof(gauge->text), "%s", text);
  tfrt_mutex_unlock(&gauge->metric.table->mutex);
  atomic_store_explicit(&gauge->is_text, true, memory_order_relaxed);
}

static void record(tfrt_histogram_t* base, double value) {
  histogram_t* histogram = (histogram_t*)base;
  size_t bucket = 0;
  while (bucket < histogram->bound_count && value > histogram->bounds[bucket]) ++bucket;
  atomic_fetch_add_explicit(&histogram->counts[bucket], 1, memory_order_relaxed);
  double sum = atomic_load_explicit(&histogram->sum, memory_order_relaxed);
  while (!atomic_compare_exchange_weak_explicit(&histogram->sum, &sum, sum + value,
                                                memory_order_relaxed, memory_order_relaxed)) {
  }
}

static const tfrt_gauge_vtable_t gauge_vtable = {set_number, set_text};
static const tfrt_histogram_vtable_t histogram_vtable = {record};

// --- Making --------------------------------------------------------------------------

static metric_t* metric_of(tfrt_list_link_t* link) {
  return TFRT_CONTAINER_OF(link, metric_t, link);
}

// The metric named |name|, or NULL; |*out_next| is where a new one would stand before.
static metric_t* find_locked(tfrt_metric_table_t* table, const char* name,
                             tfrt_list_link_t** out_next) {
  tfrt_list_link_t* head = &table->metrics;
  tfrt_list_link_t* link = head->next;
  for (; link != head; link = link->next) {
    int order = strcmp(metric_of(link)->name, name);
    if (order == 0) return metric_of(link);
    if (order > 0) break;
  }
  *out_next = link;
  return NULL;
}

// Fills in |metric|, unless memory is out, and puts it before |next|.
static bool add_locked(tfrt_metric_table_t* table, metric_t* metric, const char* name,
                       bool is_histogram, tfrt_list_link_t* next) {
  metric->name = tfrt_arena_copy_string(&table->arena, tfrt_string_view_of(name));
  metric->is_histogram = is_histogram;
  metric->table = table;
  if (!metric->name) return false;
  tfrt_list_insert_after(next->previous, &metric->link);
  return true;
}

static tfrt_gauge_t* make_gauge_locked(tfrt_metric_table_t* table, const char* name) {
  tfrt_list_link_t* next = NULL;
  metric_t* known = find_locked(table, name, &next);
  if (known && !known->is_histogram) return &TFRT_CONTAINER_OF(known, gauge_t, metric)->base;
  if (known) return tfrt_metrics_no_gauge();
  gauge_t* gauge = tfrt_arena_allocate(&table->arena, sizeof(*gauge));
  if (!gauge || !add_locked(table, &gauge->metric, name, false, next)) {
    return tfrt_metrics_no_gauge();
  }
  gauge->base.vtable = &gauge_vtable;
  return &gauge->base;
}

static tfrt_histogram_t* make_histogram_locked(tfrt_metric_table_t* table, const char* name,
                                               const tfrt_buckets_t* buckets) {
  tfrt_list_link_t* next = NULL;
  metric_t* known = find_locked(table, name, &next);
  if (known && known->is_histogram) return &TFRT_CONTAINER_OF(known, histogram_t, metric)->base;
  if (known) return tfrt_metrics_no_histogram();
  size_t size = sizeof(histogram_t) + (buckets->count + 1) * sizeof(uint64_t);
  histogram_t* histogram = tfrt_arena_allocate(&table->arena, size);
  double* bounds = tfrt_arena_copy(&table->arena, buckets->bounds, buckets->count * sizeof(*bounds),
                                   sizeof(*bounds));
  if (!histogram || !bounds || !add_locked(table, &histogram->metric, name, true, next)) {
    return tfrt_metrics_no_histogram();
  }
  histogram->base.vtable = &histogram_vtable;
  histogram->bounds = bounds;
  histogram->bound_count = buckets->count;
  return &histogram->base;
}

static tfrt_gauge_t* make_gauge(tfrt_metrics_registry_t* base, const char* name) {
  tfrt_metric_table_t* table = (tfrt_metric_table_t*)base;
  tfrt_mutex_lock(&table->mutex);
  tfrt_gauge_t* gauge = make_gauge_locked(table, name);
  tfrt_mutex_unlock(&table->mutex);
  return gauge;
}

static tfrt_histogram_t* make_histogram(tfrt_metrics_registry_t* base, const char* name,
                                        const tfrt_buckets_t* buckets) {
  tfrt_metric_table_t* table = (tfrt_metric_table_t*)base;
  tfrt_mutex_lock(&table->mutex);
  tfrt_histogram_t* histogram = make_histogram_locked(table, name, buckets);
  tfrt_mutex_unlock(&table->mutex);
  return histogram;
}

void tfrt_metric_table_initialize(tfrt_metric_table_t* table, tfrt_allocator_t allocator) {
  static const tfrt_metrics_registry_vtable_t vtable = {make_gauge, make_histogram};
  table->base.vtable = &vtable;
  tfrt_mutex_initialize(&table->mutex);
  tfrt_arena_initialize(&table->arena, allocator);
  tfrt_list_initialize(&table->metrics);
}

void tfrt_metric_table_deinitialize(tfrt_metric_table_t* table) {
  tfrt_arena_deinitialize(&table->arena);
  tfrt_mutex_deinitialize(&table->mutex);
}

// --- Writing -------------------------------------------------------------------------

// A text between quotes: backslashes, quotes and line ends are escaped.
static void append_escaped(const char* text, tfrt_string_builder_t* out) {
  for (; *text; ++text) {
    if (*text == '\n') {
      tfrt_string_builder_append_text(out, "\\n");
      continue;
    }
    if (*text == '\\' || *text == '"') tfrt_string_builder_append_char(out, '\\');
    tfrt_string_builder_append_char(out, *text);
  }
}

// Appends |number| so that nothing of it is lost.
static void append_number(double number, tfrt_string_builder_t* out) {
  char text[TFRT_NUMBER_TEXT_SIZE];
  tfrt_string_builder_append_text(out, tfrt_number_text_shortest_f64(number, text));
}

static void append_gauge(const gauge_t* gauge, tfrt_string_builder_t* out) {
  const char* name = gauge->metric.name;
  tfrt_string_builder_append_format(out, "# TYPE %s gauge\n", name);
  if (!atomic_load_explicit(&gauge->is_text, memory_order_relaxed)) {
    double number = atomic_load_explicit(&gauge->number, memory_order_relaxed);
    tfrt_string_builder_append_format(out, "%s ", name);
    append_number(number, out);
    tfrt_string_builder_append_char(out, '\n');
    return;
  }
  tfrt_string_builder_append_format(out, "%s{text=\"", name);
  append_escaped(gauge->text, out);
  tfrt_string_builder_append_text(out, "\"} 1\n");
}

static void append_histogram(const histogram_t* histogram, tfrt_string_builder_t* out) {
  const char* name = histogram->metric.name;
  tfrt_string_builder_append_format(out, "# TYPE %s histogram\n", name);
  unsigned long long count = 0;
  for (size_t i = 0; i <= histogram->bound_count; ++i) {
    count += atomic_load_explicit(&histogram->counts[i], memory_order_relaxed);
    if (i < histogram->bound_count) {
      tfrt_string_builder_append_format(out, "%s_bucket{le=\"", name);
      append_number(histogram->bounds[i], out);
      tfrt_string_builder_append_format(out, "\"} %llu\n", count);
    } else {
      tfrt_string_builder_append_format(out, "%s_bucket{le=\"+Inf\"} %llu\n", name, count);
    }
  }
  double sum = atomic_load_explicit(&histogram->sum, memory_order_relaxed);
  tfrt_string_builder_append_format(out, "%s_sum ", name);
  append_number(sum, out);
  tfrt_string_builder_append_format(out, "\n%s_count %llu\n", name, count);
}

void tfrt_metric_table_append(tfrt_metric_table_t* table, tfrt_string_builder_t* out) {
  tfrt_mutex_lock(&table->mutex);
  tfrt_list_link_t* head = &table->metrics;
  for (tfrt_list_link_t* link = head->next; link != head; link = link->next) {
    const metric_t* metric = metric_of(link);
    if (metric->is_histogram) {
      append_histogram(TFRT_CONTAINER_OF(metric, histogram_t, metric), out);
    } else {
      append_gauge(TFRT_CONTAINER_OF(metric, gauge_t, metric), out);
    }
  }
  tfrt_mutex_unlock(&table->mutex);
}
