// SPDX-License-Identifier: Apache-2.0

#include "host_runtime/bef/bef_file.h"

#include <stdlib.h>
#include <string.h>

#include "host_runtime/base/counting_allocator.h"
#include "host_runtime/bef/bef_attribute.h"
#include "tests/host_runtime/bef/bef_test_files.h"
#include "tests/support/test_main.h"

// --- Good files ---------------------------------------------------------------------

static void load_and_release(const char* name, test_bytes_t bytes) {
  (void)name;
  tfrt_bef_file_release(test_load(bytes));
}

START_TEST(every_file_of_tfrt_loads) {
  ck_assert_uint_eq(test_for_each_program(load_and_release), 45);
}
END_TEST

START_TEST(functions_kernels_and_registers_are_as_in_the_text) {
  test_bytes_t bytes = test_read_program("recursion.bef");
  tfrt_bef_file_t* file = test_load(bytes);
  ck_assert_uint_eq(tfrt_bef_file_function_count(file), 4);
  const tfrt_bef_function_t* fib = tfrt_bef_file_find_function(file, "fib");
  ck_assert_ptr_nonnull(fib);
  ck_assert_uint_eq(fib->index, 2);
  ck_assert_int_eq(fib->kind, TFRT_BEF_FUNCTION_ASYNC);
  ck_assert_uint_eq(fib->argument_count, 1);
  ck_assert_str_eq(fib->argument_types[0], "i32");
  ck_assert_ptr_null(fib->argument_names);
  ck_assert_uint_eq(fib->kernel_count, 4);
  const tfrt_bef_kernel_t branch = tfrt_bef_file_kernel(file, fib, 3);
  ck_assert_str_eq(branch.name, "tfrt.if");
  ck_assert_uint_eq(branch.argument_count, 2);
  ck_assert_uint_eq(branch.function_count, 2);
  ck_assert_uint_eq(branch.functions[0], 0);
  ck_assert_uint_eq(branch.functions[1], 1);
  ck_assert_uint_eq(fib->result_registers[0], branch.results[0]);
  const char* types[8];
  ck_assert_uint_le(fib->register_count, TFRT_ARRAY_SIZE(types));
  ck_assert(tfrt_bef_file_read_register_types(file, fib, types));
  ck_assert_str_eq(types[2], "i1");
  const tfrt_bef_kernel_t one = tfrt_bef_file_kernel(file, fib, 1);
  ck_assert_uint_eq(fib->attribute_count, 1);
  ck_assert_str_eq(fib->attribute_names[0], "value");
  ck_assert_uint_eq(tfrt_bef_file_attribute_type(file, one.attributes[0]), TFRT_BEF_DTYPE_I32);
  tfrt_bef_file_release(file);
  test_free(bytes.data, bytes.size);
}
END_TEST

// Each region of |function|, and those in them, must be said to be a part of |named|.
static void expect_regions_of(const tfrt_bef_file_t* file, const tfrt_bef_function_t* function,
                              const tfrt_bef_function_t* named) {
  ck_assert_ptr_eq(tfrt_bef_file_enclosing_function(file, function), named);
  for (uint32_t k = 1; k < function->kernel_count; ++k) {
    const tfrt_bef_kernel_t kernel = tfrt_bef_file_kernel(file, function, k);
    for (uint32_t i = 0; i < kernel.function_count; ++i) {
      const tfrt_bef_function_t* used = tfrt_bef_file_function(file, kernel.functions[i]);
      if (used->name[0] == '\0') expect_regions_of(file, used, named);
    }
  }
}

static void expect_regions(const char* name, test_bytes_t bytes) {
  (void)name;
  tfrt_bef_file_t* file = test_load(bytes);
  for (uint32_t i = 0; i < tfrt_bef_file_function_count(file); ++i) {
    const tfrt_bef_function_t* function = tfrt_bef_file_function(file, i);
    if (function->name[0] != '\0') expect_regions_of(file, function, function);
  }
  tfrt_bef_file_release(file);
}

START_TEST(a_region_belongs_to_the_function_that_contains_it) {
  test_for_each_program(expect_regions);
}
END_TEST

START_TEST(call_options_and_argument_names_are_found) {
  test_bytes_t bytes = test_small_file();
  tfrt_bef_file_t* file = test_load(bytes);
  const tfrt_bef_function_t* function = tfrt_bef_file_function(file, 0);
  ck_assert_str_eq(function->argument_names[0], "x");
  ck_assert_ptr_null(tfrt_bef_file_kernel(file, function, 1).call_options);
  const tfrt_bef_call_options_t* options = tfrt_bef_file_kernel(file, function, 2).call_options;
  ck_assert_ptr_nonnull(options);
  ck_assert(options->has_host && !options->pure && !options->nonstrict);
  ck_assert_uint_eq(options->host, 2);
  ck_assert_uint_eq(options->deadline_ms, 500);
  ck_assert_uint_eq(options->retries, 0);
  ck_assert_str_eq(options->device, "cuda:0");
  tfrt_bef_file_release(file);
  test_free(bytes.data, bytes.size);
}
END_TEST

START_TEST(locations_are_decoded) {
  test_bytes_t bytes = test_small_file();
  tfrt_bef_file_t* file = test_load(bytes);
  uint32_t location = tfrt_bef_function_record(tfrt_bef_file_function(file, 0), 2)->location;
  tfrt_bef_source_location_t source;
  ck_assert(tfrt_bef_file_source_location(file, location, &source));
  ck_assert_str_eq(source.file, "a.mlir");
  ck_assert_uint_eq(source.line, 3);
  ck_assert_uint_eq(source.column, 5);
  ck_assert(tfrt_bef_file_location_is_plain(file, location));
  tfrt_string_builder_t text;
  tfrt_string_builder_initialize(&text, tfrt_allocator_system());
  tfrt_bef_file_location_append_text(file, location, &text);
  ck_assert_str_eq(tfrt_string_builder_text(&text), "a.mlir;3;5");
  tfrt_string_builder_clear(&text);
  tfrt_bef_file_location_append_text(file, UINT32_MAX - 1, &text);
  ck_assert_str_eq(tfrt_string_builder_text(&text), "(unknown)");
  ck_assert(!tfrt_bef_file_source_location(file, UINT32_MAX - 1, &source));
  ck_assert_str_eq(source.file, "");
  ck_assert(!tfrt_bef_file_location_append_debug_name(file, location, &text));
  tfrt_string_builder_deinitialize(&text);
  tfrt_bef_file_release(file);
  test_free(bytes.data, bytes.size);
}
END_TEST

// A file with one native function and these locations; passes each location to |check|.
static void check_location(void (*add)(tfrt_bef_writer_t*), const char* text, const char* mlir,
                           const char* debug_name) {
  tfrt_bef_writer_t* writer;
  ck_assert(tfrt_status_is_ok(tfrt_bef_writer_allocate(false, tfrt_allocator_system(), &writer)));
  add(writer);
  test_bytes_t bytes = test_finish(writer);
  tfrt_bef_file_t* file = test_load(bytes);
  tfrt_string_builder_t builder;
  tfrt_string_builder_initialize(&builder, tfrt_allocator_system());
  tfrt_bef_file_location_append_text(file, 0, &builder);
  ck_assert_str_eq(tfrt_string_builder_text(&builder), text);
  tfrt_string_builder_clear(&builder);
  ck_assert(tfrt_bef_file_location_append_mlir(file, 0, &builder));
  ck_assert_str_eq(tfrt_string_builder_text(&builder), mlir);
  tfrt_string_builder_clear(&builder);
  ck_assert(tfrt_bef_file_location_append_debug_name(file, 0, &builder) == (debug_name != NULL));
  if (debug_name) ck_assert_str_eq(tfrt_string_builder_text(&builder), debug_name);
  tfrt_string_builder_deinitialize(&builder);
  tfrt_bef_file_release(file);
  test_free(bytes.data, bytes.size);
}

static void add_name(tfrt_bef_writer_t* writer) {
  tfrt_bef_writer_add_location_name(writer, tfrt_string_view_of("n\""));
  tfrt_bef_writer_add_location_unknown(writer);
}
static void add_named_place(tfrt_bef_writer_t* writer) {
  tfrt_bef_writer_add_location_name(writer, tfrt_string_view_of("n"));
  tfrt_bef_writer_add_location_file(writer, tfrt_string_view_of("f"), 1, 2);
}
static void add_call_site(tfrt_bef_writer_t* writer) {
  tfrt_bef_writer_add_location_call_site(writer);
  add_name(writer);
  tfrt_bef_writer_add_location_file(writer, tfrt_string_view_of("f"), 1, 2);
}
static void add_fused(tfrt_bef_writer_t* writer) {
  tfrt_bef_writer_add_location_fused(writer, 3);
  add_name(writer);
  tfrt_bef_writer_add_location_file(writer, tfrt_string_view_of("f"), 1, 2);
  add_named_place(writer);
}
static void add_unknown(tfrt_bef_writer_t* writer) { tfrt_bef_writer_add_location_unknown(writer); }

START_TEST(each_kind_of_location_has_its_texts) {
  check_location(add_unknown, "(unknown)", "loc(unknown)", NULL);
  check_location(add_name, "(unknown)(n\")", "loc(\"n\\22\")", "n\"");
  check_location(add_named_place, "f;1;2(n)", "loc(\"n\"(\"f\":1:2))", "n");
  check_location(add_call_site, "(unknown)(n\")<-f;1;2", "loc(callsite(\"n\\22\" at \"f\":1:2))",
                 "n\"");
  check_location(add_fused, "(unknown)(n\"),f;1;2,f;1;2(n)",
                 "loc(fused[\"n\\22\", \"f\":1:2, \"n\"(\"f\":1:2)])", "n\"n");
}
END_TEST

START_TEST(sections_with_other_numbers_are_skipped) {
  test_bytes_t bytes = test_small_file();
  static const uint8_t kUnknown[] = {0x77, 3 << 1, 1, 2, 3, 0x78, 0};
  test_bytes_t longer = {.data = test_allocate(bytes.size + sizeof(kUnknown)),
                         .size = bytes.size + sizeof(kUnknown)};
  memcpy(longer.data, bytes.data, bytes.size);
  memcpy(longer.data + bytes.size, kUnknown, sizeof(kUnknown));
  tfrt_bef_file_release(test_load(longer));
  test_free(longer.data, longer.size);
  test_free(bytes.data, bytes.size);
}
END_TEST

START_TEST(bytes_that_are_taken_are_given_back) {
  tfrt_allocator_t allocator = tfrt_allocator_system();
  test_bytes_t bytes = test_small_file();
  void* block = tfrt_allocator_allocate(allocator, bytes.size);
  memcpy(block, bytes.data, bytes.size);
  tfrt_bef_file_t* file;
  ck_assert(tfrt_status_is_ok(tfrt_bef_file_create_take(block, bytes.size, allocator, &file)));
  size_t size;
  ck_assert_ptr_eq(tfrt_bef_file_bytes(file, &size), block);
  ck_assert_uint_eq(size, bytes.size);
  tfrt_bef_file_release(tfrt_bef_file_retain(file));
  tfrt_bef_file_release(file);
  tfrt_bef_file_release(NULL);
  test_free(bytes.data, bytes.size);
}
END_TEST

// A block that was read into is bigger than the bytes in it.
START_TEST(contents_that_are_taken_are_given_back_whole) {
  tfrt_counting_allocator_t counts;
  tfrt_counting_allocator_initialize(&counts, tfrt_allocator_system(),
                                     TFRT_COUNTING_ALLOCATOR_UNLIMITED);
  tfrt_allocator_t allocator = tfrt_counting_allocator_interface(&counts);
  test_bytes_t bytes = test_small_file();
  for (size_t size = bytes.size - 1; size <= bytes.size; ++size) {
    tfrt_file_contents_t contents = {.data = tfrt_allocator_allocate(allocator, bytes.size + 2),
                                     .size = size,
                                     .capacity = bytes.size + 2,
                                     .allocator = allocator};
    memcpy(contents.data, bytes.data, size);
    tfrt_bef_file_t* file;
    tfrt_status_t status = tfrt_bef_file_create_take_contents(&contents, &file);
    ck_assert_int_eq(tfrt_status_is_ok(status), size == bytes.size);
    ck_assert_ptr_null(contents.data);
    tfrt_status_release(status);
    tfrt_bef_file_release(file);
    ck_assert_int_eq(tfrt_counting_allocator_counts(&counts).current_bytes, 0);
  }
  test_free(bytes.data, bytes.size);
}
END_TEST

START_TEST(contents_may_be_of_another_allocator_than_their_file) {
  tfrt_counting_allocator_t of_contents, of_file;
  tfrt_counting_allocator_initialize(&of_contents, tfrt_allocator_system(),
                                     TFRT_COUNTING_ALLOCATOR_UNLIMITED);
  tfrt_counting_allocator_initialize(&of_file, tfrt_allocator_system(),
                                     TFRT_COUNTING_ALLOCATOR_UNLIMITED);
  test_bytes_t bytes = test_small_file();
  for (size_t size = bytes.size - 1; size <= bytes.size; ++size) {
    tfrt_allocator_t allocator = tfrt_counting_allocator_interface(&of_contents);
    tfrt_file_contents_t contents = {.data = tfrt_allocator_allocate(allocator, bytes.size),
                                     .size = size,
                                     .capacity = bytes.size,
                                     .allocator = allocator};
    memcpy(contents.data, bytes.data, size);
    int64_t blocks = tfrt_counting_allocator_counts(&of_contents).total_count;
    tfrt_bef_file_t* file;
    tfrt_status_t status =
        tfrt_bef_file_create_around(&contents, tfrt_counting_allocator_interface(&of_file), &file);
    ck_assert_int_eq(tfrt_status_is_ok(status), size == bytes.size);
    ck_assert_int_eq(tfrt_counting_allocator_counts(&of_contents).total_count, blocks);
    tfrt_status_release(status);
    tfrt_bef_file_release(file);
    ck_assert_int_eq(tfrt_counting_allocator_counts(&of_contents).current_bytes, 0);
    ck_assert_int_eq(tfrt_counting_allocator_counts(&of_file).current_bytes, 0);
  }
  test_free(bytes.data, bytes.size);
}
END_TEST

// --- Bad files ----------------------------------------------------------------------

static void flip_bits(const char* name) {
  test_bytes_t bytes = name ? test_read_program(name) : test_small_file();
  size_t refused = 0;
  for (size_t i = 0; i < bytes.size * 8; ++i) {
    bytes.data[i / 8] ^= (uint8_t)(1u << i % 8);
    if (!test_loads(bytes)) ++refused;
    bytes.data[i / 8] ^= (uint8_t)(1u << i % 8);
  }
  // Most of a file is structure; texts and values may be anything.
  ck_assert_uint_gt(refused * 4, bytes.size * 8);
  ck_assert(test_loads(bytes));
  test_free(bytes.data, bytes.size);
}

START_TEST(any_flipped_bit_is_refused_or_harmless) {
  flip_bits(NULL);
  flip_bits("recursion.bef");
  flip_bits("strings.bef");
  flip_bits("async.bef");
}
END_TEST

// A cut between two of the optional sections leaves a good file; any other doesn't.
static void cut(const char* name, test_bytes_t bytes) {
  size_t good = 0;
  for (size_t size = 0; size < bytes.size; ++size) {
    // A block of its own, so that AddressSanitizer sees a byte too many.
    test_bytes_t part = {.data = test_allocate(size), .size = size};
    memcpy(part.data, bytes.data, size);
    if (test_loads(part)) ++good;
    test_free(part.data, part.size);
  }
  ck_assert_msg(good <= 7, "%s: %zu cuts are good files", name, good);
}

START_TEST(a_file_that_was_cut_is_refused) {
  test_bytes_t bytes = test_small_file();
  cut("small", bytes);
  test_free(bytes.data, bytes.size);
  bytes = test_read_program("recursion.bef");
  cut("recursion.bef", bytes);
  test_free(bytes.data, bytes.size);
}
END_TEST

// The place of |count| |words| in |bytes|; there must be exactly one.
static uint8_t* find_words(test_bytes_t bytes, const uint32_t* words, size_t count) {
  uint8_t* found = NULL;
  for (size_t i = 0; i + count * 4 <= bytes.size; ++i) {
    if (memcmp(bytes.data + i, words, count * 4) == 0) {
      ck_assert_ptr_null(found);
      found = bytes.data + i;
    }
  }
  ck_assert_ptr_nonnull(found);
  return found;
}

static void put_word(uint8_t* place, uint32_t word) { memcpy(place, &word, sizeof(word)); }

// The record of `k.add` of the small file from its argument count on: 2 arguments, 1 result, no
// user, registers 0 and 1, result register 2.
static const uint32_t kAdd[] = {2, 0, 0, 1, 0, 0, 1, 2};

// Word |index| of that record set to |word| must be refused with all of |parts|.
static void refuse_add(size_t index, uint32_t word, const char* part) {
  test_bytes_t bytes = test_small_file();
  put_word(find_words(bytes, kAdd, 8) + index * 4, word);
  const char* parts[] = {"section Functions, function 0 'f'", part};
  test_refuse(bytes, parts, 2);
  test_free(bytes.data, bytes.size);
}

START_TEST(a_bad_kernel_record_is_named_by_function_and_kernel) {
  refuse_add(5, 9, "kernel 2, byte 0x");
  refuse_add(5, 9, "register 9 is out of range (there are 3)");
  refuse_add(5, 2, "register 2 is used before any kernel sets it");
  refuse_add(6, 0, "register 0 has 2 uses, but its use count is 1");
  refuse_add(7, 1, "register 1 is set by kernel 1 already");
  refuse_add(7, 3, "result register 3 is out of range");
  refuse_add(4, 1, "goes beyond the section");
  refuse_add(0, UINT32_MAX, "goes beyond the section");
  refuse_add(3, UINT32_MAX, "goes beyond the section");
}
END_TEST

START_TEST(a_bad_kernel_code_or_location_is_refused) {
  static const uint32_t kBefore[] = {2, 0, 0, 1, 0, 0, 1, 2};
  test_bytes_t bytes = test_small_file();
  uint8_t* record = find_words(bytes, kBefore, 8) - 8;
  const char* code[] = {"kernel code 7 is out of range (there are 2)"};
  uint32_t old;
  memcpy(&old, record, 4);
  put_word(record, 7);
  test_refuse(bytes, code, 1);
  put_word(record, old);
  const char* location[] = {"location 0x1 is not that of a record"};
  put_word(record + 4, 1);
  test_refuse(bytes, location, 1);
  test_free(bytes.data, bytes.size);
}
END_TEST

// Bytes 0 to 3 are a record's: tag, string, line, column. Makes byte |index| of the record at |at|
// be |byte|, which must be refused with |part|.
static void refuse_location(test_bytes_t bytes, uint8_t* at, size_t index, uint8_t byte,
                            const char* part) {
  uint8_t old = at[index];
  at[index] = byte;
  const char* parts[] = {"section Locations", part};
  test_refuse(bytes, parts, 2);
  at[index] = old;
}

START_TEST(a_bad_location_is_refused_behind_good_ones_that_are_like_it) {
  tfrt_bef_writer_t* writer;
  ck_assert(tfrt_status_is_ok(tfrt_bef_writer_allocate(false, tfrt_allocator_system(), &writer)));
  for (uint32_t line = 1; line <= 9; ++line) {
    tfrt_bef_writer_add_location_file(writer, tfrt_string_view_of("f"), line, 77);
  }
  test_bytes_t bytes = test_finish(writer);
  static const uint32_t kRecords[] = {0x4D020001, 0x4D030001};
  uint8_t* third = find_words(bytes, kRecords, 2) + 4;
  refuse_location(bytes, third, 0, 9, "tag 9 is none of 0 to 4");
  refuse_location(bytes, third, 1, 2, "location string 2 is out of range (0 to 1)");
  refuse_location(bytes, third + 6 * 4, 3, 0x80, "ends too early");
  // A line of two bytes takes the column for its second one.
  refuse_location(bytes, third + 6 * 4, 2, 0x80, "ends too early");
  test_free(bytes.data, bytes.size);
}
END_TEST

// The first list of users of |file| that begins with two different ones; its length.
static const uint32_t* find_list(const tfrt_bef_file_t* file, uint32_t* out_count) {
  for (uint32_t f = 0; f < tfrt_bef_file_function_count(file); ++f) {
    const tfrt_bef_function_t* function = tfrt_bef_file_function(file, f);
    for (uint32_t k = 0; k < function->kernel_count; ++k) {
      const tfrt_bef_record_t* record = tfrt_bef_function_record(function, k);
      const uint32_t* user_counts = tfrt_bef_record_user_counts(record);
      const uint32_t* users = tfrt_bef_record_users(record);
      for (uint32_t r = 0; r < record->result_count; users += user_counts[r++]) {
        *out_count = user_counts[r];
        if (*out_count >= 2 && users[0] != users[1]) return users;
      }
    }
  }
  return NULL;
}

START_TEST(users_may_be_listed_in_any_order) {
  test_bytes_t bytes = test_read_program("recursion.bef");
  tfrt_bef_file_t* file = NULL;
  ck_assert_ptr_null(tfrt_bef_file_create(bytes.data, bytes.size, tfrt_allocator_system(), &file));
  uint32_t count = 0;
  const uint32_t* users = find_list(file, &count);
  ck_assert_ptr_nonnull(users);
  size_t size;
  uint8_t* place =
      bytes.data + ((const uint8_t*)users - (const uint8_t*)tfrt_bef_file_bytes(file, &size));
  // The other way round than writers have them.
  for (uint32_t i = 0; i < count; ++i) put_word(place + 4 * i, users[count - 1 - i]);
  ck_assert(test_loads(bytes));
  for (uint32_t i = 0; i < count; ++i) put_word(place + 4 * i, users[0]);
  ck_assert(!test_loads(bytes));
  tfrt_bef_file_release(file);
  test_free(bytes.data, bytes.size);
}
END_TEST

START_TEST(user_lists_must_be_those_of_the_arguments) {
  // k.one: no arguments, 1 attribute, 1 result with 1 user; attribute 0, register 1, user 2.
  static const uint32_t kOne[] = {0, 1, 0, 1, 1, 0, 1, 2};
  test_bytes_t bytes = test_small_file();
  uint8_t* record = find_words(bytes, kOne, 8);
  const char* other[] = {"kernel 1 is listed as a user of register 1 more often"};
  put_word(record + 28, 1);
  test_refuse(bytes, other, 1);
  put_word(record + 28, 9);
  const char* range[] = {"kernel 1, byte", "user 9 is out of range"};
  test_refuse(bytes, range, 2);
  put_word(record + 28, 2);
  put_word(record + 20, 4);
  const char* attribute[] = {"attribute offset 4 is out of range"};
  test_refuse(bytes, attribute, 1);
  test_free(bytes.data, bytes.size);
}
END_TEST

START_TEST(what_is_no_bef_file_is_refused_in_a_sentence) {
  static const char* const kMagic[] = {"not a BEF file"};
  static const char* const kVersion[] = {"version 1; only version 0 can be read"};
  static const char* const kMissing[] = {"section Strings", "is missing"};
  uint8_t bytes[] = {0x0B, 0xEF, 1};
  test_refuse((test_bytes_t){bytes, 3}, kVersion, 1);
  test_refuse((test_bytes_t){bytes, 2}, kMagic, 1);
  test_refuse((test_bytes_t){bytes, 0}, kMagic, 1);
  bytes[2] = 0;
  test_refuse((test_bytes_t){bytes, 3}, kMissing, 2);
  uint8_t text[] = "func.func @f() {}";
  test_refuse((test_bytes_t){text, sizeof(text)}, kMagic, 1);
}
END_TEST

START_TEST(integers_of_more_than_64_bits_are_refused) {
  static const char* const kParts[] = {"more than 64 bits"};
  uint8_t bytes[] = {0x0B, 0xEF, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F};
  test_refuse((test_bytes_t){bytes, sizeof(bytes)}, kParts, 1);
  // 64 bits exactly: then it is just far too long.
  static const char* const kLong[] = {"bytes long, but only"};
  uint8_t longest[] = {0x0B, 0xEF, 0,    0,    0x81, 0xFF, 0xFF,
                       0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x7E};
  test_refuse((test_bytes_t){longest, sizeof(longest)}, kLong, 1);
}
END_TEST

// Loads |bytes| with at most |limit| bytes alive, and returns the most that were.
static int64_t load_with_limit(test_bytes_t bytes, int64_t limit, bool* out_good) {
  tfrt_counting_allocator_t counting;
  tfrt_bef_file_t* file;
  tfrt_counting_allocator_initialize(&counting, tfrt_allocator_system(), limit);
  tfrt_status_t status = tfrt_bef_file_create(bytes.data, bytes.size,
                                              tfrt_counting_allocator_interface(&counting), &file);
  if (status) ck_assert_int_eq(tfrt_status_code(status), TFRT_STATUS_RESOURCE_EXHAUSTED);
  *out_good = tfrt_status_is_ok(status);
  ck_assert(*out_good == (file != NULL));
  tfrt_status_release(status);
  tfrt_bef_file_release(file);
  tfrt_allocation_counts_t counts = tfrt_counting_allocator_counts(&counting);
  ck_assert_int_eq(counts.current_count, 0);
  return counts.max_bytes;
}

START_TEST(when_memory_is_out_nothing_is_lost) {
  test_bytes_t bytes = test_read_program("recursion.bef");
  bool good;
  int64_t needed = load_with_limit(bytes, TFRT_COUNTING_ALLOCATOR_UNLIMITED, &good);
  ck_assert(good);
  for (int64_t limit = 0; limit < needed; limit += needed / 50) {
    load_with_limit(bytes, limit, &good);
    ck_assert(!good);
  }
  load_with_limit(bytes, needed, &good);
  ck_assert(good);
  test_free(bytes.data, bytes.size);
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* good = tcase_create("good files");
  tcase_add_test(good, every_file_of_tfrt_loads);
  tcase_add_test(good, functions_kernels_and_registers_are_as_in_the_text);
  tcase_add_test(good, a_region_belongs_to_the_function_that_contains_it);
  tcase_add_test(good, call_options_and_argument_names_are_found);
  tcase_add_test(good, locations_are_decoded);
  tcase_add_test(good, each_kind_of_location_has_its_texts);
  tcase_add_test(good, sections_with_other_numbers_are_skipped);
  tcase_add_test(good, bytes_that_are_taken_are_given_back);
  tcase_add_test(good, contents_that_are_taken_are_given_back_whole);
  tcase_add_test(good, contents_may_be_of_another_allocator_than_their_file);
  TCase* bad = tcase_create("bad files");
  tcase_set_timeout(bad, 60);
  tcase_add_test(bad, any_flipped_bit_is_refused_or_harmless);
  tcase_add_test(bad, a_file_that_was_cut_is_refused);
  tcase_add_test(bad, a_bad_kernel_record_is_named_by_function_and_kernel);
  tcase_add_test(bad, a_bad_kernel_code_or_location_is_refused);
  tcase_add_test(bad, a_bad_location_is_refused_behind_good_ones_that_are_like_it);
  tcase_add_test(bad, users_may_be_listed_in_any_order);
  tcase_add_test(bad, user_lists_must_be_those_of_the_arguments);
  tcase_add_test(bad, what_is_no_bef_file_is_refused_in_a_sentence);
  tcase_add_test(bad, integers_of_more_than_64_bits_are_refused);
  tcase_add_test(bad, when_memory_is_out_nothing_is_lost);
  Suite* suite = suite_create("bef_file");
  suite_add_tcase(suite, good);
  suite_add_tcase(suite, bad);
  return suite;
}
