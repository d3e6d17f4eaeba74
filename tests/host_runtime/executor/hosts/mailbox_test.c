// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/executor/hosts/mailbox.h"

#include <stdio.h>

#include "host_runtime/async/builtin_types.h"
#include "host_runtime/base/counting_allocator.h"
#include "tests/support/test_main.h"

static tfrt_counting_allocator_t books;
static tfrt_mailbox_t mailbox;
static tfrt_request_context_t* request;

static const tfrt_status_origin_t site = {.kernel = "test.recv", .file = "a.mlir", .line = 3};

// The number of the last message that met its receiver, and how often one did.
static int32_t met_number;
static uint32_t met_count;

static void note_meeting(tfrt_mailbox_t* self, tfrt_async_value_t* value,
                         const tfrt_status_origin_t* where) {
  ck_assert_ptr_eq(self, &mailbox);
  ck_assert_str_eq(where->kernel, site.kernel);
  ck_assert_uint_eq(where->line, site.line);
  met_number = *(int32_t*)tfrt_async_value_payload(tfrt_async_value_resolved(value));
  ++met_count;
}

static void set_up(void) {
  met_number = 0;
  met_count = 0;
  tfrt_counting_allocator_initialize(&books, tfrt_allocator_system(),
                                     TFRT_COUNTING_ALLOCATOR_UNLIMITED);
  tfrt_mailbox_initialize(&mailbox, tfrt_counting_allocator_interface(&books), note_meeting);
  tfrt_request_options_t options = tfrt_request_options_default();
  options.id = 7;
  tfrt_status_t status = tfrt_request_context_create(&options, tfrt_allocator_system(), &request);
  ck_assert_ptr_null(status);
}

static void tear_down(void) {
  tfrt_request_context_release(request);
  tfrt_mailbox_deinitialize(&mailbox);
  ck_assert_int_eq(tfrt_counting_allocator_counts(&books).current_bytes, 0);
}

static void send_to(uint64_t id, uint32_t sender, const char* key, int32_t number) {
  tfrt_async_value_t* value = tfrt_async_value_create_i32(number);
  tfrt_status_t status = tfrt_mailbox_send(&mailbox, id, sender, tfrt_string_view_of(key), value);
  ck_assert_ptr_null(status);
  tfrt_async_value_release(value);
}

static tfrt_async_value_t* receive_for(tfrt_request_context_t* by, uint64_t number, uint32_t sender,
                                       const char* key) {
  tfrt_mailbox_receiver_t receiver = {.request = by, .site = &site};
  return tfrt_mailbox_receive(&mailbox, &receiver, number, sender, tfrt_string_view_of(key));
}

static tfrt_async_value_t* receive_as(uint64_t number, uint32_t sender, const char* key) {
  return receive_for(request, number, sender, key);
}

static tfrt_async_value_t* receive(uint32_t sender, const char* key) {
  return receive_as(request->options.id, sender, key);
}

// Checks that |value| (consumed) is |number|.
static void expect(tfrt_async_value_t* value, int32_t number) {
  ck_assert(tfrt_async_value_is_available(value) && !tfrt_async_value_is_error(value));
  ck_assert_int_eq(*(int32_t*)tfrt_async_value_payload(tfrt_async_value_resolved(value)), number);
  tfrt_async_value_release(value);
}

START_TEST(either_side_may_come_first) {
  send_to(7, 1, "a", 10);
  expect(receive(1, "a"), 10);
  tfrt_async_value_t* later = receive(1, "a");
  ck_assert(!tfrt_async_value_is_available(later));
  send_to(7, 1, "a", 11);
  expect(later, 11);
}
END_TEST

START_TEST(only_the_same_request_sender_and_key_meet) {
  tfrt_async_value_t* value = receive(1, "a");
  send_to(8, 1, "a", 1);
  send_to(7, 2, "a", 2);
  send_to(7, 1, "b", 3);
  send_to(7, 1, "", 4);
  ck_assert(!tfrt_async_value_is_available(value));
  send_to(7, 1, "a", 5);
  expect(value, 5);
  expect(receive(1, ""), 4);
  expect(receive(1, "b"), 3);
  expect(receive(2, "a"), 2);
  bool waits = true;
  expect(tfrt_mailbox_take(&mailbox, 1, false, &waits), 1);
  ck_assert(!waits);
}
END_TEST

START_TEST(of_several_the_first_comes_first) {
  send_to(7, 1, "a", 1);
  send_to(7, 1, "a", 2);
  expect(receive(1, "a"), 1);
  expect(receive(1, "a"), 2);
  tfrt_async_value_t* first = receive(1, "a");
  tfrt_async_value_t* second = receive(1, "a");
  send_to(7, 1, "a", 3);
  send_to(7, 1, "a", 4);
  expect(first, 3);
  expect(second, 4);
}
END_TEST

static void cancel(tfrt_request_context_t* cancelled) {
  tfrt_status_t reason = tfrt_status_create(TFRT_STATUS_CANCELLED, "enough");
  tfrt_request_context_cancel(cancelled, reason);
  tfrt_status_release(reason);
}

START_TEST(a_cancel_ends_waits_before_and_after) {
  tfrt_async_value_t* before = receive(1, "a");
  cancel(request);
  tfrt_async_value_t* after = receive(1, "a");
  ck_assert_str_eq(tfrt_status_message(tfrt_async_value_error(before)), "enough");
  ck_assert_str_eq(tfrt_status_message(tfrt_async_value_error(after)), "enough");
  // Messages that come now are released when the request is over.
  send_to(7, 1, "a", 1);
  send_to(7, 1, "a", 2);
  ck_assert(tfrt_async_value_is_error(before));
  ck_assert_uint_eq(met_count, 0);
  tfrt_async_value_release(before);
  tfrt_async_value_release(after);
  expect(tfrt_mailbox_take_unreceived(&mailbox, 7), 1);
  expect(tfrt_mailbox_take_unreceived(&mailbox, 7), 2);
  ck_assert_ptr_null(tfrt_mailbox_take_unreceived(&mailbox, 7));
}
END_TEST

START_TEST(what_nobody_received_is_taken_out_with_its_request) {
  tfrt_async_value_t* value = receive(1, "a");
  send_to(8, 1, "a", 1);
  send_to(7, 1, "b", 2);
  send_to(0, 1, "tfrt:7:g:0", 3);
  send_to(0, 1, "tfrt:71:g:0", 4);
  expect(tfrt_mailbox_take_unreceived(&mailbox, 7), 2);
  expect(tfrt_mailbox_take_unreceived(&mailbox, 7), 3);
  ck_assert_ptr_null(tfrt_mailbox_take_unreceived(&mailbox, 7));
  send_to(7, 1, "a", 5);
  expect(value, 5);
  expect(receive_as(8, 1, "a"), 1);
  expect(receive_as(0, 1, "tfrt:71:g:0"), 4);
}
END_TEST

START_TEST(whoever_comes_second_tells_where_a_value_is_received) {
  send_to(7, 1, "a", 10);
  ck_assert_uint_eq(met_count, 0);
  expect(receive(1, "a"), 10);
  ck_assert_uint_eq(met_count, 1);
  ck_assert_int_eq(met_number, 10);
  tfrt_async_value_t* later = receive(1, "a");
  ck_assert_uint_eq(met_count, 1);
  send_to(7, 1, "a", 11);
  ck_assert_uint_eq(met_count, 2);
  ck_assert_int_eq(met_number, 11);
  expect(later, 11);
}
END_TEST

static void note_wait(void* self, const tfrt_mailbox_entry_t* entry) {
  ck_assert(!entry->is_sent);
  ck_assert_uint_eq(entry->request, 7);
  ck_assert_str_eq(entry->site->kernel, "test.recv");
  ck_assert_uint_eq(entry->site->line, 3);
  ++*(uint32_t*)self;
}

static void note_value(void* self, const tfrt_mailbox_entry_t* entry) {
  ck_assert(entry->is_sent && !entry->site);
  ck_assert_uint_eq(entry->request, 8);
  ++*(uint32_t*)self;
}

START_TEST(a_wait_is_shown_with_its_request_and_its_op_whatever_number_it_is_for) {
  tfrt_async_value_t* first = receive(1, "a");
  tfrt_async_value_t* second = receive_as(0, 1, "a");
  uint32_t count = 0;
  tfrt_mailbox_visit(&mailbox, note_wait, &count);
  ck_assert_uint_eq(count, 2);
  send_to(7, 1, "a", 1);
  send_to(0, 1, "a", 2);
  expect(first, 1);
  expect(second, 2);
  send_to(8, 1, "a", 3);
  tfrt_mailbox_visit(&mailbox, note_value, &count);
  ck_assert_uint_eq(count, 3);
  bool waits = true;
  expect(tfrt_mailbox_take(&mailbox, 1, false, &waits), 3);
}
END_TEST

static void count_entry(void* self, const tfrt_mailbox_entry_t* entry) {
  (void)entry;
  ++*(uint32_t*)self;
}

static uint32_t entry_count(void) {
  uint32_t count = 0;
  tfrt_mailbox_visit(&mailbox, count_entry, &count);
  return count;
}

// Cancels one call; other calls of its run go on.
START_TEST(a_cancelled_wait_takes_no_message_of_the_next) {
  tfrt_request_context_t* other = NULL;
  tfrt_status_t status =
      tfrt_request_context_create(&request->options, tfrt_allocator_system(), &other);
  ck_assert_ptr_null(status);
  tfrt_async_value_t* ended = receive_for(other, 7, 1, "a");
  tfrt_async_value_t* value = receive(1, "a");
  ck_assert_uint_eq(entry_count(), 2);
  cancel(other);
  ck_assert(tfrt_async_value_is_error(ended));
  ck_assert_uint_eq(entry_count(), 1);
  send_to(7, 1, "a", 5);
  expect(value, 5);
  ck_assert_uint_eq(entry_count(), 0);
  tfrt_async_value_t* late = receive_for(other, 7, 1, "a");
  ck_assert(tfrt_async_value_is_error(late));
  ck_assert_uint_eq(entry_count(), 0);
  tfrt_async_value_release(late);
  tfrt_async_value_release(ended);
  tfrt_request_context_release(other);
}
END_TEST

// Its message is here, and not resolved.
START_TEST(a_cancel_of_a_wait_that_has_met_its_message_leaves_others_alone) {
  tfrt_async_value_t* value = receive(1, "a");
  tfrt_indirect_value_t* sent = tfrt_indirect_value_create();
  mailbox.met = NULL;
  tfrt_status_t status = tfrt_mailbox_send(&mailbox, 7, 1, tfrt_string_view_of("a"), &sent->base);
  ck_assert_ptr_null(status);
  send_to(7, 1, "a", 6);
  cancel(request);
  ck_assert_uint_eq(entry_count(), 1);
  tfrt_indirect_value_forward_take(sent, tfrt_async_value_create_i32(5));
  expect(value, 5);
  expect(receive(1, "a"), 6);
  tfrt_async_value_release(&sent->base);
}
END_TEST

START_TEST(the_end_of_a_sender_takes_only_what_waits_for_it) {
  tfrt_async_value_t* value = receive(1, "a");
  tfrt_async_value_t* other = receive(2, "a");
  send_to(7, 1, "b", 1);
  bool waits = false;
  tfrt_async_value_t* taken = tfrt_mailbox_take(&mailbox, 1, true, &waits);
  ck_assert_ptr_eq(taken, value);
  ck_assert(waits);
  ck_assert_ptr_null(tfrt_mailbox_take(&mailbox, 1, true, &waits));
  tfrt_status_t lost = tfrt_status_create(TFRT_STATUS_UNAVAILABLE, "lost");
  tfrt_async_value_set_error(taken, lost);
  tfrt_status_release(lost);
  tfrt_async_value_release(taken);
  tfrt_async_value_release(value);
  expect(receive(1, "b"), 1);
  send_to(7, 2, "a", 2);
  expect(other, 2);
}
END_TEST

START_TEST(closed_keys_give_their_error_and_keep_nothing) {
  tfrt_async_value_t* waits = receive(1, "g:1");
  tfrt_async_value_t* other = receive(1, "h:1");
  send_to(7, 2, "g:2", 5);
  tfrt_status_t reason = tfrt_status_create(TFRT_STATUS_UNAVAILABLE, "gone");
  tfrt_async_value_t* error = tfrt_async_value_create_error(reason);
  tfrt_string_view_t close = tfrt_string_view_of(TFRT_MAILBOX_CLOSE_PREFIX "g:");
  for (int i = 0; i < 2; ++i) {
    ck_assert_ptr_null(tfrt_mailbox_send(&mailbox, 0, 3, close, error));
  }
  ck_assert_ptr_eq(tfrt_async_value_error(waits), reason);
  tfrt_async_value_release(waits);
  // A later message is dropped, and a later receiver gets the error.
  send_to(7, 2, "g:3", 6);
  tfrt_async_value_t* late = receive(2, "g:3");
  ck_assert_ptr_eq(tfrt_async_value_error(late), reason);
  tfrt_async_value_release(late);
  send_to(7, 1, "h:1", 8);
  expect(other, 8);
  tfrt_async_value_release(error);
  tfrt_status_release(reason);
}
END_TEST

static void close_keys(const char* prefix) {
  char key[64];
  snprintf(key, sizeof(key), TFRT_MAILBOX_CLOSE_PREFIX "%s", prefix);
  tfrt_async_value_t* error = tfrt_async_value_create_error_take(
      tfrt_status_create(TFRT_STATUS_UNAVAILABLE, "%s is closed", prefix));
  ck_assert_ptr_null(tfrt_mailbox_send(&mailbox, 0, 1, tfrt_string_view_of(key), error));
  tfrt_async_value_release(error);
}

START_TEST(what_is_closed_is_forgotten_with_its_request) {
  close_keys("tfrt:7:a:");
  close_keys("tfrt:7:b:");
  close_keys("tfrt:71:a:");
  ck_assert(tfrt_mailbox_forget_closed(&mailbox, 7));
  ck_assert(!tfrt_mailbox_forget_closed(&mailbox, 7));
  send_to(0, 1, "tfrt:7:a:0", 5);
  expect(receive_as(0, 1, "tfrt:7:a:0"), 5);
  tfrt_async_value_t* still = receive_as(0, 1, "tfrt:71:a:0");
  ck_assert(tfrt_async_value_is_error(still));
  tfrt_async_value_release(still);
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* meetings = tcase_create("mailbox");
  tcase_add_checked_fixture(meetings, set_up, tear_down);
  tcase_add_test(meetings, either_side_may_come_first);
  tcase_add_test(meetings, only_the_same_request_sender_and_key_meet);
  tcase_add_test(meetings, of_several_the_first_comes_first);
  tcase_add_test(meetings, a_cancel_ends_waits_before_and_after);
  tcase_add_test(meetings, what_nobody_received_is_taken_out_with_its_request);
  tcase_add_test(meetings, a_cancelled_wait_takes_no_message_of_the_next);
  tcase_add_test(meetings, a_cancel_of_a_wait_that_has_met_its_message_leaves_others_alone);
  tcase_add_test(meetings, whoever_comes_second_tells_where_a_value_is_received);
  tcase_add_test(meetings, a_wait_is_shown_with_its_request_and_its_op_whatever_number_it_is_for);
  tcase_add_test(meetings, the_end_of_a_sender_takes_only_what_waits_for_it);
  tcase_add_test(meetings, closed_keys_give_their_error_and_keep_nothing);
  tcase_add_test(meetings, what_is_closed_is_forgotten_with_its_request);
  Suite* suite = suite_create("mailbox");
  suite_add_tcase(suite, meetings);
  return suite;
}
