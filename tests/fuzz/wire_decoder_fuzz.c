// SPDX-License-Identifier: Apache-2.0
//
// Bytes from a stranger to the decoders of the wire. The first byte says which:
//
//   0           Batch, and the body of each of its frames
//   252         Question
//   253         Answer, part by part
//   254, 255    BulkUp, BulkDown
//   any other   the body of a frame of that kind
//
// An accepted message must encode; its second encoding must have the same bytes as the first.
// Decoding must take no more memory than the limits promise.
#include <stdlib.h>

#include "distributed/wire/batch.h"
#include "distributed/wire/bulk.h"
#include "distributed/wire/service.h"
#include "tests/support/fuzz_target.h"

enum {
  SELECT_BATCH = 0,
  SELECT_QUESTION = 252,
  SELECT_ANSWER = 253,
  SELECT_UP = 254,
  SELECT_DOWN = 255
};

// Room for any message that the wire knows.
typedef union any_message_u {
  tfrt_wire_batch_t batch;
  tfrt_wire_body_t body;
  tfrt_wire_bulk_t up;
  tfrt_wire_bulk_t down;
  tfrt_wire_question_t question;
  tfrt_wire_answer_part_t part;
} any_message_t;

static void require(bool condition) {
  if (!condition) abort();
}

static tfrt_status_t decode(uint8_t selector, tfrt_string_view_t bytes, tfrt_arena_t* arena,
                            any_message_t* out_message) {
  switch (selector) {
    case SELECT_BATCH:
      return tfrt_wire_batch_decode(bytes, arena, &out_message->batch);
    case SELECT_QUESTION:
      return tfrt_wire_question_decode(bytes, arena, &out_message->question);
    case SELECT_ANSWER:
      // Decoding takes the first part; try_bytes() goes on.
      return tfrt_wire_answer_next(&bytes, arena, &out_message->part);
    case SELECT_UP:
      return tfrt_wire_bulk_decode(bytes, true, arena, &out_message->up);
    case SELECT_DOWN:
      return tfrt_wire_bulk_decode(bytes, false, arena, &out_message->down);
    default:
      return tfrt_wire_body_decode(selector, bytes, arena, &out_message->body);
  }
}

static tfrt_status_t encode(uint8_t selector, const any_message_t* message,
                            tfrt_string_builder_t* out) {
  switch (selector) {
    case SELECT_BATCH:
      return tfrt_wire_batch_encode(&message->batch, out);
    case SELECT_QUESTION:
      return tfrt_wire_question_encode(&message->question, out);
    case SELECT_ANSWER:
      return tfrt_wire_answer_append(&message->part, out);
    case SELECT_UP:
      return tfrt_wire_bulk_encode(&message->up, true, out);
    case SELECT_DOWN:
      return tfrt_wire_bulk_encode(&message->down, false, out);
    default:
      return tfrt_wire_body_encode(&message->body, out);
  }
}

// The errors of a message become statuses, as they do in a handler.
static void use_error(const tfrt_wire_error_t* error) {
  tfrt_status_t status = tfrt_wire_error_to_status(error);
  require(tfrt_status_code(status) != TFRT_STATUS_OK);
  tfrt_status_release(status);
}

static void use_message(uint8_t selector, const any_message_t* message) {
  if (selector == TFRT_WIRE_FRAME_VOID) use_error(message->body.void_call.error);
  if (selector == SELECT_UP && message->up.kind == TFRT_WIRE_BULK_ABORT) {
    use_error(message->up.abort.error);
  }
}

static void try_bytes(uint8_t selector, tfrt_string_view_t bytes);

static void try_frames(const tfrt_wire_batch_t* batch) {
  for (size_t i = 0; i < batch->frame_count; ++i) {
    const tfrt_wire_frame_t* frame = &batch->frames[i];
    if (frame->kind != SELECT_BATCH && frame->kind < SELECT_UP) {
      try_bytes((uint8_t)frame->kind, frame->body);
    }
  }
}

static void try_again(uint8_t selector, const any_message_t* message) {
  tfrt_string_builder_t first, second;
  tfrt_string_builder_initialize(&first, tfrt_allocator_system());
  tfrt_string_builder_initialize(&second, tfrt_allocator_system());
  tfrt_arena_t arena;
  tfrt_arena_initialize(&arena, tfrt_allocator_system());
  any_message_t copy;
  require(tfrt_status_is_ok(encode(selector, message, &first)));
  tfrt_string_view_t bytes = tfrt_string_builder_view(&first);
  require(tfrt_status_is_ok(decode(selector, bytes, &arena, &copy)));
  require(tfrt_status_is_ok(encode(selector, &copy, &second)));
  require(tfrt_string_view_equal(bytes, tfrt_string_builder_view(&second)));
  tfrt_arena_deinitialize(&arena);
  tfrt_string_builder_deinitialize(&second);
  tfrt_string_builder_deinitialize(&first);
}

static void try_bytes(uint8_t selector, tfrt_string_view_t bytes) {
  tfrt_arena_t arena;
  tfrt_arena_initialize(&arena, tfrt_allocator_system());
  any_message_t message;
  tfrt_status_t status = decode(selector, bytes, &arena, &message);
  require(arena.used_size <= TFRT_WIRE_MAX_DECODED_SIZE);
  // A part of a later version has nothing to encode.
  bool is_unknown = selector == SELECT_ANSWER && message.part.kind == TFRT_WIRE_PART_UNKNOWN;
  if (tfrt_status_is_ok(status) && !is_unknown) {
    use_message(selector, &message);
    try_again(selector, &message);
    if (selector == SELECT_BATCH) try_frames(&message.batch);
  }
  tfrt_status_release(status);
  tfrt_arena_deinitialize(&arena);
}

// Each part of the answer |bytes| for itself.
static void try_answer(tfrt_string_view_t bytes) {
  for (bool is_good = true; is_good && bytes.size > 0;) {
    tfrt_string_view_t rest = bytes;
    tfrt_arena_t arena;
    tfrt_arena_initialize(&arena, tfrt_allocator_system());
    tfrt_wire_answer_part_t part;
    tfrt_status_t status = tfrt_wire_answer_next(&rest, &arena, &part);
    is_good = tfrt_status_is_ok(status);
    require(!is_good || rest.size < bytes.size);
    require(arena.used_size <= TFRT_WIRE_MAX_PART_DECODED_SIZE);
    try_bytes(SELECT_ANSWER, bytes);
    bytes = rest;
    tfrt_status_release(status);
    tfrt_arena_deinitialize(&arena);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  tfrt_string_view_t bytes = tfrt_string_view_make((const char*)data + 1, size - 1);
  if (data[0] == SELECT_ANSWER) {
    try_answer(bytes);
  } else {
    try_bytes(data[0], bytes);
  }
  return 0;
}
