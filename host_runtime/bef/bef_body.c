// SPDX-License-Identifier: Apache-2.0
//
// Step 4 of a load: the bodies. Everything is linear in the bytes of a body: kernel
// records follow each other without gap or overlap, and so do bodies, so that a small
// file can't ask for much work by naming the same bytes many times.

#include <inttypes.h>

#include "host_runtime/bef/bef_loader.h"

// Bytes of an entry of the kernel table, at least: three VBRs.
#define MIN_KERNEL_ENTRY_SIZE 3

#define NOT_SET UINT32_MAX

// One body while it is verified.
typedef struct body_s {
  tfrt_bef_load_t* load;
  tfrt_bef_function_t* function;
  tfrt_bef_kernel_t* kernels;
  tfrt_bef_cursor_t cursor;
  const uint8_t* area;       // where the records begin
  uint32_t* area_offsets;    // per kernel: where its record is in |area|
  uint32_t* operand_counts;  // per kernel: what the table says
  uint32_t* setters;         // per register and the special one: the kernel that sets it
  uint32_t* argument_uses;   // per register and the special one
  uint32_t* first_users;     // per register: where its part of |users| begins; one more
  uint32_t* users;           // kernels by register, one for each argument
  uint32_t* balance;         // per kernel: users expected less users seen
  tfrt_arena_t arena;        // what is listed here; freed with the body
} body_t;

static tfrt_status_t allocate_words(tfrt_arena_t* arena, size_t count, uint32_t** out_words) {
  void* memory;
  tfrt_status_t status = tfrt_bef_load_allocate(arena, count, sizeof(**out_words), &memory);
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
  uint32_t* use_counts;
  TFRT_RETURN_IF_ERROR(
      allocate_words(&body->load->file->arena, function->register_count, &use_counts));
  function->use_counts = use_counts;
  for (uint32_t i = 0; i < function->register_count; ++i) {
    TFRT_RETURN_IF_ERROR(tfrt_bef_cursor_read_u32(cursor, "use count", &use_counts[i]));
  }
  return NULL;
}

// The kernel table. There are no more streams than kernels, the return and the call.
static tfrt_status_t decode_kernel_table(body_t* body) {
  tfrt_bef_function_t* function = body->function;
  tfrt_bef_cursor_t* cursor = &body->cursor;
  uint32_t count;
  void* memory;
  const uint8_t* start = cursor->position;
  TFRT_RETURN_IF_ERROR(
      tfrt_bef_cursor_read_count(cursor, "number of kernels", MIN_KERNEL_ENTRY_SIZE, &count));
  if (count == 0) return tfrt_bef_cursor_error(cursor, start, "has no pseudo kernel");
  TFRT_RETURN_IF_ERROR(
      tfrt_bef_load_allocate(&body->load->file->arena, count, sizeof(*body->kernels), &memory));
  function->kernels = body->kernels = memory;
  function->kernel_count = count;
  TFRT_RETURN_IF_ERROR(allocate_words(&body->arena, count, &body->area_offsets));
  TFRT_RETURN_IF_ERROR(allocate_words(&body->arena, count, &body->operand_counts));
  for (uint32_t i = 0; i < count; ++i) {
    cursor->kernel = i;
    uint32_t* stream_id = &body->kernels[i].stream_id;
    TFRT_RETURN_IF_ERROR(
        tfrt_bef_cursor_read_u32(cursor, "offset of a kernel", &body->area_offsets[i]));
    TFRT_RETURN_IF_ERROR(
        tfrt_bef_cursor_read_u32(cursor, "operand count", &body->operand_counts[i]));
    TFRT_RETURN_IF_ERROR(
        tfrt_bef_cursor_read_index(cursor, "stream", (uint64_t)count + 1, stream_id));
    if (*stream_id >= function->stream_count) function->stream_count = *stream_id + 1;
  }
  cursor->kernel = TFRT_BEF_NO_INDEX;
  return NULL;
}

static tfrt_status_t decode_results(body_t* body) {
  tfrt_bef_function_t* function = body->function;
  uint32_t* registers;
  TFRT_RETURN_IF_ERROR(
      allocate_words(&body->load->file->arena, function->result_count, &registers));
  function->result_registers = registers;
  for (uint32_t i = 0; i < function->result_count; ++i) {
    TFRT_RETURN_IF_ERROR(tfrt_bef_cursor_read_index(&body->cursor, "result register",
                                                    function->register_count, &registers[i]));
  }
  return NULL;
}

// Takes |count| words at the cursor.
static tfrt_status_t take_words(body_t* body, uint64_t count, const uint32_t** out_words) {
  tfrt_bef_cursor_t* cursor = &body->cursor;
  *out_words = NULL;
  if (count > tfrt_bef_cursor_left(cursor) / sizeof(uint32_t)) {
    return tfrt_bef_cursor_error(cursor, cursor->position, "the record goes beyond the section");
  }
  // The cursor is at a multiple of 4 here (decode_kernels), in an 8-byte aligned image.
  if (count > 0) *out_words = (const uint32_t*)(const void*)cursor->position;
  cursor->position += count * sizeof(uint32_t);
  return NULL;
}

// Splits the record of a kernel into its parts, without looking into them.
static tfrt_status_t decode_record(body_t* body, tfrt_bef_kernel_t* kernel) {
  const uint32_t* header;
  TFRT_RETURN_IF_ERROR(take_words(body, TFRT_BEF_KERNEL_HEADER_WORDS, &header));
  kernel->name = "";
  kernel->code = header[TFRT_BEF_KERNEL_CODE];
  kernel->location = header[TFRT_BEF_KERNEL_LOCATION];
  kernel->argument_count = header[TFRT_BEF_KERNEL_ARGUMENT_COUNT];
  kernel->attribute_count = header[TFRT_BEF_KERNEL_ATTRIBUTE_COUNT];
  kernel->function_count = header[TFRT_BEF_KERNEL_FUNCTION_COUNT];
  kernel->result_count = header[TFRT_BEF_KERNEL_RESULT_COUNT];
  TFRT_RETURN_IF_ERROR(take_words(body, kernel->result_count, &kernel->user_counts));
  TFRT_RETURN_IF_ERROR(take_words(body, kernel->argument_count, &kernel->arguments));
  TFRT_RETURN_IF_ERROR(take_words(body, kernel->attribute_count, &kernel->attributes));
  TFRT_RETURN_IF_ERROR(take_words(body, kernel->function_count, &kernel->functions));
  TFRT_RETURN_IF_ERROR(take_words(body, kernel->result_count, &kernel->results));
  uint64_t user_count = 0;
  for (uint32_t i = 0; i < kernel->result_count; ++i) user_count += kernel->user_counts[i];
  return take_words(body, user_count, &kernel->users);
}

static tfrt_status_t decode_kernels(body_t* body) {
  tfrt_bef_cursor_t* cursor = &body->cursor;
  TFRT_RETURN_IF_ERROR(tfrt_bef_cursor_align(cursor, TFRT_BEF_KERNEL_ALIGNMENT));
  body->area = cursor->position;
  for (uint32_t i = 0; i < body->function->kernel_count; ++i) {
    cursor->kernel = i;
    if ((size_t)(cursor->position - body->area) != body->area_offsets[i]) {
      return tfrt_bef_cursor_error(cursor, cursor->position,
                                   "the record is here, but its offset says 0x%" PRIx32,
                                   body->area_offsets[i]);
    }
    TFRT_RETURN_IF_ERROR(decode_record(body, &body->kernels[i]));
  }
  cursor->kernel = TFRT_BEF_NO_INDEX;
  return NULL;
}

// --- Verifying ----------------------------------------------------------------

static const uint8_t* address_of(const uint32_t* word) { return (const uint8_t*)(const void*)word; }

// Checks that the |count| |words|, which are |what|, are below |limit|.
static tfrt_status_t check_range(body_t* body, const char* what, const uint32_t* words,
                                 uint32_t count, size_t limit) {
  for (uint32_t i = 0; i < count; ++i) {
    if (words[i] < limit) continue;
    return tfrt_bef_cursor_error(&body->cursor, address_of(&words[i]),
                                 "%s %" PRIu32 " is out of range (there are %zu)", what, words[i],
                                 limit);
  }
  return NULL;
}

// Notes that kernel |index| sets its results from |first| on, which nobody may have set
// before.
static tfrt_status_t check_results(body_t* body, uint32_t index, uint32_t first) {
  const tfrt_bef_kernel_t* kernel = &body->kernels[index];
  for (uint32_t i = first; i < kernel->result_count; ++i) {
    uint32_t number = kernel->results[i];
    TFRT_RETURN_IF_ERROR(check_range(body, "result register", &kernel->results[i], 1,
                                     body->function->register_count));
    if (body->setters[number] != NOT_SET) {
      return tfrt_bef_cursor_error(&body->cursor, address_of(&kernel->results[i]),
                                   "register %" PRIu32 " is set by kernel %" PRIu32 " already",
                                   number, body->setters[number]);
    }
    body->setters[number] = index;
  }
  return NULL;
}

static tfrt_status_t check_pseudo_kernel(body_t* body) {
  const tfrt_bef_function_t* function = body->function;
  const tfrt_bef_kernel_t* kernel = &body->kernels[0];
  body->cursor.kernel = 0;
  if (kernel->code != TFRT_BEF_PSEUDO_KERNEL_CODE ||
      kernel->location != TFRT_BEF_PSEUDO_KERNEL_LOCATION || kernel->argument_count != 0 ||
      kernel->attribute_count != 0 || kernel->function_count != 0 || body->operand_counts[0] != 0 ||
      kernel->result_count != (uint64_t)function->argument_count + 1) {
    return tfrt_bef_cursor_error(&body->cursor, body->area,
                                 "is not a pseudo kernel with a result for each of %" PRIu32
                                 " arguments",
                                 function->argument_count);
  }
  if (kernel->results[0] != function->register_count) {
    return tfrt_bef_cursor_error(&body->cursor, address_of(kernel->results),
                                 "the special register is %" PRIu32 ", but should be %" PRIu32,
                                 kernel->results[0], function->register_count);
  }
  for (uint32_t i = 1; i < kernel->result_count; ++i) {
    if (kernel->results[i] == i - 1) continue;
    return tfrt_bef_cursor_error(&body->cursor, address_of(&kernel->results[i]),
                                 "argument %" PRIu32 " is in register %" PRIu32, i - 1,
                                 kernel->results[i]);
  }
  body->setters[function->register_count] = 0;
  return check_results(body, 0, 1);
}

// A kernel's arguments are set by earlier kernels, so that there is no cycle and a
// synchronous function can run in order.
static tfrt_status_t check_arguments(body_t* body, uint32_t index) {
  const tfrt_bef_kernel_t* kernel = &body->kernels[index];
  uint32_t register_count = body->function->register_count;
  TFRT_RETURN_IF_ERROR(
      check_range(body, "register", kernel->arguments, kernel->argument_count, register_count));
  for (uint32_t i = 0; i < kernel->argument_count; ++i) {
    uint32_t number = kernel->arguments[i];
    if (body->setters[number] == NOT_SET) {
      return tfrt_bef_cursor_error(&body->cursor, address_of(&kernel->arguments[i]),
                                   "register %" PRIu32 " is used before any kernel sets it",
                                   number);
    }
    ++body->argument_uses[number];
  }
  if (kernel->argument_count == 0) ++body->argument_uses[register_count];
  if (kernel->argument_count == body->operand_counts[index]) return NULL;
  return tfrt_bef_cursor_error(&body->cursor, body->area + body->area_offsets[index],
                               "has %" PRIu32 " arguments, but its operand count is %" PRIu32,
                               kernel->argument_count, body->operand_counts[index]);
}

static tfrt_status_t check_kernel(body_t* body, uint32_t index) {
  const tfrt_bef_file_t* file = body->load->file;
  tfrt_bef_kernel_t* kernel = &body->kernels[index];
  body->cursor.kernel = index;
  const uint8_t* at = body->area + body->area_offsets[index];
  if (kernel->code >= file->kernel_name_count) {
    return tfrt_bef_cursor_error(&body->cursor, at,
                                 "kernel code %" PRIu32 " is out of range (there are %" PRIu32 ")",
                                 kernel->code, file->kernel_name_count);
  }
  kernel->name = file->kernel_names[kernel->code];
  TFRT_RETURN_IF_ERROR(check_location(body, kernel->location, at));
  TFRT_RETURN_IF_ERROR(check_range(body, "attribute offset", kernel->attributes,
                                   kernel->attribute_count,
                                   file->sections[TFRT_BEF_SECTION_ATTRIBUTES].size));
  TFRT_RETURN_IF_ERROR(check_range(body, "function", kernel->functions, kernel->function_count,
                                   file->function_count));
  TFRT_RETURN_IF_ERROR(check_arguments(body, index));
  return check_results(body, index, 0);
}

// Use counts are arguments and function results; every register is set.
static tfrt_status_t check_use_counts(body_t* body) {
  const tfrt_bef_function_t* function = body->function;
  uint32_t* result_uses;
  TFRT_RETURN_IF_ERROR(allocate_words(&body->arena, function->register_count, &result_uses));
  for (uint32_t i = 0; i < function->result_count; ++i) {
    ++result_uses[function->result_registers[i]];
  }
  for (uint32_t i = 0; i < function->register_count; ++i) {
    if (body->setters[i] == NOT_SET) {
      return tfrt_bef_cursor_error(&body->cursor, body->cursor.position,
                                   "no kernel sets register %" PRIu32, i);
    }
    uint64_t uses = (uint64_t)body->argument_uses[i] + result_uses[i];
    if (uses == function->use_counts[i]) continue;
    return tfrt_bef_cursor_error(&body->cursor, body->cursor.position,
                                 "register %" PRIu32 " has %" PRIu64
                                 " uses, but its use count is %" PRIu32,
                                 i, uses, function->use_counts[i]);
  }
  return NULL;
}

// Sorts the kernels by the registers that they use: a counting sort.
static tfrt_status_t collect_users(body_t* body) {
  uint32_t register_count = body->function->register_count;
  uint32_t* next;
  TFRT_RETURN_IF_ERROR(
      allocate_words(&body->arena, (size_t)register_count + 2, &body->first_users));
  TFRT_RETURN_IF_ERROR(allocate_words(&body->arena, (size_t)register_count + 1, &next));
  for (uint32_t i = 0; i <= register_count; ++i) {
    next[i] = body->first_users[i];
    body->first_users[i + 1] = body->first_users[i] + body->argument_uses[i];
  }
  TFRT_RETURN_IF_ERROR(
      allocate_words(&body->arena, body->first_users[register_count + 1], &body->users));
  for (uint32_t k = 1; k < body->function->kernel_count; ++k) {
    const tfrt_bef_kernel_t* kernel = &body->kernels[k];
    if (kernel->argument_count == 0) body->users[next[register_count]++] = k;
    for (uint32_t i = 0; i < kernel->argument_count; ++i) {
      body->users[next[kernel->arguments[i]]++] = k;
    }
  }
  return NULL;
}

// The |count| words of |users| must be the kernels that use register |number|, each as
// often as it does, in any order.
static tfrt_status_t check_users(body_t* body, uint32_t number, const uint32_t* users,
                                 uint32_t count) {
  uint32_t first = body->first_users[number];
  uint32_t expected = body->first_users[number + 1] - first;
  if (count != expected) {
    return tfrt_bef_cursor_error(&body->cursor, body->cursor.position,
                                 "register %" PRIu32 " has %" PRIu32 " users, but %" PRIu32
                                 " are listed",
                                 number, expected, count);
  }
  TFRT_RETURN_IF_ERROR(check_range(body, "user", users, count, body->function->kernel_count));
  for (uint32_t i = 0; i < count; ++i) ++body->balance[body->users[first + i]];
  for (uint32_t i = 0; i < count; ++i) {
    if (body->balance[users[i]]-- > 0) continue;
    return tfrt_bef_cursor_error(&body->cursor, address_of(&users[i]),
                                 "kernel %" PRIu32 " is listed as a user of register %" PRIu32
                                 " more often than it uses it",
                                 users[i], number);
  }
  return NULL;
}

static tfrt_status_t check_all_users(body_t* body) {
  TFRT_RETURN_IF_ERROR(collect_users(body));
  TFRT_RETURN_IF_ERROR(allocate_words(&body->arena, body->function->kernel_count, &body->balance));
  for (uint32_t k = 0; k < body->function->kernel_count; ++k) {
    const tfrt_bef_kernel_t* kernel = &body->kernels[k];
    const uint32_t* users = kernel->users;
    body->cursor.kernel = k;
    for (uint32_t i = 0; i < kernel->result_count; ++i) {
      TFRT_RETURN_IF_ERROR(check_users(body, kernel->results[i], users, kernel->user_counts[i]));
      if (kernel->user_counts[i] > 0) users += kernel->user_counts[i];
    }
  }
  body->cursor.kernel = TFRT_BEF_NO_INDEX;
  return NULL;
}

static tfrt_status_t verify(body_t* body) {
  size_t count = (size_t)body->function->register_count + 1;
  TFRT_RETURN_IF_ERROR(allocate_words(&body->arena, count, &body->setters));
  TFRT_RETURN_IF_ERROR(allocate_words(&body->arena, count, &body->argument_uses));
  for (size_t i = 0; i < count; ++i) body->setters[i] = NOT_SET;
  TFRT_RETURN_IF_ERROR(check_pseudo_kernel(body));
  for (uint32_t k = 1; k < body->function->kernel_count; ++k) {
    TFRT_RETURN_IF_ERROR(check_kernel(body, k));
  }
  body->cursor.kernel = TFRT_BEF_NO_INDEX;
  TFRT_RETURN_IF_ERROR(check_use_counts(body));
  return check_all_users(body);
}

static tfrt_status_t load_body(body_t* body) {
  TFRT_RETURN_IF_ERROR(decode_registers(body));
  TFRT_RETURN_IF_ERROR(decode_kernel_table(body));
  TFRT_RETURN_IF_ERROR(decode_results(body));
  TFRT_RETURN_IF_ERROR(decode_kernels(body));
  return verify(body);
}

// The bytes of the body of function |index|, if the one behind it has one.
static size_t body_size(const tfrt_bef_load_t* load, uint32_t index) {
  const tfrt_bef_file_t* file = load->file;
  size_t end = file->sections[TFRT_BEF_SECTION_FUNCTIONS].size;
  if (index + 1 < file->function_count && load->body_offsets[index + 1] > 0) {
    end = load->body_offsets[index + 1];
  }
  size_t begin = load->body_offsets[index];
  return end > begin ? end - begin : 0;
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
    // What is listed of a body takes about half as much as its bytes.
    tfrt_arena_reserve(&body.arena, body_size(load, i) / 2);
    tfrt_status_t status = load_body(&body);
    tfrt_arena_deinitialize(&body.arena);
    TFRT_RETURN_IF_ERROR(status);
    cursor.position = body.cursor.position;
  }
  return NULL;
}
