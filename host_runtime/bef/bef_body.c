// SPDX-License-Identifier: Apache-2.0
//
// Step 4 of a load: the bodies. Everything is linear in the bytes of a body: kernel
// records follow each other without gap or overlap, and so do bodies, so that a small
// file can't ask for much work by naming the same bytes many times.
//
// A record is decoded and checked at once: most by check_usual_kernels(), which knows only whether
// all of one is right, and the others by check_kernel(), which says what is wrong with one.

#include <inttypes.h>

#include "host_runtime/bef/bef_loader.h"
#include "host_runtime/bef/bef_register_table.h"
#include "host_runtime/bef/bef_walk.h"

// The most usual kernels that are checked at once: about those of one window of a walk.
#define MAX_USUAL_KERNELS 8192

// Bytes of an entry of the kernel table, at least: three VBRs.
#define MIN_KERNEL_ENTRY_SIZE 3

// Bytes that must be there for an entry to be read as most are.
#define MAX_USUAL_ENTRY_SIZE (2 * TFRT_BEF_CURSOR_SHORT_SIZE + 1)

// The most arguments, and the most attributes, of a usual kernel.
#define MAX_USUAL_VALUES 16

// The bytes of the record of a usual kernel, at most, but for its list of users.
#define MAX_USUAL_SIZE \
  ((TFRT_BEF_KERNEL_HEADER_WORDS + 2 * MAX_USUAL_VALUES + 2) * sizeof(uint32_t))

// One body while it is verified.
typedef struct body_s {
  tfrt_bef_load_t* load;
  tfrt_bef_function_t* function;
  uint32_t* offsets;         // per kernel
  uint32_t* stream_ids;      // per kernel; NULL: all are 0 so far
  uint32_t* operand_counts;  // per kernel, by the table
  tfrt_bef_cursor_t cursor;
  tfrt_bef_register_table_t registers;
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
  // There are about as many kernels as registers, and what is kept of those follows.
  tfrt_arena_reserve(&body->load->file->arena,
                     (size_t)function->register_count *
                             (sizeof(*function->use_counts) + sizeof(*function->offsets)) +
                         1024);
  uint32_t* use_counts;
  TFRT_RETURN_IF_ERROR(
      allocate_words(&body->load->file->arena, function->register_count, &use_counts));
  function->use_counts = use_counts;
  return tfrt_bef_cursor_read_indices(cursor, "use count", (uint64_t)UINT32_MAX + 1,
                                      function->register_count, use_counts);
}

// Notes that kernel |index| is of stream |stream_id|, for which there is room unless it is 0.
static inline void note_stream(body_t* body, uint32_t index, uint32_t stream_id) {
  if (body->stream_ids) body->stream_ids[index] = stream_id;
  tfrt_bef_function_t* function = body->function;
  if (stream_id >= function->stream_count) function->stream_count = stream_id + 1;
}

// Makes room for the streams of all kernels.
static tfrt_status_t allocate_streams(body_t* body) {
  void* memory;
  TFRT_RETURN_IF_ERROR(tfrt_bef_load_allocate(
      &body->load->file->arena, body->function->kernel_count, sizeof(*body->stream_ids), &memory));
  body->function->stream_ids = body->stream_ids = memory;
  return NULL;
}

// Reads entry |index| of the kernel table. There are no more streams than kernels, the return and
// the call.
static tfrt_status_t decode_entry(body_t* body, uint32_t index) {
  tfrt_bef_cursor_t* cursor = &body->cursor;
  uint32_t stream_id;
  cursor->kernel = index;
  TFRT_RETURN_IF_ERROR(
      tfrt_bef_cursor_read_u32(cursor, "offset of a kernel", &body->offsets[index]));
  TFRT_RETURN_IF_ERROR(
      tfrt_bef_cursor_read_u32(cursor, "operand count", &body->operand_counts[index]));
  TFRT_RETURN_IF_ERROR(tfrt_bef_cursor_read_index(
      cursor, "stream", (uint64_t)body->function->kernel_count + 1, &stream_id));
  if (stream_id && !body->stream_ids) TFRT_RETURN_IF_ERROR(allocate_streams(body));
  cursor->kernel = TFRT_BEF_NO_INDEX;
  note_stream(body, index, stream_id);
  return NULL;
}

// Reads entries of the kernel table from number |index| on, as long as they are as most: with one
// byte for the operand count, few for the other numbers, and no stream that there is no room for
// yet. Returns the number of the first one
// that isn't, or that there is none.
static uint32_t decode_usual_entries(body_t* body, uint32_t index) {
  const uint32_t count = body->function->kernel_count;
  const uint8_t* at = body->cursor.position;
  while (index < count && (size_t)(body->cursor.end - at) >= MAX_USUAL_ENTRY_SIZE) {
    uint32_t stream_id;
    const uint8_t* operands = tfrt_bef_cursor_read_short(at, &body->offsets[index]);
    if (!operands || *operands >= 0x80) break;
    const uint8_t* behind = tfrt_bef_cursor_read_short(operands + 1, &stream_id);
    if (!behind || stream_id > count || (stream_id && !body->stream_ids)) break;
    note_stream(body, index, stream_id);
    body->operand_counts[index++] = *operands;
    at = behind;
  }
  body->cursor.position = at;
  return index;
}

static tfrt_status_t decode_kernel_table(body_t* body) {
  tfrt_bef_function_t* function = body->function;
  tfrt_bef_cursor_t* cursor = &body->cursor;
  uint32_t count;
  const uint8_t* start = cursor->position;
  TFRT_RETURN_IF_ERROR(
      tfrt_bef_cursor_read_count(cursor, "number of kernels", MIN_KERNEL_ENTRY_SIZE, &count));
  if (count == 0) return tfrt_bef_cursor_error(cursor, start, "has no pseudo kernel");
  tfrt_arena_reserve(&body->arena, count * sizeof(*body->operand_counts) +
                                       function->register_count * sizeof(tfrt_bef_register_t));
  TFRT_RETURN_IF_ERROR(allocate_words(&body->load->file->arena, count, &body->offsets));
  function->offsets = body->offsets;
  TFRT_RETURN_IF_ERROR(allocate_words(&body->arena, count, &body->operand_counts));
  function->kernel_count = count;
  for (uint32_t i = decode_usual_entries(body, 0); i < count; i = decode_usual_entries(body, i)) {
    TFRT_RETURN_IF_ERROR(decode_entry(body, i++));
  }
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
    if (tfrt_bef_register_table_is_set(&body->registers, number)) {
      return tfrt_bef_cursor_error(&body->cursor, address_of(&results[i]),
                                   "register %" PRIu32 " is set by kernel %" PRIu32 " already",
                                   number, setter_of(body, number, index));
    }
    tfrt_bef_register_table_set(&body->registers, number, users, user_counts[i]);
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
    return tfrt_bef_cursor_error(&body->cursor, function->records,
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
  body->registers.starting = tfrt_bef_record_users(record);
  body->registers.starting_left = tfrt_bef_record_user_counts(record)[0];
  return check_results(body, record, 0, 1);
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
    if (tfrt_bef_register_table_use(&body->registers, number, index)) continue;
    return tfrt_bef_cursor_error(&body->cursor, address_of(&arguments[i]),
                                 "register %" PRIu32 " is used before any kernel sets it", number);
  }
  if (record->argument_count == 0) tfrt_bef_register_table_start(&body->registers, index);
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

// Whether the |count| words at |words| are below |limit|.
static inline bool are_below(const uint32_t* words, uint32_t count, size_t limit) {
  for (uint32_t i = 0; i < count; ++i) {
    if (words[i] >= limit) return false;
  }
  return true;
}

// Returns true if kernel |index| is like most kernels, and valid but for its registers, which are
// not checked here. Such a kernel has one result, no functions, and few arguments and attributes.
// Its record begins at |record|, with room for MAX_USUAL_SIZE and |left| users up to the end of the
// section.
static inline bool is_usual(const body_t* body, const tfrt_bef_record_t* record, uint32_t index,
                            size_t left) {
  const tfrt_bef_file_t* file = body->load->file;
  return record->result_count == 1 && record->function_count == 0 &&
         record->argument_count <= MAX_USUAL_VALUES &&
         record->attribute_count <= MAX_USUAL_VALUES &&
         *tfrt_bef_record_user_counts(record) <= left && record->code < file->kernel_name_count &&
         record->argument_count == body->operand_counts[index] &&
         tfrt_bef_load_location_is_valid(body->load, record->location) &&
         are_below(tfrt_bef_record_attributes(record), record->attribute_count,
                   file->sections[TFRT_BEF_SECTION_ATTRIBUTES].size);
}

// Notes in |registers| what kernel |index|, whose |record| is usual, does with them. Returns what
// is behind the record; NULL if something is wrong: then the file is refused, whatever was noted.
static inline const uint8_t* note_usual_kernel(tfrt_bef_register_table_t* registers,
                                               const tfrt_bef_record_t* record, uint32_t index) {
  const uint32_t* user_counts = tfrt_bef_record_user_counts(record);
  const uint32_t* arguments = user_counts + 1;
  const uint32_t* attributes = arguments + record->argument_count;
  const uint32_t* result = attributes + record->attribute_count;
  if (arguments == attributes) tfrt_bef_register_table_start(registers, index);
  for (; arguments != attributes; ++arguments) {
    if (*arguments >= registers->count) return NULL;
    if (!tfrt_bef_register_table_use(registers, *arguments, index)) return NULL;
  }
  if (*result >= registers->count || tfrt_bef_register_table_is_set(registers, *result)) {
    return NULL;
  }
  tfrt_bef_register_table_set(registers, *result, result + 1, user_counts[0]);
  return address_of(result + 1 + user_counts[0]);
}

// Checks kernels at the cursor from number |index| on, and moves the cursor behind them, as long as
// they are usual and right, but for MAX_USUAL_KERNELS at most. Returns the number of the first one
// that isn't, or is one too many, or that there is none.
static uint32_t check_usual_kernels(body_t* body, uint32_t index) {
  tfrt_bef_function_t* function = body->function;
  // In variables that no pointer leads to, they stay in the machine's registers.
  tfrt_bef_register_table_t registers = body->registers;
  const uint32_t* offsets = body->offsets;
  const uint8_t* const begin = function->records;
  const uint8_t* const end = body->cursor.end;
  const uint8_t* at = body->cursor.position;
  const uint32_t left = function->kernel_count - index;
  const uint32_t last = index + (left < MAX_USUAL_KERNELS ? left : MAX_USUAL_KERNELS);
  uint32_t value_count = 0;
  uint32_t attribute_count = 0;
  for (; index < last && (size_t)(end - at) >= MAX_USUAL_SIZE; ++index) {
    const tfrt_bef_record_t* record = (const tfrt_bef_record_t*)(const void*)at;
    const size_t words_left = ((size_t)(end - at) - MAX_USUAL_SIZE) / sizeof(uint32_t);
    if ((size_t)(at - begin) != offsets[index]) break;
    if (!is_usual(body, record, index, words_left)) break;
    const uint8_t* behind = note_usual_kernel(&registers, record, index);
    if (!behind) break;
    at = behind;
    attribute_count += record->attribute_count;
    value_count += record->argument_count + 1;
  }
  body->registers = registers;
  body->cursor.position = at;
  function->attribute_count += attribute_count;
  function->value_count += value_count;
  return index;
}

// Checks kernel |index|, which is at the cursor, and moves the cursor behind it.
static tfrt_status_t load_kernel(body_t* body, uint32_t index) {
  tfrt_bef_function_t* function = body->function;
  const uint8_t* at = body->cursor.position;
  const uint32_t offset = body->offsets[index];
  const tfrt_bef_record_t* record;
  body->cursor.kernel = index;
  if ((size_t)(at - function->records) != offset) {
    return tfrt_bef_cursor_error(&body->cursor, at,
                                 "the record is here, but its offset says 0x%" PRIx32, offset);
  }
  TFRT_RETURN_IF_ERROR(decode_record(body, &record));
  TFRT_RETURN_IF_ERROR(index == 0 ? check_pseudo_kernel(body, record)
                                  : check_kernel(body, record, index));
  function->attribute_count += record->attribute_count;
  function->value_count += record->argument_count + record->result_count;
  return NULL;
}

static tfrt_status_t load_kernels(body_t* body) {
  tfrt_bef_function_t* function = body->function;
  TFRT_RETURN_IF_ERROR(tfrt_bef_cursor_align(&body->cursor, TFRT_BEF_KERNEL_ALIGNMENT));
  function->records = body->cursor.position;
  body->registers.area = (const uint32_t*)(const void*)function->records;
  tfrt_bef_walk_t walk = tfrt_bef_walk_begin(body->load->file, function->records);
  for (uint32_t i = 0; i < function->kernel_count;) {
    TFRT_RETURN_IF_ERROR(load_kernel(body, i));
    i = check_usual_kernels(body, i + 1);
    tfrt_bef_walk_pass(&walk, body->cursor.position);
  }
  body->cursor.kernel = TFRT_BEF_NO_INDEX;
  return NULL;
}

// Checks what is only known at the end: that all registers are set, and used as often as is said.
static tfrt_status_t check_registers(body_t* body) {
  const tfrt_bef_function_t* function = body->function;
  tfrt_bef_register_table_t* registers = &body->registers;
  if (registers->set_count < registers->count) {
    return tfrt_bef_cursor_error(&body->cursor, body->cursor.position,
                                 "no kernel sets register %" PRIu32,
                                 tfrt_bef_register_table_find_unset(registers));
  }
  tfrt_bef_register_table_return(registers, function->result_registers, function->result_count);
  if (tfrt_bef_register_table_fits(registers)) return NULL;
  return tfrt_bef_load_check_uses(body->load, function, &body->cursor);
}

static tfrt_status_t load_body(body_t* body) {
  const tfrt_bef_function_t* function = body->function;
  TFRT_RETURN_IF_ERROR(decode_registers(body));
  TFRT_RETURN_IF_ERROR(decode_kernel_table(body));
  TFRT_RETURN_IF_ERROR(decode_results(body));
  void* memory;
  TFRT_RETURN_IF_ERROR(tfrt_bef_load_allocate(&body->arena, function->register_count,
                                              sizeof(*body->registers.registers), &memory));
  body->registers = (tfrt_bef_register_table_t){.registers = memory,
                                                .use_counts = function->use_counts,
                                                .count = function->register_count,
                                                .uses_fit = true};
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
    body_t body = {.load = load, .function = function, .cursor = cursor};
    tfrt_arena_initialize(&body.arena, file->allocator);
    tfrt_status_t status = load_body(&body);
    tfrt_arena_deinitialize(&body.arena);
    TFRT_RETURN_IF_ERROR(status);
    cursor.position = body.cursor.position;
  }
  return NULL;
}
