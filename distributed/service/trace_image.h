// SPDX-License-Identifier: Apache-2.0
//
// A host's trace as bytes, as versions before FEATURE_ASK send it to the process that draws the
// picture. All numbers are little-endian:
//
//   i64 clock   the host's clock when the image was made
//   u64 dropped how many spans did not fit there
//   then for each span
//   i64 begin, i64 end, u64 request, u32 thread, u8 sizes of category and name, their texts
//
// Thread rule: thread-safe, on builders and traces that are.
// Failure rule: INVALID_ARGUMENT for bytes that are no image; memory that is out, by the builder.
#ifndef TFRT_DISTRIBUTED_SERVICE_TRACE_IMAGE_H_
#define TFRT_DISTRIBUTED_SERVICE_TRACE_IMAGE_H_

#include "host_runtime/base/string_builder.h"
#include "host_runtime/base/trace.h"

// Appends the image of |trace|, made at |clock_ns|, to |out|; NULL is one without spans.
// Thread-safe.
void tfrt_trace_image_append(tfrt_trace_t* trace, int64_t clock_ns, tfrt_string_builder_t* out);

// The same in two steps: the beginning of an image; then, for each trace, its spans that have begun
// at |since_ns| or later. Thread-safe.
void tfrt_trace_image_begin(int64_t clock_ns, uint64_t dropped, tfrt_string_builder_t* out);
void tfrt_trace_image_append_spans(tfrt_trace_t* trace, int64_t since_ns,
                                   tfrt_string_builder_t* out);

// Appends one span. Thread-safe.
void tfrt_trace_image_append_span(const tfrt_trace_span_t* span, tfrt_string_builder_t* out);

// Adds the spans of |image| to |trace|, and sets |*out_clock_ns| and |*out_dropped|. With an
// error, spans before the bad one were added. Thread-safe.
tfrt_status_t tfrt_trace_image_read(tfrt_string_view_t image, tfrt_trace_t* trace,
                                    int64_t* out_clock_ns, uint64_t* out_dropped) TFRT_MUST_USE;

#endif  // TFRT_DISTRIBUTED_SERVICE_TRACE_IMAGE_H_
