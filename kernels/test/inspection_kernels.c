// SPDX-License-Identifier: Apache-2.0
#include "kernels/test/inspection_kernels.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "host_runtime/base/log.h"
#include "host_runtime/bef/bef_attribute.h"
#include "host_runtime/executor/request/output.h"
#include "host_runtime/executor/request/request_context.h"
#include "host_runtime/host_context.h"

static tfrt_type_id_t tfrt_test_coordinate_type;

// Prints |text| as one line; the result is the line's chain.
static void test_print_line(tfrt_kernel_frame_t* frame, tfrt_string_view_t text) {
  tfrt_kernel_frame_set(frame, 0, tfrt_execution_context_print(frame->context, text));
}

// --- Places --------------------------------------------------------------------------

void tfrt_test_print_debug_info(tfrt_kernel_frame_t* frame) {
  tfrt_string_builder_t line;
  tfrt_string_builder_initialize(&line, tfrt_allocator_system());
  if (!tfrt_kernel_site_append_debug_name(frame->site, &line)) {
    tfrt_string_builder_append_text(&line, "Kernel has no debug info");
  }
  test_print_line(frame, tfrt_string_builder_view(&line));
  tfrt_string_builder_deinitialize(&line);
}

// Stands for a location that was met, as a resource of the request named after it.
typedef struct tfrt_test_met_s {
  tfrt_resource_t base;
  char name[64];
} tfrt_test_met_t;

static void test_met_destroy(tfrt_resource_t* resource) {
  tfrt_allocator_free(tfrt_allocator_system(), TFRT_CONTAINER_OF(resource, tfrt_test_met_t, base),
                      sizeof(tfrt_test_met_t));
}

void tfrt_test_unique_loc(tfrt_kernel_frame_t* frame) {
  uint32_t location = tfrt_kernel_site_location(frame->site);
  tfrt_string_view_t name = tfrt_bef_attribute_string(frame->attributes[0]);
  tfrt_test_met_t* met = tfrt_allocator_allocate_zeroed(tfrt_allocator_system(), sizeof(*met));
  if (!met) {
    tfrt_kernel_frame_fail(frame, TFRT_STATUS_RESOURCE_EXHAUSTED, "no memory for a location");
    return;
  }
  snprintf(met->name, sizeof(met->name), "tfrt_test.unique_loc %u", location);
  met->base.name = met->name;
  met->base.destroy = test_met_destroy;
  if (tfrt_resource_context_add(&frame->context->request->resources, &met->base) == &met->base) {
    tfrt_kernel_frame_set_ready_chain(frame, 0);
  } else {
    tfrt_kernel_frame_fail(frame, TFRT_STATUS_INTERNAL,
                           "'%.*s' has location %u, which another kernel has too",
                           TFRT_STRING_VIEW_ARGUMENTS(name), location);
  }
}

void tfrt_test_get_thread_id(tfrt_kernel_frame_t* frame) {
  static _Atomic int32_t next;
  static _Thread_local int32_t mine = -1;
  if (mine < 0) mine = atomic_fetch_add_explicit(&next, 1, memory_order_relaxed);
  tfrt_kernel_frame_set_i32(frame, 0, mine);
}

// --- Attributes ------------------------------------------------------------------------

// Makes the scalar or string |attribute| the next result.
static void test_flat_add(tfrt_kernel_frame_t* frame, const void* attribute,
                          tfrt_bef_attribute_type_t type, uint32_t* next) {
  if (*next == frame->result_count) return;
  uint32_t index = (*next)++;
  tfrt_type_id_t id = type == TFRT_BEF_DTYPE_I32 ? TFRT_TYPE_I32 : TFRT_TYPE_F32;
  if (type == TFRT_BEF_DTYPE_STRING) {
    tfrt_kernel_frame_set(frame, index,
                          tfrt_async_value_create_string(tfrt_bef_attribute_string(attribute)));
  } else if (type == TFRT_BEF_DTYPE_I32 || type == TFRT_BEF_DTYPE_F32) {
    tfrt_kernel_frame_set(frame, index,
                          tfrt_async_value_create_copy(id, attribute, sizeof(int32_t)));
  } else {
    tfrt_kernel_frame_fail(frame, TFRT_STATUS_INVALID_ARGUMENT, "element %u is a %s", index,
                           tfrt_bef_attribute_type_name(type));
  }
}

// Makes the elements of the aggregate |attribute|, in their order, results. The verifier
// bounds how deep aggregates nest.
static void test_flat_aggregate(tfrt_kernel_frame_t* frame, const void* attribute, uint32_t* next) {
  uint32_t count = tfrt_bef_attribute_aggregate_count(attribute);
  for (uint32_t i = 0; i < count; ++i) {
    tfrt_bef_attribute_type_t type;
    const void* element = tfrt_bef_attribute_aggregate_element(attribute, i, &type);
    if (type == TFRT_BEF_ATTRIBUTE_AGGREGATE) {
      test_flat_aggregate(frame, element, next);
    } else if (type & TFRT_BEF_ATTRIBUTE_ARRAY_BIT) {
      tfrt_bef_array_t array = tfrt_bef_attribute_array(element);
      tfrt_bef_attribute_type_t scalar =
          (tfrt_bef_attribute_type_t)(type & ~TFRT_BEF_ATTRIBUTE_ARRAY_BIT);
      // Elements of 4 bytes; others are reported by the first.
      for (uint32_t k = 0; k < array.count && *next < frame->result_count; ++k) {
        test_flat_add(frame, (const char*)array.data + k * sizeof(int32_t), scalar, next);
      }
    } else {
      test_flat_add(frame, element, type, next);
    }
  }
}

void tfrt_test_flat(tfrt_kernel_frame_t* frame) {
  uint32_t next = 0;
  test_flat_aggregate(frame, frame->attributes[0], &next);
  if (next < frame->result_count) {
    tfrt_kernel_frame_fail(frame, TFRT_STATUS_INVALID_ARGUMENT, "%u elements for %u results", next,
                           frame->result_count);
  }
}

// --- Log and shared context --------------------------------------------------------------

void tfrt_test_logging(tfrt_kernel_frame_t* frame) {
  static const struct {
    tfrt_log_severity_t severity;
    const char* name;
  } severities[] = {
      {TFRT_LOG_INFO, "INFO"}, {TFRT_LOG_WARNING, "WARNING"}, {TFRT_LOG_ERROR, "ERROR"}};
  tfrt_string_view_t text = tfrt_async_value_string(frame->arguments[0]);
  // The log is another stream than what is printed: what was printed before goes out first.
  tfrt_output_flush_standard();
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(severities); ++i) {
    tfrt_log(severities[i].severity, NULL, "from TFRT_LOG(%s): %.*s", severities[i].name,
             TFRT_STRING_VIEW_ARGUMENTS(text));
  }
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(severities); ++i) {
    tfrt_log(severities[i].severity, NULL, "from TFRT_LOG_IF(%s, true): %.*s", severities[i].name,
             TFRT_STRING_VIEW_ARGUMENTS(text));
  }
  tfrt_kernel_frame_set_ready_chain(frame, 0);
}

// The one object of the host that all of these kernels share; its text counts the objects made.
typedef struct tfrt_test_sample_s {
  tfrt_resource_t base;
  char text[64];
} tfrt_test_sample_t;

static void test_sample_destroy(tfrt_resource_t* resource) {
  tfrt_allocator_free(tfrt_allocator_system(),
                      TFRT_CONTAINER_OF(resource, tfrt_test_sample_t, base),
                      sizeof(tfrt_test_sample_t));
}

static tfrt_status_t test_sample_create(void* count, tfrt_resource_t** out_resource) {
  tfrt_test_sample_t* sample =
      tfrt_allocator_allocate_zeroed(tfrt_allocator_system(), sizeof(*sample));
  if (!sample) return tfrt_status_out_of_memory();
  sample->base.name = "tfrt_test.sample_shared_context";
  sample->base.destroy = test_sample_destroy;
  unsigned made = atomic_fetch_add_explicit((atomic_uint*)count, 1, memory_order_relaxed);
  snprintf(sample->text, sizeof(sample->text), "sample_shared_context%u", made);
  *out_resource = &sample->base;
  return NULL;
}

void tfrt_test_use_sample_shared_context(tfrt_kernel_frame_t* frame) {
  static atomic_uint made;
  tfrt_resource_t* resource = NULL;
  tfrt_status_t status = tfrt_resource_context_get_or_create(&frame->context->host->shared,
                                                             "tfrt_test.sample_shared_context",
                                                             test_sample_create, &made, &resource);
  if (status) {
    tfrt_kernel_frame_fail_take(frame, status);
    return;
  }
  const tfrt_test_sample_t* sample = TFRT_CONTAINER_OF(resource, tfrt_test_sample_t, base);
  tfrt_kernel_frame_set(frame, 0,
                        tfrt_async_value_create_string(tfrt_string_view_of(sample->text)));
  tfrt_kernel_frame_set_ready_chain(frame, 1);
}

// --- Async values ------------------------------------------------------------------------

// A payload that contains others at its own address.
typedef struct tfrt_test_base1_s {
  const char* name1;
} tfrt_test_base1_t;
typedef struct tfrt_test_base2_s {
  tfrt_test_base1_t base;
  const char* name2;
} tfrt_test_base2_t;
typedef struct tfrt_test_final_s {
  tfrt_test_base2_t base;
  const char* name;
  int32_t number;
} tfrt_test_final_t;

static tfrt_type_id_t tfrt_test_final_type;

void tfrt_test_async_value_get(tfrt_kernel_frame_t* frame) {
  tfrt_async_value_t* value = tfrt_async_value_create_available(tfrt_test_final_type);
  if (!value) {
    tfrt_kernel_frame_set(frame, 0, tfrt_async_value_out_of_memory());
    return;
  }
  *(tfrt_test_final_t*)tfrt_async_value_payload(value) = (tfrt_test_final_t){
      .base = {.base = {.name1 = "base1"}, .name2 = "base2"}, .name = "final_class", .number = 3};
  const tfrt_test_base1_t* base1 = tfrt_async_value_payload(value);
  const tfrt_test_base2_t* base2 = tfrt_async_value_payload(value);
  const tfrt_test_final_t* whole = tfrt_async_value_payload(value);
  char text[64];
  snprintf(text, sizeof(text), "%s:%s:%s:%d", base1->name1, base2->name2, whole->name,
           whole->number);
  tfrt_async_value_release(value);
  tfrt_kernel_frame_set(frame, 0, tfrt_async_value_create_string(tfrt_string_view_of(text)));
}

// Appends the state of |value| (+0), an i32, and its number once that is there.
static void test_append_state(tfrt_async_value_t* value, tfrt_string_builder_t* text) {
  if (!tfrt_async_value_is_available(value)) {
    tfrt_string_builder_append_text(text, "unavailable");
    return;
  }
  const int32_t* number = tfrt_async_value_payload(tfrt_async_value_resolved(value));
  tfrt_string_builder_append_format(text, "available:%d", *number);
}

// Takes |value| (consumed) from unavailable to |number| and tells of both; |peeks| says that
// the payload is looked at before it is published.
static void test_append_life(tfrt_async_value_t* value, int32_t number, bool peeks,
                             tfrt_string_builder_t* text) {
  if (!value) return;
  test_append_state(value, text);
  int32_t* payload = tfrt_async_value_payload(value);
  *payload = number;
  if (peeks) tfrt_string_builder_append_format(text, ";(%d)", *payload);
  tfrt_async_value_set_available(value);
  tfrt_string_builder_append_text(text, ";");
  test_append_state(value, text);
  tfrt_async_value_release(value);
}

void tfrt_test_async_value_ref(tfrt_kernel_frame_t* frame) {
  tfrt_string_builder_t text;
  tfrt_string_builder_initialize(&text, tfrt_allocator_system());
  tfrt_async_value_t* available = tfrt_async_value_create_i32(2);
  if (!tfrt_async_value_is_error(available)) test_append_state(available, &text);
  tfrt_async_value_release(available);
  tfrt_string_builder_append_text(&text, ";");
  test_append_life(tfrt_async_value_create_constructed(TFRT_TYPE_I32), 3, true, &text);
  tfrt_string_builder_append_text(&text, ";");
  test_append_life(tfrt_async_value_create_unconstructed(TFRT_TYPE_I32), 4, false, &text);
  tfrt_kernel_frame_set(frame, 0, tfrt_async_value_create_string(tfrt_string_builder_view(&text)));
  tfrt_string_builder_deinitialize(&text);
}

// --- A type of one's own -------------------------------------------------------------------

typedef struct tfrt_test_coordinate_s {
  int32_t x;
  int32_t y;
} tfrt_test_coordinate_t;

void tfrt_test_create_coordinate(tfrt_kernel_frame_t* frame) {
  tfrt_test_coordinate_t coordinate = {tfrt_kernel_frame_i32(frame, 0),
                                       tfrt_kernel_frame_i32(frame, 1)};
  tfrt_kernel_frame_set(
      frame, 0,
      tfrt_async_value_create_copy(tfrt_test_coordinate_type, &coordinate, sizeof(coordinate)));
}

void tfrt_test_print_coordinate(tfrt_kernel_frame_t* frame) {
  const tfrt_test_coordinate_t* coordinate = tfrt_kernel_frame_payload(frame, 0);
  char line[32];
  snprintf(line, sizeof(line), "(%d, %d)", coordinate->x, coordinate->y);
  test_print_line(frame, tfrt_string_view_of(line));
}

tfrt_status_t tfrt_test_inspection_types_register(void) {
  static const tfrt_type_t coordinate_type = {.name = "!my.coordinate",
                                              .size = sizeof(tfrt_test_coordinate_t)};
  static const tfrt_type_t final_type = {.name = "!test.final", .size = sizeof(tfrt_test_final_t)};
  TFRT_RETURN_IF_ERROR(tfrt_type_register(&coordinate_type, &tfrt_test_coordinate_type));
  return tfrt_type_register(&final_type, &tfrt_test_final_type);
}
