// SPDX-License-Identifier: Apache-2.0
//
// Step 4 of a load: the bodies. Everything is linear in the bytes of a body: kernel
// records follow each other without gap or overlap, and so do bodies, so that a small
// file can't ask for much work by naming the same bytes many times.
//
// A record is decoded and checked at once. Writers list the users of a register last one first, as
// MLIR has them, so that each argument is the last word of its register's list that is left: where
// that holds to the end, all lists and counts are right. What doesn't fit so is left to bef_uses.c,
// which allows any order and says what is wrong.

#include <inttypes.h>

#include "host_runtime/bef/bef_loader.h"

// Bytes of an entry of the kernel table, at least: three VBRs.
#define MIN_KERNEL_ENTRY_SIZE 3

// What is known of a register.
typedef struct register_s {
  uint32_t users_end;  // word of |area| behind those of its list that are left; 0: not set yet
  uint32_t users_left;
  uint32_t results_left;  // results of the function that are this register
} register_t;

// One body while it is verified.
typedef struct body_s {
  tfrt_bef_load_t* load;
  tfrt_bef_function_t* function;
  tfrt_bef_record_place_t* places;  // per kernel
  uint32_t* operand_counts;         // per kernel, by the table
  tfrt_bef_cursor_t cursor;
  const uint8_t* area;       // where the records begin
  register_t* registers;     // by number
  const uint32_t* starting;  // what is left of the users of the special register, first one first
  uint32_t starting_left;
  bool uses_fit;       // so far, lists of users and counts are as they should be
  tfrt_arena_t arena;  // what is listed here; freed with the body
} body_t;

// As tfrt_bef_load_allocate(), for words that are all written.
static tfrt_status_t allocate_words(tfrt_arena_t* arena, size_t count, uint32_t** out_words) {
  void* memory;
  tfrt_status_t status = tfrt_bef_load_allocate_room(arena, count, sizeof(**out_words), &memory);
  *out_words = memory;
  return status;
}

// --- Decoding -----------------------------------------------------------------

static tfrt_status_t check_location(body_t* body, uint32_t location, const uint8_t* at) {
  if (tfrt_bef_load_location_is_valid(body->load, location)) return NULL;
  return tfrt_bef_cursor_error(&body->cursor, at, "location 0x%" PRIx32 " is not that of a record",
                               location);
}

static tfrt_status_t decode_registers(body_t* body) {
  tfrt_bef_function_t* function = body->function;
  tfrt_bef_cursor_t* cursor = &body->cursor;
  const uint8_t* start = cursor->position;
  TFRT_RETURN_IF_ERROR(tfrt_bef_cursor_read_u32(cursor, "location", &function->location));
  TFRT_RETURN_IF_ERROR(check_location(body, function->location, start));
  TFRT_RETURN_IF_ERROR(
      tfrt_bef_cursor_read_count(cursor, "number of registers", 1, &function->register_count));
  // There are about as many kernels as registers, and their places follow.
  tfrt_arena_reserve(&body->load->file->arena,
                     (size_t)function->register_count *
                             (sizeof(*function->use_counts) + sizeof(*function->places)) +
                         1024);
  uint32_t* use_counts;
  TFRT_RETURN_IF_ERROR(
      allocate_words(&body->load->file->arena, function->register_count, &use_counts));
  function->use_counts = use_counts;
  return tfrt_bef_cursor_read_indices(cursor, "use count", (uint64_t)UINT32_MAX + 1,
                                      function->register_count, use_counts);
}

// Reads entry |index| of the kernel table, if all of it is short; returns what is behind it, or
// NULL. |at| may be read for as many bytes as a short entry can have.
TFRT_ALWAYS_INLINE const uint8_t* decode_short_entry(body_t* body, const uint8_t* at,
                                                     uint32_t index) {
  tfrt_bef_record_place_t* place = &body->places[index];
  at = tfrt_bef_cursor_read_short(at, &place->offset);
  if (TFRT_LIKELY(at)) at = tfrt_bef_cursor_read_short(at, &body->operand_counts[index]);
  return TFRT_LIKELY(at) ? tfrt_bef_cursor_read_short(at, &place->stream_id) : NULL;
}

static void note_stream(tfrt_bef_function_t* function, uint32_t stream_id) {
  if (stream_id >= function->stream_count) function->stream_count = stream_id + 1;
}

// Reads entry |index| of the kernel table. There are no more streams than kernels, the return and
// the call.
static tfrt_status_t decode_entry(body_t* body, uint32_t index) {
  tfrt_bef_cursor_t* cursor = &body->cursor;
  tfrt_bef_function_t* function = body->function;
  tfrt_bef_record_place_t* place = &body->places[index];
  const uint8_t* at = cursor->position;
  if (TFRT_LIKELY(cursor->end - at >= 3 * TFRT_BEF_CURSOR_SHORT_SIZE)) {
    const uint8_t* behind = decode_short_entry(body, at, index);
    if (TFRT_LIKELY(behind && place->stream_id <= function->kernel_count)) {
      cursor->position = behind;
      note_stream(function, place->stream_id);
      return NULL;
    }
  }
  cursor->kernel = index;
  TFRT_RETURN_IF_ERROR(tfrt_bef_cursor_read_u32(cursor, "offset of a kernel", &place->offset));
  TFRT_RETURN_IF_ERROR(
      tfrt_bef_cursor_read_u32(cursor, "operand count", &body->operand_counts[index]));
  TFRT_RETURN_IF_ERROR(tfrt_bef_cursor_read_index(
      cursor, "stream", (uint64_t)function->kernel_count + 1, &place->stream_id));
  cursor->kernel = TFRT_BEF_NO_INDEX;
  note_stream(function, place->stream_id);
  return NULL;
}

static tfrt_status_t decode_kernel_table(body_t* body) {
  tfrt_bef_function_t* function = body->function;
  tfrt_bef_cursor_t* cursor = &body->cursor;
  uint32_t count;
  void* memory;
  const uint8_t* start = cursor->position;
  TFRT_RETURN_IF_ERROR(
      tfrt_bef_cursor_read_count(cursor, "number of kernels", MIN_KERNEL_ENTRY_SIZE, &count));
  if (count == 0) return tfrt_bef_cursor_error(cursor, start, "has no pseudo kernel");
  tfrt_arena_reserve(&body->arena, count * sizeof(*body->operand_counts) +
                                       function->register_count * sizeof(*body->registers));
  TFRT_RETURN_IF_ERROR(
      tfrt_bef_load_allocate_room(&body->load->file->arena, count, sizeof(*body->places), &memory));
  function->places = body->places = memory;
  TFRT_RETURN_IF_ERROR(allocate_words(&body->arena, count, &body->operand_counts));
  function->kernel_count = count;
  for (uint32_t i = 0; i < count; ++i) TFRT_RETURN_IF_ERROR(decode_entry(body, i));
  return NULL;
}

static tfrt_status_t decode_results(body_t* body) {
  tfrt_bef_function_t* function = body->function;
  uint32_t* registers;
  TFRT_RETURN_IF_ERROR(
      allocate_words(&body->load->file->arena, function->result_count, &registers));
  function->result_registers = registers;
  return tfrt_bef_cursor_read_indices(&body->cursor, "result register", function->register_count,
                                      function->result_count, registers);
}

static tfrt_status_t record_is_too_long(const body_t* body) {
  return tfrt_bef_cursor_error(&body->cursor, body->cursor.position,
                               "the record goes beyond the section");
}

// Sets |*out_record| to the record at the cursor, without looking into its parts, and moves the
// cursor behind it.
static tfrt_status_t decode_record(body_t* body, const tfrt_bef_record_t** out_record) {
  tfrt_bef_cursor_t* cursor = &body->cursor;
  // The cursor is at a multiple of 4 (load_kernels), in an 8-byte aligned image.
  const tfrt_bef_record_t* record = (const tfrt_bef_record_t*)(const void*)cursor->position;
  const uint64_t left = tfrt_bef_cursor_left(cursor) / sizeof(uint32_t);
  *out_record = record;
  if (left < TFRT_BEF_KERNEL_HEADER_WORDS) return record_is_too_long(body);
  uint64_t size = TFRT_BEF_KERNEL_HEADER_WORDS + 2 * (uint64_t)record->result_count +
                  record->argument_count + record->attribute_count + record->function_count;
  if (size > left) return record_is_too_long(body);
  const uint32_t* user_counts = tfrt_bef_record_user_counts(record);
  uint64_t user_count = 0;
  for (uint32_t i = 0; i < record->result_count; ++i) user_count += user_counts[i];
  if (user_count > left - size) return record_is_too_long(body);
  cursor->position += (size + user_count) * sizeof(uint32_t);
  return NULL;
}

_Static_assert(sizeof(tfrt_bef_record_t) == TFRT_BEF_KERNEL_HEADER_WORDS * sizeof(uint32_t),
               "a record begins with its header");

// --- Verifying ----------------------------------------------------------------

static const uint8_t* address_of(const uint32_t* word) { return (const uint8_t*)(const void*)word; }

// The kernel before |index| that sets register |number|.
static uint32_t setter_of(const body_t* body, uint32_t number, uint32_t index) {
  for (uint32_t k = 0; k < index; ++k) {
    const tfrt_bef_record_t* record = tfrt_bef_function_record(body->function, k);
    for (uint32_t i = 0; i < record->result_count; ++i) {
      if (tfrt_bef_record_results(record)[i] == number) return k;
    }
  }
  return index;
}

// Notes that register |number| is set, and that the |count| words at |users| are its list.
static void set_register(body_t* body, uint32_t number, const uint32_t* users, uint32_t count) {
  register_t* set = &body->registers[number];
  set->users_end = (uint32_t)(users - (const uint32_t*)(const void*)body->area) + count;
  set->users_left = count;
  uint32_t uses = body->function->use_counts[number];
  if (count > uses) body->uses_fit = false;
  set->results_left = uses - count;
}

// Notes that kernel |index| sets its results from |first| on, which nobody may have set
// before.
static tfrt_status_t check_results(body_t* body, const tfrt_bef_record_t* record, uint32_t index,
                                   uint32_t first) {
  const uint32_t* user_counts = tfrt_bef_record_user_counts(record);
  const uint32_t* results = tfrt_bef_record_results(record);
  const uint32_t* users = tfrt_bef_record_users(record);
  if (first > 0) users += user_counts[0];
  for (uint32_t i = first; i < record->result_count; ++i) {
    uint32_t number = results[i];
    TFRT_RETURN_IF_ERROR(tfrt_bef_cursor_check_range(&body->cursor, "result register", &results[i],
                                                     1, body->function->register_count));
    if (body->registers[number].users_end > 0) {
      return tfrt_bef_cursor_error(&body->cursor, address_of(&results[i]),
                                   "register %" PRIu32 " is set by kernel %" PRIu32 " already",
                                   number, setter_of(body, number, index));
    }
    set_register(body, number, users, user_counts[i]);
    users += user_counts[i];
  }
  return NULL;
}

static tfrt_status_t check_pseudo_kernel(body_t* body, const tfrt_bef_record_t* record) {
  const tfrt_bef_function_t* function = body->function;
  if (record->code != TFRT_BEF_PSEUDO_KERNEL_CODE ||
      record->location != TFRT_BEF_PSEUDO_KERNEL_LOCATION || record->argument_count != 0 ||
      record->attribute_count != 0 || record->function_count != 0 || body->operand_counts[0] != 0 ||
      record->result_count != (uint64_t)function->argument_count + 1) {
    return tfrt_bef_cursor_error(&body->cursor, body->area,
                                 "is not a pseudo kernel with a result for each of %" PRIu32
                                 " arguments",
                                 function->argument_count);
  }
  const uint32_t* results = tfrt_bef_record_results(record);
  if (results[0] != function->register_count) {
    return tfrt_bef_cursor_error(&body->cursor, address_of(results),
                                 "the special register is %" PRIu32 ", but should be %" PRIu32,
                                 results[0], function->register_count);
  }
  for (uint32_t i = 1; i < record->result_count; ++i) {
    if (results[i] == i - 1) continue;
    return tfrt_bef_cursor_error(&body->cursor, address_of(&results[i]),
                                 "argument %" PRIu32 " is in register %" PRIu32, i - 1, results[i]);
  }
  body->starting = tfrt_bef_record_users(record);
  body->starting_left = tfrt_bef_record_user_counts(record)[0];
  return check_results(body, record, 0, 1);
}

// Kernel |index| uses register |number|.
static void use_register(body_t* body, uint32_t number, uint32_t index) {
  register_t* used = &body->registers[number];
  const uint32_t* words = (const uint32_t*)(const void*)body->area;
  if (used->users_left > 0 && words[used->users_end - 1] == index) {
    --used->users_end;
    --used->users_left;
  } else {
    body->uses_fit = false;
  }
}

// Kernel |index| has no arguments, so that it uses the special register.
static void start_kernel(body_t* body, uint32_t index) {
  if (body->starting_left > 0 && *body->starting == index) {
    ++body->starting;
    --body->starting_left;
  } else {
    body->uses_fit = false;
  }
}

// A kernel's arguments are set by earlier kernels, so that there is no cycle and a
// synchronous function can run in order.
static tfrt_status_t check_arguments(body_t* body, const tfrt_bef_record_t* record,
                                     uint32_t index) {
  const uint32_t* arguments = tfrt_bef_record_arguments(record);
  uint32_t register_count = body->function->register_count;
  for (uint32_t i = 0; i < record->argument_count; ++i) {
    uint32_t number = arguments[i];
    TFRT_RETURN_IF_ERROR(
        tfrt_bef_cursor_check_range(&body->cursor, "register", &arguments[i], 1, register_count));
    if (body->registers[number].users_end == 0) {
      return tfrt_bef_cursor_error(&body->cursor, address_of(&arguments[i]),
                                   "register %" PRIu32 " is used before any kernel sets it",
                                   number);
    }
    use_register(body, number, index);
  }
  if (record->argument_count == 0) start_kernel(body, index);
  return NULL;
}

// Checks kernel |index|, whose record is |record|.
static tfrt_status_t check_kernel(body_t* body, const tfrt_bef_record_t* record, uint32_t index) {
  const tfrt_bef_file_t* file = body->load->file;
  const uint8_t* at = address_of(&record->code);
  if (record->code >= file->kernel_name_count) {
    return tfrt_bef_cursor_error(&body->cursor, at,
                                 "kernel code %" PRIu32 " is out of range (there are %" PRIu32 ")",
                                 record->code, file->kernel_name_count);
  }
  TFRT_RETURN_IF_ERROR(check_location(body, record->location, at));
  TFRT_RETURN_IF_ERROR(tfrt_bef_cursor_check_range(
      &body->cursor, "attribute offset", tfrt_bef_record_attributes(record),
      record->attribute_count, file->sections[TFRT_BEF_SECTION_ATTRIBUTES].size));
  TFRT_RETURN_IF_ERROR(tfrt_bef_cursor_check_range(&body->cursor, "function",
                                                   tfrt_bef_record_functions(record),
                                                   record->function_count, file->function_count));
  TFRT_RETURN_IF_ERROR(check_arguments(body, record, index));
  if (record->argument_count != body->operand_counts[index]) {
    return tfrt_bef_cursor_error(&body->cursor, at,
                                 "has %" PRIu32 " arguments, but its operand count is %" PRIu32,
                                 record->argument_count, body->operand_counts[index]);
  }
  return check_results(body, record, index, 0);
}

static tfrt_status_t load_kernels(body_t* body) {
  tfrt_bef_cursor_t* cursor = &body->cursor;
  TFRT_RETURN_IF_ERROR(tfrt_bef_cursor_align(cursor, TFRT_BEF_KERNEL_ALIGNMENT));
  body->function->records = body->area = cursor->position;
  for (uint32_t i = 0; i < body->function->kernel_count; ++i) {
    const uint8_t* at = cursor->position;
    tfrt_bef_record_place_t* place = &body->places[i];
    cursor->kernel = i;
    if ((size_t)(at - body->area) != place->offset) {
      return tfrt_bef_cursor_error(cursor, at, "the record is here, but its offset says 0x%" PRIx32,
                                   place->offset);
    }
    const tfrt_bef_record_t* record;
    TFRT_RETURN_IF_ERROR(decode_record(body, &record));
    TFRT_RETURN_IF_ERROR(i == 0 ? check_pseudo_kernel(body, record)
                                : check_kernel(body, record, i));
    body->function->attribute_count += record->attribute_count;
    body->function->value_count += record->argument_count + record->result_count;
  }
  cursor->kernel = TFRT_BEF_NO_INDEX;
  return NULL;
}

// Checks what is only known at the end: that all registers are set, and used as often as is said.
static tfrt_status_t check_registers(body_t* body) {
  const tfrt_bef_function_t* function = body->function;
  for (uint32_t i = 0; i < function->result_count; ++i) {
    if (body->registers[function->result_registers[i]].results_left-- == 0) body->uses_fit = false;
  }
  for (uint32_t i = 0; i < function->register_count; ++i) {
    const register_t* known = &body->registers[i];
    if (known->users_end == 0) {
      return tfrt_bef_cursor_error(&body->cursor, body->cursor.position,
                                   "no kernel sets register %" PRIu32, i);
    }
    if (known->users_left > 0 || known->results_left > 0) body->uses_fit = false;
  }
  if (body->starting_left > 0) body->uses_fit = false;
  return body->uses_fit ? NULL : tfrt_bef_load_check_uses(body->load, function, &body->cursor);
}

static tfrt_status_t load_body(body_t* body) {
  TFRT_RETURN_IF_ERROR(decode_registers(body));
  TFRT_RETURN_IF_ERROR(decode_kernel_table(body));
  TFRT_RETURN_IF_ERROR(decode_results(body));
  void* memory;
  TFRT_RETURN_IF_ERROR(tfrt_bef_load_allocate(&body->arena, body->function->register_count,
                                              sizeof(*body->registers), &memory));
  body->registers = memory;
  TFRT_RETURN_IF_ERROR(load_kernels(body));
  return check_registers(body);
}

tfrt_status_t tfrt_bef_load_bodies(tfrt_bef_load_t* load) {
  tfrt_bef_file_t* file = load->file;
  tfrt_bef_cursor_t cursor = tfrt_bef_section_cursor(file, TFRT_BEF_SECTION_FUNCTIONS);
  const uint8_t* section = cursor.position;
  for (uint32_t i = 0; i < file->function_count; ++i) {
    tfrt_bef_function_t* function = &file->functions[i];
    if (function->kind == TFRT_BEF_FUNCTION_NATIVE) continue;
    cursor.function = i;
    cursor.function_name = function->name;
    uint32_t offset = load->body_offsets[i];
    if (offset < (size_t)(cursor.position - section) || offset > (size_t)(cursor.end - section)) {
      return tfrt_bef_cursor_error(&cursor, cursor.position,
                                   "the offset of the body, 0x%" PRIx32
                                   ", is not behind the body before it, or not in the section",
                                   offset);
    }
    cursor.position = section + offset;
    body_t body = {.load = load, .function = function, .cursor = cursor, .uses_fit = true};
    tfrt_arena_initialize(&body.arena, file->allocator);
    tfrt_status_t status = load_body(&body);
    tfrt_arena_deinitialize(&body.arena);
    TFRT_RETURN_IF_ERROR(status);
    cursor.position = body.cursor.position;
  }
  return NULL;
}
