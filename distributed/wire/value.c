// SPDX-License-Identifier: Apache-2.0
#include "distributed/wire/value.h"

#include <inttypes.h>
#include <string.h>

#include "distributed/wire/walks.h"

TFRT_WIRE_VALUE_FRAMES(TFRT_WIRE_DECLARE_MESSAGE)

// --- Texts -----------------------------------------------------------------------

// The most of |text| that |limit| bytes hold without cutting a character in two.
static size_t cut_size(tfrt_string_view_t text, size_t limit) {
  if (text.size <= limit) return text.size;
  // A character has at most three bytes behind its first one.
  for (size_t size = limit; size > 0 && limit - size <= 3; --size) {
    if (((unsigned char)text.data[size] & 0xc0) != 0x80) return size;
  }
  return limit;
}

tfrt_string_view_t tfrt_wire_text_fit(tfrt_string_view_t text, char* buffer, size_t limit) {
  tfrt_string_view_t cut = tfrt_string_view_make(text.data, cut_size(text, limit));
  size_t valid = tfrt_wire_utf8_prefix(cut);
  if (valid == cut.size) return cut;
  memcpy(buffer, cut.data, cut.size);
  while (valid < cut.size) {
    buffer[valid++] = '?';
    valid += tfrt_wire_utf8_prefix(tfrt_string_view_make(buffer + valid, cut.size - valid));
  }
  return tfrt_string_view_make(buffer, cut.size);
}

// --- Errors ----------------------------------------------------------------------

static const tfrt_wire_field_t origin_fields[] = {
    TFRT_WIRE_FIELD(tfrt_wire_origin_t, rank, 1, UINT32),
    TFRT_WIRE_FIELD(tfrt_wire_origin_t, incarnation, 2, FIXED64),
    TFRT_WIRE_FIELD(tfrt_wire_origin_t, function, 3, STRING, .limit = TFRT_WIRE_MAX_NAME_SIZE),
    TFRT_WIRE_FIELD(tfrt_wire_origin_t, kernel, 4, STRING, .limit = TFRT_WIRE_MAX_NAME_SIZE),
    TFRT_WIRE_FIELD(tfrt_wire_origin_t, file, 5, STRING, .limit = TFRT_WIRE_MAX_PATH_SIZE),
    TFRT_WIRE_FIELD(tfrt_wire_origin_t, line, 6, UINT32),
    TFRT_WIRE_FIELD(tfrt_wire_origin_t, column, 7, UINT32),
};
const tfrt_wire_message_t tfrt_wire_origin_message =
    TFRT_WIRE_MESSAGE("Origin", tfrt_wire_origin_t, origin_fields);

static const tfrt_wire_field_t error_fields[] = {
    TFRT_WIRE_FIELD(tfrt_wire_error_t, code, 1, ENUM, .limit = TFRT_STATUS_UNAUTHENTICATED,
                    .fallback = TFRT_STATUS_UNKNOWN),
    TFRT_WIRE_FIELD(tfrt_wire_error_t, message, 2, STRING, .limit = TFRT_WIRE_MAX_MESSAGE_SIZE),
    TFRT_WIRE_FIELD(tfrt_wire_error_t, origin, 3, MESSAGE, .form = TFRT_WIRE_FORM_POINTER,
                    .message = &tfrt_wire_origin_message),
    TFRT_WIRE_FIELD(tfrt_wire_error_t, call, 4, UINT64, .limit = TFRT_WIRE_MAX_NUMBER),
    TFRT_WIRE_FIELD(tfrt_wire_error_t, root_key, 5, FIXED64),
    TFRT_WIRE_FIELD(tfrt_wire_error_t, derived, 6, BOOL),
    TFRT_WIRE_FIELD(tfrt_wire_error_t, may_have_run, 7, BOOL),
    TFRT_WIRE_REPEATED(tfrt_wire_error_t, causes, cause_count, 8, STRING, TFRT_WIRE_MAX_CAUSES,
                       .limit = TFRT_WIRE_MAX_CAUSE_SIZE),
    TFRT_WIRE_FIELD(tfrt_wire_error_t, truncated, 9, BOOL),
};
const tfrt_wire_message_t tfrt_wire_error_message = TFRT_WIRE_MESSAGE(
    "Error", tfrt_wire_error_t, error_fields, .max_size = TFRT_WIRE_MAX_ERROR_SIZE);

_Static_assert(TFRT_WIRE_MAX_CAUSES == TFRT_STATUS_MAX_CAUSES, "a status keeps what the wire can");

// Sets |*out_text| to |text| (which may be NULL) in valid UTF-8 of at most |limit| bytes:
// borrowed where it can be, else a copy with '?' for each byte that is no part of a
// character. Sets |*truncated| if something was cut. False when memory is out.
static bool clean_text(const char* text, size_t limit, tfrt_arena_t* arena, bool* truncated,
                       tfrt_string_view_t* out_text) {
  tfrt_string_view_t all = tfrt_string_view_of(text);
  char buffer[TFRT_WIRE_MAX_MESSAGE_SIZE];
  *out_text = tfrt_wire_text_fit(all, buffer, limit);
  if (out_text->size < all.size) *truncated = true;
  if (out_text->data != buffer) return true;
  out_text->data = tfrt_arena_copy_string(arena, *out_text);
  return out_text->data != NULL;
}

// Copies |origin|, and replaces "this process" by |rank| and |incarnation|, as other hosts read it.
// NULL when memory is out.
static const tfrt_wire_origin_t* make_origin(const tfrt_status_origin_t* origin, uint32_t rank,
                                             uint64_t incarnation, tfrt_arena_t* arena, bool* cut) {
  tfrt_wire_origin_t* copy = tfrt_arena_allocate(arena, sizeof(*copy));
  if (!copy) return NULL;
  bool is_here = origin->incarnation == 0 && origin->rank == TFRT_STATUS_NO_RANK;
  *copy = (tfrt_wire_origin_t){
      .rank = is_here ? rank : origin->rank,
      .incarnation = is_here ? incarnation : origin->incarnation,
      .line = origin->line,
      .column = origin->column,
  };
  bool is_made =
      clean_text(origin->function, TFRT_WIRE_MAX_NAME_SIZE, arena, cut, &copy->function) &&
      clean_text(origin->kernel, TFRT_WIRE_MAX_NAME_SIZE, arena, cut, &copy->kernel) &&
      clean_text(origin->file, TFRT_WIRE_MAX_PATH_SIZE, arena, cut, &copy->file);
  return is_made ? copy : NULL;
}

const tfrt_wire_origin_t* tfrt_wire_origin_from_status(const tfrt_status_origin_t* origin,
                                                       uint32_t rank, uint64_t incarnation,
                                                       tfrt_arena_t* arena) {
  bool cut = false;
  return make_origin(origin, rank, incarnation, arena, &cut);
}

static bool make_causes(const tfrt_status_fields_t* fields, tfrt_arena_t* arena,
                        tfrt_wire_error_t* error) {
  if (fields->cause_count == 0) return true;
  tfrt_string_view_t* causes =
      tfrt_arena_allocate_array(arena, fields->cause_count, sizeof(*causes));
  if (!causes) return false;
  for (uint32_t i = 0; i < fields->cause_count; ++i) {
    if (!clean_text(fields->causes[i], TFRT_WIRE_MAX_CAUSE_SIZE, arena, &error->truncated,
                    &causes[i])) {
      return false;
    }
  }
  error->causes = causes;
  error->cause_count = fields->cause_count;
  return true;
}

tfrt_status_t tfrt_wire_error_from_status(tfrt_status_t status, uint32_t rank, uint64_t incarnation,
                                          tfrt_arena_t* arena, tfrt_wire_error_t* out_error) {
  const tfrt_status_fields_t* fields = tfrt_status_fields(status);
  *out_error = (tfrt_wire_error_t){
      .code = (uint32_t)fields->code,
      .call = fields->call <= TFRT_WIRE_MAX_NUMBER ? fields->call : 0,
      .root_key = fields->root_key,
      .derived = fields->derived,
      .may_have_run = fields->may_have_run,
      .truncated = fields->truncated,
  };
  bool* cut = &out_error->truncated;
  out_error->origin = make_origin(&fields->origin, rank, incarnation, arena, cut);
  if (out_error->origin &&
      clean_text(fields->message, TFRT_WIRE_MAX_MESSAGE_SIZE, arena, cut, &out_error->message) &&
      make_causes(fields, arena, out_error)) {
    return NULL;
  }
  *out_error = (tfrt_wire_error_t){0};
  return tfrt_status_create(TFRT_STATUS_RESOURCE_EXHAUSTED, "Error: no memory left to encode it");
}

// Texts of an error, NUL-terminated one after the other.
typedef struct texts_s {
  char data[TFRT_WIRE_MAX_ERROR_SIZE];
  size_t size;
} texts_t;

_Static_assert(TFRT_WIRE_MAX_MESSAGE_SIZE + 2 * TFRT_WIRE_MAX_NAME_SIZE + TFRT_WIRE_MAX_PATH_SIZE +
                       TFRT_WIRE_MAX_CAUSES * TFRT_WIRE_MAX_CAUSE_SIZE + 4 + TFRT_WIRE_MAX_CAUSES <=
                   TFRT_WIRE_MAX_ERROR_SIZE,
               "all texts of an error fit, each at its longest");

// A copy of at most |limit| bytes of |text| in |texts|.
static const char* add_text(texts_t* texts, tfrt_string_view_t text, size_t limit) {
  char* copy = texts->data + texts->size;
  size_t size = text.size < limit ? text.size : limit;
  if (size > 0) memcpy(copy, text.data, size);
  copy[size] = '\0';
  texts->size += size + 1;
  return copy;
}

static tfrt_status_origin_t read_origin(const tfrt_wire_origin_t* origin, texts_t* texts) {
  if (!origin) return (tfrt_status_origin_t){.rank = TFRT_STATUS_NO_RANK};
  return (tfrt_status_origin_t){
      .rank = origin->rank,
      .incarnation = origin->incarnation,
      .function = add_text(texts, origin->function, TFRT_WIRE_MAX_NAME_SIZE),
      .kernel = add_text(texts, origin->kernel, TFRT_WIRE_MAX_NAME_SIZE),
      .file = add_text(texts, origin->file, TFRT_WIRE_MAX_PATH_SIZE),
      .line = origin->line,
      .column = origin->column,
  };
}

tfrt_status_t tfrt_wire_error_to_status(const tfrt_wire_error_t* error) {
  texts_t texts = {.size = 0};
  bool is_known = error->code > TFRT_STATUS_OK && error->code <= TFRT_STATUS_UNAUTHENTICATED;
  tfrt_status_fields_t fields = {
      .code = is_known ? (tfrt_status_code_t)error->code : TFRT_STATUS_UNKNOWN,
      .message = add_text(&texts, error->message, TFRT_WIRE_MAX_MESSAGE_SIZE),
      .origin = read_origin(error->origin, &texts),
      .root_key = error->root_key,
      .call = error->call,
      .derived = error->derived,
      .may_have_run = error->may_have_run,
      .truncated = error->truncated || error->cause_count > TFRT_STATUS_MAX_CAUSES,
  };
  for (size_t i = 0; i < error->cause_count && i < TFRT_STATUS_MAX_CAUSES; ++i) {
    fields.causes[fields.cause_count++] =
        add_text(&texts, error->causes[i], TFRT_WIRE_MAX_CAUSE_SIZE);
  }
  return tfrt_status_create_from_fields(&fields);
}

// --- Values ----------------------------------------------------------------------

static const tfrt_wire_field_t object_id_fields[] = {
    TFRT_WIRE_FIELD(tfrt_wire_object_id_t, namer, 1, FIXED64, .required = true),
    TFRT_WIRE_FIELD(tfrt_wire_object_id_t, number, 2, UINT64, .required = true,
                    .limit = TFRT_WIRE_MAX_NUMBER),
    TFRT_WIRE_FIELD(tfrt_wire_object_id_t, index, 3, UINT32, .limit = TFRT_WIRE_MAX_INDEX),
};
const tfrt_wire_message_t tfrt_wire_object_id_message =
    TFRT_WIRE_MESSAGE("ObjectId", tfrt_wire_object_id_t, object_id_fields);

static const tfrt_wire_field_t reference_fields[] = {
    TFRT_WIRE_FIELD(tfrt_wire_reference_t, id, 1, MESSAGE, .required = true,
                    .message = &tfrt_wire_object_id_message),
    TFRT_WIRE_FIELD(tfrt_wire_reference_t, owner, 2, FIXED64, .required = true),
    TFRT_WIRE_FIELD(tfrt_wire_reference_t, owner_rank, 3, UINT32),
    TFRT_WIRE_FIELD(tfrt_wire_reference_t, namer_rank, 4, UINT32),
    TFRT_WIRE_FIELD(tfrt_wire_reference_t, is_chain, 5, BOOL),
    TFRT_WIRE_FIELD(tfrt_wire_reference_t, is_mutable, 6, BOOL),
    TFRT_WIRE_FIELD(tfrt_wire_reference_t, is_recoverable, 7, BOOL),
    TFRT_WIRE_FIELD(tfrt_wire_reference_t, is_pushed, 8, BOOL),
};

// The exported values of an owner have no index, so that each has one name only.
static tfrt_status_t check_reference(const void* object) {
  const tfrt_wire_reference_t* reference = object;
  if (reference->id.namer != reference->owner || reference->id.index == 0) return NULL;
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                            "Reference.id: index %u of an exported value, must be 0",
                            reference->id.index);
}

const tfrt_wire_message_t tfrt_wire_reference_message = TFRT_WIRE_MESSAGE(
    "Reference", tfrt_wire_reference_t, reference_fields, .check = check_reference);

static const tfrt_wire_field_t value_fields[] = {
    TFRT_WIRE_FIELD(tfrt_wire_value_t, type, 1, STRING, .required = true,
                    .limit = TFRT_WIRE_MAX_TYPE_NAME_SIZE),
    TFRT_WIRE_FIELD(tfrt_wire_value_t, header, 2, BYTES, .limit = TFRT_WIRE_MAX_VALUE_HEADER_SIZE),
    TFRT_WIRE_FIELD(tfrt_wire_value_t, body, 15, BYTES, .limit = TFRT_WIRE_MAX_INLINE_SIZE),
};
TFRT_WIRE_WALKS(tfrt_wire_value)
const tfrt_wire_message_t tfrt_wire_value_message =
    TFRT_WIRE_MESSAGE("Value", tfrt_wire_value_t, value_fields, TFRT_WIRE_WALKED(tfrt_wire_value));

static const tfrt_wire_field_t available_fields[] = {
    TFRT_WIRE_FIELD(tfrt_wire_available_t, type, 1, STRING, .limit = TFRT_WIRE_MAX_TYPE_NAME_SIZE),
    TFRT_WIRE_FIELD(tfrt_wire_available_t, size, 2, UINT64),
};
static const tfrt_wire_message_t available_message =
    TFRT_WIRE_MESSAGE("Available", tfrt_wire_available_t, available_fields);

static const tfrt_wire_field_t on_bulk_fields[] = {
    TFRT_WIRE_FIELD(tfrt_wire_on_bulk_t, type, 1, STRING, .required = true,
                    .limit = TFRT_WIRE_MAX_TYPE_NAME_SIZE),
    TFRT_WIRE_FIELD(tfrt_wire_on_bulk_t, header, 2, BYTES,
                    .limit = TFRT_WIRE_MAX_VALUE_HEADER_SIZE),
    TFRT_WIRE_FIELD(tfrt_wire_on_bulk_t, size, 3, UINT64),
};
static const tfrt_wire_message_t on_bulk_message =
    TFRT_WIRE_MESSAGE("OnBulk", tfrt_wire_on_bulk_t, on_bulk_fields);

static const tfrt_wire_field_t same_as_argument_fields[] = {
    TFRT_WIRE_FIELD(tfrt_wire_same_as_argument_t, argument, 1, UINT32,
                    .limit = TFRT_WIRE_MAX_ARGUMENTS - 1),
};
static const tfrt_wire_message_t same_as_argument_message =
    TFRT_WIRE_MESSAGE("SameAsArgument", tfrt_wire_same_as_argument_t, same_as_argument_fields);

// An element is an item that is no list: so a message has no depth that is the sender's choice.
static const tfrt_wire_field_t element_fields[] = {
    TFRT_WIRE_ROW("inline", offsetof(tfrt_wire_item_t, value), TFRT_WIRE_ITEM_INLINE, MESSAGE,
                  .message = &tfrt_wire_value_message),
    TFRT_WIRE_FIELD(tfrt_wire_item_t, reference, TFRT_WIRE_ITEM_REFERENCE, MESSAGE,
                    .message = &tfrt_wire_reference_message),
    TFRT_WIRE_FIELD(tfrt_wire_item_t, error, TFRT_WIRE_ITEM_ERROR, MESSAGE,
                    .form = TFRT_WIRE_FORM_POINTER, .message = &tfrt_wire_error_message),
};
static const tfrt_wire_message_t element_message =
    TFRT_WIRE_MESSAGE("Element", tfrt_wire_item_t, element_fields, .is_oneof = true,
                      .kind_offset = offsetof(tfrt_wire_item_t, kind));

static const tfrt_wire_field_t list_fields[] = {
    TFRT_WIRE_FIELD(tfrt_wire_list_t, type, 1, STRING, .required = true,
                    .limit = TFRT_WIRE_MAX_TYPE_NAME_SIZE),
    TFRT_WIRE_REPEATED(tfrt_wire_list_t, elements, element_count, 2, MESSAGE,
                       TFRT_WIRE_MAX_ELEMENTS, .message = &element_message),
};
static const tfrt_wire_message_t list_message =
    TFRT_WIRE_MESSAGE("List", tfrt_wire_list_t, list_fields);

// Nothing is in it, nothing is stored for it.
static const tfrt_wire_message_t held_message = {.name = "Held"};

static const tfrt_wire_field_t item_fields[] = {
    TFRT_WIRE_ROW("inline", offsetof(tfrt_wire_item_t, value), TFRT_WIRE_ITEM_INLINE, MESSAGE,
                  .message = &tfrt_wire_value_message),
    TFRT_WIRE_FIELD(tfrt_wire_item_t, available, TFRT_WIRE_ITEM_AVAILABLE, MESSAGE,
                    .message = &available_message),
    TFRT_WIRE_FIELD(tfrt_wire_item_t, reference, TFRT_WIRE_ITEM_REFERENCE, MESSAGE,
                    .message = &tfrt_wire_reference_message),
    TFRT_WIRE_FIELD(tfrt_wire_item_t, same_as_argument, TFRT_WIRE_ITEM_SAME_AS_ARGUMENT, MESSAGE,
                    .message = &same_as_argument_message),
    TFRT_WIRE_FIELD(tfrt_wire_item_t, on_bulk, TFRT_WIRE_ITEM_ON_BULK, MESSAGE,
                    .message = &on_bulk_message),
    TFRT_WIRE_ROW("held", offsetof(tfrt_wire_item_t, value), TFRT_WIRE_ITEM_HELD, MESSAGE,
                  .message = &held_message),
    TFRT_WIRE_FIELD(tfrt_wire_item_t, error, TFRT_WIRE_ITEM_ERROR, MESSAGE,
                    .form = TFRT_WIRE_FORM_POINTER, .message = &tfrt_wire_error_message),
    TFRT_WIRE_FIELD(tfrt_wire_item_t, list, TFRT_WIRE_ITEM_LIST, MESSAGE, .message = &list_message),
};
TFRT_WIRE_WALKS(tfrt_wire_item)
const tfrt_wire_message_t tfrt_wire_item_message = TFRT_WIRE_MESSAGE(
    "Item", tfrt_wire_item_t, item_fields, .is_oneof = true,
    .kind_offset = offsetof(tfrt_wire_item_t, kind), TFRT_WIRE_WALKED(tfrt_wire_item));

// --- Frames about values ---------------------------------------------------------

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
