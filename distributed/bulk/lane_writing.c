// SPDX-License-Identifier: Apache-2.0
//
// Messages that a lane writes besides chunks: Hello or Welcome, and then Aborts and Windows.
#include "distributed/bulk/lane_impl.h"

void tfrt_lane_must_write(tfrt_lane_t* lane) {
  lane->is_writing = true;
  lane->used_ns = tfrt_lane_manager_now_ns(lane->manager);
  ++lane->references;  // a write may be completed behind the connection's end
  tfrt_lane_schedule(lane, TFRT_LANE_DUE_WRITE);
}

static tfrt_status_t encode_message(tfrt_lane_t* lane, uint32_t kind, const tfrt_wire_bulk_up_t* up,
                                    const tfrt_wire_lane_welcome_t* welcome) {
  if (lane->is_dialler) return tfrt_wire_bulk_up_encode(up, &lane->head);
  tfrt_wire_bulk_down_t down = {.kind = kind};
  if (kind == TFRT_WIRE_BULK_LANE) down.welcome = *welcome;
  if (kind == TFRT_WIRE_BULK_WINDOW) down.window = up->window;
  if (kind == TFRT_WIRE_BULK_ABORT) down.abort = up->abort;
  return tfrt_wire_bulk_down_encode(&down, &lane->head);
}

// Begins the write of a small message; an error (taken) breaks the lane.
static void take_encoded(tfrt_lane_t* lane, tfrt_status_t status) {
  if (!tfrt_status_is_ok(status)) {
    tfrt_status_release(status);
    tfrt_lane_give_up(lane);
    return;
  }
  tfrt_lane_must_write(lane);
}

void tfrt_lane_begin_message(tfrt_lane_t* lane, const tfrt_wire_bulk_up_t* up) {
  tfrt_string_builder_clear(&lane->head);
  take_encoded(lane, encode_message(lane, up->kind, up, NULL));
}

// Begins the write of |abort|, whose error is |status| (+0).
static void begin_abort(tfrt_lane_t* lane, tfrt_wire_abort_t abort, tfrt_status_t status) {
  tfrt_lane_manager_t* manager = lane->manager;
  tfrt_arena_t arena;
  tfrt_arena_initialize(&arena, manager->allocator);
  tfrt_wire_error_t error;
  tfrt_status_t result = tfrt_wire_error_from_status(status, TFRT_WIRE_NO_RANK,
                                                     manager->options.incarnation, &arena, &error);
  if (tfrt_status_is_ok(result)) {
    abort.error = &error;
    const tfrt_wire_bulk_up_t up = {.kind = TFRT_WIRE_BULK_ABORT, .abort = abort};
    tfrt_string_builder_clear(&lane->head);
    result = encode_message(lane, up.kind, &up, NULL);
  }
  tfrt_arena_deinitialize(&arena);
  take_encoded(lane, result);
}

void tfrt_lane_begin_welcome(tfrt_lane_t* lane, uint32_t number, tfrt_status_t refusal) {
  tfrt_arena_t arena;
  tfrt_arena_initialize(&arena, lane->manager->allocator);
  tfrt_wire_error_t error;
  tfrt_status_t result = NULL;
  if (refusal) {
    result = tfrt_wire_error_from_status(refusal, TFRT_WIRE_NO_RANK,
                                         lane->manager->options.incarnation, &arena, &error);
  }
  if (tfrt_status_is_ok(result)) {
    const tfrt_wire_lane_welcome_t welcome = {
        .lane = number,
        .error = refusal ? &error : NULL,
        .last_dialled = lane->peer ? lane->peer->last_dialled : 0};
    tfrt_string_builder_clear(&lane->head);
    result = encode_message(lane, TFRT_WIRE_BULK_LANE, NULL, &welcome);
  }
  tfrt_arena_deinitialize(&arena);
  take_encoded(lane, result);
}

// Begins the Abort for the next failed transfer. Returns false if there is none.
static bool begin_failure(tfrt_lane_t* lane) {
  tfrt_list_link_t* link = tfrt_list_pop_front(&lane->peer->failed);
  if (!link) return false;
  tfrt_lane_outgoing_t* outgoing = TFRT_CONTAINER_OF(link, tfrt_lane_outgoing_t, link);
  const tfrt_wire_abort_t abort = {.want = outgoing->want, .from_owner = true, .is_final = true};
  begin_abort(lane, abort, outgoing->failure);
  return true;
}

// Begins the Abort for the next interrupted transfer. Returns false if there is none.
static bool begin_interruption(tfrt_lane_t* lane) {
  tfrt_list_link_t* link = tfrt_list_pop_front(&lane->peer->interrupted);
  if (!link) return false;
  tfrt_lane_outgoing_t* outgoing = TFRT_CONTAINER_OF(link, tfrt_lane_outgoing_t, link);
  tfrt_status_t status =
      tfrt_status_create(TFRT_STATUS_ABORTED, "the lane was lost; resume the transfer");
  begin_abort(lane, (tfrt_wire_abort_t){.want = outgoing->want, .from_owner = true}, status);
  tfrt_status_release(status);
  return true;
}

static void begin_window(tfrt_lane_t* lane, uint64_t want, uint64_t limit) {
  const tfrt_wire_bulk_up_t up = {.kind = TFRT_WIRE_BULK_WINDOW,
                                  .window = {.want = want, .limit = limit}};
  tfrt_lane_begin_message(lane, &up);
}

// Says the next window that has moved; or once more the first one, to see whether the lane is lost.
// Returns false if there is none.
static bool begin_due_window(tfrt_lane_t* lane) {
  const uint64_t expected_want = lane->expected_want;
  tfrt_list_link_t* link = tfrt_list_pop_front(&lane->peer->windows);
  if (!link && expected_want == 0) return false;
  lane->expected_want = 0;
  if (link) {
    tfrt_lane_incoming_t* incoming = TFRT_CONTAINER_OF(link, tfrt_lane_incoming_t, link);
    begin_window(lane, incoming->name.want, incoming->granted);
  } else {
    begin_window(lane, expected_want, lane->manager->options.window_size);
  }
  return true;
}

bool tfrt_lane_begin_due_message(tfrt_lane_t* lane) {
  tfrt_lane_peer_t* peer = lane->peer;
  tfrt_list_link_t* link = tfrt_list_pop_front(&peer->aborts);
  if (link) {
    --peer->abort_count;
    tfrt_lane_abort_t* abort = TFRT_CONTAINER_OF(link, tfrt_lane_abort_t, link);
    begin_abort(
        lane,
        (tfrt_wire_abort_t){
            .want = abort->want, .from_owner = abort->from_owner, .is_final = abort->from_owner},
        abort->status);
    tfrt_status_release(abort->status);
    tfrt_allocator_free(lane->manager->allocator, abort, sizeof(*abort));
    return true;
  }
  return begin_failure(lane) || begin_interruption(lane) || begin_due_window(lane);
}
