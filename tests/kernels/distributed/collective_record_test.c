// SPDX-License-Identifier: Apache-2.0
#include "kernels/distributed/collective_record.h"

#include <string.h>

#include "tests/support/test_main.h"

static const uint32_t ranks[3] = {4, 0, 2};

// A record of |kind| with |rows| rows of 3 numbers.
static tfrt_collective_record_t record_of(tfrt_collective_kind_t kind, tfrt_dtype_t dtype,
                                          int64_t rows) {
  tfrt_collective_record_t record = {.kind = kind, .dtype = dtype};
  const int64_t dims[2] = {rows, 3};
  ck_assert_ptr_null(tfrt_shape_make(dims, 2, &record.shape));
  return record;
}

// The error of two members with |a| and |b|; "" if they agree.
static const char* verdict(const tfrt_collective_record_t* a, const tfrt_collective_record_t* b) {
  static char text[512];
  tfrt_collective_record_t records[3] = {*a, *a, *b};
  tfrt_status_t status = tfrt_collective_records_check(records, ranks, 3);
  text[0] = '\0';
  if (status) {
    ck_assert_int_eq(tfrt_status_code(status), TFRT_STATUS_INVALID_ARGUMENT);
    strncpy(text, tfrt_status_message(status), sizeof(text) - 1);
  }
  tfrt_status_release(status);
  return text;
}

START_TEST(a_record_goes_into_bytes_and_back) {
  static const int32_t elements[6] = {1, 2, 3, 4, 5, 6};
  tfrt_collective_record_t record = record_of(TFRT_COLLECTIVE_REDUCE, TFRT_DTYPE_I32, 2);
  record.reduction = TFRT_REDUCTION_MAXIMUM;
  record.root = 2;
  record.is_on_device = true;
  record.knows_large_chunks = true;
  record.knows_pairs = true;
  record.has_elements = true;
  record.elements = tfrt_string_view_make((const char*)elements, sizeof(elements));
  tfrt_string_builder_t bytes;
  tfrt_string_builder_initialize(&bytes, tfrt_allocator_system());
  tfrt_collective_record_encode(&record, &bytes);
  tfrt_collective_record_encode(&record, &bytes);
  tfrt_string_view_t rest = tfrt_string_builder_view(&bytes);
  for (int i = 0; i < 2; ++i) {
    tfrt_collective_record_t copy;
    ck_assert_ptr_null(tfrt_collective_record_decode(&rest, &copy));
    ck_assert_int_eq(copy.kind, record.kind);
    ck_assert_int_eq(copy.reduction, record.reduction);
    ck_assert_int_eq(copy.dtype, record.dtype);
    ck_assert_uint_eq(copy.root, 2);
    ck_assert(tfrt_shape_equal(&copy.shape, &record.shape));
    ck_assert(copy.is_on_device);
    ck_assert(!copy.is_anywhere);
    ck_assert(copy.knows_large_chunks);
    ck_assert(copy.knows_pairs);
    ck_assert(copy.has_elements);
    ck_assert(tfrt_string_view_equal(copy.elements, record.elements));
  }
  ck_assert_uint_eq(rest.size, 0);
  tfrt_string_builder_deinitialize(&bytes);
}
END_TEST

// A seat lies behind the name of the operand's type, where those who don't know it don't look.
START_TEST(a_seat_goes_into_bytes_and_back) {
  tfrt_collective_record_t record = record_of(TFRT_COLLECTIVE_ALL_REDUCE, TFRT_DTYPE_I32, 2);
  record.is_on_device = true;
  record.elements = tfrt_string_view_of("!some.tensor");
  record.library = tfrt_string_view_of("nccl 21805");
  record.place = tfrt_string_view_of("a/0000:17:00.0");
  record.token = 0x123456789abcdef0;
  record.is_taken = true;
  tfrt_string_builder_t bytes;
  tfrt_string_builder_initialize(&bytes, tfrt_allocator_system());
  tfrt_collective_record_encode(&record, &bytes);
  ck_assert_str_eq(bytes.data + 16 + record.shape.rank * sizeof(int64_t), "!some.tensor");
  tfrt_string_view_t rest = tfrt_string_builder_view(&bytes);
  tfrt_collective_record_t copy;
  ck_assert_ptr_null(tfrt_collective_record_decode(&rest, &copy));
  ck_assert_uint_eq(rest.size, 0);
  ck_assert(tfrt_string_view_equal(copy.elements, record.elements));
  ck_assert(tfrt_string_view_equal(copy.library, record.library));
  ck_assert(tfrt_string_view_equal(copy.place, record.place));
  ck_assert_uint_eq(copy.token, record.token);
  ck_assert(copy.is_taken);
  tfrt_string_builder_deinitialize(&bytes);
}
END_TEST

// That of a peer that knows no seats, or other rules.
START_TEST(a_record_without_a_seat_that_we_know_has_none) {
  tfrt_collective_record_t record = record_of(TFRT_COLLECTIVE_ALL_REDUCE, TFRT_DTYPE_I32, 1);
  record.is_on_device = true;
  record.elements = tfrt_string_view_of("!some.tensor");
  for (int knows = 0; knows < 2; ++knows) {
    record.library = tfrt_string_view_of(knows ? "nccl 21805" : "");
    tfrt_string_builder_t bytes;
    tfrt_string_builder_initialize(&bytes, tfrt_allocator_system());
    tfrt_collective_record_encode(&record, &bytes);
    // The rules are the first thing behind the NUL.
    size_t rules_at = 16 + record.shape.rank * sizeof(int64_t) + record.elements.size + 1;
    if (knows) bytes.data[rules_at] = TFRT_COLLECTIVE_SEAT_RULES + 1;
    tfrt_string_view_t rest = tfrt_string_builder_view(&bytes);
    tfrt_collective_record_t copy;
    ck_assert_ptr_null(tfrt_collective_record_decode(&rest, &copy));
    ck_assert_uint_eq(rest.size, 0);
    ck_assert(tfrt_string_view_equal(copy.elements, record.elements));
    ck_assert_uint_eq(copy.library.size, 0);
    tfrt_string_builder_deinitialize(&bytes);
  }
}
END_TEST

START_TEST(an_error_goes_into_bytes_and_back) {
  tfrt_collective_record_t record = {.kind = TFRT_COLLECTIVE_BARRIER};
  record.error =
      tfrt_status_create_from_fields(&(tfrt_status_fields_t){.code = TFRT_STATUS_NOT_FOUND,
                                                             .message = "no such file",
                                                             .root_key = 77,
                                                             .origin = {.rank = 3,
                                                                        .function = "main",
                                                                        .kernel = "tfrt.read",
                                                                        .file = "a.mlir",
                                                                        .line = 4,
                                                                        .column = 5}});
  tfrt_string_builder_t bytes;
  tfrt_string_builder_initialize(&bytes, tfrt_allocator_system());
  tfrt_collective_record_encode(&record, &bytes);
  tfrt_string_view_t rest = tfrt_string_builder_view(&bytes);
  tfrt_collective_record_t copy;
  ck_assert_ptr_null(tfrt_collective_record_decode(&rest, &copy));
  const tfrt_status_fields_t* fields = tfrt_status_fields(copy.error);
  ck_assert_int_eq(fields->code, TFRT_STATUS_NOT_FOUND);
  ck_assert_str_eq(fields->message, "no such file");
  ck_assert_uint_eq(fields->root_key, 77);
  ck_assert_uint_eq(fields->origin.rank, 3);
  ck_assert_str_eq(fields->origin.function, "main");
  ck_assert_str_eq(fields->origin.file, "a.mlir");
  ck_assert_uint_eq(fields->origin.line, 4);
  // It is the verdict of all, before any disagreement.
  tfrt_collective_record_t records[3] = {record_of(TFRT_COLLECTIVE_ALL_REDUCE, TFRT_DTYPE_F32, 1),
                                         copy, copy};
  tfrt_status_t status = tfrt_collective_records_check(records, ranks, 3);
  ck_assert_ptr_eq(status, copy.error);
  tfrt_status_release(status);
  tfrt_collective_record_deinitialize(&copy);
  tfrt_collective_record_deinitialize(&record);
  tfrt_string_builder_deinitialize(&bytes);
}
END_TEST

// Decodes |size| bytes, which lie in a block of just that size.
static bool is_refused(const char* data, size_t size) {
  char* bytes = tfrt_allocator_allocate(tfrt_allocator_system(), size);
  if (size > 0) memcpy(bytes, data, size);
  tfrt_string_view_t rest = tfrt_string_view_make(bytes, size);
  tfrt_collective_record_t record;
  tfrt_status_t status = tfrt_collective_record_decode(&rest, &record);
  bool is_error = tfrt_status_code(status) == TFRT_STATUS_INVALID_ARGUMENT;
  ck_assert(is_error || !status);
  tfrt_status_release(status);
  tfrt_collective_record_deinitialize(&record);
  tfrt_allocator_free(tfrt_allocator_system(), bytes, size);
  return is_error;
}

START_TEST(bytes_that_are_no_record_are_refused) {
  tfrt_collective_record_t record = record_of(TFRT_COLLECTIVE_ALL_GATHER, TFRT_DTYPE_UI8, 1);
  record.has_elements = true;
  record.elements = tfrt_string_view_of("abc");
  tfrt_collective_record_t broken = {.kind = TFRT_COLLECTIVE_BARRIER};
  broken.error = tfrt_status_create(TFRT_STATUS_INTERNAL, "broken");
  tfrt_string_builder_t bytes;
  tfrt_string_builder_initialize(&bytes, tfrt_allocator_system());
  for (int i = 0; i < 2; ++i) {
    tfrt_string_builder_clear(&bytes);
    tfrt_collective_record_encode(i == 0 ? &record : &broken, &bytes);
    ck_assert(!is_refused(bytes.data, bytes.size));
    for (size_t size = 0; size < bytes.size; ++size) ck_assert(is_refused(bytes.data, size));
    // Any single byte that is something else: refused or another record, but nothing worse.
    for (size_t at = 0; at < bytes.size; ++at) {
      for (int flip = 1; flip < 256; flip <<= 1) {
        bytes.data[at] = (char)(bytes.data[at] ^ flip);
        bool refused = is_refused(bytes.data, bytes.size);
        ck_assert(refused || at > 0 || bytes.data[0] < TFRT_COLLECTIVE_KIND_COUNT);
        bytes.data[at] = (char)(bytes.data[at] ^ flip);
      }
    }
  }
  tfrt_status_release(broken.error);
  tfrt_string_builder_deinitialize(&bytes);
}
END_TEST

START_TEST(members_that_differ_are_named_with_what_they_have) {
  tfrt_collective_record_t sum = record_of(TFRT_COLLECTIVE_ALL_REDUCE, TFRT_DTYPE_F32, 2);
  tfrt_collective_record_t other = sum;
  ck_assert_str_eq(verdict(&sum, &other), "");
  other.reduction = TFRT_REDUCTION_MAXIMUM;
  ck_assert_str_eq(verdict(&sum, &other),
                   "the members of the group don't agree: host 4 has all_reduce sum of f32 [2, 3], "
                   "host 2 has all_reduce max of f32 [2, 3]");
  other = record_of(TFRT_COLLECTIVE_ALL_REDUCE, TFRT_DTYPE_F64, 2);
  ck_assert_ptr_nonnull(strstr(verdict(&sum, &other), "host 2 has all_reduce sum of f64 [2, 3]"));
  other = record_of(TFRT_COLLECTIVE_ALL_REDUCE, TFRT_DTYPE_F32, 1);
  ck_assert_ptr_nonnull(strstr(verdict(&sum, &other), "host 2 has all_reduce sum of f32 [1, 3]"));
  other = (tfrt_collective_record_t){.kind = TFRT_COLLECTIVE_BARRIER};
  ck_assert_ptr_nonnull(strstr(verdict(&sum, &other), "host 2 has barrier"));
  other = sum;
  other.is_on_device = true;
  ck_assert_ptr_nonnull(
      strstr(verdict(&sum, &other), "host 2 has all_reduce sum of f32 [2, 3] on a device"));
  tfrt_collective_record_t root = record_of(TFRT_COLLECTIVE_BROADCAST, TFRT_DTYPE_F32, 1);
  other = root;
  other.root = 1;
  ck_assert_ptr_nonnull(strstr(verdict(&root, &other), "broadcast with root 0 of f32 [1, 3]"));
  other.root = 3;
  ck_assert_str_eq(verdict(&root, &other), "a host sent bytes that say nothing about a collective");
}
END_TEST

START_TEST(some_kinds_let_operands_differ) {
  tfrt_collective_record_t two = record_of(TFRT_COLLECTIVE_ALL_GATHER, TFRT_DTYPE_I8, 2);
  tfrt_collective_record_t five = record_of(TFRT_COLLECTIVE_ALL_GATHER, TFRT_DTYPE_I8, 5);
  ck_assert_str_eq(verdict(&two, &five), "");
  five.shape.dims[1] = 4;
  ck_assert_str_ne(verdict(&two, &five), "");
  tfrt_collective_record_t root = record_of(TFRT_COLLECTIVE_BROADCAST, TFRT_DTYPE_F32, 1);
  tfrt_collective_record_t none = {.kind = TFRT_COLLECTIVE_BROADCAST};
  ck_assert_str_eq(verdict(&root, &none), "");
  root.is_on_device = true;
  ck_assert_str_ne(verdict(&root, &none), "");
  none.is_anywhere = true;
  ck_assert_str_eq(verdict(&root, &none), "");
}
END_TEST

// There are 5 members, and the record of member 3 differs from the others.
static void encode_runs(const tfrt_collective_range_t* range, tfrt_string_builder_t* out) {
  tfrt_string_builder_t bytes[2];
  tfrt_string_view_t views[5];
  for (int i = 0; i < 2; ++i) {
    tfrt_collective_record_t record = record_of(TFRT_COLLECTIVE_ALL_GATHER, TFRT_DTYPE_I8, 2 + i);
    tfrt_string_builder_initialize(&bytes[i], tfrt_allocator_system());
    tfrt_collective_record_encode(&record, &bytes[i]);
  }
  for (int i = 0; i < 5; ++i) views[i] = tfrt_string_builder_view(&bytes[i == 3]);
  tfrt_string_builder_initialize(out, tfrt_allocator_system());
  tfrt_collective_runs_encode(views, range, out);
  for (int i = 0; i < 2; ++i) tfrt_string_builder_deinitialize(&bytes[i]);
}

START_TEST(equal_records_go_once) {
  const size_t record_size = 16 + 2 * 8;
  // 4, 0, 1, 2; and 3.
  const tfrt_collective_range_t range = {.begin = 4, .count = 5, .of = 5};
  tfrt_string_builder_t text;
  encode_runs(&range, &text);
  ck_assert_uint_eq(text.size, 2 * (4 + record_size));
  tfrt_collective_record_t records[5];
  tfrt_string_view_t bytes[5] = {{0}};
  memset(records, 0, sizeof(records));
  ck_assert_ptr_null(
      tfrt_collective_runs_decode(tfrt_string_builder_view(&text), &range, records, bytes));
  for (int i = 0; i < 5; ++i) {
    ck_assert_int_eq(records[i].kind, TFRT_COLLECTIVE_ALL_GATHER);
    ck_assert_int_eq(records[i].shape.dims[0], i == 3 ? 3 : 2);
    ck_assert_uint_eq(bytes[i].size, record_size);
  }
  tfrt_string_builder_deinitialize(&text);
}
END_TEST

START_TEST(each_member_of_a_run_has_the_error) {
  tfrt_collective_record_t record = {.kind = TFRT_COLLECTIVE_BARRIER};
  record.error = tfrt_status_create(TFRT_STATUS_ABORTED, "no");
  tfrt_string_builder_t own;
  tfrt_string_builder_initialize(&own, tfrt_allocator_system());
  tfrt_collective_record_encode(&record, &own);
  tfrt_collective_record_deinitialize(&record);
  const tfrt_string_view_t views[3] = {tfrt_string_builder_view(&own),
                                       tfrt_string_builder_view(&own),
                                       tfrt_string_builder_view(&own)};
  const tfrt_collective_range_t range = {.begin = 1, .count = 2, .of = 3};
  tfrt_string_builder_t text;
  tfrt_string_builder_initialize(&text, tfrt_allocator_system());
  tfrt_collective_runs_encode(views, &range, &text);
  tfrt_collective_record_t records[3];
  tfrt_string_view_t bytes[3] = {{0}};
  memset(records, 0, sizeof(records));
  ck_assert_ptr_null(
      tfrt_collective_runs_decode(tfrt_string_builder_view(&text), &range, records, bytes));
  ck_assert_ptr_null(records[0].error);
  for (int i = 1; i < 3; ++i) {
    ck_assert_str_eq(tfrt_status_message(records[i].error), "no");
    tfrt_collective_record_deinitialize(&records[i]);
  }
  tfrt_string_builder_deinitialize(&text);
  tfrt_string_builder_deinitialize(&own);
}
END_TEST

START_TEST(runs_that_are_none_are_refused) {
  const tfrt_collective_range_t range = {.begin = 0, .count = 5, .of = 5};
  tfrt_string_builder_t text;
  encode_runs(&range, &text);
  tfrt_collective_record_t records[5];
  tfrt_string_view_t bytes[5];
  memset(records, 0, sizeof(records));
  // Each beginning, and lengths that are 0 or more than there are members.
  for (size_t size = 0; size < text.size; ++size) {
    tfrt_status_t status =
        tfrt_collective_runs_decode(tfrt_string_view_make(text.data, size), &range, records, bytes);
    ck_assert_int_eq(tfrt_status_code(status), TFRT_STATUS_INVALID_ARGUMENT);
    tfrt_status_release(status);
  }
  static const uint8_t lengths[] = {0, 6, 255};
  for (size_t i = 0; i < sizeof(lengths); ++i) {
    text.data[0] = (char)lengths[i];
    tfrt_status_t status =
        tfrt_collective_runs_decode(tfrt_string_builder_view(&text), &range, records, bytes);
    ck_assert_int_eq(tfrt_status_code(status), TFRT_STATUS_INVALID_ARGUMENT);
    tfrt_status_release(status);
  }
  tfrt_string_builder_deinitialize(&text);
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* records = tcase_create("records");
  tcase_add_test(records, a_record_goes_into_bytes_and_back);
  tcase_add_test(records, a_seat_goes_into_bytes_and_back);
  tcase_add_test(records, a_record_without_a_seat_that_we_know_has_none);
  tcase_add_test(records, an_error_goes_into_bytes_and_back);
  tcase_add_test(records, bytes_that_are_no_record_are_refused);
  tcase_add_test(records, members_that_differ_are_named_with_what_they_have);
  tcase_add_test(records, some_kinds_let_operands_differ);
  tcase_add_test(records, equal_records_go_once);
  tcase_add_test(records, each_member_of_a_run_has_the_error);
  tcase_add_test(records, runs_that_are_none_are_refused);
  Suite* suite = suite_create("collective records");
  suite_add_tcase(suite, records);
  return suite;
}
