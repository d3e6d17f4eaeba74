// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/executor/request/request_deadline.h"

#include "host_runtime/base/counting_allocator.h"
#include "tests/fakes/fake_clock.h"
#include "tests/support/test_main.h"

static tfrt_fake_clock_t fake_clock;
static tfrt_timer_queue_t timers;
static tfrt_counting_allocator_t books;
static tfrt_request_context_t* request;
static tfrt_request_deadline_t* deadline;

// Starts a request with the deadline |deadline_ns|; it is 1000 now.
static void begin(int64_t deadline_ns) {
  tfrt_fake_clock_initialize(&fake_clock, 1000);
  tfrt_timer_queue_initialize(&timers, tfrt_fake_clock_interface(&fake_clock));
  tfrt_counting_allocator_initialize(&books, tfrt_allocator_system(),
                                     TFRT_COUNTING_ALLOCATOR_UNLIMITED);
  tfrt_request_options_t options = tfrt_request_options_default();
  options.deadline_ns = deadline_ns;
  ck_assert_ptr_null(
      tfrt_request_context_create(&options, tfrt_counting_allocator_interface(&books), &request));
  ck_assert_ptr_null(tfrt_request_deadline_start(request, &timers, &deadline));
}

static void end(void) {
  tfrt_request_deadline_stop(deadline);
  tfrt_request_context_release(request);
  tfrt_timer_queue_deinitialize(&timers);
  ck_assert_int_eq(tfrt_counting_allocator_counts(&books).current_bytes, 0);
}

START_TEST(a_request_is_cancelled_at_its_deadline) {
  begin(1500);
  tfrt_fake_clock_advance_to(&fake_clock, 1499);
  ck_assert_uint_eq(tfrt_timer_queue_run_due(&timers), 0);
  ck_assert_ptr_null(tfrt_request_context_cancelled(request));
  tfrt_fake_clock_advance_to(&fake_clock, 1500);
  ck_assert_uint_eq(tfrt_timer_queue_run_due(&timers), 1);
  tfrt_async_value_t* reason = tfrt_request_context_cancelled(request);
  ck_assert_ptr_nonnull(reason);
  tfrt_status_t status = tfrt_async_value_error(reason);
  ck_assert_int_eq(tfrt_status_code(status), TFRT_STATUS_DEADLINE_EXCEEDED);
  ck_assert_str_eq(tfrt_status_message(status), "the deadline of the request has passed");
  end();
}
END_TEST

START_TEST(a_request_that_ends_before_is_left_alone) {
  begin(1500);
  tfrt_request_deadline_stop(deadline);
  deadline = NULL;
  ck_assert_int_eq(tfrt_timer_queue_next_deadline(&timers), TFRT_TIME_INFINITE);
  tfrt_fake_clock_advance_to(&fake_clock, 2000);
  ck_assert_uint_eq(tfrt_timer_queue_run_due(&timers), 0);
  ck_assert_ptr_null(tfrt_request_context_cancelled(request));
  end();
}
END_TEST

START_TEST(a_request_without_a_deadline_needs_no_timer) {
  begin(TFRT_REQUEST_NO_DEADLINE);
  ck_assert_ptr_null(deadline);
  ck_assert_int_eq(tfrt_timer_queue_next_deadline(&timers), TFRT_TIME_INFINITE);
  end();
}
END_TEST

Suite* tfrt_test_suite(void) {
  Suite* suite = suite_create("request_deadline");
  TCase* cases = tcase_create("request_deadline");
  tcase_add_test(cases, a_request_is_cancelled_at_its_deadline);
  tcase_add_test(cases, a_request_that_ends_before_is_left_alone);
  tcase_add_test(cases, a_request_without_a_deadline_needs_no_timer);
  suite_add_tcase(suite, cases);
  return suite;
}
