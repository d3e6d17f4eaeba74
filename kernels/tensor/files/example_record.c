// SPDX-License-Identifier: Apache-2.0
#include "kernels/tensor/files/example_record.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

// How a field lies in its message: the low three bits of its tag.
enum { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2, WIRE_FIXED32 = 5 };

enum { LIST_OF_BYTES = 1, LIST_OF_FLOATS = 2, LIST_OF_I64 = 3 };

typedef struct field_s {
  uint64_t number;
  uint32_t wire;
  uint64_t value;            // of a varint
  tfrt_string_view_t bytes;  // of the others
} field_t;

// The rest of a message. A broken message ends early, with |ok| false.
typedef struct message_s {
  tfrt_string_view_t rest;
  bool ok;
} message_t;

static message_t message_of(tfrt_string_view_t bytes) { return (message_t){bytes, true}; }

static tfrt_string_view_t take(message_t* message, uint64_t size) {
  if (size > message->rest.size) {
    message->ok = false;
    size = 0;
  }
  tfrt_string_view_t taken = tfrt_string_view_make(message->rest.data, (size_t)size);
  if (size > 0) message->rest.data += size;
  message->rest.size -= (size_t)size;
  return taken;
}

static uint64_t take_varint(message_t* message) {
  uint64_t value = 0;
  for (uint32_t shift = 0; shift < 64; shift += 7) {
    tfrt_string_view_t byte = take(message, 1);
    if (!message->ok) return 0;
    value |= (uint64_t)((uint8_t)byte.data[0] & 0x7F) << shift;
    if (((uint8_t)byte.data[0] & 0x80) == 0) return value;
  }
  message->ok = false;
  return 0;
}

// Sets |*out_field| to the next field of |message|; false at its end, or if it is broken.
static bool next_field(message_t* message, field_t* out_field) {
  *out_field = (field_t){0};
  if (!message->ok || message->rest.size == 0) return false;
  uint64_t tag = take_varint(message);
  out_field->number = tag >> 3;
  out_field->wire = (uint32_t)(tag & 7);
  switch (out_field->wire) {
    case WIRE_VARINT:
      out_field->value = take_varint(message);
      break;
    case WIRE_FIXED64:
      out_field->bytes = take(message, 8);
      break;
    case WIRE_BYTES:
      out_field->bytes = take(message, take_varint(message));
      break;
    case WIRE_FIXED32:
      out_field->bytes = take(message, 4);
      break;
    default:
      message->ok = false;
      break;
  }
  if (out_field->number == 0) message->ok = false;
  return message->ok;
}

static bool is_message(const field_t* field, uint64_t number) {
  return field->number == number && field->wire == WIRE_BYTES;
}

// --- Lists -----------------------------------------------------------------------

typedef struct values_s {
  uint64_t count;
  tfrt_string_view_t bytes;  // the last one
  uint64_t number;
} values_t;

// Counts the values of a list of |kind|; false if it is broken.
static bool read_list(tfrt_string_view_t list, uint64_t kind, values_t* out_values) {
  *out_values = (values_t){0};
  message_t message = message_of(list);
  field_t field;
  while (next_field(&message, &field)) {
    if (field.number != 1) continue;
    if (kind == LIST_OF_I64 && field.wire == WIRE_BYTES) {
      message_t numbers = message_of(field.bytes);
      while (numbers.ok && numbers.rest.size > 0) {
        out_values->number = take_varint(&numbers);
        ++out_values->count;
      }
      if (!numbers.ok) return false;
    } else if (field.wire == (kind == LIST_OF_I64 ? WIRE_VARINT : WIRE_BYTES)) {
      out_values->number = field.value;
      out_values->bytes = field.bytes;
      ++out_values->count;
    }
  }
  return message.ok;
}

// Reads the list of |kind| in a feature, none if another list came later; false if the
// feature is broken.
static bool read_feature(tfrt_string_view_t feature, uint64_t kind, values_t* out_values) {
  *out_values = (values_t){0};
  message_t message = message_of(feature);
  field_t field;
  while (next_field(&message, &field)) {
    if (field.wire != WIRE_BYTES || field.number > LIST_OF_I64) continue;
    values_t values;
    if (!read_list(field.bytes, field.number, &values)) return false;
    *out_values = field.number == kind ? values : (values_t){0};
  }
  return message.ok;
}

// --- Records -----------------------------------------------------------------------

// Called for each feature; false ends the walk.
typedef bool (*visit_fn_t)(void* context, tfrt_string_view_t key, tfrt_string_view_t feature);

static bool visit_entry(tfrt_string_view_t entry, visit_fn_t visit, void* context) {
  tfrt_string_view_t key = {NULL, 0};
  tfrt_string_view_t feature = {NULL, 0};
  message_t message = message_of(entry);
  field_t field;
  while (next_field(&message, &field)) {
    if (is_message(&field, 1)) key = field.bytes;
    if (is_message(&field, 2)) feature = field.bytes;
  }
  return message.ok && visit(context, key, feature);
}

// Calls |visit| for all features of |record|; false if it is broken or a visit was.
static bool visit_record(tfrt_string_view_t record, visit_fn_t visit, void* context) {
  message_t example = message_of(record);
  field_t features_field;
  while (next_field(&example, &features_field)) {
    if (!is_message(&features_field, 1)) continue;
    message_t features = message_of(features_field.bytes);
    field_t entry;
    while (next_field(&features, &entry)) {
      if (is_message(&entry, 1) && !visit_entry(entry.bytes, visit, context)) return false;
    }
    if (!features.ok) return false;
  }
  return example.ok;
}

static bool check_feature(void* context, tfrt_string_view_t key, tfrt_string_view_t feature) {
  (void)context;
  (void)key;
  values_t values;
  return read_feature(feature, LIST_OF_BYTES, &values);
}

tfrt_status_t tfrt_example_check(tfrt_string_view_t record) {
  if (visit_record(record, check_feature, NULL)) return NULL;
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                            "failed to parse example.proto from string");
}

typedef struct search_s {
  tfrt_string_view_t key;
  uint64_t kind;
  bool found;
  values_t values;
} search_t;

static bool match(void* context, tfrt_string_view_t key, tfrt_string_view_t feature) {
  search_t* search = context;
  if (!tfrt_string_view_equal(key, search->key)) return true;
  search->found = true;
  return read_feature(feature, search->kind, &search->values);
}

static tfrt_status_t find(tfrt_string_view_t record, tfrt_string_view_t key, uint64_t kind,
                          values_t* out_values) {
  search_t search = {.key = key, .kind = kind};
  bool ok = visit_record(record, match, &search);
  *out_values = search.values;
  if (!ok || !search.found) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "key %.*s is not found in the proto",
                              TFRT_STRING_VIEW_ARGUMENTS(key));
  }
  if (search.values.count == 1) return NULL;
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                            "key %.*s has %" PRIu64 " values of %s in the proto, not one",
                            TFRT_STRING_VIEW_ARGUMENTS(key), search.values.count,
                            kind == LIST_OF_BYTES ? "bytes" : "i64");
}

tfrt_status_t tfrt_example_find_bytes(tfrt_string_view_t record, tfrt_string_view_t key,
                                      tfrt_string_view_t* out_value) {
  values_t values;
  tfrt_status_t status = find(record, key, LIST_OF_BYTES, &values);
  *out_value = status ? tfrt_string_view_make(NULL, 0) : values.bytes;
  return status;
}

tfrt_status_t tfrt_example_find_i64(tfrt_string_view_t record, tfrt_string_view_t key,
                                    int64_t* out_value) {
  values_t values;
  tfrt_status_t status = find(record, key, LIST_OF_I64, &values);
  *out_value = status ? 0 : (int64_t)values.number;
  return status;
}
