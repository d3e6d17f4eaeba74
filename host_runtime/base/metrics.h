// SPDX-License-Identifier: Apache-2.0
//
// Numbers about a process for its operator: gauges (current values) and histograms (distributions).
// The runtime and its kernels fill them in; where they go is the embedder's choice.
//
//   code --tfrt_gauge_set_*(), tfrt_histogram_record()--> metric --> the registry's own books
//
// Without a registry all of this does nothing, for the price of an indirect call. metric_table.h
// is a registry that keeps the numbers in memory and prints them; an embedder with a monitoring
// system of its own writes another one.
//
// Life:
//  1. A main may set a registry, before the first metric is asked for.
//  2. A part of the program asks for its metric once, and keeps it.
//  3. Metrics live as long as their registry: the process, or until nobody tells any more.
//
// Thread rule: everything is thread-safe.
// Failure rule: none fails: a metric that can't be made is one that does nothing.
#ifndef TFRT_HOST_RUNTIME_BASE_METRICS_H_
#define TFRT_HOST_RUNTIME_BASE_METRICS_H_

#include <stddef.h>
#include <stdint.h>

#include "host_runtime/base/macros.h"

TFRT_API_BEGIN

typedef struct tfrt_gauge_s tfrt_gauge_t;
typedef struct tfrt_histogram_s tfrt_histogram_t;
typedef struct tfrt_metrics_registry_s tfrt_metrics_registry_t;

typedef struct tfrt_gauge_vtable_s {
  void (*set_number)(tfrt_gauge_t* gauge, double number);
  void (*set_text)(tfrt_gauge_t* gauge, const char* text);
} tfrt_gauge_vtable_t;

// One thing that is a number or a text at each moment. Embedded first in every implementation.
struct tfrt_gauge_s {
  const tfrt_gauge_vtable_t* vtable;
};

typedef struct tfrt_histogram_vtable_s {
  void (*record)(tfrt_histogram_t* histogram, double value);
} tfrt_histogram_vtable_t;

// Many values of one kind, counted by size. Embedded first in every implementation.
struct tfrt_histogram_s {
  const tfrt_histogram_vtable_t* vtable;
};

// The sizes that a histogram tells apart: values up to |bounds[0]|, up to |bounds[1]|, ..., and
// all that are larger. |bounds| rise; they are copied.
typedef struct tfrt_buckets_s {
  const double* bounds;
  size_t count;
} tfrt_buckets_t;

// Where metrics come from. A name asked for twice gives the same metric; the buckets are those
// of the first time. Never NULL.
typedef struct tfrt_metrics_registry_vtable_s {
  tfrt_gauge_t* (*gauge)(tfrt_metrics_registry_t* registry, const char* name);
  tfrt_histogram_t* (*histogram)(tfrt_metrics_registry_t* registry, const char* name,
                                 const tfrt_buckets_t* buckets);
} tfrt_metrics_registry_vtable_t;

// Embedded first in every implementation.
struct tfrt_metrics_registry_s {
  const tfrt_metrics_registry_vtable_t* vtable;
};

// Makes |registry|, which must outlive all use of its metrics, the one of the process; NULL: the
// one that does nothing. Metrics that were asked for before stay where they are. Thread-safe.
void tfrt_metrics_set_registry(tfrt_metrics_registry_t* registry);

// The gauge, or the histogram, named |name| (+0, lives as long as its registry): letters, digits
// and underscores, with the unit at the end, e.g. "tfrt_function_seconds". Thread-safe.
tfrt_gauge_t* tfrt_metrics_gauge(const char* name);
tfrt_histogram_t* tfrt_metrics_histogram(const char* name, const tfrt_buckets_t* buckets);

// A gauge, and a histogram, that do nothing: for registries that have no room. Thread-safe.
tfrt_gauge_t* tfrt_metrics_no_gauge(void);
tfrt_histogram_t* tfrt_metrics_no_histogram(void);

// Fills |out_bounds|, of |count| entries, with |first|, |first| * |factor|, ...: the buckets of
// what spans orders of magnitude. |factor| is greater than 1. Thread-safe.
void tfrt_buckets_fill_exponential(double first, double factor, size_t count, double* out_bounds);

// Says what |gauge| is from now on. Thread-safe.
static inline void tfrt_gauge_set_number(tfrt_gauge_t* gauge, double number) {
  gauge->vtable->set_number(gauge, number);
}
static inline void tfrt_gauge_set_text(tfrt_gauge_t* gauge, const char* text) {
  gauge->vtable->set_text(gauge, text);
}

// Adds |value| to |histogram|. Thread-safe.
static inline void tfrt_histogram_record(tfrt_histogram_t* histogram, double value) {
  histogram->vtable->record(histogram, value);
}

TFRT_API_END

#endif  // TFRT_HOST_RUNTIME_BASE_METRICS_H_
