// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/executor/request/request_context.h"

#include <string.h>

#include "host_runtime/base/counting_allocator.h"
#include "host_runtime/executor/request/call_scope.h"
#include "tests/support/test_main.h"

static tfrt_counting_allocator_t books;
static tfrt_request_context_t* request;

static void set_up(void) {
  tfrt_counting_allocator_initialize(&books, tfrt_allocator_system(),
                                     TFRT_COUNTING_ALLOCATOR_UNLIMITED);
  tfrt_request_options_t options = tfrt_request_options_default();
  ck_assert_ptr_null(
      tfrt_request_context_create(&options, tfrt_counting_allocator_interface(&books), &request));
}

static void expect_nothing_left(void) {
  ck_assert_int_eq(tfrt_counting_allocator_counts(&books).current_bytes, 0);
}

START_TEST(the_first_cancel_stays) {
  ck_assert_ptr_null(tfrt_request_context_cancelled(request));
  tfrt_status_t first = tfrt_status_create(TFRT_STATUS_CANCELLED, "first");
  tfrt_status_t second = tfrt_status_create(TFRT_STATUS_DEADLINE_EXCEEDED, "second");
  tfrt_request_context_cancel(request, first);
  tfrt_request_context_cancel(request, second);
  tfrt_async_value_t* reason = tfrt_request_context_cancelled(request);
  ck_assert_str_eq(tfrt_status_message(tfrt_async_value_error(reason)), "first");
  tfrt_status_release(first);
  tfrt_status_release(second);
  tfrt_request_context_release(request);
  expect_nothing_left();
}
END_TEST

// Resources that write down the order of their end.
static char destroyed[8];

typedef struct letter_s {
  tfrt_resource_t base;
  char letter;
} letter_t;

static void destroy_letter(tfrt_resource_t* resource) {
  letter_t* letter = TFRT_CONTAINER_OF(resource, letter_t, base);
  strncat(destroyed, &letter->letter, 1);
}

START_TEST(resources_end_with_the_request_but_for_those_that_are_shared) {
  letter_t own = {{.name = "own", .destroy = destroy_letter}, 'o'};
  letter_t common = {{.name = "common", .destroy = destroy_letter}, 'c'};
  ck_assert_ptr_eq(tfrt_request_context_shared_resources(request), &request->resources);
  tfrt_resource_context_t store;
  tfrt_resource_context_initialize(&store);
  tfrt_request_options_t options = tfrt_request_options_default();
  options.resources = &store;
  tfrt_request_context_t* other = NULL;
  ck_assert_ptr_null(tfrt_request_context_create(&options, tfrt_allocator_system(), &other));
  tfrt_resource_context_add(&other->resources, &own.base);
  tfrt_resource_context_add(tfrt_request_context_shared_resources(other), &common.base);
  tfrt_request_context_release(other);
  ck_assert_str_eq(destroyed, "o");
  ck_assert_ptr_eq(tfrt_resource_context_find(&store, "common"), &common.base);
  tfrt_resource_context_deinitialize(&store);
  ck_assert_str_eq(destroyed, "oc");
  tfrt_request_context_release(request);
  expect_nothing_left();
}
END_TEST

// An output that keeps what was printed, and whose call waits for that.
static char printed[64];
static tfrt_call_scope_t* printed_in;

static tfrt_async_value_t* keep_line(tfrt_output_t* output, tfrt_string_view_t text,
                                     tfrt_call_scope_t* scope) {
  (void)output;
  printed_in = scope;
  memcpy(printed, text.data, text.size);
  return tfrt_async_value_ready_chain();
}

START_TEST(lines_go_where_the_request_says) {
  static const tfrt_output_vtable_t vtable = {.print = keep_line};
  tfrt_output_t output = {.vtable = &vtable};
  tfrt_request_options_t options = tfrt_request_options_default();
  options.output = &output;
  tfrt_request_context_t* other = NULL;
  ck_assert_ptr_null(tfrt_request_context_create(&options, tfrt_allocator_system(), &other));
  tfrt_async_value_t* chain = tfrt_request_context_print(other, tfrt_string_view_of("a line"));
  ck_assert(tfrt_async_value_is_available(chain));
  ck_assert_str_eq(printed, "a line");
  ck_assert_ptr_null(printed_in);
  tfrt_call_scope_t scope;
  tfrt_call_scope_initialize(&scope, NULL);
  tfrt_execution_context_t context = {.request = other, .scope = &scope};
  tfrt_execution_context_print(&context, tfrt_string_view_of("one more"));
  ck_assert_str_eq(printed, "one more");
  ck_assert_ptr_eq(printed_in, &scope);
  tfrt_request_context_release(other);
  tfrt_request_context_release(request);
}
END_TEST

// A last act that notes what it was done for, and a subscription that ends the request's work.
typedef struct noted_act_s {
  tfrt_request_last_act_t base;
  int begun_count;
  int count;
  tfrt_status_code_t code;
} noted_act_t;

static noted_act_t* noted;

static void note_act(tfrt_request_last_act_t* base, tfrt_status_t reason) {
  noted_act_t* act = TFRT_CONTAINER_OF(base, noted_act_t, base);
  ++act->count;
  act->code = tfrt_status_code(reason);
}

static void note_begun(tfrt_request_last_act_t* base) {
  ++TFRT_CONTAINER_OF(base, noted_act_t, base)->begun_count;
}

static void end_work(tfrt_cancellation_subscription_t* subscription, tfrt_status_t reason) {
  (void)subscription, (void)reason;
  ck_assert_int_eq(noted->begun_count, 1);
  tfrt_request_context_drop_last_act(request);
}

START_TEST(the_last_act_is_done_once_even_if_the_cancel_ends_all_work) {
  noted_act_t act = {.base = {.begin = note_begun, .run = note_act}};
  noted = &act;
  tfrt_request_context_set_last_act_take(request, &act.base);
  tfrt_cancellation_subscription_t subscription;
  tfrt_cancellation_subscribe(&request->cancellation, &subscription, end_work);
  tfrt_status_t reason = tfrt_status_create(TFRT_STATUS_DEADLINE_EXCEEDED, "late");
  tfrt_request_context_cancel(request, reason);
  tfrt_request_context_cancel(request, reason);
  tfrt_status_release(reason);
  ck_assert_int_eq(act.begun_count, 1);
  ck_assert_int_eq(act.count, 1);
  ck_assert_int_eq(act.code, TFRT_STATUS_DEADLINE_EXCEEDED);
  tfrt_request_context_release(request);
  ck_assert_int_eq(act.count, 1);
  expect_nothing_left();
}
END_TEST

START_TEST(a_last_act_that_is_dropped_is_only_given_back) {
  noted_act_t act = {.base = {.begin = note_begun, .run = note_act}};
  tfrt_request_context_set_last_act_take(request, &act.base);
  if (_i) tfrt_request_context_drop_last_act(request);
  tfrt_request_context_release(request);
  ck_assert_int_eq(act.begun_count, 0);
  ck_assert_int_eq(act.count, 1);
  ck_assert_int_eq(act.code, TFRT_STATUS_OK);
  expect_nothing_left();
}
END_TEST

START_TEST(without_memory_there_is_no_request) {
  tfrt_counting_allocator_t poor;
  tfrt_counting_allocator_initialize(&poor, tfrt_allocator_system(), 16);
  tfrt_request_options_t options = tfrt_request_options_default();
  tfrt_request_context_t* none = NULL;
  tfrt_status_t status =
      tfrt_request_context_create(&options, tfrt_counting_allocator_interface(&poor), &none);
  ck_assert_int_eq(tfrt_status_code(status), TFRT_STATUS_RESOURCE_EXHAUSTED);
  ck_assert_ptr_null(none);
  tfrt_status_release(status);
  tfrt_request_context_release(request);
}
END_TEST

Suite* tfrt_test_suite(void) {
  Suite* suite = suite_create("request_context");
  TCase* cases = tcase_create("request_context");
  tcase_add_checked_fixture(cases, set_up, NULL);
  tcase_add_test(cases, the_first_cancel_stays);
  tcase_add_test(cases, resources_end_with_the_request_but_for_those_that_are_shared);
  tcase_add_test(cases, lines_go_where_the_request_says);
  tcase_add_test(cases, the_last_act_is_done_once_even_if_the_cancel_ends_all_work);
  tcase_add_loop_test(cases, a_last_act_that_is_dropped_is_only_given_back, 0, 2);
  tcase_add_test(cases, without_memory_there_is_no_request);
  suite_add_tcase(suite, cases);
  return suite;
}
