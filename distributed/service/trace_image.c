// SPDX-License-Identifier: Apache-2.0
#include "distributed/service/trace_image.h"

#include <string.h>

// The most spans that are copied out of a trace at a time.
#define TFRT_TRACE_IMAGE_BLOCK 64

#define TFRT_TRACE_IMAGE_HEAD_SIZE 16
#define TFRT_TRACE_IMAGE_SPAN_SIZE 30  // without its texts

static uint8_t* tfrt_trace_image_put(uint8_t* at, uint64_t number, size_t size) {
  for (size_t i = 0; i < size; ++i) *at++ = (uint8_t)(number >> (8 * i));
  return at;
}

static uint64_t tfrt_trace_image_get(const uint8_t** at, size_t size) {
  uint64_t number = 0;
  for (size_t i = 0; i < size; ++i) number |= (uint64_t) * (*at)++ << (8 * i);
  return number;
}

void tfrt_trace_image_append_span(const tfrt_trace_span_t* span, tfrt_string_builder_t* out) {
  size_t category_size = strlen(span->category);
  size_t name_size = strlen(span->name);
  uint8_t bytes[TFRT_TRACE_IMAGE_SPAN_SIZE];
  uint8_t* at = tfrt_trace_image_put(bytes, (uint64_t)span->begin_ns, 8);
  at = tfrt_trace_image_put(at, (uint64_t)span->end_ns, 8);
  at = tfrt_trace_image_put(at, span->request, 8);
  at = tfrt_trace_image_put(at, span->thread, 4);
  at = tfrt_trace_image_put(at, category_size, 1);
  tfrt_trace_image_put(at, name_size, 1);
  tfrt_string_builder_append(out, (const char*)bytes, sizeof(bytes));
  tfrt_string_builder_append(out, span->category, category_size);
  tfrt_string_builder_append(out, span->name, name_size);
}

void tfrt_trace_image_begin(int64_t clock_ns, uint64_t dropped, tfrt_string_builder_t* out) {
  uint8_t head[TFRT_TRACE_IMAGE_HEAD_SIZE];
  uint8_t* at = tfrt_trace_image_put(head, (uint64_t)clock_ns, 8);
  tfrt_trace_image_put(at, dropped, 8);
  tfrt_string_builder_append(out, (const char*)head, sizeof(head));
}

void tfrt_trace_image_append_spans(tfrt_trace_t* trace, int64_t since_ns,
                                   tfrt_string_builder_t* out) {
  tfrt_trace_span_t spans[TFRT_TRACE_IMAGE_BLOCK];
  size_t first = 0;
  for (size_t count; (count = tfrt_trace_read(trace, first, spans, TFRT_TRACE_IMAGE_BLOCK)) > 0;
       first += count) {
    for (size_t i = 0; i < count; ++i) {
      if (spans[i].begin_ns >= since_ns) tfrt_trace_image_append_span(&spans[i], out);
    }
  }
}

void tfrt_trace_image_append(tfrt_trace_t* trace, int64_t clock_ns, tfrt_string_builder_t* out) {
  tfrt_trace_image_begin(clock_ns, trace ? tfrt_trace_dropped(trace) : 0, out);
  if (trace) tfrt_trace_image_append_spans(trace, INT64_MIN, out);
}

// Reads one span at |*at|, which moves behind it. Returns false for what is none.
static bool tfrt_trace_image_read_span(const uint8_t** at, const uint8_t* end,
                                       tfrt_trace_span_t* out_span) {
  if (end - *at < TFRT_TRACE_IMAGE_SPAN_SIZE) return false;
  *out_span = (tfrt_trace_span_t){0};
  out_span->begin_ns = (int64_t)tfrt_trace_image_get(at, 8);
  out_span->end_ns = (int64_t)tfrt_trace_image_get(at, 8);
  out_span->request = tfrt_trace_image_get(at, 8);
  out_span->thread = (uint32_t)tfrt_trace_image_get(at, 4);
  size_t category_size = (size_t)tfrt_trace_image_get(at, 1);
  size_t name_size = (size_t)tfrt_trace_image_get(at, 1);
  if (category_size >= sizeof(out_span->category) || name_size >= sizeof(out_span->name) ||
      (size_t)(end - *at) < category_size + name_size || out_span->end_ns < out_span->begin_ns) {
    return false;
  }
  memcpy(out_span->category, *at, category_size);
  memcpy(out_span->name, *at + category_size, name_size);
  *at += category_size + name_size;
  return true;
}

tfrt_status_t tfrt_trace_image_read(tfrt_string_view_t image, tfrt_trace_t* trace,
                                    int64_t* out_clock_ns, uint64_t* out_dropped) {
  *out_clock_ns = 0;
  *out_dropped = 0;
  const uint8_t* at = (const uint8_t*)image.data;
  const uint8_t* end = at + image.size;
  bool is_good = image.size >= TFRT_TRACE_IMAGE_HEAD_SIZE;
  if (is_good) {
    *out_clock_ns = (int64_t)tfrt_trace_image_get(&at, 8);
    *out_dropped = tfrt_trace_image_get(&at, 8);
  }
  while (is_good && at < end) {
    tfrt_trace_span_t span;
    is_good = tfrt_trace_image_read_span(&at, end, &span);
    if (is_good) tfrt_trace_add_span(trace, &span);
  }
  if (is_good) return NULL;
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                            "the trace that a host sent is damaged at byte %zu of %zu",
                            (size_t)(at - (const uint8_t*)image.data), image.size);
}
