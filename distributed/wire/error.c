// SPDX-License-Identifier: Apache-2.0
#include "distributed/wire/error.h"

#include "distributed/wire/messages.h"
#include "distributed/wire/text.h"

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
