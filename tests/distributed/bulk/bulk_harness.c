// SPDX-License-Identifier: Apache-2.0
#include "tests/distributed/bulk/bulk_harness.h"

#include <check.h>
#include <stdatomic.h>
#include <string.h>

#define SESSION 7

// --- Values ------------------------------------------------------------------

typedef struct bytes_s {
  uint8_t* data;
  uint64_t size;
} bytes_t;

static _Atomic int64_t live_values;

uint8_t tfrt_bulk_harness_byte(uint64_t seed, uint64_t offset) {
  return (uint8_t)((seed * 31 + offset * 131 + (offset >> 8) * 7 + (offset >> 16) * 3) & 0xff);
}

static void bytes_destroy(void* payload) {
  bytes_t* bytes = payload;
  tfrt_allocator_free(tfrt_allocator_system(), bytes->data, bytes->size);
  atomic_fetch_sub_explicit(&live_values, 1, memory_order_relaxed);
}

static tfrt_status_t bytes_encode(const void* payload, tfrt_encoding_t* out_encoding) {
  const bytes_t* bytes = payload;
  memcpy(out_encoding->header, "head", 4);
  out_encoding->header_size = 4;
  out_encoding->body = bytes->data;
  out_encoding->body_size = bytes->size;
  return NULL;
}

static tfrt_status_t bytes_decode(const uint8_t* header, size_t header_size, size_t body_size,
                                  tfrt_allocator_t allocator, void* payload, void** out_body) {
  (void)header, (void)header_size, (void)body_size, (void)allocator, (void)payload;
  *out_body = NULL;
  return tfrt_status_create(TFRT_STATUS_UNIMPLEMENTED, "the harness has buffers of its own");
}

static const tfrt_codec_t bytes_codec = {bytes_encode, bytes_decode, NULL};
static const tfrt_type_t bytes_type = {.name = "!test.bytes",
                                       .size = sizeof(bytes_t),
                                       .destroy = bytes_destroy,
                                       .codec = &bytes_codec};

tfrt_async_value_t* tfrt_bulk_harness_value(uint64_t size, uint64_t seed) {
  tfrt_type_id_t type = 0;
  ck_assert_ptr_null(tfrt_type_register(&bytes_type, &type));
  tfrt_async_value_t* value = tfrt_async_value_create_available(type);
  ck_assert_ptr_nonnull(value);
  bytes_t* bytes = tfrt_async_value_payload(value);
  bytes->data = tfrt_allocator_allocate(tfrt_allocator_system(), size);
  bytes->size = size;
  for (uint64_t i = 0; i < size; ++i) bytes->data[i] = tfrt_bulk_harness_byte(seed, i);
  atomic_fetch_add_explicit(&live_values, 1, memory_order_relaxed);
  return value;
}

int64_t tfrt_bulk_harness_live_values(void) {
  return atomic_load_explicit(&live_values, memory_order_relaxed);
}

// --- Control -----------------------------------------------------------------

typedef struct message_s {
  tfrt_timer_t timer;
  tfrt_bulk_harness_host_t* to;
  bool is_unwant;
  uint64_t number;
  uint64_t resumes;
  uint64_t offset;
  uint64_t limit;
  uint64_t size;
  uint64_t seed;
} message_t;

static tfrt_bulk_harness_host_t* other(tfrt_bulk_harness_host_t* host) {
  return &host->harness->hosts[host == &host->harness->hosts[0]];
}

static void on_done(void* context, tfrt_status_t status) {
  tfrt_bulk_harness_host_t* host = context;
  ++host->sends_done;
  host->last_done = tfrt_status_code(status);
}

// Serves a Want. With the lock held.
static void serve(tfrt_bulk_harness_host_t* host, const message_t* message,
                  tfrt_async_value_t* value) {
  uint64_t borrower = other(host)->incarnation;
  if (message->resumes != 0) {
    const tfrt_bulk_resumption_t resumption = {.old_want = message->resumes,
                                               .want = message->number,
                                               .offset = message->offset,
                                               .limit = message->limit};
    tfrt_status_t status =
        tfrt_bulk_manager_resume(host->manager, borrower, TFRT_BULK_OUT, &resumption);
    if (!status) return;
    tfrt_status_release(status);
    tfrt_bulk_manager_end(host->manager, borrower, TFRT_BULK_OUT, message->resumes, NULL);
  }
  tfrt_bulk_harness_t* harness = host->harness;
  tfrt_payload_source_t* source =
      harness->open_source ? harness->open_source(message->size, message->seed) : NULL;
  const tfrt_bulk_send_t send = {.want = message->number,
                                 .value = value,
                                 .source = source,
                                 .offset = message->offset,
                                 .limit = message->limit,
                                 .done = on_done,
                                 .context = host};
  tfrt_status_t status = tfrt_bulk_manager_send(host->manager, borrower, &send);
  if (status) tfrt_payload_source_destroy(source);
  tfrt_status_release(status);
}

static void deliver(tfrt_timer_t* timer) {
  message_t* message = TFRT_CONTAINER_OF(timer, message_t, timer);
  tfrt_bulk_harness_host_t* host = message->to;
  tfrt_async_value_t* value =
      message->is_unwant ? NULL : tfrt_bulk_harness_value(message->size, message->seed);
  tfrt_node_lock_lock(&host->lock);
  if (message->is_unwant) {
    tfrt_bulk_manager_end(host->manager, other(host)->incarnation, TFRT_BULK_OUT, message->number,
                          NULL);
  } else {
    serve(host, message, value);
  }
  tfrt_node_lock_unlock_and_run(&host->lock);
  tfrt_async_value_release(value);
  --host->harness->messages;
  tfrt_allocator_free(tfrt_allocator_system(), message, sizeof(*message));
}

// Control keeps its order: each message a little later than the one before.
static void send_control(tfrt_bulk_harness_host_t* from, const message_t* content) {
  tfrt_bulk_harness_t* harness = from->harness;
  message_t* message = tfrt_allocator_allocate(tfrt_allocator_system(), sizeof(*message));
  ck_assert_ptr_nonnull(message);
  *message = *content;
  message->to = other(from);
  ++harness->messages;
  int64_t now_ns = tfrt_clock_now_ns(tfrt_simulated_network_clock(harness->network));
  tfrt_timer_start(tfrt_simulated_endpoint_timers(message->to->endpoint), &message->timer,
                   now_ns + 120 * TFRT_NANOSECONDS_PER_MICROSECOND, deliver);
}

// Appends the Want of |want|. With the lock held.
static void send_want(tfrt_bulk_harness_host_t* host, tfrt_bulk_harness_want_t* want,
                      uint64_t resumes, uint64_t offset) {
  want->number = host->next_number++;
  const message_t message = {.number = want->number,
                             .resumes = resumes,
                             .offset = offset,
                             .limit = offset + tfrt_bulk_manager_window_size(host->manager),
                             .size = want->size,
                             .seed = want->seed};
  send_control(host, &message);
}

// Ends |want| and appends its Unwant. With the lock held.
static void send_unwant(tfrt_bulk_harness_host_t* host, tfrt_bulk_harness_want_t* want) {
  const message_t message = {.is_unwant = true, .number = want->number};
  want->number = 0;
  send_control(host, &message);
}

// --- The handler -------------------------------------------------------------

static tfrt_bulk_harness_host_t* host_of(tfrt_bulk_handler_t* handler) {
  return TFRT_CONTAINER_OF(handler, tfrt_bulk_harness_host_t, handler);
}

static tfrt_bulk_harness_want_t* find_want(tfrt_bulk_harness_host_t* host, uint64_t number) {
  for (size_t i = 0; i < host->want_count; ++i) {
    if (host->wants[i].number == number) return &host->wants[i];
  }
  return NULL;
}

static tfrt_status_t on_begin(tfrt_bulk_handler_t* handler, const tfrt_bulk_transfer_t* transfer,
                              tfrt_string_view_t type, tfrt_string_view_t header,
                              uint64_t total_size, tfrt_bulk_sink_t* out_sink) {
  tfrt_bulk_harness_host_t* host = host_of(handler);
  tfrt_bulk_harness_want_t* want = find_want(host, transfer->want);
  if (!want) return tfrt_status_create(TFRT_STATUS_NOT_FOUND, "nobody wants that");
  ck_assert(tfrt_string_view_equal(type, tfrt_string_view_of("!test.bytes")));
  ck_assert(tfrt_string_view_equal(header, tfrt_string_view_of("head")));
  ck_assert_uint_eq(total_size, want->size);
  ck_assert_uint_eq(transfer->session, SESSION);
  if (host->begin_error != TFRT_STATUS_OK) {
    want->error = tfrt_status_create(host->begin_error, "no room");
    tfrt_node_lock_lock(&host->lock);
    send_unwant(host, want);
    tfrt_node_lock_unlock_and_run(&host->lock);
    return tfrt_status_retain(want->error);
  }
  ck_assert_ptr_null(want->buffer);
  ++want->begins;
  want->begin_place = ++host->next_begin_place;
  want->buffer = tfrt_allocator_allocate_zeroed(tfrt_allocator_system(), want->size);
  if (host->harness->open_sink) want->sink = host->harness->open_sink(want->buffer, want->size);
  *out_sink = (tfrt_bulk_sink_t){.body = want->buffer, .stream = want->sink, .context = want};
  return NULL;
}

static void free_buffer(tfrt_bulk_harness_want_t* want) {
  tfrt_payload_sink_destroy(want->sink);
  want->sink = NULL;
  tfrt_allocator_free(tfrt_allocator_system(), want->buffer, want->size);
  want->buffer = NULL;
}

static void on_complete(tfrt_bulk_handler_t* handler, const tfrt_bulk_transfer_t* transfer,
                        void* context) {
  tfrt_bulk_harness_host_t* host = host_of(handler);
  tfrt_bulk_harness_want_t* want = context;
  ck_assert(!want->is_complete);
  ck_assert_ptr_null(want->error);
  want->is_complete = true;
  want->place = ++host->next_place;
  want->is_intact = true;
  for (uint64_t i = 0; i < want->size; ++i) {
    if (want->buffer[i] != tfrt_bulk_harness_byte(want->seed, i)) want->is_intact = false;
  }
  free_buffer(want);
  tfrt_node_lock_lock(&host->lock);
  if (want->number == transfer->want) send_unwant(host, want);
  tfrt_node_lock_unlock_and_run(&host->lock);
}

static void on_interrupted(tfrt_bulk_handler_t* handler, const tfrt_bulk_transfer_t* transfer,
                           uint64_t offset) {
  tfrt_bulk_harness_host_t* host = host_of(handler);
  tfrt_node_lock_lock(&host->lock);
  tfrt_bulk_harness_want_t* want = find_want(host, transfer->want);
  if (want) {
    ++want->resumes;
    want->resumed_at = offset;
    send_want(host, want, transfer->want, offset);
    const tfrt_bulk_resumption_t resumption = {.old_want = transfer->want, .want = want->number};
    tfrt_status_t status =
        tfrt_bulk_manager_resume(host->manager, transfer->incarnation, TFRT_BULK_IN, &resumption);
    ck_assert_int_eq(!status, want->buffer != NULL);
    tfrt_status_release(status);
  }
  tfrt_node_lock_unlock_and_run(&host->lock);
}

static void on_aborted(tfrt_bulk_handler_t* handler, const tfrt_bulk_transfer_t* transfer,
                       void* context, tfrt_status_t status) {
  tfrt_bulk_harness_host_t* host = host_of(handler);
  tfrt_node_lock_lock(&host->lock);
  tfrt_bulk_harness_want_t* want = context ? context : find_want(host, transfer->want);
  if (want) {
    ck_assert(!want->is_complete);
    ck_assert_ptr_null(want->error);
    want->error = tfrt_status_retain(status);
    free_buffer(want);
    if (want->number != 0) send_unwant(host, want);
  }
  tfrt_node_lock_unlock_and_run(&host->lock);
}

static void on_lost(tfrt_bulk_handler_t* handler, const tfrt_bulk_transfer_t* transfer,
                    tfrt_status_t status) {
  tfrt_bulk_harness_host_t* host = host_of(handler);
  ck_assert_uint_eq(transfer->session, SESSION);
  tfrt_status_release(host->lost);
  host->lost = tfrt_status_retain(status);
}

static const tfrt_bulk_handler_vtable_t handler_vtable = {on_begin, on_complete, on_interrupted,
                                                          on_aborted, on_lost};

// --- Life --------------------------------------------------------------------

void tfrt_bulk_harness_options_initialize(tfrt_bulk_harness_options_t* out_options) {
  *out_options = (tfrt_bulk_harness_options_t){.chunk_bytes = 256u << 10, .diallers = 1};
  tfrt_simulated_options_initialize(&out_options->network);
  tfrt_bulk_options_initialize(&out_options->channels);
}

static void open_session(tfrt_bulk_harness_t* harness, int index,
                         const tfrt_bulk_harness_options_t* options) {
  tfrt_bulk_harness_host_t* host = &harness->hosts[index];
  tfrt_bulk_session_t session = {.incarnation = other(host)->incarnation,
                                 .session = SESSION,
                                 .version = 1,
                                 .chunk_bytes = options->chunk_bytes,
                                 .is_paced = options->is_paced};
  if (options->diallers & (1u << index)) {
    session.address = tfrt_string_view_of(other(host)->address);
  }
  tfrt_node_lock_lock(&host->lock);
  ck_assert_ptr_null(tfrt_bulk_manager_open(host->manager, &session));
  tfrt_node_lock_unlock_and_run(&host->lock);
}

void tfrt_bulk_harness_begin(tfrt_bulk_harness_t* harness,
                             const tfrt_bulk_harness_options_t* options) {
  *harness = (tfrt_bulk_harness_t){0};
  tfrt_counting_allocator_initialize(&harness->allocator, tfrt_allocator_system(),
                                     TFRT_COUNTING_ALLOCATOR_UNLIMITED);
  harness->network = tfrt_simulated_network_allocate(&options->network, tfrt_allocator_system());
  for (int i = 0; i < 2; ++i) {
    tfrt_bulk_harness_host_t* host = &harness->hosts[i];
    host->handler.vtable = &handler_vtable;
    host->harness = harness;
    host->incarnation = 1001 + (uint64_t)i;
    host->next_number = 1;
    host->endpoint = tfrt_simulated_network_add_endpoint(harness->network, i == 0 ? "zero" : "one");
    tfrt_node_lock_initialize(&host->lock);
    tfrt_bulk_options_t channels = options->channels;
    channels.incarnation = host->incarnation;
    if (i == 1 && options->other_place) {
      channels.place = tfrt_string_view_of(options->other_place);
    }
    ck_assert_ptr_null(tfrt_bulk_manager_create(
        &channels, tfrt_simulated_endpoint_transport(host->endpoint), &host->lock,
        tfrt_simulated_endpoint_timers(host->endpoint), &host->handler,
        tfrt_counting_allocator_interface(&harness->allocator), &host->manager));
    ck_assert_ptr_null(tfrt_transport_listen(tfrt_simulated_endpoint_transport(host->endpoint),
                                             tfrt_string_view_of(i == 0 ? "zero:1" : "one:1"),
                                             tfrt_bulk_manager_acceptor(host->manager),
                                             host->address));
  }
  for (int i = 0; i < 2; ++i) open_session(harness, i, options);
}

void tfrt_bulk_harness_bury(tfrt_bulk_harness_t* harness, int index) {
  tfrt_bulk_harness_host_t* host = &harness->hosts[index];
  tfrt_status_t status = tfrt_status_create(TFRT_STATUS_UNAVAILABLE, "dead");
  tfrt_node_lock_lock(&host->lock);
  tfrt_bulk_manager_bury(host->manager, other(host)->incarnation, status);
  tfrt_node_lock_unlock_and_run(&host->lock);
  tfrt_status_release(status);
}

void tfrt_bulk_harness_end(tfrt_bulk_harness_t* harness) {
  for (int i = 0; i < 2; ++i) {
    tfrt_bulk_harness_host_t* host = &harness->hosts[i];
    tfrt_node_lock_lock(&host->lock);
    tfrt_bulk_manager_close(host->manager);
    tfrt_node_lock_unlock_and_run(&host->lock);
    tfrt_transport_close(tfrt_simulated_endpoint_transport(host->endpoint));
  }
  while (tfrt_simulated_network_step(harness->network)) {
  }
  ck_assert_uint_eq(harness->messages, 0);
  for (int i = 0; i < 2; ++i) {
    tfrt_bulk_harness_host_t* host = &harness->hosts[i];
    tfrt_node_lock_lock(&host->lock);
    ck_assert_uint_eq(tfrt_bulk_manager_counts(host->manager).live, 0);
    tfrt_node_lock_unlock_and_run(&host->lock);
    tfrt_bulk_manager_free(host->manager);
    tfrt_node_lock_deinitialize(&host->lock);
    for (size_t k = 0; k < host->want_count; ++k) {
      ck_assert_ptr_null(host->wants[k].buffer);
      tfrt_status_release(host->wants[k].error);
    }
    tfrt_status_release(host->lost);
  }
  tfrt_simulated_network_free(harness->network);
  ck_assert_int_eq(tfrt_counting_allocator_counts(&harness->allocator).current_bytes, 0);
  ck_assert_int_eq(tfrt_bulk_harness_live_values(), 0);
}

// --- Doing -------------------------------------------------------------------

size_t tfrt_bulk_harness_want(tfrt_bulk_harness_t* harness, int index, uint64_t size,
                              uint64_t seed) {
  tfrt_bulk_harness_host_t* host = &harness->hosts[index];
  ck_assert_uint_lt(host->want_count, TFRT_BULK_HARNESS_MAX_WANTS);
  size_t place = host->want_count++;
  tfrt_bulk_harness_want_t* want = &host->wants[place];
  *want = (tfrt_bulk_harness_want_t){.size = size, .seed = seed};
  tfrt_node_lock_lock(&host->lock);
  send_want(host, want, 0, 0);
  tfrt_bulk_manager_need(host->manager, other(host)->incarnation, 0);
  tfrt_node_lock_unlock_and_run(&host->lock);
  return place;
}

void tfrt_bulk_harness_unwant(tfrt_bulk_harness_t* harness, int index, size_t place) {
  tfrt_bulk_harness_host_t* host = &harness->hosts[index];
  tfrt_bulk_harness_want_t* want = &host->wants[place];
  tfrt_node_lock_lock(&host->lock);
  if (want->number != 0) {
    tfrt_bulk_manager_end(host->manager, other(host)->incarnation, TFRT_BULK_IN, want->number,
                          NULL);
    send_unwant(host, want);
  }
  tfrt_node_lock_unlock_and_run(&host->lock);
}

static bool is_over(void* argument) {
  tfrt_bulk_harness_t* harness = argument;
  for (int i = 0; i < 2; ++i) {
    for (size_t k = 0; k < harness->hosts[i].want_count; ++k) {
      if (harness->hosts[i].wants[k].number != 0) return false;
    }
  }
  return harness->messages == 0;
}

bool tfrt_bulk_harness_run(tfrt_bulk_harness_t* harness, int64_t limit_ns) {
  return tfrt_simulated_network_run_until(harness->network, is_over, harness, limit_ns);
}

void tfrt_bulk_harness_run_messages(tfrt_bulk_harness_t* harness, uint64_t count) {
  uint64_t end =
      tfrt_simulated_network_message_count(harness->network, TFRT_TRANSPORT_BULK) + count;
  while (tfrt_simulated_network_message_count(harness->network, TFRT_TRANSPORT_BULK) < end) {
    ck_assert(tfrt_simulated_network_step(harness->network));
  }
}

void tfrt_bulk_harness_pass(tfrt_bulk_harness_t* harness, int64_t time_ns) {
  tfrt_simulated_network_run_until(harness->network, NULL, NULL, time_ns);
}

tfrt_bulk_counts_t tfrt_bulk_harness_counts(tfrt_bulk_harness_t* harness, int index) {
  tfrt_bulk_harness_host_t* host = &harness->hosts[index];
  tfrt_node_lock_lock(&host->lock);
  tfrt_bulk_counts_t counts = tfrt_bulk_manager_counts(host->manager);
  tfrt_node_lock_unlock_and_run(&host->lock);
  return counts;
}

// --- Messages ------------------------------------------------------------------

void tfrt_bulk_harness_message_read(tfrt_bulk_harness_message_t* message,
                                    const tfrt_transport_span_t* spans, size_t count,
                                    bool is_from_dialler) {
  *message = (tfrt_bulk_harness_message_t){0};
  tfrt_string_builder_initialize(&message->bytes, tfrt_allocator_system());
  tfrt_arena_initialize(&message->arena, tfrt_allocator_system());
  for (size_t i = 0; i < count; ++i) {
    tfrt_string_builder_append(&message->bytes, spans[i].data, spans[i].size);
  }
  ck_assert_ptr_null(tfrt_string_builder_status(&message->bytes));
  const tfrt_string_view_t bytes = tfrt_string_builder_view(&message->bytes);
  if (!is_from_dialler) {
    ck_assert_ptr_null(tfrt_wire_bulk_decode(bytes, false, &message->arena, &message->down));
    return;
  }
  tfrt_wire_bulk_t up;
  ck_assert_ptr_null(tfrt_wire_bulk_decode(bytes, true, &message->arena, &up));
  message->down.kind = up.kind;
}

void tfrt_bulk_harness_message_deinitialize(tfrt_bulk_harness_message_t* message) {
  tfrt_string_builder_deinitialize(&message->bytes);
  tfrt_arena_deinitialize(&message->arena);
}
