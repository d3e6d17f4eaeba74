// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/base/metrics.h"

#include <stdatomic.h>

// --- The registry that does nothing ------------------------------------------------

static void ignore_number(tfrt_gauge_t* gauge, double number) {
  (void)gauge;
  (void)number;
}

static void ignore_text(tfrt_gauge_t* gauge, const char* text) {
  (void)gauge;
  (void)text;
}

static void ignore_value(tfrt_histogram_t* histogram, double value) {
  (void)histogram;
  (void)value;
}

static const tfrt_gauge_vtable_t no_gauge_vtable = {ignore_number, ignore_text};
static const tfrt_histogram_vtable_t no_histogram_vtable = {ignore_value};
static tfrt_gauge_t no_gauge = {&no_gauge_vtable};
static tfrt_histogram_t no_histogram = {&no_histogram_vtable};

tfrt_gauge_t* tfrt_metrics_no_gauge(void) { return &no_gauge; }
tfrt_histogram_t* tfrt_metrics_no_histogram(void) { return &no_histogram; }

// --- The registry of the process -----------------------------------------------------

static _Atomic(tfrt_metrics_registry_t*) current;  // NULL: the one that does nothing

void tfrt_metrics_set_registry(tfrt_metrics_registry_t* registry) {
  // Release: what the registry is made of; pairs with the acquire in get().
  atomic_store_explicit(&current, registry, memory_order_release);
}

static tfrt_metrics_registry_t* get(void) {
  // Acquire: pairs with the release in tfrt_metrics_set_registry().
  return atomic_load_explicit(&current, memory_order_acquire);
}

tfrt_gauge_t* tfrt_metrics_gauge(const char* name) {
  tfrt_metrics_registry_t* registry = get();
  return registry ? registry->vtable->gauge(registry, name) : &no_gauge;
}

tfrt_histogram_t* tfrt_metrics_histogram(const char* name, const tfrt_buckets_t* buckets) {
  tfrt_metrics_registry_t* registry = get();
  return registry ? registry->vtable->histogram(registry, name, buckets) : &no_histogram;
}

void tfrt_buckets_fill_exponential(double first, double factor, size_t count, double* out_bounds) {
  for (size_t i = 0; i < count; ++i, first *= factor) out_bounds[i] = first;
}
