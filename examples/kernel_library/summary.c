// SPDX-License-Identifier: Apache-2.0
#include "summary.h"

#include <string.h>

static tfrt_type_id_t stats_summary_id;

void stats_summary_add(stats_summary_t* summary, double number) {
  bool is_first = summary->count == 0;
  summary->count += 1;
  summary->sum += number;
  if (is_first || number < summary->minimum) summary->minimum = number;
  if (is_first || number > summary->maximum) summary->maximum = number;
}

void stats_summary_merge(stats_summary_t* summary, const stats_summary_t* other) {
  if (other->count == 0) return;
  bool is_first = summary->count == 0;
  summary->count += other->count;
  summary->sum += other->sum;
  if (is_first || other->minimum < summary->minimum) summary->minimum = other->minimum;
  if (is_first || other->maximum > summary->maximum) summary->maximum = other->maximum;
}

// How bef_executor and tfrt show a value of this type.
static void stats_summary_print(const void* payload, tfrt_string_builder_t* out) {
  const stats_summary_t* summary = (const stats_summary_t*)payload;
  tfrt_string_builder_append_format(out, "%lld numbers from %g to %g, sum %g",
                                    (long long)summary->count, summary->minimum, summary->maximum,
                                    summary->sum);
}

// --- To other hosts and back: the bytes of the struct are the body of the message -----------

static tfrt_status_t stats_summary_encode(const void* payload, tfrt_encoding_t* out_encoding) {
  out_encoding->header_size = 0;
  out_encoding->body = payload;
  out_encoding->body_size = sizeof(stats_summary_t);
  return NULL;
}

// Input from outside is not trusted: another size is an error, not a crash.
static tfrt_status_t stats_summary_decode(const uint8_t* header, size_t header_size,
                                          size_t body_size, tfrt_allocator_t allocator,
                                          void* payload, void** out_body) {
  (void)header;
  (void)allocator;
  if (header_size != 0 || body_size != sizeof(stats_summary_t)) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "a summary has %zu bytes, not %zu",
                              sizeof(stats_summary_t), body_size);
  }
  memset(payload, 0, sizeof(stats_summary_t));
  *out_body = payload;
  return NULL;
}

static tfrt_status_t stats_summary_complete(void* payload) {
  const stats_summary_t* summary = (const stats_summary_t*)payload;
  if (summary->count >= 0) return NULL;
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "a summary of %lld numbers",
                            (long long)summary->count);
}

static const tfrt_codec_t stats_summary_codec = {stats_summary_encode, stats_summary_decode,
                                                 stats_summary_complete};

tfrt_status_t stats_summary_register(void) {
  static const tfrt_type_t type = {.name = "!stats.summary",
                                   .size = sizeof(stats_summary_t),
                                   .codec = &stats_summary_codec,
                                   .print = stats_summary_print};
  return tfrt_type_register(&type, &stats_summary_id);
}

tfrt_type_id_t stats_summary_type_id(void) { return stats_summary_id; }
