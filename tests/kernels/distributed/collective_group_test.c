// SPDX-License-Identifier: Apache-2.0
//
// When devices carry a collective out themselves, and what they do then: decided from the records.
#include "kernels/distributed/collective_group.h"

#include "tests/support/test_main.h"

#define COUNT 3

static tfrt_collective_record_t records[COUNT];

// Adds and moves everything, but orders nothing.
static bool reduces(tfrt_string_view_t library, tfrt_tensor_reduction_t reduction,
                    tfrt_dtype_t dtype) {
  (void)library;
  (void)dtype;
  return reduction == TFRT_TENSOR_SUM;
}

static const tfrt_tensor_groups_t groups = {.reduces = reduces};

// Operands of |rows| x 2 in seats of their own.
static void begin(tfrt_collective_kind_t kind, int64_t rows) {
  static const char* const places[COUNT] = {"a", "b", "c"};
  for (int i = 0; i < COUNT; ++i) {
    records[i] = (tfrt_collective_record_t){.kind = kind,
                                            .dtype = TFRT_DTYPE_F32,
                                            .is_on_device = true,
                                            .library = tfrt_string_view_of("library 1"),
                                            .place = tfrt_string_view_of(places[i])};
    ck_assert_ptr_null(tfrt_shape_make((int64_t[]){rows, 2}, 2, &records[i].shape));
  }
}

static tfrt_collective_view_t view_of(uint32_t position) {
  return (tfrt_collective_view_t){.records = records, .count = COUNT, .position = position};
}

// The common verdict of all members.
static bool can(void) {
  bool verdicts[COUNT];
  for (uint32_t i = 0; i < COUNT; ++i) {
    tfrt_collective_view_t view = view_of(i);
    ck_assert_ptr_null(tfrt_collective_group_can(&view, &groups, &verdicts[i]));
    ck_assert_int_eq(verdicts[i], verdicts[0]);
  }
  return verdicts[0];
}

START_TEST(members_in_seats_of_their_own_can) {
  static const tfrt_collective_kind_t kinds[] = {
      TFRT_COLLECTIVE_ALL_REDUCE, TFRT_COLLECTIVE_REDUCE,    TFRT_COLLECTIVE_REDUCE_SCATTER,
      TFRT_COLLECTIVE_ALL_GATHER, TFRT_COLLECTIVE_BROADCAST, TFRT_COLLECTIVE_ALL_TO_ALL};
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(kinds); ++i) {
    begin(kinds[i], 6);
    ck_assert_msg(can(), "%s", tfrt_collective_kind_name(kinds[i]));
  }
}
END_TEST

START_TEST(members_without_seats_of_one_library_cannot) {
  for (int i = 0; i < COUNT; ++i) {
    begin(TFRT_COLLECTIVE_ALL_REDUCE, 6);
    records[i].library = tfrt_string_view_of("");
    ck_assert(!can());
    records[i].library = tfrt_string_view_of("library 2");
    ck_assert(!can());
    records[i].library = records[(i + 1) % COUNT].library;
    records[i].is_taken = true;
    ck_assert(!can());
  }
}
END_TEST

START_TEST(members_at_one_place_cannot_unless_there_is_room) {
  begin(TFRT_COLLECTIVE_ALL_REDUCE, 6);
  records[2].place = records[0].place;
  ck_assert(!can());
  for (int i = 0; i < COUNT; ++i) records[i].place = tfrt_string_view_of("");
  ck_assert(can());
}
END_TEST

START_TEST(what_a_library_cannot_reduce_is_not_given_to_it) {
  begin(TFRT_COLLECTIVE_ALL_REDUCE, 6);
  for (int i = 0; i < COUNT; ++i) records[i].reduction = TFRT_REDUCTION_MAXIMUM;
  ck_assert(!can());
}
END_TEST

START_TEST(parts_and_operands_are_of_one_size) {
  begin(TFRT_COLLECTIVE_REDUCE_SCATTER, 7);
  ck_assert(!can());
  begin(TFRT_COLLECTIVE_ALL_TO_ALL, 7);
  ck_assert(!can());
  begin(TFRT_COLLECTIVE_ALL_GATHER, 7);
  ck_assert(can());
  records[1].shape.dims[0] = 6;
  ck_assert(!can());
  begin(TFRT_COLLECTIVE_ALL_TO_ALL, 6);
  records[1].shape.dims[0] = 9;
  ck_assert(!can());
  begin(TFRT_COLLECTIVE_ALL_REDUCE, 0);
  ck_assert(!can());
}
END_TEST

// A member that ignores its operand states nothing about it.
START_TEST(a_broadcast_is_as_large_as_the_roots_operand) {
  begin(TFRT_COLLECTIVE_BROADCAST, 6);
  for (int i = 0; i < COUNT; ++i) {
    records[i].root = 1;
    if (i != 1) records[i].dtype = TFRT_DTYPE_INVALID;
  }
  ck_assert(can());
  for (uint32_t i = 0; i < COUNT; ++i) {
    tfrt_collective_view_t view = view_of(i);
    tfrt_tensor_exchange_t exchange;
    ck_assert_ptr_null(tfrt_collective_group_exchange(&view, &exchange));
    ck_assert_int_eq(exchange.kind, TFRT_TENSOR_BROADCAST);
    ck_assert_uint_eq(exchange.root, 1);
    ck_assert_int_eq(exchange.has_result, i != 1);
    ck_assert_int_eq(exchange.dtype, TFRT_DTYPE_F32);
    ck_assert(tfrt_shape_equal(&exchange.shape, &records[1].shape));
  }
}
END_TEST

START_TEST(a_result_has_the_rows_that_come_to_it) {
  static const struct {
    tfrt_collective_kind_t kind;
    int64_t rows;
  } cases[] = {{TFRT_COLLECTIVE_REDUCE_SCATTER, 2},
               {TFRT_COLLECTIVE_ALL_GATHER, 18},
               {TFRT_COLLECTIVE_ALL_TO_ALL, 6},
               {TFRT_COLLECTIVE_ALL_REDUCE, 6}};
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(cases); ++i) {
    begin(cases[i].kind, 6);
    tfrt_collective_view_t view = view_of(2);
    tfrt_tensor_exchange_t exchange;
    ck_assert_ptr_null(tfrt_collective_group_exchange(&view, &exchange));
    ck_assert(exchange.has_result);
    ck_assert_int_eq(exchange.shape.dims[0], cases[i].rows);
    ck_assert_int_eq(exchange.shape.dims[1], 2);
  }
}
END_TEST

// A group that only some have kept is none.
START_TEST(a_group_is_kept_if_all_have_kept_it) {
  begin(TFRT_COLLECTIVE_ALL_REDUCE, 6);
  tfrt_collective_view_t view = view_of(0);
  ck_assert_uint_eq(tfrt_collective_group_token(&view), 0);
  for (int i = 0; i < COUNT; ++i) records[i].token = 77;
  ck_assert_uint_eq(tfrt_collective_group_token(&view), 77);
  ck_assert(can());
  for (int i = 0; i < COUNT; ++i) {
    records[i].token = i == 0 ? 0 : 78;
    ck_assert_uint_eq(tfrt_collective_group_token(&view), 0);
    ck_assert(can());
    records[i].token = 77;
  }
}
END_TEST

Suite* tfrt_test_suite(void) {
  Suite* suite = suite_create("collective groups");
  TCase* decisions = tcase_create("decisions");
  tcase_add_test(decisions, members_in_seats_of_their_own_can);
  tcase_add_test(decisions, members_without_seats_of_one_library_cannot);
  tcase_add_test(decisions, members_at_one_place_cannot_unless_there_is_room);
  tcase_add_test(decisions, what_a_library_cannot_reduce_is_not_given_to_it);
  tcase_add_test(decisions, parts_and_operands_are_of_one_size);
  tcase_add_test(decisions, a_broadcast_is_as_large_as_the_roots_operand);
  tcase_add_test(decisions, a_result_has_the_rows_that_come_to_it);
  tcase_add_test(decisions, a_group_is_kept_if_all_have_kept_it);
  suite_add_tcase(suite, decisions);
  return suite;
}
