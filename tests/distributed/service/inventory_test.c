// SPDX-License-Identifier: Apache-2.0
//
// Any client can ask a host about the jobs of others, and have the host end them:
// distributed/service/inventory.h and distributed/service/answer.h.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "distributed/host/node.h"
#include "tests/distributed/job/job_harness.h"
#include "tests/support/test_main.h"

// @main on host 0 waits for @wait on host 1, which waits for a message that is never sent; and gets
// what @f on host 1 makes, which waits for nothing.
static const char waiting_program[] =
    "func.func @wait(%x: i32) -> i32 {\n"
    "  %c = tfrt.new.chain\n"
    "  %h = tfrt_dist.host %x\n"
    "  %k = \"tfrt_test.get_string\"() {value = \"never\"} : () -> !tfrt.string\n"
    "  %v, %c1 = tfrt_dist.recv %h, %k, %c : i32\n"
    "  tfrt.return %v : i32\n"
    "}\n"
    "func.func @f(%x: i32) -> i32 {\n"
    "  %y = tfrt.add.i32 %x, %x\n"
    "  tfrt.return %y : i32\n"
    "}\n"
    "func.func @main(%x: i32) -> (i32, i32) {\n"
    "  %v = tfrt.call @wait(%x) {host = 1 : i32} : (i32) -> i32\n"
    "  %w = tfrt.call @f(%v) {host = 2 : i32} : (i32) -> i32\n"
    "  %y = tfrt.call @f(%x) {host = 1 : i32} : (i32) -> i32\n"
    "  tfrt.return %w, %y : i32, i32\n"
    "}\n";

static tfrt_node_world_t world;
static uint32_t drain_count;

static void note_drain(void* self) {
  (void)self;
  ++drain_count;
}

// The clients are of a version before FEATURE_ASK and FEATURE_FOLLOW, which asks in lines of text.
static bool clients_are_old;
static uint32_t client_index;  // of the node that has them

// The part of an inventory that is asked for.
static tfrt_client_inventory_t which = TFRT_CLIENT_INVENTORY_ALL;
static uint64_t skip;  // the calls and values of it that are passed over

// Host 1 can be told to drain.
static void configure(uint32_t index, tfrt_node_options_t* options) {
  if (index == 1) options->on_drain = note_drain;
  bool is_old = clients_are_old && index == client_index;
  const tfrt_wire_features_t later = TFRT_WIRE_FEATURE_ASK | TFRT_WIRE_FEATURE_FOLLOW;
  if (is_old) options->session.features &= ~later;
}

static void begin_with(const char* text, uint32_t result_count) {
  drain_count = 0;
  client_index = 3;
  tfrt_node_world_set_configure(configure);
  tfrt_node_world_initialize(&world, client_index, NULL);
  tfrt_node_world_start_i32(&world, text, 0, result_count);
  tfrt_node_world_run_for(&world, 3 * TFRT_NODE_WORLD_SECOND);
}

static void begin(void) { begin_with(waiting_program, 2); }

// The answer of host |rank| to another client: its inventory, or the answer to |what|. A |what| of
// "" asks for drain, and one that begins with `record ` for a record.
static tfrt_async_value_t* ask(uint32_t rank, const char* what) {
  tfrt_string_view_t address = tfrt_string_view_of(world.hosts[rank].address);
  tfrt_client_options_t options = {.addresses = &address,
                                   .host_count = 1,
                                   .name = tfrt_string_view_of("asker"),
                                   .asks_only = true};
  tfrt_client_t* client = NULL;
  tfrt_status_t status = tfrt_client_create(world.hosts[world.host_count].node, &options, &client);
  ck_assert_msg(!status, "%s", tfrt_status_message(status));
  tfrt_node_world_run_for(&world, TFRT_NODE_WORLD_SECOND / 10);
  ck_assert(!tfrt_async_value_is_error(tfrt_client_opened(client)));
  bool is_record = what && strncmp(what, "record ", 7) == 0;
  const tfrt_client_question_t question = {.kind = !what       ? TFRT_CLIENT_ASK_INVENTORY
                                                   : is_record ? TFRT_CLIENT_ASK_RECORD
                                                   : what[0]   ? TFRT_CLIENT_ASK_CANCEL
                                                               : TFRT_CLIENT_ASK_DRAIN,
                                           .about = tfrt_string_view_of(is_record ? what + 7
                                                                        : what    ? what
                                                                                  : ""),
                                           .part = which,
                                           .number = skip};
  tfrt_async_value_t* answer = tfrt_client_ask(client, 0, &question);
  tfrt_async_value_demand(answer);
  tfrt_node_world_run_for(&world, TFRT_NODE_WORLD_SECOND / 10);
  ck_assert(tfrt_async_value_is_available(answer));
  tfrt_client_close(client, NULL);
  tfrt_client_release(client);
  return answer;
}

// The inventory of host |rank|, in static storage.
static const char* inventory_of(uint32_t rank) {
  static char text[65536];
  tfrt_async_value_t* answer = ask(rank, NULL);
  ck_assert(!tfrt_async_value_is_error(answer));
  const tfrt_type_t* type = tfrt_type_get(tfrt_async_value_resolved(answer)->type_id);
  ck_assert_str_eq(type->name, clients_are_old ? "!tfrt.string" : "!tfrt.message");
  answer = tfrt_client_lines_take(answer);
  ck_assert(!tfrt_async_value_is_error(answer));
  tfrt_string_view_t view = tfrt_async_value_string(answer);
  snprintf(text, sizeof(text), "%.*s", (int)view.size, view.data);
  tfrt_async_value_release(answer);
  return text;
}

static void expect_answer(uint32_t rank, const char* what, tfrt_status_code_t code) {
  tfrt_async_value_t* answer = ask(rank, what);
  tfrt_status_t error = tfrt_async_value_is_error(answer) ? tfrt_async_value_error(answer) : NULL;
  ck_assert_msg(tfrt_status_code(error) == code, "%s: %s", what,
                error ? tfrt_status_message(error) : "done");
  tfrt_async_value_release(answer);
}

// Copies what is behind |name| in the first line of |text| that begins with |line| to |out|.
static void find(const char* text, const char* line, const char* name, char* out) {
  const char* found = strstr(text, line);
  ck_assert_msg(found, "no '%s' in:\n%s", line, text);
  const char* value = strstr(found, name);
  ck_assert_msg(value && value < found + strcspn(found, "\n"), "no '%s' in: %s", name, found);
  value += strlen(name);
  size_t size = strcspn(value, " \n");
  memcpy(out, value, size);
  out[size] = '\0';
}

static void expect(const char* text, const char* line, const char* name, const char* right) {
  char value[256];
  find(text, line, name, value);
  ck_assert_str_eq(value, right);
}

static void end(void) {
  tfrt_node_world_finish(&world);
  tfrt_node_world_deinitialize(&world);
  tfrt_node_world_set_configure(NULL);
}

// Like begin_with(), with @main making |count| calls of @wait on host 1.
static void begin_many(uint32_t count) {
  tfrt_string_builder_t text;
  tfrt_string_builder_initialize(&text, tfrt_allocator_system());
  tfrt_string_builder_append_text(
      &text,
      "func.func @wait(%x: i32) -> i32 {\n"
      "  %c = tfrt.new.chain\n"
      "  %h = tfrt_dist.host %x\n"
      "  %k = \"tfrt_test.get_string\"() {value = \"never\"} : () -> !tfrt.string\n"
      "  %v, %c1 = tfrt_dist.recv %h, %k, %c : i32\n"
      "  tfrt.return %v : i32\n"
      "}\n"
      "func.func @main(%x: i32) -> i32 {\n");
  for (uint32_t i = 0; i < count; ++i) {
    tfrt_string_builder_append_format(
        &text, "  %%v%u = tfrt.call @wait(%%x) {host = 1 : i32} : (i32) -> i32\n", i);
  }
  tfrt_string_builder_append_text(&text, "  tfrt.return %v0 : i32\n}\n");
  begin_with(tfrt_string_builder_text(&text), 1);
  tfrt_string_builder_deinitialize(&text);
}

// The number of lines of |text| that begin with |kind| and have |property|.
static uint32_t count_lines(const char* text, const char* kind, const char* property) {
  uint32_t count = 0;
  for (const char* line = text; *line;) {
    size_t size = strcspn(line, "\n");
    const char* found = strstr(line, property);
    count += strncmp(line, kind, strlen(kind)) == 0 && found && found < line + size;
    line += size;
    if (*line) ++line;
  }
  return count;
}

// However much lives on a host, an answer has a limit, and says how much it leaves out.
START_TEST(many_calls_are_listed_up_to_a_limit) {
  which = TFRT_CLIENT_INVENTORY_FEW;
  begin_many(80);
  const char* callee = inventory_of(1);
  if (clients_are_old) {
    // Such a client can't say how much it wants.
    ck_assert_uint_eq(count_lines(callee, "call ", " dir=in "), 80);
    end();
    return;
  }
  ck_assert_uint_eq(count_lines(callee, "call ", " dir=in "), 64);
  ck_assert_uint_eq(count_lines(callee, "object ", " id="), 64);
  expect(callee, "more ", " incoming_calls=", "16");
  expect(callee, "more ", " objects=", "16");
  expect(callee, "more ", " outgoing_calls=", "0");
  const char* caller = inventory_of(0);
  // Each call knows the start that it is made for.
  ck_assert_uint_eq(count_lines(caller, "call ", " dir=out "), 64);
  ck_assert_uint_eq(count_lines(caller, "call ", " in=1 "), 64);
  expect(caller, "more ", " outgoing_calls=", "16");
  expect(caller, "more ", " remote_values=", "16");
  // The second page has the rest.
  skip = 64;
  const char* second = inventory_of(1);
  ck_assert_uint_eq(count_lines(second, "call ", " dir=in "), 16);
  ck_assert_uint_eq(count_lines(second, "object ", " id="), 16);
  ck_assert_uint_eq(count_lines(second, "more ", ""), 0);
  const char* second_of_caller = inventory_of(0);
  ck_assert_uint_eq(count_lines(second_of_caller, "call ", " dir=out "), 16);
  ck_assert_uint_eq(count_lines(second_of_caller, "job ", " state=open"), 1);
  ck_assert_uint_eq(count_lines(second_of_caller, "more ", ""), 0);
  skip = 1000;
  ck_assert_uint_eq(count_lines(inventory_of(1), "call ", ""), 0);
  skip = 0;
  which = TFRT_CLIENT_INVENTORY_JOBS;
  const char* jobs = inventory_of(1);
  ck_assert_uint_eq(count_lines(jobs, "call ", ""), 0);
  ck_assert_uint_eq(count_lines(jobs, "object ", ""), 0);
  ck_assert_uint_eq(count_lines(jobs, "job ", " state=open"), 1);
  ck_assert_uint_eq(count_lines(jobs, "member ", " state=alive"), 3);
  ck_assert_uint_eq(count_lines(jobs, "more ", ""), 0);
  which = TFRT_CLIENT_INVENTORY_ALL;
  const char* all = inventory_of(1);
  ck_assert_uint_eq(count_lines(all, "call ", " dir=in "), 80);
  ck_assert_uint_eq(count_lines(all, "more ", ""), 0);
  end();
}
END_TEST

START_TEST(calls_and_what_they_wait_for_are_listed) {
  begin();
  char call[256];
  char value[256];
  const char* root = inventory_of(0);
  expect(root, "job ", " name=", "test");
  expect(root, "start ", " function=", "main");
  expect(root, "start ", " state=", "running");
  expect(root, "call ", " dir=", "out");
  expect(root, "call ", " in=", "1");
  expect(root, "function=wait", " from=", "main");
  find(root, "function=wait", " at=", value);
  ck_assert_ptr_nonnull(strstr(value, ":13:"));
  find(root, "host ", " incarnation=", call);
  const char* callee = inventory_of(1);
  expect(callee, "call ", " dir=", "in");
  expect(callee, "call ", " peer=", call);
  expect(callee, "call ", " function=", "wait");
  expect(callee, "receive ", " sender=", "0");
  expect(callee, "receive ", " key=", "never");
  expect(callee, "function=wait holders=", "holders=", call);
  find(callee, "call ", " age_us=", value);
  ck_assert_int_ge(atoi(value), 2000000);
  ck_assert_int_le(atoi(value), 4000000);
  // The third host was given what the second has not made.
  find(inventory_of(2), "call ", " needs=", value);
  ck_assert_ptr_nonnull(strstr(value, call));
  tfrt_client_close(world.client, NULL);
  end();
}
END_TEST

// Host 0 keeps what an op has made on host 1. Its program is forgotten there: when the last one
// comes there are more of them than are kept that nobody uses.
static const char ops_program[] =
    "func.func @main(%x: i32) -> (i32, i32) {\n"
    "  %c = tfrt.new.chain\n"
    "  %h = tfrt_dist.host %x\n"
    "  %k = tfrt_dist.key \"never\"\n"
    "  %one = tfrt.constant.i32 1\n"
    "  %rank = \"tfrt_test.run_op_on\"(%one) {op = \"tfrt_dist.rank\"} : (i32) -> (i32)\n"
    "  %e = \"tfrt_test.as_chain\"(%rank) : (i32) -> !tfrt.chain\n"
    "  %y = \"tfrt_test.identity\"(%e, %one) : (!tfrt.chain, i32) -> i32\n"
    "  %r = \"tfrt_test.sum_on\"(%y) {count = 40 : i32} : (i32) -> (i32)\n"
    "  %d = \"tfrt_test.as_chain\"(%r) : (i32) -> !tfrt.chain\n"
    "  %z = \"tfrt_test.identity\"(%d, %one) : (!tfrt.chain, i32) -> i32\n"
    "  %n = \"tfrt_test.run_op_on\"(%z) {op = \"tfrt_dist.num_hosts\"} : (i32) -> (i32)\n"
    "  %v, %c1 = tfrt_dist.recv %h, %k, %c : i32\n"
    "  %kept = \"tfrt_test.identity\"(%c1, %rank) : (!tfrt.chain, i32) -> i32\n"
    "  tfrt.return %kept, %n : i32, i32\n"
    "}\n";

START_TEST(what_an_op_has_made_is_listed_by_its_name_for_as_long_as_it_is_kept) {
  begin_with(ops_program, 2);
  const char* callee = inventory_of(1);
  ck_assert_msg(strstr(callee, "function=tfrt_dist.rank "), "%s", callee);
  tfrt_client_close(world.client, NULL);
  end();
}
END_TEST

START_TEST(who_asks_is_left_out_and_nothing_is_left_behind) {
  begin();
  tfrt_client_close(world.client, NULL);
  tfrt_node_world_run_for(&world, TFRT_NODE_WORLD_SECOND);
  for (uint32_t i = 0; i < 3; ++i) {
    const char* text = inventory_of(i);
    ck_assert_msg(strstr(text, "\n") == text + strlen(text) - 1, "more than a line: %s", text);
  }
  end();
}
END_TEST

START_TEST(the_client_of_a_job_finds_that_job_too) {
  begin();
  const tfrt_client_question_t question = {.kind = TFRT_CLIENT_ASK_INVENTORY, .part = which};
  tfrt_async_value_t* answer = tfrt_client_ask(world.client, 0, &question);
  tfrt_async_value_demand(answer);
  tfrt_node_world_run_for(&world, TFRT_NODE_WORLD_SECOND / 10);
  ck_assert(tfrt_async_value_is_available(answer));
  answer = tfrt_client_lines_take(answer);
  char id[TFRT_CLIENT_JOB_ID_SIZE];
  tfrt_client_job_id(world.client, id);
  const char* text = tfrt_async_value_string(answer).data;
  expect(text, "call ", " job=", id);
  ck_assert_ptr_nonnull(strstr(text, " dir=out "));
  tfrt_async_value_release(answer);
  end();
}
END_TEST

START_TEST(a_job_can_be_cancelled_by_another_client) {
  begin();
  char job[256];
  char what[300];
  find(inventory_of(0), "job ", " job=", job);
  snprintf(what, sizeof(what), "job %s", job);
  expect_answer(0, what, TFRT_STATUS_OK);
  tfrt_node_world_await(&world);
  ck_assert_int_eq(tfrt_status_code(tfrt_node_world_error(&world, 0)), TFRT_STATUS_CANCELLED);
  expect_answer(0, what, TFRT_STATUS_NOT_FOUND);
  ck_assert_ptr_null(strstr(inventory_of(1), "\njob "));
  end();
}
END_TEST

// Has host 1 cancel the call of @wait, with |place| behind its name, and checks that only that has
// an error: of |function|, FILE:|line|, on host |rank|.
static void expect_cancelled_at(const char* place, const char* function, uint32_t line,
                                uint32_t rank) {
  begin();
  char peer[256];
  char number[256];
  char what[600];
  const char* text = inventory_of(1);
  find(text, "call ", " peer=", peer);
  find(text, "call ", " number=", number);
  snprintf(what, sizeof(what), "call %s %s%s", peer, number, place);
  expect_answer(1, what, TFRT_STATUS_OK);
  tfrt_node_world_await(&world);
  const tfrt_status_fields_t* error = tfrt_status_fields(tfrt_node_world_error(&world, 0));
  ck_assert_int_eq(error->code, TFRT_STATUS_CANCELLED);
  ck_assert_str_eq(error->message,
                   "cancelled by an administrator (tfrt cancel) while it ran @wait");
  ck_assert_str_eq(error->origin.function, function);
  ck_assert_str_eq(error->origin.kernel, "");
  ck_assert_uint_eq(error->origin.line, line);
  ck_assert_uint_eq(error->origin.rank, rank);
  ck_assert_int_eq(tfrt_node_world_i32(&world, 1), 0);
  expect_answer(1, what, TFRT_STATUS_NOT_FOUND);
  end();
}

START_TEST(a_call_can_be_cancelled_and_only_that) { expect_cancelled_at("", "wait", 1, 1); }
END_TEST

START_TEST(a_cancelled_call_tells_where_it_was_made) {
  expect_cancelled_at(" some/pro:gram.mlir:13:8", "", 13, 0);
}
END_TEST

START_TEST(what_is_no_name_is_refused) {
  static const char* const bad[] = {"job",
                                    "job 12",
                                    "job 00000000000000000000000000000000 ",
                                    "job 0000000000000000000000000000000g",
                                    "call",
                                    "call 12",
                                    "call zz 1",
                                    "call 12 1 1",
                                    "call 12 1 a.mlir:1",
                                    "call 12 1 :1:1",
                                    "call 12 1 a.mlir:1:",
                                    "call 12 1 a.mlir:1:1 ",
                                    "call 12 1 a.mlir:-1:1",
                                    "everything that there is, with a text that is much too long"};
  begin();
  for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); ++i) {
    expect_answer(1, bad[i], TFRT_STATUS_INVALID_ARGUMENT);
  }
  expect_answer(1, "job 00000000000000000000000000000000", TFRT_STATUS_NOT_FOUND);
  expect_answer(1, "call 12 1", TFRT_STATUS_NOT_FOUND);
  tfrt_client_close(world.client, NULL);
  end();
}
END_TEST

START_TEST(only_who_can_drain_is_told_to) {
  begin();
  tfrt_async_value_t* answer = ask(1, "");
  ck_assert(!tfrt_async_value_is_error(answer));
  const tfrt_type_t* type = tfrt_type_get(tfrt_async_value_resolved(answer)->type_id);
  ck_assert_str_eq(type->name, clients_are_old ? "!tfrt.string" : "!tfrt.message");
  answer = tfrt_client_lines_take(answer);
  ck_assert(tfrt_string_view_equal(tfrt_async_value_string(answer), tfrt_string_view_of("1")));
  tfrt_async_value_release(answer);
  ck_assert_uint_eq(drain_count, 1);
  expect_answer(0, "", TFRT_STATUS_UNIMPLEMENTED);
  tfrt_client_close(world.client, NULL);
  end();
}
END_TEST

START_TEST(a_host_that_drains_answers_but_runs_nothing_new) {
  begin();
  tfrt_node_refuse_jobs(world.hosts[1].node);
  tfrt_node_world_run_for(&world, TFRT_NODE_WORLD_SECOND);
  expect(inventory_of(1), "host ", " serving=", "0");
  tfrt_string_view_t address = tfrt_string_view_of(world.hosts[1].address);
  tfrt_client_options_t options = {
      .addresses = &address, .host_count = 1, .name = tfrt_string_view_of("late")};
  tfrt_client_t* client = NULL;
  ck_assert(
      tfrt_status_is_ok(tfrt_client_create(world.hosts[world.host_count].node, &options, &client)));
  tfrt_node_world_run_for(&world, TFRT_NODE_WORLD_SECOND);
  ck_assert(tfrt_async_value_is_error(tfrt_client_opened(client)));
  tfrt_client_close(client, NULL);
  tfrt_client_release(client);
  tfrt_client_close(world.client, NULL);
  end();
}
END_TEST

START_TEST(a_lost_host_is_a_lost_member_and_nothing_is_listed_for_it) {
  begin();
  tfrt_node_world_kill(&world, 1);
  tfrt_node_world_await(&world);
  const char* root = inventory_of(0);
  expect(root, "rank=1 ", " state=", "lost");
  ck_assert_ptr_null(strstr(root, "\ncall "));
  end();
}
END_TEST

// --- Recording -------------------------------------------------------------------

// How many spans of |category| called |name| host |rank| has recorded, as |what| asks for. Sets
// |*out_clock_ns| to its clock.
static size_t recorded(uint32_t rank, const char* what, const char* category, const char* name,
                       int64_t* out_clock_ns) {
  tfrt_async_value_t* answer = ask(rank, what);
  ck_assert(!tfrt_async_value_is_error(answer));
  tfrt_trace_t* trace = NULL;
  uint64_t dropped = 0;
  ck_assert_ptr_null(tfrt_trace_create(1000, tfrt_allocator_system(), &trace));
  ck_assert_ptr_null(tfrt_client_read_trace(answer, trace, out_clock_ns, &dropped));
  static tfrt_trace_span_t spans[1000];
  size_t count = tfrt_trace_read(trace, 0, spans, 1000);
  size_t found = 0;
  for (size_t i = 0; i < count; ++i) {
    found += strcmp(spans[i].category, category) == 0 && strcmp(spans[i].name, name) == 0;
  }
  tfrt_trace_release(trace);
  tfrt_async_value_release(answer);
  return found;
}

// Runs a program |count| times in a job of its own, which the world's makes room for: @main on host
// 0 calls @f on host 1.
static void run_other(uint32_t count) {
  static const char program[] =
      "func.func @f(%x: i32) -> i32 {\n"
      "  %y = tfrt.add.i32 %x, %x\n"
      "  tfrt.return %y : i32\n"
      "}\n"
      "func.func @main(%x: i32) -> i32 {\n"
      "  %y = tfrt.call @f(%x) {host = 1 : i32} : (i32) -> i32\n"
      "  tfrt.return %y : i32\n"
      "}\n";
  tfrt_job_drop_client(&world);
  tfrt_job_open_client(&world, NULL, 0, 0);
  for (uint32_t i = 0; i < count; ++i) tfrt_job_expect(&world, program, 1, 2);
  tfrt_job_drop_client(&world);
  tfrt_job_await_count(&world, 0);
}

START_TEST(what_runs_in_a_while_is_recorded_and_nothing_else) {
  client_index = 2;
  tfrt_node_world_set_configure(configure);
  tfrt_node_world_initialize(&world, client_index, NULL);
  int64_t clock_ns = 0;
  run_other(1);
  // Also of jobs that come in that time and are over when it is read.
  ck_assert_uint_eq(recorded(1, "record begin - 10000", "kernel", "tfrt.add.i32", &clock_ns), 0);
  int64_t since_ns = clock_ns;
  run_other(3);
  char what[64];
  snprintf(what, sizeof(what), "record read - %lld", (long long)since_ns);
  ck_assert_uint_eq(recorded(1, what, "kernel", "tfrt.add.i32", &clock_ns), 3);
  ck_assert_int_gt(clock_ns, since_ns);
  ck_assert_uint_eq(recorded(1, what, "call", "f", &clock_ns), 3);
  // On the host that was asked for it.
  ck_assert_uint_eq(recorded(0, what, "call", "main", &clock_ns), 0);
  // Not any more.
  ck_assert_uint_eq(recorded(1, "record end - 0", "call", "f", &clock_ns), 0);
  run_other(1);
  ck_assert_uint_eq(recorded(1, what, "call", "f", &clock_ns), 3);
  // That has dropped what its job has left.
  ck_assert_uint_eq(recorded(1, what, "call", "f", &clock_ns), 0);
  tfrt_node_world_deinitialize(&world);
  tfrt_node_world_set_configure(NULL);
}
END_TEST

START_TEST(only_jobs_that_are_meant_are_recorded) {
  client_index = 2;
  tfrt_node_world_set_configure(configure);
  tfrt_node_world_initialize(&world, client_index, NULL);
  char job[256];
  char what[400];
  int64_t clock_ns = 0;
  find(inventory_of(1), "job ", " job=", job);
  snprintf(what, sizeof(what), "record begin %s 100000", job);
  ck_assert_uint_eq(recorded(1, what, "call", "f", &clock_ns), 0);
  run_other(1);
  ck_assert_uint_eq(recorded(1, "record read - 0", "call", "f", &clock_ns), 0);
  expect_answer(1, "record begin 00112233445566778899aabbccddeeff 10", TFRT_STATUS_NOT_FOUND);
  expect_answer(1, "record dance", TFRT_STATUS_INVALID_ARGUMENT);
  expect_answer(1, "record dance - 1", TFRT_STATUS_INVALID_ARGUMENT);
  expect_answer(1, "record begin - 99999999999", TFRT_STATUS_INVALID_ARGUMENT);
  expect_answer(1, "record begin - 10 more", TFRT_STATUS_INVALID_ARGUMENT);
  tfrt_node_world_deinitialize(&world);
  tfrt_node_world_set_configure(NULL);
}
END_TEST

// Host 2 takes what host 1 has made, two MiB, and the link between them is cut in the middle.
START_TEST(a_payload_on_its_way_says_how_far_it_came) {
  static const char program[] =
      "func.func @double(%s: !tfrt.string) -> !tfrt.string {\n"
      "  %t = \"tfrt_test.append_string\"(%s, %s)\n"
      "      : (!tfrt.string, !tfrt.string) -> !tfrt.string\n"
      "  tfrt.return %t : !tfrt.string\n"
      "}\n"
      "func.func @main(%s: !tfrt.string) -> !tfrt.string {\n"
      "  %a = tfrt.call @double(%s) {host = 1 : i32} : (!tfrt.string) -> !tfrt.string\n"
      "  %b = tfrt.call @double(%a) {host = 2 : i32} : (!tfrt.string) -> !tfrt.string\n"
      "  tfrt.return %b : !tfrt.string\n"
      "}\n";
  const size_t size = 1 << 20;
  client_index = 3;
  tfrt_node_world_set_configure(configure);
  tfrt_node_world_initialize(&world, client_index, NULL);
  char* bytes = tfrt_allocator_allocate_zeroed(tfrt_allocator_system(), size);
  tfrt_async_value_t* text = tfrt_async_value_create_string(tfrt_string_view_make(bytes, size));
  tfrt_allocator_free(tfrt_allocator_system(), bytes, size);
  tfrt_node_world_start(&world, program, &text, 1, 1);
  tfrt_async_value_release(text);
  ck_assert(tfrt_node_world_run_until_bytes(&world, 1, 2, size));
  tfrt_simulated_network_partition(world.network, world.hosts[1].endpoint, world.hosts[2].endpoint,
                                   true);
  const char* inventory = inventory_of(2);
  char value[256];
  expect(inventory, "remote ", " state=", "moving");
  expect(inventory, "remote ", " bytes=", "2097152");
  find(inventory, "remote ", " received=", value);
  ck_assert_int_gt(atoi(value), 0);
  ck_assert_int_lt(atoi(value), 2097152);
  tfrt_simulated_network_heal(world.network, world.hosts[1].endpoint, world.hosts[2].endpoint,
                              true);
  tfrt_node_world_await(&world);
  ck_assert_uint_eq(tfrt_node_world_text(&world, 0).size, 4 * size);
  end();
}
END_TEST

static void use_old_clients(void) { clients_are_old = true; }

static void add_tests(Suite* suite, TCase* inventories) {
  tcase_set_timeout(inventories, 60);
  tcase_add_test(inventories, calls_and_what_they_wait_for_are_listed);
  tcase_add_test(inventories, a_payload_on_its_way_says_how_far_it_came);
  tcase_add_test(inventories, many_calls_are_listed_up_to_a_limit);
  tcase_add_test(inventories, what_an_op_has_made_is_listed_by_its_name_for_as_long_as_it_is_kept);
  tcase_add_test(inventories, who_asks_is_left_out_and_nothing_is_left_behind);
  tcase_add_test(inventories, the_client_of_a_job_finds_that_job_too);
  tcase_add_test(inventories, a_job_can_be_cancelled_by_another_client);
  tcase_add_test(inventories, a_call_can_be_cancelled_and_only_that);
  tcase_add_test(inventories, a_cancelled_call_tells_where_it_was_made);
  tcase_add_test(inventories, what_is_no_name_is_refused);
  tcase_add_test(inventories, only_who_can_drain_is_told_to);
  tcase_add_test(inventories, a_host_that_drains_answers_but_runs_nothing_new);
  tcase_add_test(inventories, what_runs_in_a_while_is_recorded_and_nothing_else);
  tcase_add_test(inventories, only_jobs_that_are_meant_are_recorded);
  tcase_add_test(inventories, a_lost_host_is_a_lost_member_and_nothing_is_listed_for_it);
  suite_add_tcase(suite, inventories);
}

Suite* tfrt_test_suite(void) {
  Suite* suite = suite_create("inventory");
  add_tests(suite, tcase_create("messages"));
  TCase* lines = tcase_create("lines");
  tcase_add_checked_fixture(lines, use_old_clients, NULL);
  add_tests(suite, lines);
  return suite;
}
