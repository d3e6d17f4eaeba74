// SPDX-License-Identifier: Apache-2.0
#include "tools/output/kernel_profile.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "host_runtime/base/file.h"
#include "tools/output/json.h"

// Spans are copied out of a trace in blocks of this many.
#define TFRT_KERNEL_PROFILE_BLOCK 64

// One run of an op.
typedef struct tfrt_kernel_sample_s {
  uint32_t location;
  uint32_t name_hash;  // of the kernel: a span of another program may have the same location
  int64_t time_ns;
} tfrt_kernel_sample_t;

typedef struct tfrt_kernel_op_s {
  uint32_t location;
  const char* name;
} tfrt_kernel_op_t;

typedef struct tfrt_kernel_profile_s {
  const tfrt_bef_file_t* program;
  tfrt_kernel_sample_t* samples;
  size_t sample_count;
  size_t sample_capacity;
  tfrt_kernel_op_t* ops;
  size_t op_count;
  size_t op_capacity;
  tfrt_string_builder_t text;
  bool is_first;  // no op is in |text| yet
} tfrt_kernel_profile_t;

// A hash of |name|, as far as a span has it.
static uint32_t kernel_profile_hash(const char* name) {
  static const tfrt_trace_span_t* const span = NULL;
  uint32_t hash = 2166136261u;
  for (size_t i = 0; i + 1 < sizeof(span->name) && name[i]; ++i) {
    hash = (hash ^ (uint8_t)name[i]) * 16777619u;
  }
  return hash;
}

// --- Samples -------------------------------------------------------------------

// Counts what is to be copied from |trace|, or copies it if there is room.
static void kernel_profile_read(tfrt_kernel_profile_t* profile, tfrt_trace_t* trace, bool counts) {
  tfrt_trace_span_t spans[TFRT_KERNEL_PROFILE_BLOCK];
  size_t first = 0;
  for (size_t count; (count = tfrt_trace_read(trace, first, spans, TFRT_KERNEL_PROFILE_BLOCK)) > 0;
       first += count) {
    for (size_t i = 0; i < count; ++i) {
      if (spans[i].location == TFRT_TRACE_NO_LOCATION) continue;
      if (counts) {
        ++profile->sample_capacity;
      } else if (profile->sample_count < profile->sample_capacity) {
        profile->samples[profile->sample_count++] =
            (tfrt_kernel_sample_t){.location = spans[i].location,
                                   .name_hash = kernel_profile_hash(spans[i].name),
                                   .time_ns = spans[i].end_ns - spans[i].begin_ns};
      }
    }
  }
}

static int kernel_profile_compare_samples(const void* left, const void* right) {
  const tfrt_kernel_sample_t* a = left;
  const tfrt_kernel_sample_t* b = right;
  if (a->location != b->location) return a->location < b->location ? -1 : 1;
  if (a->name_hash != b->name_hash) return a->name_hash < b->name_hash ? -1 : 1;
  return a->time_ns < b->time_ns ? -1 : a->time_ns > b->time_ns;
}

// A trace is read twice, and may have grown between.
static tfrt_status_t kernel_profile_gather(tfrt_kernel_profile_t* profile,
                                           tfrt_trace_t* const* traces, size_t count) {
  for (size_t i = 0; i < count; ++i) kernel_profile_read(profile, traces[i], true);
  if (profile->sample_capacity == 0) return NULL;
  profile->samples = tfrt_allocator_allocate(tfrt_allocator_system(),
                                             profile->sample_capacity * sizeof(*profile->samples));
  if (!profile->samples) return tfrt_status_out_of_memory();
  for (size_t i = 0; i < count; ++i) kernel_profile_read(profile, traces[i], false);
  qsort(profile->samples, profile->sample_count, sizeof(*profile->samples),
        kernel_profile_compare_samples);
  return NULL;
}

// --- Ops -----------------------------------------------------------------------

static int kernel_profile_compare_ops(const void* left, const void* right) {
  const tfrt_kernel_op_t* a = left;
  const tfrt_kernel_op_t* b = right;
  return a->location < b->location ? -1 : a->location > b->location;
}

static tfrt_status_t kernel_profile_list_ops(tfrt_kernel_profile_t* profile) {
  uint32_t function_count = tfrt_bef_file_function_count(profile->program);
  for (uint32_t f = 0; f < function_count; ++f) {
    profile->op_capacity += tfrt_bef_file_function(profile->program, f)->kernel_count;
  }
  if (profile->op_capacity == 0) return NULL;
  profile->ops = tfrt_allocator_allocate(tfrt_allocator_system(),
                                         profile->op_capacity * sizeof(*profile->ops));
  if (!profile->ops) return tfrt_status_out_of_memory();
  const char* const* names = tfrt_bef_file_kernel_names(profile->program);
  for (uint32_t f = 0; f < function_count; ++f) {
    const tfrt_bef_function_t* function = tfrt_bef_file_function(profile->program, f);
    for (uint32_t k = 1; k < function->kernel_count; ++k) {
      const tfrt_bef_record_t* record = tfrt_bef_function_record(function, k);
      profile->ops[profile->op_count++] =
          (tfrt_kernel_op_t){.location = record->location, .name = names[record->code]};
    }
  }
  qsort(profile->ops, profile->op_count, sizeof(*profile->ops), kernel_profile_compare_ops);
  return NULL;
}

// --- The text ------------------------------------------------------------------

// Appends |op|, whose |count| samples, by time, begin at |samples|.
static void kernel_profile_append(tfrt_kernel_profile_t* profile, const tfrt_kernel_op_t* op,
                                  const tfrt_kernel_sample_t* samples, size_t count) {
  tfrt_string_builder_t* text = &profile->text;
  tfrt_bef_source_location_t place;
  tfrt_string_builder_append_text(text, profile->is_first ? "\n" : ",\n");
  profile->is_first = false;
  tfrt_string_builder_append_text(text, "{\"kernel\": ");
  tfrt_json_append_string(text, tfrt_string_view_of(op->name));
  if (tfrt_bef_file_source_location(profile->program, op->location, &place)) {
    tfrt_string_builder_append_text(text, ", \"file\": ");
    tfrt_json_append_string(text, tfrt_string_view_of(place.file));
    tfrt_string_builder_append_format(text, ", \"line\": %" PRIu32 ", \"column\": %" PRIu32,
                                      place.line, place.column);
  }
  tfrt_string_builder_append_format(text, ", \"count\": %zu, \"median_ns\": %" PRId64 "}", count,
                                    samples[count / 2].time_ns);
}

// Appends all ops that have samples: both are in the order of locations.
static void kernel_profile_append_all(tfrt_kernel_profile_t* profile) {
  size_t s = 0;
  for (size_t i = 0; i < profile->op_count; ++i) {
    const tfrt_kernel_op_t* op = &profile->ops[i];
    const uint32_t hash = kernel_profile_hash(op->name);
    while (s < profile->sample_count && profile->samples[s].location < op->location) ++s;
    size_t first = s;
    for (; s < profile->sample_count && profile->samples[s].location == op->location; ++s) {
      if (profile->samples[s].name_hash < hash) first = s + 1;
      if (profile->samples[s].name_hash > hash) break;
    }
    if (s > first) kernel_profile_append(profile, op, &profile->samples[first], s - first);
  }
}

tfrt_status_t tfrt_kernel_profile_write(const char* path, tfrt_trace_t* const* traces, size_t count,
                                        const tfrt_bef_file_t* program) {
  tfrt_kernel_profile_t profile = {.program = program, .is_first = true};
  tfrt_string_builder_initialize(&profile.text, tfrt_allocator_system());
  tfrt_string_builder_append_text(&profile.text, "{\"tfrt_profile\": 1, \"ops\": [");
  tfrt_status_t status = kernel_profile_gather(&profile, traces, count);
  if (!status) status = kernel_profile_list_ops(&profile);
  if (!status) kernel_profile_append_all(&profile);
  tfrt_string_builder_append_text(&profile.text, "\n]}\n");
  if (!status) status = tfrt_string_builder_status(&profile.text);
  if (!status) {
    status = tfrt_file_write(path, tfrt_string_builder_text(&profile.text), profile.text.size);
  }
  tfrt_string_builder_deinitialize(&profile.text);
  tfrt_allocator_free(tfrt_allocator_system(), profile.samples,
                      profile.sample_capacity * sizeof(*profile.samples));
  tfrt_allocator_free(tfrt_allocator_system(), profile.ops,
                      profile.op_capacity * sizeof(*profile.ops));
  return status;
}
