// SPDX-License-Identifier: Apache-2.0
//
// The simulated network's own promises: its clock, its faults, and that a seed decides all.
#include "tests/distributed/simulated/network.h"

#include <string.h>

#include "tests/support/test_main.h"

#define MILLISECOND TFRT_NANOSECONDS_PER_MILLISECOND
#define SECOND TFRT_NANOSECONDS_PER_SECOND

// One end of a stream that notes the first byte of each message.
typedef struct peer_s {
  tfrt_transport_handler_t handler;
  tfrt_transport_connection_t* connection;
  tfrt_transport_write_t write;
  unsigned char next;      // first byte of the next message
  unsigned char to_write;  // this many more
  char bytes[512];
  size_t count;
  bool was_closed;
  tfrt_transport_end_t end;
} peer_t;

static void on_message(tfrt_transport_handler_t* handler, tfrt_transport_connection_t* connection,
                       const tfrt_transport_span_t* spans, size_t span_count) {
  (void)span_count;
  peer_t* peer = TFRT_CONTAINER_OF(handler, peer_t, handler);
  peer->bytes[peer->count++] = *(const char*)spans[0].data;
  tfrt_transport_connection_receive(connection);
}

static void on_closed(tfrt_transport_handler_t* handler, tfrt_transport_connection_t* connection,
                      tfrt_transport_end_t end, tfrt_status_t status) {
  (void)connection;
  (void)status;
  peer_t* peer = TFRT_CONTAINER_OF(handler, peer_t, handler);
  peer->was_closed = true;
  peer->end = end;
}

static const tfrt_transport_handler_vtable_t handler_vtable = {.on_message = on_message,
                                                               .on_closed = on_closed};

static void on_written(tfrt_transport_write_t* write, tfrt_status_t status);

static void begin_write(peer_t* peer) {
  ++peer->next;
  peer->write.spans[0] = (tfrt_transport_span_t){&peer->next, 1};
  peer->write.span_count = 1;
  peer->write.on_written = on_written;
  tfrt_status_t status = tfrt_transport_connection_write(peer->connection, &peer->write);
  ck_assert(tfrt_status_is_ok(status));
}

static void on_written(tfrt_transport_write_t* write, tfrt_status_t status) {
  peer_t* peer = TFRT_CONTAINER_OF(write, peer_t, write);
  if (!tfrt_status_is_ok(status) || peer->to_write == 0) return;
  --peer->to_write;
  begin_write(peer);
}

typedef struct fixture_s {
  tfrt_transport_acceptor_t acceptor;
  tfrt_simulated_network_t* network;
  tfrt_simulated_endpoint_t* a;
  tfrt_simulated_endpoint_t* b;
  char address[TFRT_TRANSPORT_ADDRESS_SIZE];
  peer_t dialler;
  peer_t listener;
} fixture_t;

static tfrt_status_t fixture_accept(tfrt_transport_acceptor_t* acceptor,
                                    const tfrt_transport_incoming_t* incoming,
                                    tfrt_transport_handler_t** out_handler) {
  fixture_t* fixture = TFRT_CONTAINER_OF(acceptor, fixture_t, acceptor);
  fixture->listener.connection = tfrt_transport_connection_retain(incoming->connection);
  tfrt_transport_connection_receive(incoming->connection);
  *out_handler = &fixture->listener.handler;
  return NULL;
}

static const tfrt_transport_acceptor_vtable_t acceptor_vtable = {.accept = fixture_accept};

static void dial(fixture_t* fixture) {
  const tfrt_transport_dial_options_t options = {.address = tfrt_string_view_of(fixture->address),
                                                 .timeout_ns = SECOND};
  tfrt_status_t status =
      tfrt_transport_dial(tfrt_simulated_endpoint_transport(fixture->a), &options,
                          &fixture->dialler.handler, &fixture->dialler.connection);
  ck_assert(tfrt_status_is_ok(status));
  tfrt_transport_connection_receive(fixture->dialler.connection);
}

static void run_for(fixture_t* fixture, int64_t duration_ns) {
  tfrt_simulated_network_run_until(fixture->network, NULL, NULL, duration_ns);
}

static void initialize(fixture_t* fixture, uint64_t seed, bool keeps_trace) {
  memset(fixture, 0, sizeof(*fixture));
  tfrt_simulated_options_t options;
  tfrt_simulated_options_initialize(&options);
  options.seed = seed;
  options.keeps_trace = keeps_trace;
  fixture->network = tfrt_simulated_network_allocate(&options, tfrt_allocator_system());
  fixture->a = tfrt_simulated_network_add_endpoint(fixture->network, "a");
  fixture->b = tfrt_simulated_network_add_endpoint(fixture->network, "b");
  fixture->acceptor.vtable = &acceptor_vtable;
  fixture->dialler.handler.vtable = fixture->listener.handler.vtable = &handler_vtable;
  tfrt_status_t status =
      tfrt_transport_listen(tfrt_simulated_endpoint_transport(fixture->b),
                            tfrt_string_view_of("b:0"), &fixture->acceptor, fixture->address);
  ck_assert(tfrt_status_is_ok(status));
  dial(fixture);
  run_for(fixture, 10 * MILLISECOND);
  ck_assert_ptr_nonnull(fixture->listener.connection);
}

static void deinitialize(fixture_t* fixture) {
  tfrt_simulated_endpoint_t* endpoints[2] = {fixture->a, fixture->b};
  for (int i = 0; i < 2; ++i) {
    tfrt_transport_close(tfrt_simulated_endpoint_transport(endpoints[i]));
    tfrt_transport_drain(tfrt_simulated_endpoint_transport(endpoints[i]));
  }
  tfrt_transport_connection_release(fixture->dialler.connection);
  tfrt_transport_connection_release(fixture->listener.connection);
  tfrt_simulated_network_free(fixture->network);
}

static void write_some(peer_t* peer, unsigned char count) {
  peer->to_write = (unsigned char)(count - 1);
  begin_write(peer);
}

static void assert_in_order(const peer_t* peer, size_t count) {
  ck_assert_uint_eq(peer->count, count);
  for (size_t i = 0; i < count; ++i) ck_assert_int_eq((unsigned char)peer->bytes[i], (int)i + 1);
}

START_TEST(time_passes_only_in_steps) {
  fixture_t fixture;
  initialize(&fixture, 1, false);
  tfrt_clock_t clock = tfrt_simulated_network_clock(fixture.network);
  int64_t before_ns = tfrt_clock_now_ns(clock);
  write_some(&fixture.dialler, 1);
  ck_assert_int_eq(tfrt_clock_now_ns(clock), before_ns);
  run_for(&fixture, 5 * MILLISECOND);
  ck_assert_int_eq(tfrt_clock_now_ns(clock), before_ns + 5 * MILLISECOND);
  assert_in_order(&fixture.listener, 1);
  deinitialize(&fixture);
}
END_TEST

START_TEST(what_a_partition_held_up_comes_in_order_when_it_is_healed) {
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    fixture_t fixture;
    initialize(&fixture, seed, false);
    write_some(&fixture.dialler, 5);
    tfrt_simulated_network_partition(fixture.network, fixture.a, fixture.b, false);
    run_for(&fixture, SECOND);
    ck_assert_uint_eq(fixture.listener.count, 0);
    // The other way is open.
    write_some(&fixture.listener, 1);
    run_for(&fixture, SECOND);
    ck_assert_uint_eq(fixture.dialler.count, 1);
    write_some(&fixture.dialler, 5);
    run_for(&fixture, (int64_t)seed * 1000);
    tfrt_simulated_network_heal(fixture.network, fixture.a, fixture.b, false);
    run_for(&fixture, SECOND);
    assert_in_order(&fixture.listener, 10);
    deinitialize(&fixture);
  }
}
END_TEST

START_TEST(a_frozen_process_gets_everything_when_it_is_thawed) {
  fixture_t fixture;
  initialize(&fixture, 1, false);
  tfrt_simulated_endpoint_freeze(fixture.b);
  write_some(&fixture.dialler, 10);
  run_for(&fixture, SECOND);
  ck_assert_uint_eq(fixture.listener.count, 0);
  tfrt_simulated_endpoint_thaw(fixture.b);
  run_for(&fixture, SECOND);
  assert_in_order(&fixture.listener, 10);
  deinitialize(&fixture);
}
END_TEST

static int timer_runs;

static void run_timer(tfrt_timer_t* timer) {
  (void)timer;
  ++timer_runs;
}

START_TEST(the_timers_of_a_frozen_process_stand_still) {
  fixture_t fixture;
  initialize(&fixture, 1, false);
  timer_runs = 0;
  tfrt_timer_t timers[2] = {0};
  int64_t now_ns = tfrt_clock_now_ns(tfrt_simulated_network_clock(fixture.network));
  tfrt_timer_start(tfrt_simulated_endpoint_timers(fixture.a), &timers[0], now_ns + MILLISECOND,
                   run_timer);
  tfrt_timer_start(tfrt_simulated_endpoint_timers(fixture.b), &timers[1], now_ns + MILLISECOND,
                   run_timer);
  tfrt_simulated_endpoint_freeze(fixture.b);
  run_for(&fixture, SECOND);
  ck_assert_int_eq(timer_runs, 1);
  tfrt_simulated_endpoint_thaw(fixture.b);
  run_for(&fixture, 1);
  ck_assert_int_eq(timer_runs, 2);
  deinitialize(&fixture);
}
END_TEST

START_TEST(a_break_is_a_reset_at_both_ends) {
  fixture_t fixture;
  initialize(&fixture, 1, false);
  write_some(&fixture.dialler, 1);
  tfrt_simulated_network_break(fixture.network, fixture.b, fixture.a);
  run_for(&fixture, MILLISECOND);
  ck_assert(fixture.dialler.was_closed && fixture.listener.was_closed);
  ck_assert_int_eq(fixture.dialler.end, TFRT_TRANSPORT_RESET);
  ck_assert_int_eq(fixture.listener.end, TFRT_TRANSPORT_RESET);
  ck_assert_uint_eq(fixture.listener.count, 0);
  ck_assert_uint_eq(tfrt_simulated_network_stream_count(fixture.network), 0);
  deinitialize(&fixture);
}
END_TEST

START_TEST(who_does_not_write_learns_nothing_of_a_stream_that_is_forgotten) {
  fixture_t fixture;
  initialize(&fixture, 1, false);
  tfrt_simulated_network_forget(fixture.network, fixture.b, fixture.a, TFRT_TRANSPORT_BULK);
  run_for(&fixture, SECOND);
  ck_assert(!fixture.listener.was_closed);
  tfrt_simulated_network_forget(fixture.network, fixture.b, fixture.a, TFRT_TRANSPORT_CONTROL);
  run_for(&fixture, SECOND);
  ck_assert(fixture.listener.was_closed);
  ck_assert_int_eq(fixture.listener.end, TFRT_TRANSPORT_RESET);
  ck_assert(!fixture.dialler.was_closed);
  write_some(&fixture.dialler, 1);
  run_for(&fixture, SECOND);
  ck_assert(fixture.dialler.was_closed);
  ck_assert_int_eq(fixture.dialler.end, TFRT_TRANSPORT_RESET);
  ck_assert_uint_eq(fixture.listener.count, 0);
  ck_assert_uint_eq(tfrt_simulated_network_stream_count(fixture.network), 0);
  deinitialize(&fixture);
}
END_TEST

START_TEST(a_kill_is_a_reset_at_the_other_end_and_a_refusal_later) {
  fixture_t fixture;
  initialize(&fixture, 1, false);
  tfrt_simulated_endpoint_kill(fixture.b);
  ck_assert(!tfrt_simulated_endpoint_is_alive(fixture.b));
  run_for(&fixture, SECOND);
  ck_assert_int_eq(fixture.dialler.end, TFRT_TRANSPORT_RESET);
  // The dead endpoint gets no event until its transport is taken down.
  ck_assert(!fixture.listener.was_closed);
  tfrt_transport_connection_release(fixture.dialler.connection);
  fixture.dialler.was_closed = false;
  dial(&fixture);
  run_for(&fixture, SECOND);
  ck_assert(fixture.dialler.was_closed);
  ck_assert_int_eq(fixture.dialler.end, TFRT_TRANSPORT_REFUSED);
  deinitialize(&fixture);
  ck_assert(fixture.listener.was_closed);
}
END_TEST

START_TEST(behind_a_partition_a_kill_is_silence) {
  fixture_t fixture;
  initialize(&fixture, 1, false);
  tfrt_simulated_network_partition(fixture.network, fixture.a, fixture.b, true);
  tfrt_simulated_endpoint_kill(fixture.b);
  run_for(&fixture, SECOND);
  ck_assert(!fixture.dialler.was_closed);
  tfrt_simulated_network_heal(fixture.network, fixture.a, fixture.b, true);
  run_for(&fixture, SECOND);
  ck_assert_int_eq(fixture.dialler.end, TFRT_TRANSPORT_RESET);
  deinitialize(&fixture);
}
END_TEST

START_TEST(a_restart_listens_on_the_same_address) {
  fixture_t fixture;
  initialize(&fixture, 1, false);
  tfrt_simulated_endpoint_kill(fixture.b);
  run_for(&fixture, SECOND);
  tfrt_transport_close(tfrt_simulated_endpoint_transport(fixture.b));
  tfrt_transport_drain(tfrt_simulated_endpoint_transport(fixture.b));
  tfrt_transport_connection_release(fixture.dialler.connection);
  tfrt_transport_connection_release(fixture.listener.connection);
  fixture.listener.connection = NULL;
  fixture.b = tfrt_simulated_network_add_endpoint(fixture.network, "b again");
  char address[TFRT_TRANSPORT_ADDRESS_SIZE];
  tfrt_status_t status =
      tfrt_transport_listen(tfrt_simulated_endpoint_transport(fixture.b),
                            tfrt_string_view_of(fixture.address), &fixture.acceptor, address);
  ck_assert(tfrt_status_is_ok(status));
  ck_assert_str_eq(address, fixture.address);
  dial(&fixture);
  write_some(&fixture.dialler, 1);
  run_for(&fixture, SECOND);
  ck_assert_uint_eq(fixture.listener.count, 1);
  deinitialize(&fixture);
}
END_TEST

// The trace of a run of |seed| with all faults; the caller frees it.
static char* trace_of(uint64_t seed, uint64_t* out_hash, size_t* out_size) {
  fixture_t fixture;
  initialize(&fixture, seed, true);
  tfrt_simulated_options_t options;
  tfrt_simulated_options_initialize(&options);
  options.duplicate_chance = options.reorder_chance = 100000;
  tfrt_simulated_network_set_faults(fixture.network, &options);
  for (int i = 0; i < 10; ++i) {
    write_some(&fixture.dialler, 10);
    write_some(&fixture.listener, 10);
    run_for(&fixture, 10 * MILLISECOND);
  }
  const char* trace = tfrt_simulated_network_trace(fixture.network);
  *out_size = strlen(trace);
  *out_hash = tfrt_simulated_network_trace_hash(fixture.network);
  char* copy = tfrt_allocator_copy_string(tfrt_allocator_system(), trace, *out_size);
  deinitialize(&fixture);
  return copy;
}

START_TEST(a_seed_decides_everything) {
  uint64_t hashes[3];
  size_t sizes[3];
  char* traces[3];
  for (int i = 0; i < 3; ++i) traces[i] = trace_of(i < 2 ? 7 : 8, &hashes[i], &sizes[i]);
  ck_assert_uint_gt(sizes[0], 1000);
  ck_assert_str_eq(traces[0], traces[1]);
  ck_assert_uint_eq(hashes[0], hashes[1]);
  ck_assert_str_ne(traces[0], traces[2]);
  ck_assert_uint_ne(hashes[0], hashes[2]);
  for (int i = 0; i < 3; ++i) tfrt_allocator_free(tfrt_allocator_system(), traces[i], sizes[i] + 1);
}
END_TEST

START_TEST(a_broken_stream_doubles_and_swaps) {
  fixture_t fixture;
  initialize(&fixture, 3, false);
  tfrt_simulated_options_t options;
  tfrt_simulated_options_initialize(&options);
  options.duplicate_chance = options.reorder_chance = 200000;
  tfrt_simulated_network_set_faults(fixture.network, &options);
  write_some(&fixture.dialler, 100);
  run_for(&fixture, SECOND);
  ck_assert_uint_gt(fixture.listener.count, 105);
  int swapped = 0;
  for (size_t i = 1; i < fixture.listener.count; ++i) {
    swapped += fixture.listener.bytes[i] < fixture.listener.bytes[i - 1];
  }
  ck_assert_int_gt(swapped, 5);
  ck_assert_int_eq(fixture.listener.bytes[0], 1);
  deinitialize(&fixture);
}
END_TEST

Suite* tfrt_test_suite(void) {
  Suite* suite = suite_create("simulated network");
  TCase* faults = tcase_create("faults");
  tcase_add_test(faults, time_passes_only_in_steps);
  tcase_add_test(faults, what_a_partition_held_up_comes_in_order_when_it_is_healed);
  tcase_add_test(faults, a_frozen_process_gets_everything_when_it_is_thawed);
  tcase_add_test(faults, the_timers_of_a_frozen_process_stand_still);
  tcase_add_test(faults, a_break_is_a_reset_at_both_ends);
  tcase_add_test(faults, who_does_not_write_learns_nothing_of_a_stream_that_is_forgotten);
  tcase_add_test(faults, a_kill_is_a_reset_at_the_other_end_and_a_refusal_later);
  tcase_add_test(faults, behind_a_partition_a_kill_is_silence);
  tcase_add_test(faults, a_restart_listens_on_the_same_address);
  tcase_add_test(faults, a_broken_stream_doubles_and_swaps);
  suite_add_tcase(suite, faults);
  TCase* seeds = tcase_create("seeds");
  tcase_add_test(seeds, a_seed_decides_everything);
  suite_add_tcase(suite, seeds);
  return suite;
}
