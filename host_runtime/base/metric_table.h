// SPDX-License-Identifier: Apache-2.0
//
// A registry of metrics (metrics.h) that keeps the numbers in memory, and writes them in the text
// form that Prometheus and its kind read:
//
//   # TYPE tfrt_function_seconds histogram
//   tfrt_function_seconds_bucket{le="0.001"} 3      values of at most that, in all
//   tfrt_function_seconds_bucket{le="+Inf"} 5
//   tfrt_function_seconds_sum 0.25
//   tfrt_function_seconds_count 5
//   # TYPE tfrt_version gauge
//   tfrt_version{text="0.1.0"} 1                    a text
//
// Life:
//  1. Initialised in the owner's storage; made the process's registry.
//  2. Filled from any thread; written whenever somebody asks.
//  3. Deinitialised when nobody uses its metrics any more.
//
// Thread rule: thread-safe after initialisation. Recording takes no lock but for a gauge's text.
// A table that is written while other threads record shows about that moment.
// Failure rule: when memory is out, new metrics are ones that do nothing.
#ifndef TFRT_HOST_RUNTIME_BASE_METRIC_TABLE_H_
#define TFRT_HOST_RUNTIME_BASE_METRIC_TABLE_H_

#include "host_runtime/base/arena.h"
#include "host_runtime/base/list.h"
#include "host_runtime/base/metrics.h"
#include "host_runtime/base/string_builder.h"
#include "host_runtime/base/sync.h"

TFRT_API_BEGIN

typedef struct tfrt_metric_table_s {
  tfrt_metrics_registry_t base;
  tfrt_mutex_t mutex;        // guards all below, and the texts of gauges
  tfrt_arena_t arena;        // metrics lie in it
  tfrt_list_link_t metrics;  // in the order of their names
} tfrt_metric_table_t;

// Makes |table| an empty one over |allocator|. Thread-compatible.
void tfrt_metric_table_initialize(tfrt_metric_table_t* table, tfrt_allocator_t allocator);

// Gives back all metrics of |table|, which is not the process's registry any more.
// Thread-compatible.
void tfrt_metric_table_deinitialize(tfrt_metric_table_t* table);

// Appends all metrics, in the order of their names, to |out|. Thread-safe, as |out| is.
void tfrt_metric_table_append(tfrt_metric_table_t* table, tfrt_string_builder_t* out);

TFRT_API_END

#endif  // TFRT_HOST_RUNTIME_BASE_METRIC_TABLE_H_
