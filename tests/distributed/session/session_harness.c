// SPDX-License-Identifier: Apache-2.0
#include "tests/distributed/session/session_harness.h"

#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "host_runtime/base/allocator.h"

// For what is looked at with each frame: an assert of libcheck's that holds writes to a file, which
// its parent reads.
#define EXPECT(condition, ...)                   \
  do {                                           \
    if (!(condition)) ck_abort_msg(__VA_ARGS__); \
  } while (0)

// --- The oracle --------------------------------------------------------------

static tfrt_harness_host_t* host_of(tfrt_session_handler_t* handler) {
  return TFRT_CONTAINER_OF(handler, tfrt_harness_host_t, handler);
}

static tfrt_harness_record_t* record_of(tfrt_harness_host_t* host, tfrt_session_t* session) {
  tfrt_harness_record_t* record = *tfrt_session_user_data(session);
  if (record) return record;
  record = tfrt_allocator_allocate_zeroed(tfrt_allocator_system(), sizeof(*record));
  record->host = host;
  record->session = tfrt_session_retain(session);
  record->next = host->records;
  host->records = record;
  *tfrt_session_user_data(session) = record;
  return record;
}

static void on_opened(tfrt_session_handler_t* handler, tfrt_session_t* session) {
  tfrt_harness_record_t* record = record_of(host_of(handler), session);
  ck_assert_msg(!record->was_opened && !record->is_dead, "opened twice, or when dead");
  record->was_opened = true;
  record->opened_ns = tfrt_harness_now(record->host->world);
  ck_assert_uint_ne(tfrt_session_peer_incarnation(session), 0);
}

static tfrt_status_t on_frame(tfrt_session_handler_t* handler, tfrt_session_t* session,
                              const tfrt_wire_frame_t* frame, int64_t deadline_ns) {
  tfrt_harness_host_t* host = host_of(handler);
  tfrt_harness_record_t* record = record_of(host, session);
  EXPECT(record->was_opened, "a frame before the session was opened");
  EXPECT(!record->is_dead, "a frame of a dead session");
  record->last_kind = frame->kind;
  record->last_deadline_ns = deadline_ns;
  if (frame->kind == TFRT_WIRE_FRAME_RELEASE) {
    uint64_t number;
    EXPECT(frame->body.size >= sizeof(number), "a frame of %zu bytes", frame->body.size);
    memcpy(&number, frame->body.data, sizeof(number));
    EXPECT(number == record->received + 1,
           "frame %" PRIu64 " of session %" PRIu32 " came after %" PRIu64, number,
           tfrt_session_number(session), record->received);
    ++record->received;
  } else {
    ++record->others;
  }
  if (host->closes_on_frame) {
    tfrt_session_close(session, TFRT_WIRE_GOODBYE_SHUTDOWN, tfrt_string_view_of("enough"));
  }
  if (host->reject_with) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "%s", host->reject_with);
  }
  return NULL;
}

static void on_refused(tfrt_session_handler_t* handler, tfrt_status_t status, uint64_t untold) {
  tfrt_harness_host_t* host = host_of(handler);
  ++host->refusals;
  host->untold_refusals = untold;
  host->refusal_code = tfrt_status_code(status);
}

static void on_draining(tfrt_session_handler_t* handler, tfrt_session_t* session) {
  tfrt_harness_record_t* record = record_of(host_of(handler), session);
  ck_assert(!record->is_draining && !record->is_dead);
  record->is_draining = true;
}

static void on_dead(tfrt_session_handler_t* handler, tfrt_session_t* session,
                    tfrt_session_death_t death, tfrt_status_t status) {
  tfrt_harness_record_t* record = record_of(host_of(handler), session);
  ck_assert_msg(!record->is_dead, "dead twice");
  ck_assert(!tfrt_status_is_ok(status));
  ck_assert_int_eq(tfrt_session_state(session), TFRT_SESSION_DEAD);
  record->is_dead = true;
  record->dead_ns = tfrt_harness_now(record->host->world);
  record->number = tfrt_session_number(session);
  record->incarnation = tfrt_session_peer_incarnation(session);
  record->death = death;
  record->code = tfrt_status_code(status);
  record->root_key = tfrt_status_fields(status)->root_key;
  snprintf(record->message, sizeof(record->message), "%s", tfrt_status_message(status));
}

static void fill_batch(tfrt_session_handler_t* handler, tfrt_session_t* session) {
  (void)handler;
  (void)session;
}

static void fill_heartbeat(tfrt_session_handler_t* handler, tfrt_session_t* session,
                           tfrt_wire_heartbeat_t* heartbeat) {
  (void)session;
  heartbeat->named = host_of(handler)->named;
}

static void on_heartbeat(tfrt_session_handler_t* handler, tfrt_session_t* session,
                         const tfrt_wire_heartbeat_t* heartbeat) {
  tfrt_harness_record_t* record = record_of(host_of(handler), session);
  EXPECT(!record->is_dead, "a heartbeat of a dead session");
  EXPECT(heartbeat->number > record->heartbeats, "heartbeat %" PRIu64 " came after %" PRIu64,
         heartbeat->number, record->heartbeats);
  record->heartbeats = heartbeat->number;
}

static void on_suspected(tfrt_session_handler_t* handler, tfrt_session_t* session,
                         bool is_suspected) {
  tfrt_harness_record_t* record = record_of(host_of(handler), session);
  ck_assert(!record->is_dead);
  ck_assert(record->is_suspected != is_suspected);
  record->is_suspected = is_suspected;
  record->suspicions += is_suspected;
}

static int64_t heard_elsewhere_ns(tfrt_session_handler_t* handler, tfrt_session_t* session) {
  (void)session;
  return host_of(handler)->elsewhere_ns;
}

static void on_wake(tfrt_session_handler_t* handler, tfrt_session_t* session) {
  tfrt_harness_record_t* record = record_of(host_of(handler), session);
  ck_assert(!record->is_dead);
  ++record->wakes;
  record->woken_ns = tfrt_harness_now(record->host->world);
}

static const tfrt_session_handler_vtable_t handler_vtable = {
    .on_opened = on_opened,
    .on_frame = on_frame,
    .on_refused = on_refused,
    .on_draining = on_draining,
    .on_dead = on_dead,
    .fill_batch = fill_batch,
    .fill_heartbeat = fill_heartbeat,
    .on_heartbeat = on_heartbeat,
    .on_suspected = on_suspected,
    .heard_elsewhere_ns = heard_elsewhere_ns,
    .on_wake = on_wake,
};

// --- Hosts -------------------------------------------------------------------

void tfrt_harness_initialize(tfrt_harness_world_t* world, const tfrt_simulated_options_t* options) {
  memset(world, 0, sizeof(*world));
  world->network = tfrt_simulated_network_allocate(options, tfrt_allocator_system());
}

void tfrt_harness_initialize_with_seed(tfrt_harness_world_t* world, uint64_t seed) {
  tfrt_simulated_options_t options;
  tfrt_simulated_options_initialize(&options);
  options.seed = seed;
  tfrt_harness_initialize(world, &options);
}

tfrt_session_options_t tfrt_harness_options(uint64_t incarnation) {
  tfrt_session_options_t options;
  tfrt_session_options_initialize(&options);
  options.incarnation = incarnation;
  options.cluster_key = tfrt_string_view_of("key");
  return options;
}

tfrt_harness_host_t* tfrt_harness_add_host(tfrt_harness_world_t* world,
                                           const tfrt_session_options_t* options,
                                           const char* address) {
  ck_assert_uint_lt(world->host_count, TFRT_HARNESS_MAX_HOSTS);
  tfrt_harness_host_t* host = &world->hosts[world->host_count++];
  char name[32];
  snprintf(name, sizeof(name), "%" PRIx64, options->incarnation);
  host->handler.vtable = &handler_vtable;
  host->world = world;
  host->incarnation = options->incarnation;
  host->endpoint = tfrt_simulated_network_add_endpoint(world->network, name);
  tfrt_node_lock_initialize(&host->lock);
  tfrt_status_t status =
      tfrt_session_manager_create(options, tfrt_simulated_endpoint_transport(host->endpoint),
                                  &host->lock, tfrt_simulated_endpoint_timers(host->endpoint),
                                  &host->handler, tfrt_allocator_system(), &host->manager);
  ck_assert_msg(tfrt_status_is_ok(status), "%s", tfrt_status_message(status));
  if (!address) return host;
  status = tfrt_session_manager_listen(host->manager, tfrt_string_view_of(address), host->address);
  ck_assert_msg(tfrt_status_is_ok(status), "%s", tfrt_status_message(status));
  return host;
}

tfrt_harness_host_t* tfrt_harness_add_simple_host(tfrt_harness_world_t* world,
                                                  uint64_t incarnation) {
  const tfrt_session_options_t options = tfrt_harness_options(incarnation);
  return tfrt_harness_add_host(world, &options, "host:0");
}

bool tfrt_harness_is_drained(const tfrt_harness_host_t* host) {
  tfrt_session_counters_t counters;
  tfrt_session_manager_counters(host->manager, &counters);
  return counters.live == 0;
}

static void close_manager(tfrt_harness_host_t* host) {
  tfrt_node_lock_lock(&host->lock);
  tfrt_session_manager_close(host->manager, false);
  tfrt_node_lock_unlock_and_run(&host->lock);
}

static void take_down(tfrt_harness_host_t* host) {
  tfrt_transport_t* transport = tfrt_simulated_endpoint_transport(host->endpoint);
  tfrt_transport_close(transport);
  tfrt_transport_drain(transport);
  ck_assert(tfrt_harness_is_drained(host));
  while (host->records) {
    tfrt_harness_record_t* record = host->records;
    host->records = record->next;
    ck_assert(record->is_dead);
    tfrt_session_release(record->session);
    tfrt_allocator_free(tfrt_allocator_system(), record, sizeof(*record));
  }
  tfrt_session_manager_free(host->manager);
  tfrt_node_lock_deinitialize(&host->lock);
  host->is_down = true;
}

void tfrt_harness_kill(tfrt_harness_host_t* host) {
  tfrt_simulated_endpoint_kill(host->endpoint);
  close_manager(host);
  take_down(host);
}

static bool is_drained(void* argument) {
  tfrt_harness_world_t* world = argument;
  for (size_t i = 0; i < world->host_count; ++i) {
    if (world->hosts[i].is_down) continue;
    if (!tfrt_harness_is_drained(&world->hosts[i])) return false;
  }
  return true;
}

void tfrt_harness_deinitialize(tfrt_harness_world_t* world) {
  for (size_t i = 0; i < world->host_count; ++i) {
    if (world->hosts[i].is_down) continue;
    tfrt_simulated_endpoint_thaw(world->hosts[i].endpoint);
    close_manager(&world->hosts[i]);
  }
  // Within the time for goodbyes and one dial nothing is left of any session.
  ck_assert(
      tfrt_simulated_network_run_until(world->network, is_drained, world, 4 * TFRT_HARNESS_SECOND));
  for (size_t i = 0; i < world->host_count; ++i) {
    if (!world->hosts[i].is_down) take_down(&world->hosts[i]);
  }
  tfrt_simulated_network_free(world->network);
}

// --- Sessions ----------------------------------------------------------------

tfrt_harness_record_t* tfrt_harness_dial_address(tfrt_harness_host_t* from, const char* address,
                                                 uint64_t incarnation) {
  tfrt_session_t* session;
  tfrt_node_lock_lock(&from->lock);
  tfrt_status_t status =
      tfrt_session_manager_dial(from->manager, tfrt_string_view_of(address), incarnation, &session);
  ck_assert_msg(tfrt_status_is_ok(status), "%s", tfrt_status_message(status));
  tfrt_harness_record_t* record = record_of(from, session);
  tfrt_node_lock_unlock_and_run(&from->lock);
  tfrt_session_release(session);
  return record;
}

tfrt_harness_record_t* tfrt_harness_dial(tfrt_harness_host_t* from, const tfrt_harness_host_t* to) {
  return tfrt_harness_dial_address(from, to->address, to->incarnation);
}

tfrt_harness_record_t* tfrt_harness_find(tfrt_harness_host_t* host,
                                         const tfrt_harness_host_t* peer) {
  for (tfrt_harness_record_t* record = host->records; record; record = record->next) {
    if (tfrt_session_peer_incarnation(record->session) == peer->incarnation) return record;
  }
  return NULL;
}

tfrt_status_code_t tfrt_harness_append(tfrt_harness_record_t* record,
                                       const tfrt_session_frame_t* frame) {
  tfrt_node_lock_lock(&record->host->lock);
  tfrt_status_t status = tfrt_session_append(record->session, frame);
  tfrt_node_lock_unlock_and_run(&record->host->lock);
  tfrt_status_code_t code = tfrt_status_code(status);
  tfrt_status_release(status);
  return code;
}

void tfrt_harness_send(tfrt_harness_record_t* record, size_t count) {
  tfrt_node_lock_lock(&record->host->lock);
  for (size_t i = 0; i < count; ++i) {
    uint64_t number = ++record->sent;
    const tfrt_session_frame_t frame = {
        .kind = TFRT_WIRE_FRAME_RELEASE,
        .job = 1,
        .deadline_ns = TFRT_TIME_INFINITE,
        .body = tfrt_string_view_make((const char*)&number, sizeof(number)),
    };
    tfrt_status_t status = tfrt_session_append(record->session, &frame);
    EXPECT(tfrt_status_is_ok(status), "%s", tfrt_status_message(status));
  }
  tfrt_node_lock_unlock_and_run(&record->host->lock);
}

tfrt_session_state_t tfrt_harness_state(const tfrt_harness_record_t* record) {
  return tfrt_session_state(record->session);
}

// --- Time --------------------------------------------------------------------

int64_t tfrt_harness_now(tfrt_harness_world_t* world) {
  return tfrt_clock_now_ns(tfrt_simulated_network_clock(world->network));
}

void tfrt_harness_run_for(tfrt_harness_world_t* world, int64_t duration_ns) {
  tfrt_simulated_network_run_until(world->network, NULL, NULL, duration_ns);
}

typedef struct expectation_s {
  tfrt_harness_record_t* record;
  tfrt_session_state_t state;
  uint64_t count;
} expectation_t;

static bool has_state(void* argument) {
  const expectation_t* expectation = argument;
  return tfrt_harness_state(expectation->record) == expectation->state;
}

static bool has_received(void* argument) {
  const expectation_t* expectation = argument;
  return expectation->record->received >= expectation->count;
}

void tfrt_harness_run_until_state(tfrt_harness_record_t* record, tfrt_session_state_t state) {
  expectation_t expectation = {.record = record, .state = state};
  ck_assert_msg(tfrt_simulated_network_run_until(record->host->world->network, has_state,
                                                 &expectation, 60 * TFRT_HARNESS_SECOND),
                "%s instead of %s: %s", tfrt_session_state_name(tfrt_harness_state(record)),
                tfrt_session_state_name(state), record->message);
}

void tfrt_harness_run_until_received(tfrt_harness_record_t* record, uint64_t count) {
  expectation_t expectation = {.record = record, .count = count};
  ck_assert_msg(tfrt_simulated_network_run_until(record->host->world->network, has_received,
                                                 &expectation, 60 * TFRT_HARNESS_SECOND),
                "only %" PRIu64 " of %" PRIu64 " frames came", record->received, count);
}

void tfrt_harness_connect_two(tfrt_harness_world_t* world, tfrt_harness_record_t** out_a,
                              tfrt_harness_record_t** out_b) {
  tfrt_harness_initialize_with_seed(world, 1);
  tfrt_harness_host_t* a = tfrt_harness_add_simple_host(world, 0x0a);
  tfrt_harness_host_t* b = tfrt_harness_add_simple_host(world, 0x0b);
  *out_a = tfrt_harness_dial(a, b);
  tfrt_harness_run_until_state(*out_a, TFRT_SESSION_OPEN);
  *out_b = tfrt_harness_find(b, a);
  ck_assert_ptr_nonnull(*out_b);
  ck_assert_int_eq(tfrt_harness_state(*out_b), TFRT_SESSION_OPEN);
}

void tfrt_harness_partition(tfrt_harness_record_t* a, tfrt_harness_record_t* b, bool both_ways) {
  tfrt_simulated_network_partition(a->host->world->network, a->host->endpoint, b->host->endpoint,
                                   both_ways);
}

void tfrt_harness_heal(tfrt_harness_record_t* a, tfrt_harness_record_t* b) {
  tfrt_simulated_network_heal(a->host->world->network, a->host->endpoint, b->host->endpoint, true);
}

void tfrt_harness_close_session(tfrt_harness_record_t* record, tfrt_wire_goodbye_reason_t reason) {
  tfrt_node_lock_lock(&record->host->lock);
  tfrt_session_close(record->session, reason, tfrt_string_view_of("a test"));
  tfrt_node_lock_unlock_and_run(&record->host->lock);
}

tfrt_session_counters_t tfrt_harness_counters(const tfrt_harness_record_t* record) {
  tfrt_session_counters_t counters;
  tfrt_session_manager_counters(record->host->manager, &counters);
  return counters;
}

void tfrt_harness_break_between(tfrt_harness_record_t* a, tfrt_harness_record_t* b) {
  tfrt_simulated_network_break(a->host->world->network, a->host->endpoint, b->host->endpoint);
}

void tfrt_harness_expect_dead(const tfrt_harness_record_t* record, tfrt_session_death_t death,
                              tfrt_status_code_t code) {
  ck_assert(record->is_dead);
  ck_assert_str_eq(tfrt_session_death_name(record->death), tfrt_session_death_name(death));
  ck_assert_str_eq(tfrt_status_code_name(record->code), tfrt_status_code_name(code));
}
