// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/executor/hosts/in_process_hosts.h"

#include <stdio.h>
#include <string.h>

#include "host_runtime/async/builtin_types.h"
#include "host_runtime/base/counting_allocator.h"
#include "host_runtime/executor/kernel/function.h"
#include "host_runtime/executor/request/call_scope.h"
#include "tests/support/test_main.h"

// --- An output that remembers, and a function that says where it is ------------------

typedef struct remembering_output_s {
  tfrt_output_t base;
  char text[256];
} remembering_output_t;

static tfrt_async_value_t* remember(tfrt_output_t* base, tfrt_string_view_t text,
                                    tfrt_call_scope_t* scope) {
  (void)scope;
  remembering_output_t* output = TFRT_CONTAINER_OF(base, remembering_output_t, base);
  size_t size = strlen(output->text);
  snprintf(output->text + size, sizeof(output->text) - size, "%.*s|",
           TFRT_STRING_VIEW_ARGUMENTS(text));
  return tfrt_async_value_ready_chain();
}

static const tfrt_output_vtable_t remembering_vtable = {.print = remember};

static tfrt_counting_allocator_t books;
static remembering_output_t output;
static tfrt_in_process_hosts_t* hosts;

// A call that was begun and goes on until it is ended.
typedef struct running_call_s {
  tfrt_request_context_t* request;  // +1
  tfrt_call_scope_t* scope;         // entered
} running_call_t;

static running_call_t met;  // where the last call ran; entered if |goes_on|
static bool goes_on;

static void set_up(void) {
  tfrt_counting_allocator_initialize(&books, tfrt_allocator_system(),
                                     TFRT_COUNTING_ALLOCATOR_UNLIMITED);
  output = (remembering_output_t){.base.vtable = &remembering_vtable};
  tfrt_request_options_t options = tfrt_request_options_default();
  options.id = 7;
  options.output = &output.base;
  tfrt_status_t status = tfrt_in_process_hosts_allocate(
      3, &options, tfrt_counting_allocator_interface(&books), &hosts);
  ck_assert_ptr_null(status);
}

static void tear_down(void) {
  tfrt_request_context_release(met.request);
  met = (running_call_t){0};
  tfrt_in_process_hosts_free(hosts);
  ck_assert_int_eq(tfrt_counting_allocator_counts(&books).current_bytes, 0);
}

static tfrt_call_place_t place_of(const tfrt_request_context_t* request) {
  tfrt_call_router_t* router = request->options.router;
  return router->vtable->place(router);
}

// Gives the rank that it runs on.
static void say_rank(const tfrt_function_t* function, const tfrt_execution_context_t* context,
                     tfrt_async_value_t* const* arguments, tfrt_async_value_t** results) {
  (void)function, (void)arguments;
  tfrt_request_context_release(met.request);
  met.request = tfrt_request_context_retain(context->request);
  met.scope = context->scope;
  if (goes_on) tfrt_call_scope_enter(met.scope);
  results[0] = tfrt_async_value_create_i32((int32_t)place_of(context->request).rank);
}

static const tfrt_function_vtable_t say_rank_vtable = {.execute = say_rank,
                                                       .execute_take = say_rank};

// Calls that function with |options| out of |outer|.
static tfrt_async_value_t* call(const running_call_t* outer, const tfrt_call_options_t* options) {
  const tfrt_function_t function = {
      .vtable = &say_rank_vtable, .name = "say_rank", .result_count = 1};
  const tfrt_execution_context_t context = {.request = outer->request, .scope = outer->scope};
  const tfrt_status_origin_t site = {.rank = TFRT_STATUS_NO_RANK, .function = "main", .line = 3};
  tfrt_async_value_t* result = NULL;
  const tfrt_routed_call_t routed = {.options = options,
                                     .function = &function,
                                     .context = &context,
                                     .site = &site,
                                     .results = &result};
  tfrt_call_router_t* router = outer->request->options.router;
  router->vtable->call(router, &routed);
  return result;
}

// The caller of the entry function.
static running_call_t entry(void) {
  return (running_call_t){.request = tfrt_in_process_hosts_request(hosts)};
}

static running_call_t begin(const running_call_t* outer, uint32_t rank) {
  goes_on = true;
  tfrt_async_value_release(call(outer, &(tfrt_call_options_t){.has_host = true, .host = rank}));
  goes_on = false;
  tfrt_request_context_retain(met.request);
  return met;
}

static void end(const running_call_t* running) {
  tfrt_call_scope_leave(running->scope);
  tfrt_request_context_release(running->request);
}

// --- Tests ---------------------------------------------------------------------------

START_TEST(each_host_knows_where_it_is) {
  running_call_t main_call = entry();
  for (uint32_t rank = 0; rank < 3; ++rank) {
    running_call_t running = begin(&main_call, rank);
    ck_assert_uint_eq(place_of(running.request).rank, rank);
    ck_assert_uint_eq(place_of(running.request).host_count, 3);
    ck_assert_uint_eq(running.request->options.id, 7);
    ck_assert_uint_eq(running.request->options.call_depth, rank > 0);
    end(&running);
  }
}
END_TEST

START_TEST(a_call_runs_on_the_host_that_it_names) {
  running_call_t main_call = entry();
  running_call_t one = begin(&main_call, 1);
  for (uint32_t rank = 0; rank < 3; ++rank) {
    tfrt_async_value_t* result = call(&one, &(tfrt_call_options_t){.has_host = true, .host = rank});
    ck_assert_int_eq(*(int32_t*)tfrt_async_value_payload(result), (int32_t)rank);
    tfrt_async_value_release(result);
  }
  end(&one);
}
END_TEST

START_TEST(a_call_without_a_host_stays) {
  running_call_t main_call = entry();
  running_call_t two = begin(&main_call, 2);
  tfrt_async_value_t* result = call(&two, &(tfrt_call_options_t){.pure = true});
  ck_assert_int_eq(*(int32_t*)tfrt_async_value_payload(result), 2);
  ck_assert_ptr_eq(met.request, two.request);
  tfrt_async_value_release(result);
  end(&two);
}
END_TEST

START_TEST(a_host_that_is_not_there_is_an_error_with_the_place_of_the_call) {
  running_call_t main_call = entry();
  tfrt_async_value_t* result =
      call(&main_call, &(tfrt_call_options_t){.has_host = true, .host = 3});
  const tfrt_status_fields_t* fields = tfrt_status_fields(tfrt_async_value_error(result));
  ck_assert_int_eq(fields->code, TFRT_STATUS_INVALID_ARGUMENT);
  ck_assert_str_eq(fields->message, "the call asks for host 3, the job has 3 hosts");
  ck_assert_str_eq(fields->origin.function, "main");
  ck_assert_uint_eq(fields->origin.line, 3);
  tfrt_async_value_release(result);
}
END_TEST

static void print(uint32_t rank, const char* text) {
  running_call_t main_call = entry();
  running_call_t running = begin(&main_call, rank);
  tfrt_async_value_t* chain =
      tfrt_request_context_print(running.request, tfrt_string_view_of(text));
  end(&running);
  ck_assert(!tfrt_async_value_is_error(chain));
  tfrt_async_value_release(chain);
}

START_TEST(lines_have_the_rank_in_front_but_for_the_first_host) {
  print(0, "zero\nzero");
  print(2, "two\nlines");
  print(1, "");
  ck_assert_str_eq(output.text, "zero\nzero|[2] two\n[2] lines|[1] |");
}
END_TEST

START_TEST(a_copy_is_the_value_itself) {
  tfrt_async_value_t* value = tfrt_async_value_create_i32(7);
  tfrt_call_router_t* router = tfrt_in_process_hosts_request(hosts)->options.router;
  tfrt_async_value_t* copy =
      router->vtable->copy(router, &(tfrt_routed_copy_t){.host = 2, .value = value});
  ck_assert_ptr_eq(copy, value);
  tfrt_async_value_release(copy);
  tfrt_async_value_release(value);
}
END_TEST

START_TEST(one_host_for_all_takes_calls_that_name_others) {
  tfrt_in_process_hosts_free(hosts);
  tfrt_request_options_t options = tfrt_request_options_default();
  tfrt_status_t status = tfrt_in_process_hosts_allocate(
      0, &options, tfrt_counting_allocator_interface(&books), &hosts);
  ck_assert_ptr_null(status);
  ck_assert_uint_eq(place_of(tfrt_in_process_hosts_request(hosts)).host_count, 1);
  running_call_t main_call = entry();
  tfrt_async_value_t* result =
      call(&main_call, &(tfrt_call_options_t){.has_host = true, .host = 2});
  ck_assert_int_eq(*(int32_t*)tfrt_async_value_payload(result), 0);
  tfrt_async_value_release(result);
}
END_TEST

START_TEST(one_host_that_is_alone_says_so) {
  tfrt_in_process_hosts_free(hosts);
  tfrt_request_options_t options = tfrt_request_options_default();
  tfrt_status_t status = tfrt_in_process_hosts_allocate(
      1, &options, tfrt_counting_allocator_interface(&books), &hosts);
  ck_assert_ptr_null(status);
  running_call_t main_call = entry();
  tfrt_async_value_t* result =
      call(&main_call, &(tfrt_call_options_t){.has_host = true, .host = 1});
  ck_assert_str_eq(tfrt_status_message(tfrt_async_value_error(result)),
                   "the call asks for host 1, the job has 1 host");
  tfrt_async_value_release(result);
}
END_TEST

START_TEST(what_only_one_side_came_for_ends_with_the_hosts) {
  tfrt_async_value_t* key = tfrt_async_value_create_string(tfrt_string_view_of("key"));
  tfrt_call_router_t* router = tfrt_in_process_hosts_request(hosts)->options.router;
  const tfrt_status_origin_t site = {.rank = TFRT_STATUS_NO_RANK, .function = "main"};
  const tfrt_execution_context_t context = {.request = tfrt_in_process_hosts_request(hosts)};
  tfrt_routed_message_t message = {
      .host = 2, .context = &context, .site = &site, .key = key, .value = key};
  tfrt_async_value_t* chain = router->vtable->send(router, &message);
  ck_assert(!tfrt_async_value_is_error(chain));
  tfrt_async_value_t* received = router->vtable->receive(router, &message);
  ck_assert(!tfrt_async_value_is_available(received));
  tfrt_async_value_release(received);
  message.host = 3;
  tfrt_async_value_t* nobody = router->vtable->send(router, &message);
  ck_assert_int_eq(tfrt_status_code(tfrt_async_value_error(nobody)), TFRT_STATUS_INVALID_ARGUMENT);
  tfrt_async_value_release(nobody);
  tfrt_async_value_release(chain);
  tfrt_async_value_release(key);
}
END_TEST

static void cancel(tfrt_request_context_t* request) {
  tfrt_status_t reason = tfrt_status_create(TFRT_STATUS_CANCELLED, "enough");
  tfrt_request_context_cancel(request, reason);
  tfrt_status_release(reason);
}

static bool is_cancelled(const running_call_t* running) {
  tfrt_async_value_t* reason = tfrt_request_context_cancelled(running->request);
  if (!reason) return false;
  ck_assert_int_eq(tfrt_status_code(tfrt_async_value_error(reason)), TFRT_STATUS_CANCELLED);
  return true;
}

START_TEST(a_cancel_goes_down_the_tree_of_calls_and_nowhere_else) {
  running_call_t main_call = entry();
  running_call_t outer = begin(&main_call, 1);
  running_call_t inner = begin(&outer, 0);
  running_call_t other = begin(&main_call, 1);
  cancel(outer.request);
  ck_assert(is_cancelled(&inner));
  ck_assert(!is_cancelled(&other));
  ck_assert(!is_cancelled(&main_call));
  cancel(main_call.request);
  ck_assert(is_cancelled(&other));
  running_call_t late = begin(&main_call, 2);
  ck_assert(is_cancelled(&late));
  end(&late);
  end(&outer);
  end(&inner);
  end(&other);
}
END_TEST

START_TEST(a_call_that_is_over_is_not_cancelled_any_more) {
  running_call_t main_call = entry();
  running_call_t running = begin(&main_call, 1);
  tfrt_call_scope_leave(running.scope);
  cancel(main_call.request);
  ck_assert(!is_cancelled(&running));
  tfrt_request_context_release(running.request);
}
END_TEST

#define MANY 200000

// Each call is in the one before: no stack has room for this many nested cancels, or ends.
START_TEST(calls_nest_to_any_depth) {
  static running_call_t running[MANY];
  running_call_t main_call = entry();
  for (uint32_t i = 0; i < MANY; ++i) {
    running[i] = begin(i > 0 ? &running[i - 1] : &main_call, 1 + i % 2);
  }
  cancel(main_call.request);
  ck_assert(is_cancelled(&running[MANY - 1]));
  for (uint32_t i = 0; i < MANY; ++i) end(&running[i]);
}
END_TEST

START_TEST(without_memory_there_are_no_hosts) {
  tfrt_request_options_t options = tfrt_request_options_default();
  tfrt_in_process_hosts_t* none = NULL;
  for (int64_t limit = 0; limit < 4096; limit += 64) {
    tfrt_counting_allocator_t few;
    tfrt_counting_allocator_initialize(&few, tfrt_allocator_system(), limit);
    tfrt_status_t status =
        tfrt_in_process_hosts_allocate(3, &options, tfrt_counting_allocator_interface(&few), &none);
    if (status) {
      ck_assert_int_eq(tfrt_status_code(status), TFRT_STATUS_RESOURCE_EXHAUSTED);
      ck_assert_ptr_null(none);
    }
    tfrt_status_release(status);
    tfrt_in_process_hosts_free(none);
    ck_assert_int_eq(tfrt_counting_allocator_counts(&few).current_bytes, 0);
  }
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* all = tcase_create("in-process hosts");
  tcase_add_checked_fixture(all, set_up, tear_down);
  tcase_add_test(all, each_host_knows_where_it_is);
  tcase_add_test(all, a_call_runs_on_the_host_that_it_names);
  tcase_add_test(all, a_call_without_a_host_stays);
  tcase_add_test(all, a_host_that_is_not_there_is_an_error_with_the_place_of_the_call);
  tcase_add_test(all, lines_have_the_rank_in_front_but_for_the_first_host);
  tcase_add_test(all, a_copy_is_the_value_itself);
  tcase_add_test(all, one_host_for_all_takes_calls_that_name_others);
  tcase_add_test(all, one_host_that_is_alone_says_so);
  tcase_add_test(all, what_only_one_side_came_for_ends_with_the_hosts);
  tcase_add_test(all, a_cancel_goes_down_the_tree_of_calls_and_nowhere_else);
  tcase_add_test(all, a_call_that_is_over_is_not_cancelled_any_more);
  tcase_add_test(all, calls_nest_to_any_depth);
  tcase_add_test(all, without_memory_there_are_no_hosts);
  Suite* suite = suite_create("in-process hosts");
  suite_add_tcase(suite, all);
  return suite;
}
