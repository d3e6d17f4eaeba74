// SPDX-License-Identifier: Apache-2.0
#include "distributed/wire/object.h"

#include <inttypes.h>

#include "distributed/wire/messages.h"

// How a Want, a Retain and a Lost may be answered, and what a Push is.
#define TFRT_WIRE_REPLACE_KINDS \
  (TFRT_WIRE_ITEM_BIT(TFRT_WIRE_ITEM_REFERENCE) | TFRT_WIRE_ITEM_BIT(TFRT_WIRE_ITEM_ERROR))
#define TFRT_WIRE_RETAINED_KINDS (TFRT_WIRE_REPLACE_KINDS | TFRT_WIRE_ITEM_BIT(TFRT_WIRE_ITEM_HELD))
#define TFRT_WIRE_RESOLVE_KINDS                                                                \
  (TFRT_WIRE_REPLACE_KINDS | TFRT_WIRE_ITEM_BIT(TFRT_WIRE_ITEM_INLINE) |                       \
   TFRT_WIRE_ITEM_BIT(TFRT_WIRE_ITEM_AVAILABLE) | TFRT_WIRE_ITEM_BIT(TFRT_WIRE_ITEM_ON_BULK) | \
   TFRT_WIRE_ITEM_BIT(TFRT_WIRE_ITEM_LIST))
#define TFRT_WIRE_PUSH_KINDS (TFRT_WIRE_REPLACE_KINDS | TFRT_WIRE_ITEM_BIT(TFRT_WIRE_ITEM_INLINE))

static const tfrt_wire_field_t want_fields[] = {
    TFRT_WIRE_FIELD(tfrt_wire_want_t, want, 1, UINT64, .required = true),
    TFRT_WIRE_FIELD(tfrt_wire_want_t, id, 2, MESSAGE, .required = true,
                    .message = &tfrt_wire_object_id_message),
    TFRT_WIRE_FIELD(tfrt_wire_want_t, level, 3, ENUM, .limit = TFRT_WIRE_WANT_VALUE,
                    .fallback = TFRT_WIRE_WANT_AVAILABLE),
    TFRT_WIRE_FIELD(tfrt_wire_want_t, window, 4, UINT64),
    TFRT_WIRE_FIELD(tfrt_wire_want_t, offset, 5, UINT64),
    TFRT_WIRE_FIELD(tfrt_wire_want_t, resumes, 6, UINT64),
};

static tfrt_status_t check_want(const void* object) {
  const tfrt_wire_want_t* want = object;
  if (want->offset != 0 && want->resumes == 0) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "Want.offset: must be 0 unless an earlier want is resumed");
  }
  if (want->resumes != 0 && want->resumes >= want->want) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "Want.resumes: %" PRIu64 " is not before want %" PRIu64,
                              want->resumes, want->want);
  }
  return NULL;
}

const tfrt_wire_message_t tfrt_wire_want_message =
    TFRT_WIRE_MESSAGE("Want", tfrt_wire_want_t, want_fields, .check = check_want);

static const tfrt_wire_field_t resolve_fields[] = {
    TFRT_WIRE_FIELD(tfrt_wire_resolve_t, want, 1, UINT64, .required = true),
    TFRT_WIRE_FIELD(tfrt_wire_resolve_t, item, 2, MESSAGE, .required = true,
                    .item_kinds = TFRT_WIRE_RESOLVE_KINDS, .message = &tfrt_wire_item_message),
    TFRT_WIRE_FIELD(tfrt_wire_resolve_t, origin, 3, MESSAGE, .form = TFRT_WIRE_FORM_POINTER,
                    .message = &tfrt_wire_origin_message),
};
const tfrt_wire_message_t tfrt_wire_resolve_message =
    TFRT_WIRE_MESSAGE("Resolve", tfrt_wire_resolve_t, resolve_fields);

static const tfrt_wire_field_t unwant_fields[] = {
    TFRT_WIRE_FIELD(tfrt_wire_unwant_t, want, 1, UINT64, .required = true),
};
const tfrt_wire_message_t tfrt_wire_unwant_message =
    TFRT_WIRE_MESSAGE("Unwant", tfrt_wire_unwant_t, unwant_fields);

static const tfrt_wire_field_t retain_fields[] = {
    TFRT_WIRE_REPEATED(tfrt_wire_retain_t, ids, id_count, 1, MESSAGE, TFRT_WIRE_MAX_IDS,
                       .message = &tfrt_wire_object_id_message),
};
const tfrt_wire_message_t tfrt_wire_retain_message =
    TFRT_WIRE_MESSAGE("Retain", tfrt_wire_retain_t, retain_fields);

static const tfrt_wire_field_t retained_item_fields[] = {
    TFRT_WIRE_FIELD(tfrt_wire_retained_item_t, id, 1, MESSAGE, .required = true,
                    .message = &tfrt_wire_object_id_message),
    TFRT_WIRE_FIELD(tfrt_wire_retained_item_t, item, 2, MESSAGE, .required = true,
                    .item_kinds = TFRT_WIRE_RETAINED_KINDS, .message = &tfrt_wire_item_message),
};
static const tfrt_wire_message_t retained_item_message =
    TFRT_WIRE_MESSAGE("RetainedItem", tfrt_wire_retained_item_t, retained_item_fields);

static const tfrt_wire_field_t retained_fields[] = {
    TFRT_WIRE_REPEATED(tfrt_wire_retained_t, items, item_count, 1, MESSAGE, TFRT_WIRE_MAX_IDS,
                       .message = &retained_item_message),
};
const tfrt_wire_message_t tfrt_wire_retained_message =
    TFRT_WIRE_MESSAGE("Retained", tfrt_wire_retained_t, retained_fields);

static const tfrt_wire_field_t object_range_fields[] = {
    TFRT_WIRE_FIELD(tfrt_wire_object_range_t, namer, 1, FIXED64, .required = true),
    TFRT_WIRE_FIELD(tfrt_wire_object_range_t, first_number, 2, UINT64, .required = true,
                    .limit = TFRT_WIRE_MAX_NUMBER),
    TFRT_WIRE_FIELD(tfrt_wire_object_range_t, number_count, 3, UINT32, .required = true,
                    .limit = TFRT_WIRE_MAX_RELEASED),
    TFRT_WIRE_FIELD(tfrt_wire_object_range_t, first_index, 4, UINT32, .limit = TFRT_WIRE_MAX_INDEX),
    TFRT_WIRE_FIELD(tfrt_wire_object_range_t, index_count, 5, UINT32, .required = true,
                    .limit = TFRT_WIRE_MAX_RELEASED),
};

// Both ends of a range are names; the limits of its fields keep the sums from wrapping.
static tfrt_status_t check_object_range(const void* object) {
  const tfrt_wire_object_range_t* range = object;
  if (range->first_number + range->number_count - 1 > TFRT_WIRE_MAX_NUMBER) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "ObjectRange.number_count: %u numbers from %" PRIu64
                              " on end above the limit",
                              range->number_count, range->first_number);
  }
  if (range->first_index + range->index_count - 1 > TFRT_WIRE_MAX_INDEX) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "ObjectRange.index_count: %u indices from %u on end above the limit",
                              range->index_count, range->first_index);
  }
  return NULL;
}

static const tfrt_wire_message_t object_range_message = TFRT_WIRE_MESSAGE(
    "ObjectRange", tfrt_wire_object_range_t, object_range_fields, .check = check_object_range);

static const tfrt_wire_field_t release_fields[] = {
    TFRT_WIRE_REPEATED(tfrt_wire_release_t, ranges, range_count, 1, MESSAGE, TFRT_WIRE_MAX_IDS,
                       .message = &object_range_message),
};

// A short frame must not make for long work. No sum of allowed ranges wraps.
static tfrt_status_t check_release(const void* object) {
  const tfrt_wire_release_t* release = object;
  uint64_t names = 0;
  for (size_t i = 0; i < release->range_count; ++i) {
    const tfrt_wire_object_range_t* range = &release->ranges[i];
    names += (uint64_t)range->number_count * range->index_count;
  }
  if (names <= TFRT_WIRE_MAX_RELEASED) return NULL;
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                            "Release.ranges: %" PRIu64 " names, at most %u are allowed", names,
                            TFRT_WIRE_MAX_RELEASED);
}

const tfrt_wire_message_t tfrt_wire_release_message =
    TFRT_WIRE_MESSAGE("Release", tfrt_wire_release_t, release_fields, .check = check_release);

static const tfrt_wire_field_t lost_fields[] = {
    TFRT_WIRE_FIELD(tfrt_wire_lost_t, reference, 1, MESSAGE, .required = true,
                    .message = &tfrt_wire_reference_message),
};
const tfrt_wire_message_t tfrt_wire_lost_message =
    TFRT_WIRE_MESSAGE("Lost", tfrt_wire_lost_t, lost_fields);

static const tfrt_wire_field_t replace_fields[] = {
    TFRT_WIRE_FIELD(tfrt_wire_replace_t, old, 1, MESSAGE, .required = true,
                    .message = &tfrt_wire_reference_message),
    TFRT_WIRE_FIELD(tfrt_wire_replace_t, item, 2, MESSAGE, .required = true,
                    .item_kinds = TFRT_WIRE_REPLACE_KINDS, .message = &tfrt_wire_item_message),
};
const tfrt_wire_message_t tfrt_wire_replace_message =
    TFRT_WIRE_MESSAGE("Replace", tfrt_wire_replace_t, replace_fields);

static const tfrt_wire_field_t push_fields[] = {
    TFRT_WIRE_FIELD(tfrt_wire_push_t, id, 1, MESSAGE, .required = true,
                    .message = &tfrt_wire_object_id_message),
    TFRT_WIRE_FIELD(tfrt_wire_push_t, item, 3, MESSAGE, .required = true,
                    .item_kinds = TFRT_WIRE_PUSH_KINDS, .message = &tfrt_wire_item_message),
};
const tfrt_wire_message_t tfrt_wire_push_message =
    TFRT_WIRE_MESSAGE("Push", tfrt_wire_push_t, push_fields);
