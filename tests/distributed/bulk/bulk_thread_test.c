// SPDX-License-Identifier: Apache-2.0
//
// Channels over real connections, used from several threads at once.
#include <stdatomic.h>
#include <string.h>

#include "distributed/bulk/bulk_manager.h"
#include "distributed/transport/grpc/grpc_transport.h"
#include "host_runtime/async/builtin_types.h"
#include "host_runtime/base/sync.h"
#include "tests/support/test_main.h"

#define THREADS 4
#define WANTS_PER_THREAD 24
#define WANTS (THREADS * WANTS_PER_THREAD)
#define SIZE 300000
#define PIECE 20000  // in a chunk
#define SESSION 1
#define RESUMED 1000
#define LIMIT_NS (60 * TFRT_NANOSECONDS_PER_SECOND)

typedef struct want_s {
  uint8_t* buffer;
  // Guarded by the host's lock.
  uint64_t number;  // a multiple of RESUMED is added whenever it is resumed
  bool is_cancelled;
} want_t;

typedef struct host_s {
  tfrt_bulk_handler_t handler;
  uint64_t incarnation;
  tfrt_transport_t* transport;
  char address[TFRT_TRANSPORT_ADDRESS_SIZE];
  tfrt_timer_queue_t timers;
  tfrt_node_lock_t lock;
  tfrt_bulk_manager_t* manager;
  want_t wants[WANTS + 1];  // by number
  _Atomic int complete;
  _Atomic int aborted;
  _Atomic int unexpected;
  _Atomic int buffers;
} host_t;

static host_t hosts[2];
static tfrt_mutex_t mutex;
static tfrt_condition_t condition;
static tfrt_async_value_t* value;
static char text[SIZE];
static tfrt_payload_sink_t* stream;  // for what comes; NULL: into the buffer

// Each third is, but for the last of a thread.
static bool is_cancelled(uint64_t number) {
  return number % 3 == 0 && number % WANTS_PER_THREAD != 0;
}

static void note(_Atomic int* counter) {
  tfrt_mutex_lock(&mutex);
  atomic_fetch_add_explicit(counter, 1, memory_order_relaxed);
  tfrt_condition_broadcast(&condition);
  tfrt_mutex_unlock(&mutex);
}

static int read_counter(_Atomic int* counter) {
  return atomic_load_explicit(counter, memory_order_relaxed);
}

// --- The handler -------------------------------------------------------------

static host_t* host_of(tfrt_bulk_handler_t* handler) {
  return TFRT_CONTAINER_OF(handler, host_t, handler);
}

static tfrt_status_t on_begin(tfrt_bulk_handler_t* handler, const tfrt_bulk_transfer_t* transfer,
                              tfrt_string_view_t type, tfrt_string_view_t header,
                              uint64_t total_size, tfrt_bulk_sink_t* out_sink) {
  (void)type, (void)header;
  host_t* host = host_of(handler);
  if (total_size != SIZE) note(&host->unexpected);
  want_t* want = &host->wants[transfer->want % RESUMED];
  tfrt_node_lock_lock(&host->lock);
  bool is_cancelled = want->is_cancelled;
  tfrt_node_lock_unlock_and_run(&host->lock);
  if (is_cancelled) return tfrt_status_create(TFRT_STATUS_NOT_FOUND, "cancelled");
  want->buffer = tfrt_allocator_allocate(tfrt_allocator_system(), SIZE);
  atomic_fetch_add_explicit(&host->buffers, 1, memory_order_relaxed);
  *out_sink = (tfrt_bulk_sink_t){.body = want->buffer, .stream = stream, .context = want};
  return NULL;
}

static void free_buffer(host_t* host, want_t* want) {
  tfrt_allocator_free(tfrt_allocator_system(), want->buffer, SIZE);
  atomic_fetch_sub_explicit(&host->buffers, 1, memory_order_relaxed);
}

static void on_complete(tfrt_bulk_handler_t* handler, const tfrt_bulk_transfer_t* transfer,
                        void* context) {
  host_t* host = host_of(handler);
  want_t* want = context;
  if (memcmp(want->buffer, text, SIZE) != 0) note(&host->unexpected);
  free_buffer(host, want);
  if (!is_cancelled(transfer->want % RESUMED)) note(&host->complete);
}

static void on_interrupted(tfrt_bulk_handler_t* handler, const tfrt_bulk_transfer_t* transfer,
                           uint64_t offset) {
  host_t* host = host_of(handler);
  host_t* owner = &hosts[host == &hosts[0]];
  want_t* want = &host->wants[transfer->want % RESUMED];
  tfrt_node_lock_lock(&host->lock);
  bool is_known = !want->is_cancelled && want->number == transfer->want;
  uint64_t number = transfer->want + RESUMED;
  if (is_known) {
    want->number = number;
    tfrt_status_release(tfrt_bulk_manager_resume(
        host->manager, owner->incarnation, TFRT_BULK_IN,
        &(tfrt_bulk_resumption_t){.old_want = transfer->want, .want = number}));
  }
  tfrt_node_lock_unlock_and_run(&host->lock);
  if (!is_known) return;
  tfrt_node_lock_lock(&owner->lock);
  // Fails when the owner has closed.
  tfrt_status_release(
      tfrt_bulk_manager_resume(owner->manager, host->incarnation, TFRT_BULK_OUT,
                               &(tfrt_bulk_resumption_t){.old_want = transfer->want,
                                                         .want = number,
                                                         .offset = offset,
                                                         .limit = offset + SIZE / 3}));
  tfrt_node_lock_unlock_and_run(&owner->lock);
}

static void on_aborted(tfrt_bulk_handler_t* handler, const tfrt_bulk_transfer_t* transfer,
                       void* context, tfrt_status_t status) {
  (void)transfer;
  host_t* host = host_of(handler);
  if (tfrt_status_code(status) != TFRT_STATUS_CANCELLED) note(&host->unexpected);
  if (context) free_buffer(host, context);
  note(&host->aborted);
}

static void on_lost(tfrt_bulk_handler_t* handler, const tfrt_bulk_transfer_t* transfer,
                    tfrt_status_t status) {
  (void)transfer, (void)status;
  note(&host_of(handler)->unexpected);
}

static const tfrt_bulk_handler_vtable_t handler_vtable = {on_begin, on_complete, on_interrupted,
                                                          on_aborted, on_lost};

// --- Life --------------------------------------------------------------------

static void make_host(host_t* host, uint64_t incarnation) {
  *host = (host_t){.handler = {&handler_vtable}, .incarnation = incarnation};
  tfrt_grpc_transport_options_t transport = tfrt_grpc_transport_default_options();
  ck_assert_ptr_null(
      tfrt_grpc_transport_create(&transport, tfrt_allocator_system(), &host->transport));
  tfrt_timer_queue_initialize(&host->timers, tfrt_clock_system());
  ck_assert_ptr_null(tfrt_timer_queue_start_thread(&host->timers));
  tfrt_node_lock_initialize(&host->lock);
  tfrt_bulk_options_t options;
  tfrt_bulk_options_initialize(&options);
  options.incarnation = incarnation;
  options.window_size = SIZE / 3;
  options.uses_checksum = true;
  ck_assert_ptr_null(tfrt_bulk_manager_create(&options, host->transport, &host->lock, &host->timers,
                                              &host->handler, tfrt_allocator_system(),
                                              &host->manager));
  ck_assert_ptr_null(tfrt_transport_listen(host->transport, tfrt_string_view_of("127.0.0.1:0"),
                                           tfrt_bulk_manager_acceptor(host->manager),
                                           host->address));
}

static void open_session(host_t* host, host_t* peer) {
  const tfrt_bulk_session_t session = {.incarnation = peer->incarnation,
                                       .session = SESSION,
                                       .version = 1,
                                       .chunk_bytes = PIECE,
                                       .address = tfrt_string_view_of(peer->address)};
  tfrt_node_lock_lock(&host->lock);
  ck_assert_ptr_null(tfrt_bulk_manager_open(host->manager, &session));
  tfrt_node_lock_unlock_and_run(&host->lock);
}

static void begin(void) {
  tfrt_mutex_initialize(&mutex);
  tfrt_condition_initialize(&condition);
  for (size_t i = 0; i < SIZE; ++i) text[i] = (char)(i * 131 + (i >> 8));
  value = tfrt_async_value_create_string(tfrt_string_view_make(text, SIZE));
  ck_assert_ptr_nonnull(value);
  make_host(&hosts[0], 11);
  make_host(&hosts[1], 12);
  open_session(&hosts[0], &hosts[1]);
  open_session(&hosts[1], &hosts[0]);
}

static void close_manager(void* argument) {
  host_t* host = argument;
  tfrt_node_lock_lock(&host->lock);
  tfrt_bulk_manager_close(host->manager);
  tfrt_node_lock_unlock_and_run(&host->lock);
}

static void end(void) {
  tfrt_thread_t threads[2];
  for (int i = 0; i < 2; ++i) {
    ck_assert_ptr_null(tfrt_thread_create("close", close_manager, &hosts[i], &threads[i]));
  }
  for (int i = 0; i < 2; ++i) tfrt_thread_join(&threads[i]);
  for (int i = 0; i < 2; ++i) {
    tfrt_bulk_manager_drain(hosts[i].manager);
    tfrt_node_lock_lock(&hosts[i].lock);
    ck_assert_uint_eq(tfrt_bulk_manager_counts(hosts[i].manager).live, 0);
    tfrt_node_lock_unlock_and_run(&hosts[i].lock);
  }
  for (int i = 0; i < 2; ++i) tfrt_transport_close(hosts[i].transport);
  for (int i = 0; i < 2; ++i) tfrt_transport_drain(hosts[i].transport);
  for (int i = 0; i < 2; ++i) {
    host_t* host = &hosts[i];
    // Joins the thread: after that nobody but us is left.
    tfrt_timer_queue_deinitialize(&host->timers);
    tfrt_bulk_manager_free(host->manager);
    tfrt_node_lock_deinitialize(&host->lock);
    tfrt_transport_release(host->transport);
    ck_assert_int_eq(read_counter(&host->unexpected), 0);
    ck_assert_int_eq(read_counter(&host->buffers), 0);
  }
  tfrt_async_value_release(value);
  tfrt_condition_deinitialize(&condition);
  tfrt_mutex_deinitialize(&mutex);
}

// --- Work --------------------------------------------------------------------

// |borrower| wants |number| of |owner|: what control would carry is done at once.
static void want(host_t* borrower, host_t* owner, uint64_t number) {
  const tfrt_bulk_send_t send = {.want = number, .value = value, .limit = SIZE / 3};
  tfrt_node_lock_lock(&borrower->lock);
  borrower->wants[number].number = number;
  tfrt_bulk_manager_need(borrower->manager, owner->incarnation, 0);
  tfrt_node_lock_unlock_and_run(&borrower->lock);
  tfrt_node_lock_lock(&owner->lock);
  tfrt_status_t status = tfrt_bulk_manager_send(owner->manager, borrower->incarnation, &send);
  tfrt_node_lock_unlock_and_run(&owner->lock);
  if (status) note(&owner->unexpected);
  tfrt_status_release(status);
}

static void cancel(host_t* borrower, host_t* owner, uint64_t number) {
  tfrt_node_lock_lock(&borrower->lock);
  borrower->wants[number].is_cancelled = true;
  uint64_t current = borrower->wants[number].number;
  tfrt_bulk_manager_end(borrower->manager, owner->incarnation, TFRT_BULK_IN, current, NULL);
  tfrt_node_lock_unlock_and_run(&borrower->lock);
  tfrt_node_lock_lock(&owner->lock);
  tfrt_bulk_manager_end(owner->manager, borrower->incarnation, TFRT_BULK_OUT, current, NULL);
  tfrt_node_lock_unlock_and_run(&owner->lock);
}

static void run_thread(void* argument) {
  uint64_t first = 1 + *(uint64_t*)argument * WANTS_PER_THREAD;
  for (uint64_t number = first; number < first + WANTS_PER_THREAD; ++number) {
    want(&hosts[0], &hosts[1], number);
    want(&hosts[1], &hosts[0], number);
    if (number > first && is_cancelled(number - 1)) {
      cancel(&hosts[0], &hosts[1], number - 1);
      cancel(&hosts[1], &hosts[0], number - 1);
    }
  }
}

static void run_threads(void) {
  tfrt_thread_t threads[THREADS];
  uint64_t numbers[THREADS];
  for (uint64_t i = 0; i < THREADS; ++i) {
    numbers[i] = i;
    ck_assert_ptr_null(tfrt_thread_create("core", run_thread, &numbers[i], &threads[i]));
  }
  for (int i = 0; i < THREADS; ++i) tfrt_thread_join(&threads[i]);
}

// Waits until |zero| payloads are complete at host 0, and |one| at host 1.
static void await_complete(int zero, int one) {
  int64_t deadline_ns = tfrt_clock_now_ns(tfrt_clock_system()) + LIMIT_NS;
  tfrt_mutex_lock(&mutex);
  bool is_in_time = true;
  while (is_in_time &&
         (read_counter(&hosts[0].complete) < zero || read_counter(&hosts[1].complete) < one)) {
    is_in_time = tfrt_condition_wait_until(&condition, &mutex, deadline_ns);
  }
  tfrt_mutex_unlock(&mutex);
  ck_assert(is_in_time);
}

START_TEST(threads_send_and_cancel_both_ways) {
  begin();
  run_threads();
  // Some of the other payloads came before their cancel.
  int expected = 0;
  for (uint64_t number = 1; number <= WANTS; ++number) {
    if (!is_cancelled(number)) ++expected;
  }
  await_complete(expected, expected);
  end();
}
END_TEST

START_TEST(both_close_in_the_middle_of_it) {
  begin();
  run_threads();
  end();
}
END_TEST

// --- Credit ------------------------------------------------------------------

// The first chunk is stored while this one, the fourth, is received.
#define MEETING (3 * PIECE)

// Where the two threads are. Relaxed, so that it orders nothing else that they do.
typedef enum stage_e { BEFORE, FOURTH_IS_CHECKED, FIRST_IS_STORED } stage_t;
static _Atomic int stage;
static tfrt_async_value_t* first_stored;

static void go_to(stage_t next) { atomic_store_explicit(&stage, next, memory_order_relaxed); }

static void await_stage(stage_t wanted) {
  while (read_counter(&stage) != (int)wanted) tfrt_thread_yield();
}

static void sink_destroy(tfrt_payload_sink_t* sink) { (void)sink; }

static tfrt_status_t sink_prepare(tfrt_payload_sink_t* sink, uint64_t offset, size_t size,
                                  void** out_target) {
  (void)sink, (void)size;
  *out_target = hosts[0].wants[1].buffer + offset;
  if (offset != MEETING) return NULL;
  go_to(FOURTH_IS_CHECKED);
  await_stage(FIRST_IS_STORED);
  return NULL;
}

static tfrt_status_t sink_commit(tfrt_payload_sink_t* sink, tfrt_async_value_t** out_stored) {
  (void)sink;
  *out_stored = first_stored;
  first_stored = NULL;
  return NULL;
}

static tfrt_async_value_t* sink_finish(tfrt_payload_sink_t* sink) {
  (void)sink;
  return NULL;
}

static const tfrt_payload_sink_vtable_t sink_vtable = {sink_destroy, sink_prepare, sink_commit,
                                                       sink_finish, NULL};

static void store_first(void* argument) {
  await_stage(FOURTH_IS_CHECKED);
  tfrt_async_value_set_available(argument);
  go_to(FIRST_IS_STORED);
}

// For the thread sanitizer. The window is so large that what is stored then grants more.
START_TEST(credit_is_granted_while_a_chunk_is_checked_against_it) {
  tfrt_payload_sink_t sink = {&sink_vtable};
  stream = &sink;
  tfrt_async_value_t* stored = tfrt_async_value_create_unconstructed(TFRT_TYPE_CHAIN);
  first_stored = tfrt_async_value_retain(stored);
  tfrt_thread_t thread;
  begin();
  ck_assert_ptr_null(tfrt_thread_create("store", store_first, stored, &thread));
  want(&hosts[0], &hosts[1], 1);
  await_complete(1, 0);
  tfrt_thread_join(&thread);
  end();
  tfrt_async_value_release(stored);
}
END_TEST

Suite* tfrt_test_suite(void) {
  Suite* suite = suite_create("channel_thread");
  TCase* threads = tcase_create("threads");
  tcase_set_timeout(threads, 100);
  tcase_add_test(threads, threads_send_and_cancel_both_ways);
  tcase_add_test(threads, both_close_in_the_middle_of_it);
  tcase_add_test(threads, credit_is_granted_while_a_chunk_is_checked_against_it);
  suite_add_tcase(suite, threads);
  return suite;
}
