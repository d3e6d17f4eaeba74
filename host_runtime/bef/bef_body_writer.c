// SPDX-License-Identifier: Apache-2.0

#include "host_runtime/bef/bef_writer_impl.h"

// The most bytes that the entry of a kernel takes in the table: an offset and two 32-bit numbers.
#define MAX_ENTRY_SIZE (TFRT_BEF_VBR_MAX_SIZE + 2 * TFRT_BEF_VBR_32_MAX_SIZE)

// --- Uses -----------------------------------------------------------------------------

// The users of each register in one body.
typedef struct uses_s {
  uint32_t* use_counts;     // per register: arguments and results of the function
  uint32_t* first_users;    // per register: where its part of |users| begins; one more
  uint32_t* users;          // kernels by register, the last one first
  uint32_t starting_count;  // kernels without arguments
} uses_t;

static bool make_room(tfrt_bef_writer_t* writer, tfrt_arena_t* arena, size_t count,
                      uint32_t** out_words) {
  *out_words = tfrt_arena_allocate_room(arena, count + 1, sizeof(**out_words));
  if (!*out_words) writer->failed = true;
  return *out_words != NULL;
}

// Counts the kernels that use each register, by their arguments: the first words of a kernel.
static void count_users(const tfrt_bef_writer_function_t* function, uses_t* uses) {
  memset(uses->use_counts, 0, function->register_count * sizeof(*uses->use_counts));
  uses->starting_count = 0;
  const tfrt_bef_writer_kernel_t* end = function->kernels + function->kernel_count;
  for (const tfrt_bef_writer_kernel_t* kernel = function->kernels; kernel < end; ++kernel) {
    if (kernel->argument_count == 0) ++uses->starting_count;
    for (uint32_t i = 0; i < kernel->argument_count; ++i) {
      ++uses->use_counts[kernel->words[i]];
    }
  }
}

// Lists them, newest first, as MLIR does with the uses of a value. |next_users| is where the next
// user of each register goes, and where the users of the one behind it begin once all are there.
static void list_users(const tfrt_bef_writer_function_t* function, uint32_t* next_users,
                       uint32_t* users) {
  for (uint32_t k = function->kernel_count; k-- > 0;) {
    const tfrt_bef_writer_kernel_t* kernel = &function->kernels[k];
    for (uint32_t i = 0; i < kernel->argument_count; ++i) {
      users[next_users[kernel->words[i]]++] = k + 1;
    }
  }
}

// Finds out the users of each register.
static bool find_uses(tfrt_bef_writer_t* writer, const tfrt_bef_writer_function_t* function,
                      tfrt_arena_t* arena, uses_t* uses) {
  uint32_t register_count = function->register_count;
  // Two words for each register, and about two users.
  tfrt_arena_reserve(arena, 4 * sizeof(uint32_t) * ((size_t)register_count + 16));
  if (!make_room(writer, arena, register_count, &uses->use_counts)) return false;
  if (!make_room(writer, arena, (size_t)register_count + 1, &uses->first_users)) return false;
  count_users(function, uses);
  uint32_t* next_users = uses->first_users + 1;
  uint32_t user_count = 0;
  for (uint32_t i = 0; i < register_count; ++i) {
    next_users[i] = user_count;
    user_count += uses->use_counts[i];
  }
  if (!make_room(writer, arena, user_count, &uses->users)) return false;
  list_users(function, next_users, uses->users);
  uses->first_users[0] = 0;
  for (uint32_t i = 0; i < function->result_count; ++i) {
    ++uses->use_counts[function->result_registers[i]];
  }
  return true;
}

// The number of users of |count| registers from |first| on.
static uint32_t user_count(const uses_t* uses, uint32_t first, uint32_t count) {
  return uses->first_users[first + count] - uses->first_users[first];
}

// --- Records ------------------------------------------------------------------------

// A record is written word by word into room that was made for it.
static uint8_t* write_word(uint8_t* at, uint32_t word) {
  memcpy(at, &word, sizeof(word));
  return at + sizeof(word);
}

static uint8_t* write_words(uint8_t* at, const uint32_t* words, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) at = write_word(at, words[i]);
  return at;
}

// How many users each of |count| registers from |first| on has.
static uint8_t* write_user_counts(uint8_t* at, const uses_t* uses, uint32_t first, uint32_t count) {
  for (uint32_t i = first; i < first + count; ++i) at = write_word(at, user_count(uses, i, 1));
  return at;
}

static uint8_t* write_registers(uint8_t* at, uint32_t first, uint32_t count) {
  for (uint32_t i = first; i < first + count; ++i) at = write_word(at, i);
  return at;
}

static uint8_t* write_users(uint8_t* at, const uses_t* uses, uint32_t first, uint32_t count) {
  return write_words(at, uses->users + uses->first_users[first], user_count(uses, first, count));
}

// Word by word: a header that is made elsewhere and copied is waited for.
TFRT_ALWAYS_INLINE uint8_t* write_header(uint8_t* at, uint32_t code, uint32_t location,
                                         const tfrt_bef_writer_kernel_t* kernel,
                                         uint32_t result_count) {
  at = write_word(at, code);
  at = write_word(at, location);
  at = write_word(at, kernel->argument_count);
  at = write_word(at, kernel->attribute_count);
  at = write_word(at, kernel->function_count);
  return write_word(at, result_count);
}

_Static_assert(TFRT_BEF_KERNEL_CODE == 0 && TFRT_BEF_KERNEL_LOCATION == 1 &&
                   TFRT_BEF_KERNEL_ARGUMENT_COUNT == 2 && TFRT_BEF_KERNEL_ATTRIBUTE_COUNT == 3 &&
                   TFRT_BEF_KERNEL_FUNCTION_COUNT == 4 && TFRT_BEF_KERNEL_RESULT_COUNT == 5 &&
                   TFRT_BEF_KERNEL_HEADER_WORDS == 6,
               "the words of a header are written in this order");

static size_t pseudo_kernel_size(const tfrt_bef_writer_function_t* function, const uses_t* uses) {
  size_t words = TFRT_BEF_KERNEL_HEADER_WORDS + 2 * ((size_t)function->argument_count + 1);
  // Users of the arguments, which are the first registers.
  words += uses->starting_count + (size_t)uses->first_users[function->argument_count];
  return words * sizeof(uint32_t);
}

// Kernel 0: it starts the kernels without arguments, and gives the others the function's.
static uint8_t* write_pseudo_kernel(uint8_t* at, const tfrt_bef_writer_function_t* function,
                                    const uses_t* uses) {
  static const tfrt_bef_writer_kernel_t kNothing = {0};
  at = write_header(at, TFRT_BEF_PSEUDO_KERNEL_CODE, TFRT_BEF_PSEUDO_KERNEL_LOCATION, &kNothing,
                    function->argument_count + 1);
  at = write_word(at, uses->starting_count);
  at = write_user_counts(at, uses, 0, function->argument_count);
  at = write_word(at, function->register_count);
  at = write_registers(at, 0, function->argument_count);
  uint32_t left = uses->starting_count;
  for (uint32_t k = 0; left > 0; ++k) {
    if (function->kernels[k].argument_count > 0) continue;
    at = write_word(at, k + 1);
    --left;
  }
  return write_users(at, uses, 0, function->argument_count);
}

static uint32_t word_count(const tfrt_bef_writer_kernel_t* kernel) {
  return kernel->argument_count + kernel->attribute_count + kernel->function_count;
}

// The size of the record of |kernel|, whose results are the registers from |first_result| on.
static size_t kernel_size(const tfrt_bef_writer_kernel_t* kernel, uint32_t first_result,
                          const uses_t* uses) {
  size_t words = TFRT_BEF_KERNEL_HEADER_WORDS + (size_t)word_count(kernel) +
                 2 * (size_t)kernel->result_count +
                 user_count(uses, first_result, kernel->result_count);
  return words * sizeof(uint32_t);
}

static uint8_t* write_kernel(uint8_t* at, const tfrt_bef_writer_kernel_t* kernel,
                             uint32_t first_result, const uses_t* uses) {
  at = write_header(at, kernel->code, kernel->location, kernel, kernel->result_count);
  at = write_user_counts(at, uses, first_result, kernel->result_count);
  at = write_words(at, kernel->words, word_count(kernel));
  at = write_registers(at, first_result, kernel->result_count);
  return write_users(at, uses, first_result, kernel->result_count);
}

// --- Bodies ---------------------------------------------------------------------------

// Writes where the record of a kernel begins, behind those before it.
static uint8_t* write_kernel_entry(uint8_t* at, size_t offset, uint32_t operand_count,
                                   uint32_t stream_id) {
  at = tfrt_bef_vbr_write(at, offset);
  at = tfrt_bef_vbr_write(at, operand_count);
  return tfrt_bef_vbr_write(at, stream_id);
}

// The table of the kernels; returns the size of the records that it announces, or 0 if memory is
// out.
static size_t append_kernel_table(tfrt_bef_bytes_t* bytes,
                                  const tfrt_bef_writer_function_t* function, const uses_t* uses) {
  size_t entry_count = (size_t)function->kernel_count + 1;
  size_t offset = pseudo_kernel_size(function, uses);
  tfrt_bef_bytes_append_vbr(bytes, entry_count);
  uint8_t* at = tfrt_bef_bytes_add(bytes, entry_count * MAX_ENTRY_SIZE);
  if (!at) return 0;
  at = write_kernel_entry(at, 0, 0, function->root_stream_id);
  uint32_t first_result = function->argument_count;
  const tfrt_bef_writer_kernel_t* end = function->kernels + function->kernel_count;
  for (const tfrt_bef_writer_kernel_t* kernel = function->kernels; kernel < end; ++kernel) {
    at = write_kernel_entry(at, offset, kernel->argument_count, kernel->stream_id);
    offset += kernel_size(kernel, first_result, uses);
    first_result += kernel->result_count;
  }
  tfrt_bef_bytes_end(bytes, at);
  return offset;
}

static void append_body(tfrt_bef_bytes_t* bytes, const tfrt_bef_writer_function_t* function,
                        const uses_t* uses) {
  tfrt_bef_bytes_append_vbr(bytes, function->location);
  tfrt_bef_bytes_append_vbr(bytes, function->register_count);
  tfrt_bef_bytes_append_vbrs(bytes, uses->use_counts, function->register_count);
  size_t size = append_kernel_table(bytes, function, uses);
  if (size == 0) return;  // memory is out
  tfrt_bef_bytes_append_vbrs(bytes, function->result_registers, function->result_count);
  tfrt_bef_bytes_align(bytes, TFRT_BEF_KERNEL_ALIGNMENT, 0);
  uint8_t* at = tfrt_bef_bytes_add(bytes, size);
  if (!at) return;
  at = write_pseudo_kernel(at, function, uses);
  uint32_t first_result = function->argument_count;
  const tfrt_bef_writer_kernel_t* end = function->kernels + function->kernel_count;
  for (const tfrt_bef_writer_kernel_t* kernel = function->kernels; kernel < end; ++kernel) {
    at = write_kernel(at, kernel, first_result, uses);
    first_result += kernel->result_count;
  }
}

void tfrt_bef_writer_append_body(tfrt_bef_writer_t* writer,
                                 const tfrt_bef_writer_function_t* function) {
  uses_t uses;
  tfrt_arena_t scratch;
  tfrt_arena_initialize(&scratch, writer->allocator);
  if (find_uses(writer, function, &scratch, &uses)) {
    append_body(&writer->functions, function, &uses);
  }
  tfrt_arena_deinitialize(&scratch);
}
