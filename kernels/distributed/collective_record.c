// SPDX-License-Identifier: Apache-2.0
#include "kernels/distributed/collective_record.h"

#include <string.h>

typedef struct kind_info_s {
  const char* name;
  bool reduces;
  bool has_root;
  bool same_shapes;  // of all operands
  bool same_rows;    // shapes may differ in the length of axis 0
} kind_info_t;

static const kind_info_t kinds[TFRT_COLLECTIVE_KIND_COUNT] = {
    [TFRT_COLLECTIVE_BARRIER] = {.name = "barrier"},
    [TFRT_COLLECTIVE_ALL_REDUCE] = {.name = "all_reduce", .reduces = true, .same_shapes = true},
    [TFRT_COLLECTIVE_REDUCE] = {.name = "reduce",
                                .reduces = true,
                                .has_root = true,
                                .same_shapes = true},
    [TFRT_COLLECTIVE_REDUCE_SCATTER] = {.name = "reduce_scatter",
                                        .reduces = true,
                                        .same_shapes = true},
    [TFRT_COLLECTIVE_ALL_GATHER] = {.name = "all_gather", .same_rows = true},
    [TFRT_COLLECTIVE_BROADCAST] = {.name = "broadcast", .has_root = true},
    [TFRT_COLLECTIVE_ALL_TO_ALL] = {.name = "all_to_all", .same_rows = true},
};

const char* tfrt_collective_kind_name(tfrt_collective_kind_t kind) {
  return kind < TFRT_COLLECTIVE_KIND_COUNT ? kinds[kind].name : "unknown";
}

bool tfrt_collective_kind_reduces(tfrt_collective_kind_t kind) { return kinds[kind].reduces; }

bool tfrt_collective_kind_has_root(tfrt_collective_kind_t kind) { return kinds[kind].has_root; }

bool tfrt_collective_kind_is_about_rows(tfrt_collective_kind_t kind) {
  return kind == TFRT_COLLECTIVE_REDUCE_SCATTER || kind == TFRT_COLLECTIVE_ALL_GATHER ||
         kind == TFRT_COLLECTIVE_ALL_TO_ALL;
}

size_t tfrt_collective_record_size(const tfrt_collective_record_t* record) {
  if (record->dtype == TFRT_DTYPE_INVALID) return 0;
  return (size_t)tfrt_shape_element_count(&record->shape) * tfrt_dtype_size(record->dtype);
}

// --- Bytes -----------------------------------------------------------------------

// A member ignores flags that it doesn't know, and its own record lacks them.
enum {
  FLAG_ELEMENTS = 1,
  FLAG_ERROR = 2,
  FLAG_DEVICE = 4,
  FLAG_ANYWHERE = 8,
  FLAG_LARGE_CHUNKS = 16,
  FLAG_PAIRS = 32,
};

typedef struct fixed_s {
  uint8_t kind;
  uint8_t reduction;
  uint8_t dtype;
  uint8_t rank;
  uint32_t flags;
  uint32_t root;
  uint32_t size;
} fixed_t;

_Static_assert(sizeof(fixed_t) == 16, "no gaps: it is sent as it lies in memory");

// The numbers of an error; its texts lie behind, each with its NUL.
typedef struct fixed_error_s {
  uint64_t root_key;
  uint64_t incarnation;
  uint32_t code;
  uint32_t rank;
  uint32_t line;
  uint32_t column;
} fixed_error_t;

_Static_assert(sizeof(fixed_error_t) == 32, "no gaps: it is sent as it lies in memory");

#define ERROR_TEXT_COUNT 4

// The fixed beginning of a seat; its texts follow, each with its NUL.
typedef struct fixed_seat_s {
  uint32_t rules;
  uint32_t is_taken;
  uint64_t token;
} fixed_seat_t;

_Static_assert(sizeof(fixed_seat_t) == 16, "no gaps: it is sent as it lies in memory");

static uint32_t flags_of(const tfrt_collective_record_t* record) {
  uint32_t flags = 0;
  if (record->has_elements) flags |= FLAG_ELEMENTS;
  if (record->error) flags |= FLAG_ERROR;
  if (record->is_on_device) flags |= FLAG_DEVICE;
  if (record->is_anywhere) flags |= FLAG_ANYWHERE;
  if (record->knows_large_chunks) flags |= FLAG_LARGE_CHUNKS;
  if (record->knows_pairs) flags |= FLAG_PAIRS;
  return flags;
}

static void encode_error(tfrt_status_t error, tfrt_string_builder_t* out) {
  const tfrt_status_fields_t* fields = tfrt_status_fields(error);
  const tfrt_status_origin_t* origin = &fields->origin;
  fixed_error_t fixed = {.root_key = fields->root_key,
                         .incarnation = origin->incarnation,
                         .code = fields->code,
                         .rank = origin->rank,
                         .line = origin->line,
                         .column = origin->column};
  tfrt_string_builder_append(out, &fixed, sizeof(fixed));
  const char* texts[ERROR_TEXT_COUNT] = {fields->message, origin->function, origin->kernel,
                                         origin->file};
  for (int i = 0; i < ERROR_TEXT_COUNT; ++i) {
    const char* text = texts[i] ? texts[i] : "";
    tfrt_string_builder_append(out, text, strlen(text) + 1);
  }
}

// The error (+1) that |bytes| are, or NULL if they are none.
static tfrt_status_t decode_error(tfrt_string_view_t bytes) {
  fixed_error_t fixed;
  if (bytes.size < sizeof(fixed)) return NULL;
  memcpy(&fixed, bytes.data, sizeof(fixed));
  if (fixed.code == 0 || fixed.code > TFRT_STATUS_UNAUTHENTICATED) return NULL;
  const char* texts[ERROR_TEXT_COUNT];
  const char* end = bytes.data + bytes.size;
  const char* next = bytes.data + sizeof(fixed);
  for (int i = 0; i < ERROR_TEXT_COUNT; ++i) {
    const char* nul = next < end ? memchr(next, 0, (size_t)(end - next)) : NULL;
    if (!nul) return NULL;
    texts[i] = next;
    next = nul + 1;
  }
  return tfrt_status_create_from_fields(
      &(tfrt_status_fields_t){.code = (tfrt_status_code_t)fixed.code,
                              .message = texts[0],
                              .root_key = fixed.root_key,
                              .origin = {.rank = fixed.rank,
                                         .incarnation = fixed.incarnation,
                                         .function = texts[1],
                                         .kernel = texts[2],
                                         .file = texts[3],
                                         .line = fixed.line,
                                         .column = fixed.column}});
}

static void append_with_nul(tfrt_string_view_t text, tfrt_string_builder_t* out) {
  tfrt_string_builder_append_view(out, text);
  tfrt_string_builder_append_char(out, 0);
}

static void encode_seat(const tfrt_collective_record_t* record, tfrt_string_builder_t* out) {
  fixed_seat_t fixed = {
      .rules = TFRT_COLLECTIVE_SEAT_RULES, .is_taken = record->is_taken, .token = record->token};
  tfrt_string_builder_append_char(out, 0);
  tfrt_string_builder_append(out, &fixed, sizeof(fixed));
  append_with_nul(record->library, out);
  append_with_nul(record->place, out);
}

void tfrt_collective_record_encode(const tfrt_collective_record_t* record,
                                   tfrt_string_builder_t* out) {
  fixed_t fixed = {.kind = (uint8_t)record->kind,
                   .reduction = (uint8_t)record->reduction,
                   .dtype = (uint8_t)record->dtype,
                   .rank = (uint8_t)record->shape.rank,
                   .flags = flags_of(record),
                   .root = record->root};
  size_t at = out->size;
  tfrt_string_builder_append(out, &fixed, sizeof(fixed));
  tfrt_string_builder_append(out, record->shape.dims, record->shape.rank * sizeof(int64_t));
  size_t body_at = out->size;
  if (record->error) {
    encode_error(record->error, out);
  } else if (record->has_elements || record->is_on_device) {
    tfrt_string_builder_append_view(out, record->elements);
    if (!record->has_elements && record->library.size > 0) encode_seat(record, out);
  }
  if (out->failed) return;
  fixed.size = (uint32_t)(out->size - body_at);
  memcpy(out->data + at, &fixed, sizeof(fixed));
}

static tfrt_status_t not_a_record(void) {
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                            "a host sent bytes that say nothing about a collective");
}

// Takes |size| bytes off |*bytes|; returns them, or NULL if there are fewer.
static const char* take(tfrt_string_view_t* bytes, size_t size) {
  if (bytes->size < size) return NULL;
  const char* data = bytes->data;
  bytes->data += size;
  bytes->size -= size;
  return data;
}

static bool is_good(const fixed_t* fixed) {
  return fixed->kind < TFRT_COLLECTIVE_KIND_COUNT && fixed->reduction < TFRT_REDUCTION_COUNT &&
         fixed->dtype < TFRT_DTYPE_COUNT && fixed->rank <= TFRT_SHAPE_MAX_RANK;
}

// Takes the text before the next NUL off |*bytes|, with that; false if there is none.
static bool take_text(tfrt_string_view_t* bytes, tfrt_string_view_t* out_text) {
  const char* nul = bytes->size > 0 ? memchr(bytes->data, 0, bytes->size) : NULL;
  if (!nul) return false;
  size_t size = (size_t)(nul - bytes->data);
  *out_text = tfrt_string_view_make(bytes->data, size);
  take(bytes, size + 1);
  return true;
}

// Reads the seat behind the name of the operand's type. A seat that we can't read counts as none.
static void decode_seat(tfrt_collective_record_t* record) {
  tfrt_string_view_t rest = record->elements;
  if (!take_text(&rest, &record->elements)) return;
  fixed_seat_t fixed;
  const char* data = take(&rest, sizeof(fixed));
  if (!data) return;
  memcpy(&fixed, data, sizeof(fixed));
  tfrt_string_view_t library;
  tfrt_string_view_t place;
  if (fixed.rules != TFRT_COLLECTIVE_SEAT_RULES) return;
  if (!take_text(&rest, &library) || !take_text(&rest, &place)) return;
  record->library = library;
  record->place = place;
  record->token = fixed.token;
  record->is_taken = fixed.is_taken != 0;
}

tfrt_status_t tfrt_collective_record_decode(tfrt_string_view_t* bytes,
                                            tfrt_collective_record_t* out_record) {
  memset(out_record, 0, sizeof(*out_record));
  fixed_t fixed;
  const char* data = take(bytes, sizeof(fixed));
  if (!data) return not_a_record();
  memcpy(&fixed, data, sizeof(fixed));
  const char* dims_data = is_good(&fixed) ? take(bytes, fixed.rank * sizeof(int64_t)) : NULL;
  const char* body = dims_data ? take(bytes, fixed.size) : NULL;
  if (!body) return not_a_record();
  int64_t dims[TFRT_SHAPE_MAX_RANK];
  memcpy(dims, dims_data, fixed.rank * sizeof(int64_t));
  tfrt_collective_record_t record = {.kind = (tfrt_collective_kind_t)fixed.kind,
                                     .reduction = (tfrt_reduction_t)fixed.reduction,
                                     .root = fixed.root,
                                     .dtype = (tfrt_dtype_t)fixed.dtype,
                                     .is_on_device = fixed.flags & FLAG_DEVICE,
                                     .is_anywhere = fixed.flags & FLAG_ANYWHERE,
                                     .knows_large_chunks = fixed.flags & FLAG_LARGE_CHUNKS,
                                     .knows_pairs = fixed.flags & FLAG_PAIRS,
                                     .has_elements = fixed.flags & FLAG_ELEMENTS,
                                     .elements = tfrt_string_view_make(body, fixed.size)};
  TFRT_RETURN_IF_ERROR(tfrt_shape_make(dims, fixed.rank, &record.shape));
  if (record.has_elements && tfrt_collective_record_size(&record) != fixed.size) {
    return not_a_record();
  }
  if (fixed.flags & FLAG_ERROR) {
    record.error = decode_error(record.elements);
    if (!record.error) return not_a_record();
  } else if (record.is_on_device && !record.has_elements) {
    decode_seat(&record);
  }
  *out_record = record;
  return NULL;
}

// --- Runs ------------------------------------------------------------------------

void tfrt_collective_runs_encode(const tfrt_string_view_t* bytes,
                                 const tfrt_collective_range_t* range, tfrt_string_builder_t* out) {
  uint32_t index = 0;
  while (index < range->count) {
    const tfrt_string_view_t* first = &bytes[tfrt_collective_range_member(range, index)];
    uint32_t length = 1;
    while (index + length < range->count &&
           tfrt_string_view_equal(bytes[tfrt_collective_range_member(range, index + length)],
                                  *first)) {
      ++length;
    }
    tfrt_string_builder_append(out, &length, sizeof(length));
    tfrt_string_builder_append_view(out, *first);
    index += length;
  }
}

tfrt_status_t tfrt_collective_runs_decode(tfrt_string_view_t text,
                                          const tfrt_collective_range_t* range,
                                          tfrt_collective_record_t* records,
                                          tfrt_string_view_t* bytes) {
  uint32_t index = 0;
  while (index < range->count) {
    uint32_t length = 0;
    const char* data = take(&text, sizeof(length));
    if (data) memcpy(&length, data, sizeof(length));
    if (length == 0 || length > range->count - index) return not_a_record();
    const char* begin = text.data;
    tfrt_collective_record_t record;
    TFRT_RETURN_IF_ERROR(tfrt_collective_record_decode(&text, &record));
    for (uint32_t i = 0; i < length; ++i) {
      uint32_t member = tfrt_collective_range_member(range, index + i);
      records[member] = record;
      if (i > 0) tfrt_status_retain(record.error);
      bytes[member] = tfrt_string_view_make(begin, (size_t)(text.data - begin));
    }
    index += length;
  }
  return NULL;
}

// --- Life ------------------------------------------------------------------------

void tfrt_collective_record_deinitialize(tfrt_collective_record_t* record) {
  tfrt_status_release(record->error);
  record->error = NULL;
}

// --- Agreement -------------------------------------------------------------------

// Appends |record| as text: "all_reduce sum of f32 [2, 3]".
static void append_record(const tfrt_collective_record_t* record, const uint32_t* ranks,
                          tfrt_string_builder_t* out) {
  const kind_info_t* kind = &kinds[record->kind];
  tfrt_string_builder_append_text(out, kind->name);
  if (kind->reduces) {
    tfrt_string_builder_append_format(out, " %s", tfrt_reduction_name(record->reduction));
  }
  if (kind->has_root) tfrt_string_builder_append_format(out, " with root %u", ranks[record->root]);
  if (record->dtype != TFRT_DTYPE_INVALID) {
    tfrt_string_builder_append_format(out, " of %s ", tfrt_dtype_name(record->dtype));
    tfrt_shape_print(&record->shape, out);
  }
  if (record->is_on_device) tfrt_string_builder_append_text(out, " on a device");
}

static bool have_same_rows(const tfrt_shape_t* a, const tfrt_shape_t* b) {
  if (a->rank == 0 || b->rank == 0) return a->rank == b->rank;
  tfrt_shape_t like_b = *a;
  like_b.dims[0] = b->dims[0];
  return tfrt_shape_equal(&like_b, b);
}

static bool agree(const tfrt_collective_record_t* a, const tfrt_collective_record_t* b) {
  if (a->kind != b->kind || a->reduction != b->reduction || a->root != b->root) return false;
  const kind_info_t* kind = &kinds[a->kind];
  if (kind->same_shapes) return a->dtype == b->dtype && tfrt_shape_equal(&a->shape, &b->shape);
  if (kind->same_rows) return a->dtype == b->dtype && have_same_rows(&a->shape, &b->shape);
  return true;
}

// Each member's result is where its operand is, and all of them go the same way.
static bool agree_on_place(const tfrt_collective_record_t* a, const tfrt_collective_record_t* b) {
  return a->is_anywhere || b->is_anywhere || a->is_on_device == b->is_on_device;
}

static tfrt_status_t disagreement(const tfrt_collective_record_t* records, const uint32_t* ranks,
                                  uint32_t one, uint32_t other) {
  tfrt_string_builder_t text;
  tfrt_string_builder_initialize(&text, tfrt_allocator_system());
  tfrt_string_builder_append_format(&text, "host %u has ", ranks[one]);
  append_record(&records[one], ranks, &text);
  tfrt_string_builder_append_format(&text, ", host %u has ", ranks[other]);
  append_record(&records[other], ranks, &text);
  tfrt_status_t status = text.failed
                             ? tfrt_status_out_of_memory()
                             : tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                                                  "the members of the group don't agree: %s",
                                                  tfrt_string_builder_text(&text));
  tfrt_string_builder_deinitialize(&text);
  return status;
}

tfrt_status_t tfrt_collective_records_check(const tfrt_collective_record_t* records,
                                            const uint32_t* ranks, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) {
    if (records[i].root >= count) return not_a_record();
  }
  for (uint32_t i = 0; i < count; ++i) {
    if (records[i].error) return tfrt_status_retain(records[i].error);
  }
  for (uint32_t i = 1; i < count; ++i) {
    if (!agree(&records[0], &records[i])) return disagreement(records, ranks, 0, i);
  }
  // Only a member that ignores its operand can be anywhere. So a member with a place is the root,
  // or all have one.
  uint32_t model = records[0].is_anywhere ? records[0].root : 0;
  for (uint32_t i = 0; i < count; ++i) {
    if (!agree_on_place(&records[model], &records[i])) {
      return disagreement(records, ranks, model, i);
    }
  }
  return NULL;
}
