// SPDX-License-Identifier: Apache-2.0
//
// Sessions as they run in real life: over gRPC, with the transport's threads, the timers'
// thread and several threads that append, while connections are broken under them. For the
// sanitizers: the rules of the protocol are tested over the simulated network.
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "distributed/session/session.h"
#include "distributed/threads/node_lock.h"
#include "distributed/transport/grpc/grpc_transport.h"
#include "distributed/wire/batch.h"
#include "host_runtime/base/sync.h"
#include "tests/distributed/transport/brittle_transport.h"
#include "tests/fakes/fake_clock.h"
#include "tests/support/test_main.h"

#define PATIENCE_NS (60 * TFRT_NANOSECONDS_PER_SECOND)
#define SENDERS 3
#define FRAMES_PER_SENDER 400
#define BREAKS 15
#define LINGER_NS (20 * TFRT_NANOSECONDS_PER_SECOND)

// --- A host ------------------------------------------------------------------

typedef struct host_s {
  tfrt_session_handler_t handler;
  tfrt_brittle_transport_t transport;
  tfrt_node_lock_t lock;
  tfrt_timer_queue_t timers;
  tfrt_session_manager_t* manager;
  char address[TFRT_TRANSPORT_ADDRESS_SIZE];
  // All below is guarded by |lock|.
  tfrt_session_t* session;  // retained
  uint64_t sent;
  // Also read without it.
  _Atomic uint64_t received;
  _Atomic bool is_opened;
  _Atomic bool is_dead;
} host_t;

static host_t* host_of(tfrt_session_handler_t* handler) {
  return TFRT_CONTAINER_OF(handler, host_t, handler);
}

// The handlers signal here when a test's condition may have changed.
static tfrt_mutex_t mutex;
static tfrt_condition_t changed;

static void note_change(void) {
  tfrt_mutex_lock(&mutex);
  tfrt_condition_broadcast(&changed);
  tfrt_mutex_unlock(&mutex);
}

static void on_opened(tfrt_session_handler_t* handler, tfrt_session_t* session) {
  host_t* host = host_of(handler);
  if (!host->session) host->session = tfrt_session_retain(session);
  atomic_store(&host->is_opened, true);
  note_change();
}

static tfrt_status_t on_frame(tfrt_session_handler_t* handler, tfrt_session_t* session,
                              const tfrt_wire_frame_t* frame, int64_t deadline_ns) {
  (void)session;
  (void)deadline_ns;
  host_t* host = host_of(handler);
  uint64_t number;
  memcpy(&number, frame->body.data, sizeof(number));
  ck_assert_uint_eq(number, atomic_load(&host->received) + 1);
  atomic_store(&host->received, number);
  if (number % 50 == 0) note_change();
  return NULL;
}

static void on_dead(tfrt_session_handler_t* handler, tfrt_session_t* session,
                    tfrt_session_death_t death, tfrt_status_t status) {
  (void)session;
  (void)death;
  (void)status;
  atomic_store(&host_of(handler)->is_dead, true);
  note_change();
}

static void ignore_session(tfrt_session_handler_t* handler, tfrt_session_t* session) {
  (void)handler;
  (void)session;
}

static void fill_batch(tfrt_session_handler_t* handler, tfrt_session_t* session) {
  (void)handler;
  (void)session;
}

static void fill_heartbeat(tfrt_session_handler_t* handler, tfrt_session_t* session,
                           tfrt_wire_heartbeat_t* heartbeat) {
  (void)handler;
  (void)session;
  (void)heartbeat;
}

static void on_heartbeat(tfrt_session_handler_t* handler, tfrt_session_t* session,
                         const tfrt_wire_heartbeat_t* heartbeat) {
  (void)handler;
  (void)session;
  (void)heartbeat;
}

static void on_suspected(tfrt_session_handler_t* handler, tfrt_session_t* session,
                         bool is_suspected) {
  (void)handler;
  (void)session;
  (void)is_suspected;
}

static int64_t heard_elsewhere_ns(tfrt_session_handler_t* handler, tfrt_session_t* session) {
  (void)handler, (void)session;
  return 0;
}

static void on_refused(tfrt_session_handler_t* handler, tfrt_status_t status, uint64_t untold) {
  (void)handler;
  (void)status;
  (void)untold;
}

static const tfrt_session_handler_vtable_t handler_vtable = {
    .on_opened = on_opened,
    .on_frame = on_frame,
    .on_refused = on_refused,
    .on_draining = ignore_session,
    .on_dead = on_dead,
    .fill_batch = fill_batch,
    .fill_heartbeat = fill_heartbeat,
    .on_heartbeat = on_heartbeat,
    .on_suspected = on_suspected,
    .heard_elsewhere_ns = heard_elsewhere_ns,
    .on_wake = ignore_session,
};

static void assert_ok(tfrt_status_t status) {
  ck_assert_msg(tfrt_status_is_ok(status), "%s", tfrt_status_message(status));
}

// The timers follow |clock|; the test runs them, unless they have a thread.
static void host_initialize_with(host_t* host, uint64_t incarnation, tfrt_clock_t clock,
                                 bool has_thread) {
  memset(host, 0, sizeof(*host));
  host->handler.vtable = &handler_vtable;
  const tfrt_grpc_transport_options_t grpc = tfrt_grpc_transport_default_options();
  tfrt_transport_t* inner = NULL;
  assert_ok(tfrt_grpc_transport_create(&grpc, tfrt_allocator_system(), &inner));
  tfrt_brittle_transport_initialize(&host->transport, inner);
  tfrt_node_lock_initialize(&host->lock);
  tfrt_timer_queue_initialize(&host->timers, clock);
  if (has_thread) assert_ok(tfrt_timer_queue_start_thread(&host->timers));
  tfrt_session_options_t options;
  tfrt_session_options_initialize(&options);
  options.incarnation = incarnation;
  options.cluster_key = tfrt_string_view_of("key");
  // Under a sanitizer on a busy machine, threads may wait for long.
  options.limits.silence_ms = 30000;
  options.dial_timeout_ns = 20 * TFRT_NANOSECONDS_PER_SECOND;
  options.linger_ns = LINGER_NS;
  assert_ok(tfrt_session_manager_create(&options, &host->transport.base, &host->lock, &host->timers,
                                        &host->handler, tfrt_allocator_system(), &host->manager));
  assert_ok(tfrt_session_manager_listen(host->manager, tfrt_string_view_of("127.0.0.1:0"),
                                        host->address));
}

static void host_initialize(host_t* host, uint64_t incarnation) {
  host_initialize_with(host, incarnation, tfrt_clock_system(), true);
}

static void host_close(host_t* host) {
  tfrt_node_lock_lock(&host->lock);
  tfrt_session_manager_close(host->manager, false);
  tfrt_node_lock_unlock_and_run(&host->lock);
}

static void host_deinitialize(host_t* host) {
  host_close(host);
  tfrt_session_manager_drain(host->manager);
  tfrt_transport_close(&host->transport.base);
  tfrt_transport_drain(&host->transport.base);
  ck_assert(!host->session || atomic_load(&host->is_dead));
  tfrt_session_release(host->session);
  tfrt_session_manager_free(host->manager);
  tfrt_timer_queue_deinitialize(&host->timers);
  tfrt_transport_release(&host->transport.base);
  tfrt_node_lock_deinitialize(&host->lock);
}

static void host_dial(host_t* from, const host_t* to, uint64_t incarnation) {
  tfrt_node_lock_lock(&from->lock);
  tfrt_session_t* session;
  assert_ok(tfrt_session_manager_dial(from->manager, tfrt_string_view_of(to->address), incarnation,
                                      &session));
  if (!from->session) from->session = tfrt_session_retain(session);
  tfrt_node_lock_unlock_and_run(&from->lock);
  tfrt_session_release(session);
}

static void send_frames(void* argument) {
  host_t* host = argument;
  for (int i = 0; i < FRAMES_PER_SENDER; ++i) {
    tfrt_node_lock_lock(&host->lock);
    uint64_t number = ++host->sent;
    const tfrt_session_frame_t frame = {
        .kind = TFRT_WIRE_FRAME_RELEASE,
        .job = 1,
        .deadline_ns = TFRT_TIME_INFINITE,
        .body = tfrt_string_view_make((const char*)&number, sizeof(number)),
    };
    assert_ok(tfrt_session_append(host->session, &frame));
    tfrt_node_lock_unlock_and_run(&host->lock);
    if (i % 8 == 0) tfrt_thread_yield();
  }
}

static void wait_until_received(host_t* host, uint64_t count) {
  int64_t deadline_ns = tfrt_clock_now_ns(tfrt_clock_system()) + PATIENCE_NS;
  tfrt_mutex_lock(&mutex);
  while (atomic_load(&host->received) < count) {
    ck_assert_msg(!atomic_load(&host->is_dead), "the session died");
    ck_assert_msg(tfrt_condition_wait_until(&changed, &mutex, deadline_ns),
                  "only %llu of %llu frames came", (unsigned long long)atomic_load(&host->received),
                  (unsigned long long)count);
  }
  tfrt_mutex_unlock(&mutex);
}

static void wait_until_true(_Atomic bool* flag) {
  int64_t deadline_ns = tfrt_clock_now_ns(tfrt_clock_system()) + PATIENCE_NS;
  tfrt_mutex_lock(&mutex);
  while (!atomic_load(flag)) {
    ck_assert(tfrt_condition_wait_until(&changed, &mutex, deadline_ns));
  }
  tfrt_mutex_unlock(&mutex);
}

static host_t hosts[2];

static void initialize_two(void) {
  tfrt_mutex_initialize(&mutex);
  tfrt_condition_initialize(&changed);
  for (int i = 0; i < 2; ++i) host_initialize(&hosts[i], 0x0a + (uint64_t)i);
}

// --- A listener that does not end its streams --------------------------------

// It answers with a Refuse and never receives the Hello, so that its transport does not see the end
// of what the dialler sends, and does not answer it.
typedef struct stubborn_s {
  tfrt_transport_acceptor_t acceptor;
  tfrt_transport_handler_t handler;
  tfrt_transport_t* transport;
  tfrt_transport_connection_t* connection;
  tfrt_transport_write_t write;
  tfrt_string_builder_t answer;
  char address[TFRT_TRANSPORT_ADDRESS_SIZE];
  _Atomic int end;  // -1: not told yet
  _Atomic bool was_closed;
} stubborn_t;

static void ignore_message(tfrt_transport_handler_t* handler,
                           tfrt_transport_connection_t* connection,
                           const tfrt_transport_span_t* spans, size_t span_count) {
  (void)handler, (void)connection, (void)spans, (void)span_count;
}

static void note_end(tfrt_transport_handler_t* handler, tfrt_transport_connection_t* connection,
                     tfrt_transport_end_t end, tfrt_status_t status) {
  (void)connection, (void)status;
  stubborn_t* stubborn = TFRT_CONTAINER_OF(handler, stubborn_t, handler);
  atomic_store(&stubborn->end, (int)end);
  atomic_store(&stubborn->was_closed, true);
  note_change();
}

static const tfrt_transport_handler_vtable_t stubborn_handler = {ignore_message, note_end};

static void ignore_written(tfrt_transport_write_t* write, tfrt_status_t status) {
  (void)write, (void)status;
}

static tfrt_status_t answer_at_once(tfrt_transport_acceptor_t* acceptor,
                                    const tfrt_transport_incoming_t* incoming,
                                    tfrt_transport_handler_t** out_handler) {
  stubborn_t* stubborn = TFRT_CONTAINER_OF(acceptor, stubborn_t, acceptor);
  *out_handler = &stubborn->handler;
  stubborn->connection = tfrt_transport_connection_retain(incoming->connection);
  stubborn->write = (tfrt_transport_write_t){
      .spans = {{stubborn->answer.data, stubborn->answer.size}},
      .span_count = 1,
      .on_written = ignore_written,
  };
  return tfrt_transport_connection_write(stubborn->connection, &stubborn->write);
}

static const tfrt_transport_acceptor_vtable_t stubborn_acceptor = {answer_at_once};

// The refusal of session 1 of 0x0a.
static void write_refusal(tfrt_string_builder_t* out) {
  tfrt_string_builder_t body;
  tfrt_string_builder_initialize(&body, tfrt_allocator_system());
  const tfrt_wire_body_t content = {.kind = TFRT_WIRE_FRAME_REFUSE,
                                    .refuse = {.reason = TFRT_WIRE_REFUSE_DRAINING,
                                               .code = TFRT_STATUS_UNAVAILABLE,
                                               .message = tfrt_string_view_of("no")}};
  assert_ok(tfrt_wire_body_encode(&content, &body));
  const tfrt_wire_frame_t frame = {.kind = TFRT_WIRE_FRAME_REFUSE,
                                   .body = tfrt_string_builder_view(&body)};
  const tfrt_wire_batch_t batch = {.version = 1,
                                   .from_incarnation = 0x0b,
                                   .to_incarnation = 0x0a,
                                   .session = 1,
                                   .frames = &frame,
                                   .frame_count = 1};
  assert_ok(tfrt_wire_batch_encode(&batch, out));
  tfrt_string_builder_deinitialize(&body);
}

static void stubborn_initialize(stubborn_t* stubborn) {
  *stubborn = (stubborn_t){.acceptor = {&stubborn_acceptor}, .handler = {&stubborn_handler}};
  atomic_init(&stubborn->end, -1);
  tfrt_string_builder_initialize(&stubborn->answer, tfrt_allocator_system());
  write_refusal(&stubborn->answer);
  const tfrt_grpc_transport_options_t grpc = tfrt_grpc_transport_default_options();
  assert_ok(tfrt_grpc_transport_create(&grpc, tfrt_allocator_system(), &stubborn->transport));
  assert_ok(tfrt_transport_listen(stubborn->transport, tfrt_string_view_of("127.0.0.1:0"),
                                  &stubborn->acceptor, stubborn->address));
}

static void stubborn_deinitialize(stubborn_t* stubborn) {
  tfrt_transport_close(stubborn->transport);
  tfrt_transport_drain(stubborn->transport);
  tfrt_transport_connection_release(stubborn->connection);
  tfrt_transport_release(stubborn->transport);
  tfrt_string_builder_deinitialize(&stubborn->answer);
}

// --- Tests -------------------------------------------------------------------

START_TEST(frames_of_many_threads_arrive_once_and_in_order_while_connections_break) {
  initialize_two();
  host_dial(&hosts[0], &hosts[1], 0x0b);
  wait_until_true(&hosts[0].is_opened);
  wait_until_true(&hosts[1].is_opened);
  tfrt_thread_t threads[2 * SENDERS];
  for (int i = 0; i < 2 * SENDERS; ++i) {
    assert_ok(tfrt_thread_create("sender", send_frames, &hosts[i % 2], &threads[i]));
  }
  const uint64_t total = SENDERS * FRAMES_PER_SENDER;
  for (uint64_t i = 1; i <= BREAKS; ++i) {
    wait_until_received(&hosts[1], total * i / (BREAKS + 1) / 50 * 50);
    tfrt_brittle_transport_break(&hosts[0].transport);
    tfrt_brittle_transport_break(&hosts[1].transport);
  }
  for (int i = 0; i < 2 * SENDERS; ++i) tfrt_thread_join(&threads[i]);
  wait_until_received(&hosts[0], total);
  wait_until_received(&hosts[1], total);
  tfrt_session_counters_t counters;
  tfrt_node_lock_lock(&hosts[0].lock);
  tfrt_session_manager_counters(hosts[0].manager, &counters);
  tfrt_node_lock_unlock_and_run(&hosts[0].lock);
  ck_assert_uint_gt(counters.resumes, 0);
  ck_assert_uint_eq(counters.deaths, 0);
  host_close(&hosts[0]);
  wait_until_true(&hosts[1].is_dead);
  for (int i = 0; i < 2; ++i) host_deinitialize(&hosts[i]);
}
END_TEST

START_TEST(crossing_dials_end_as_one_session) {
  for (int i = 0; i < 10; ++i) {
    initialize_two();
    host_dial(&hosts[0], &hosts[1], 0x0b);
    host_dial(&hosts[1], &hosts[0], 0x0a);
    wait_until_true(&hosts[0].is_opened);
    wait_until_true(&hosts[1].is_opened);
    tfrt_thread_t threads[2];
    for (int j = 0; j < 2; ++j) {
      assert_ok(tfrt_thread_create("sender", send_frames, &hosts[j], &threads[j]));
    }
    for (int j = 0; j < 2; ++j) tfrt_thread_join(&threads[j]);
    for (int j = 0; j < 2; ++j) wait_until_received(&hosts[j], FRAMES_PER_SENDER);
    for (int j = 0; j < 2; ++j) host_deinitialize(&hosts[j]);
  }
}
END_TEST

START_TEST(a_process_that_goes_away_is_gone_at_once) {
  initialize_two();
  host_dial(&hosts[0], &hosts[1], 0x0b);
  wait_until_true(&hosts[0].is_opened);
  // Its transport is closed without a word: its connections break, its port refuses.
  tfrt_transport_close(&hosts[1].transport.base);
  wait_until_true(&hosts[0].is_dead);
  for (int i = 0; i < 2; ++i) host_deinitialize(&hosts[i]);
}
END_TEST

static stubborn_t stubborn;

// The host, whose clock is |clock|, has a session that died of the stubborn listener's refusal. The
// connection is on its way to end in order.
static void be_refused(tfrt_fake_clock_t* clock) {
  tfrt_mutex_initialize(&mutex);
  tfrt_condition_initialize(&changed);
  host_initialize_with(&hosts[0], 0x0a, tfrt_fake_clock_interface(clock), false);
  stubborn_initialize(&stubborn);
  tfrt_node_lock_lock(&hosts[0].lock);
  tfrt_session_t* session;
  assert_ok(tfrt_session_manager_dial(hosts[0].manager, tfrt_string_view_of(stubborn.address), 0x0b,
                                      &session));
  tfrt_node_lock_unlock_and_run(&hosts[0].lock);
  wait_until_true(&hosts[0].is_dead);
  tfrt_session_release(session);
}

static void expect_reset(void) {
  wait_until_true(&stubborn.was_closed);
  ck_assert_int_eq(atomic_load(&stubborn.end), TFRT_TRANSPORT_RESET);
  stubborn_deinitialize(&stubborn);
}

START_TEST(a_listener_that_refuses_and_does_not_end_the_stream_is_not_waited_for) {
  tfrt_fake_clock_t clock;
  tfrt_fake_clock_initialize(&clock, tfrt_clock_now_ns(tfrt_clock_system()));
  be_refused(&clock);
  tfrt_fake_clock_advance(&clock, LINGER_NS - 1);
  tfrt_timer_queue_run_due(&hosts[0].timers);
  ck_assert(!atomic_load(&stubborn.was_closed));
  tfrt_fake_clock_advance(&clock, 1);
  tfrt_timer_queue_run_due(&hosts[0].timers);
  expect_reset();
  host_deinitialize(&hosts[0]);
}
END_TEST

START_TEST(what_ends_in_order_is_broken_when_the_time_to_drain_is_over) {
  // The times of this clock are long over by the system's clock.
  tfrt_fake_clock_t clock;
  tfrt_fake_clock_initialize(&clock, TFRT_NANOSECONDS_PER_SECOND);
  be_refused(&clock);
  host_close(&hosts[0]);
  tfrt_session_manager_drain(hosts[0].manager);
  expect_reset();
  host_deinitialize(&hosts[0]);
}
END_TEST

Suite* tfrt_test_suite(void) {
  Suite* suite = suite_create("session threads");
  TCase* threads = tcase_create("threads");
  tcase_set_timeout(threads, 200);
  tcase_add_test(threads, frames_of_many_threads_arrive_once_and_in_order_while_connections_break);
  tcase_add_test(threads, crossing_dials_end_as_one_session);
  tcase_add_test(threads, a_process_that_goes_away_is_gone_at_once);
  tcase_add_test(threads, a_listener_that_refuses_and_does_not_end_the_stream_is_not_waited_for);
  tcase_add_test(threads, what_ends_in_order_is_broken_when_the_time_to_drain_is_over);
  suite_add_tcase(suite, threads);
  return suite;
}
