// SPDX-License-Identifier: Apache-2.0
#include "tests/distributed/wire/samples.h"

#include "host_runtime/base/macros.h"

// A view of a literal; the literal may contain zero bytes.
#define TEXT(literal) \
  { literal, sizeof(literal) - 1 }

// Made-up names: three incarnations.
#define HOST_A UINT64_C(0xa1a2a3a4a5a6a7a8)
#define HOST_B UINT64_C(0xb1b2b3b4b5b6b7b8)
#define HOST_D UINT64_C(0x0d)

#define BYTES_16 TEXT("0123456789abcdef")
#define BYTES_32                 \
  TEXT(                          \
      "0123456789abcdef\x00\xff" \
      "23456789abcdef")

static const tfrt_string_view_t causes[] = {TEXT("lost host 2"), TEXT("connection reset")};
static const tfrt_wire_origin_t origin = {
    .rank = 2,
    .incarnation = HOST_B,
    .function = TEXT("classify"),
    .kernel = TEXT("tfrt_test.fail"),
    .file = TEXT("mnist.mlir"),
    .line = 17,
    .column = 8,
};
static const tfrt_wire_error_t error = {
    .code = TFRT_STATUS_UNAVAILABLE,
    .message = TEXT("host 2 is gone \xe2\x80\x94 really"),
    .origin = &origin,
    .call = TFRT_WIRE_MAX_NUMBER,
    .root_key = HOST_B,
    .derived = true,
    .may_have_run = true,
    .causes = causes,
    .cause_count = TFRT_ARRAY_SIZE(causes),
    .truncated = true,
};
static const tfrt_wire_error_t short_error = {.code = TFRT_STATUS_CANCELLED};

#define PROMISED \
  { .namer = HOST_A, .number = 7, .index = TFRT_WIRE_MAX_INDEX }
#define EXPORTED \
  { .namer = HOST_B, .number = TFRT_WIRE_MAX_NUMBER }
#define REFERENCE                                                                      \
  {                                                                                    \
    .id = PROMISED, .owner = HOST_B, .owner_rank = 2, .namer_rank = TFRT_WIRE_NO_RANK, \
    .is_chain = true, .is_mutable = true, .is_recoverable = true, .is_pushed = true    \
  }
#define EXPORTED_REFERENCE \
  { .id = EXPORTED, .owner = HOST_B, .owner_rank = 2 }
#define VALUE                                                            \
  {                                                                      \
    .type = TEXT("!tfrt_tensor.tensor"), .header = TEXT("\x01\x00\x02"), \
    .body = TEXT("\x00\x01\x02\x03")                                     \
  }

#define INLINE_ITEM \
  { .kind = TFRT_WIRE_ITEM_INLINE, .value = VALUE }
#define CHAIN_ITEM                                                         \
  {                                                                        \
    .kind = TFRT_WIRE_ITEM_INLINE, .value = {.type = TEXT("!tfrt.chain") } \
  }
#define AVAILABLE_ITEM                                                                      \
  {                                                                                         \
    .kind = TFRT_WIRE_ITEM_AVAILABLE, .available = {.type = TEXT("i32"), .size = 1u << 20 } \
  }
#define REFERENCE_ITEM \
  { .kind = TFRT_WIRE_ITEM_REFERENCE, .reference = REFERENCE }
#define EXPORTED_ITEM \
  { .kind = TFRT_WIRE_ITEM_REFERENCE, .reference = EXPORTED_REFERENCE }
#define SAME_ITEM \
  { .kind = TFRT_WIRE_ITEM_SAME_AS_ARGUMENT }
#define BULK_ITEM                                \
  {                                              \
    .kind = TFRT_WIRE_ITEM_ON_BULK, .on_bulk = { \
      .type = TEXT("!t"),                        \
      .header = TEXT("\x05"),                    \
      .size = UINT64_MAX                         \
    }                                            \
  }
#define HELD_ITEM \
  { .kind = TFRT_WIRE_ITEM_HELD }
#define ERROR_ITEM \
  { .kind = TFRT_WIRE_ITEM_ERROR, .error = &error }

static const tfrt_wire_item_t elements[] = {INLINE_ITEM, REFERENCE_ITEM, CHAIN_ITEM, ERROR_ITEM};
#define LIST_ITEM                                \
  {                                              \
    .kind = TFRT_WIRE_ITEM_LIST, .list = {       \
      .type = TEXT("!l"),                        \
      .elements = elements,                      \
      .element_count = TFRT_ARRAY_SIZE(elements) \
    }                                            \
  }

static const tfrt_wire_item_t arguments[] = {INLINE_ITEM, CHAIN_ITEM, REFERENCE_ITEM, EXPORTED_ITEM,
                                             ERROR_ITEM};
static const tfrt_wire_result_item_t results[] = {
    {.index = 0, .item = INLINE_ITEM},
    {.index = 1, .item = AVAILABLE_ITEM},
    {.index = 2, .item = REFERENCE_ITEM},
    {.index = 3, .item = SAME_ITEM},
    {.index = TFRT_WIRE_MAX_RESULTS - 1, .item = ERROR_ITEM},
};
static const tfrt_wire_location_t location = {
    .function = TEXT("main"), .file = TEXT("mnist.mlir"), .line = 3, .column = 9};

static const tfrt_string_view_t addresses[] = {TEXT("10.0.0.2:7000"), TEXT("[::1]:7000")};
static const tfrt_wire_member_t members[] = {
    {.rank = 0, .incarnation = HOST_A, .name = TEXT("alpha")},
    {.rank = 2,
     .incarnation = HOST_B,
     .addresses = addresses,
     .address_count = TFRT_ARRAY_SIZE(addresses),
     .name = TEXT("beta")},
};
#define VIEW \
  { .epoch = 4, .members = members, .member_count = TFRT_ARRAY_SIZE(members), .features = 129 }

static const tfrt_wire_limits_t limits = {
    .batch_bytes = 1000,
    .chunk_bytes = 2000,
    .inline_bytes = 3000,
    .replay_bytes = 4000,
    .objects = 5000,
    .heartbeat_period_ms = 6000,
    .silence_ms = UINT32_MAX,
};
#define HELLO                                                                                 \
  {                                                                                           \
    .version_min = 1, .version_max = 3, .features = UINT64_MAX, .incarnation = HOST_A,        \
    .rank_hint = TFRT_WIRE_NO_RANK, .name = TEXT("alpha:7000"), .session = 3, .resume = true, \
    .received_seq = 17, .connection = 2, .next_call = 8, .limits = &limits                    \
  }

static const tfrt_wire_job_budgets_t budgets = {
    .memory_bytes = UINT64_MAX, .objects = 2, .calls = 3, .requests = 4};
static const tfrt_wire_object_id_t ids[] = {PROMISED, EXPORTED};
static const tfrt_wire_retained_item_t retained[] = {
    {.id = PROMISED, .item = HELD_ITEM},
    {.id = EXPORTED, .item = REFERENCE_ITEM},
    {.id = EXPORTED, .item = ERROR_ITEM},
};
static const tfrt_wire_object_range_t ranges[] = {
    {.namer = HOST_A, .first_number = 7, .number_count = 1, .first_index = 0, .index_count = 1},
    {.namer = HOST_D,
     .first_number = TFRT_WIRE_MAX_NUMBER,
     .number_count = 1,
     .first_index = 1,
     .index_count = TFRT_WIRE_MAX_INDEX},
};

static const tfrt_wire_push_to_t push_to[] = {
    {.result = 0, .to = HOST_B},
    {.result = TFRT_WIRE_MAX_RESULTS - 1, .to = UINT64_MAX},
};

const tfrt_wire_body_t tfrt_wire_sample_bodies[] = {
    {.kind = TFRT_WIRE_FRAME_HELLO, .hello = HELLO},
    {.kind = TFRT_WIRE_FRAME_HELLO,
     .hello = {.version_min = 1,
               .version_max = 1,
               .incarnation = HOST_A,
               .session = 1,
               .connection = 1,
               .next_call = 1}},
    {.kind = TFRT_WIRE_FRAME_WELCOME, .welcome = {.hello = HELLO}},
    {.kind = TFRT_WIRE_FRAME_REFUSE,
     .refuse = {.reason = TFRT_WIRE_REFUSE_VERSION,
                .code = TFRT_STATUS_FAILED_PRECONDITION,
                .message = TEXT("versions 4 to 5 here, 1 to 3 there"),
                .last_session = 12}},
    {.kind = TFRT_WIRE_FRAME_GOODBYE,
     .goodbye = {.reason = TFRT_WIRE_GOODBYE_SHUTDOWN, .message = TEXT("SIGTERM")}},
    {.kind = TFRT_WIRE_FRAME_JOB_ATTACH,
     .job_attach = {.handle = 1, .job_id = BYTES_16, .proof = BYTES_32}},
    {.kind = TFRT_WIRE_FRAME_JOB_OPEN,
     .job_open = {.job_id = BYTES_16,
                  .key = BYTES_32,
                  .budgets = &budgets,
                  .view = VIEW,
                  .root = 2,
                  .name = TEXT("mnist"),
                  .asks_only = true,
                  .detached = true}},
    {.kind = TFRT_WIRE_FRAME_JOB_OPENED, .job_opened = {.error = &error}},
    {.kind = TFRT_WIRE_FRAME_JOB_OPENED},
    {.kind = TFRT_WIRE_FRAME_JOB_START,
     .job_start = {.start = 1,
                   .program = 2,
                   .function = 3,
                   .arguments = arguments,
                   .argument_count = TFRT_ARRAY_SIZE(arguments),
                   .detach = true,
                   .keep_results_ms = 60000}},
    {.kind = TFRT_WIRE_FRAME_JOB_END,
     .job_end = {.start = 1,
                 .request = 5,
                 .results = arguments,
                 .result_count = TFRT_ARRAY_SIZE(arguments),
                 .error = &error}},
    {.kind = TFRT_WIRE_FRAME_JOB_CLOSE, .job_close = {.error = &short_error}},
    {.kind = TFRT_WIRE_FRAME_JOB_DETACH},
    {.kind = TFRT_WIRE_FRAME_JOB_GONE, .job_gone = {.job_id = TEXT("0123456789abcdef")}},
    {.kind = TFRT_WIRE_FRAME_PROGRAM,
     .program = {.handle = 1,
                 .sha256 = BYTES_32,
                 .size = 4711,
                 .reference = EXPORTED_REFERENCE,
                 .name = TEXT("mnist.bef")}},
    {.kind = TFRT_WIRE_FRAME_INVOKE,
     .invoke = {.call = TFRT_WIRE_MAX_NUMBER,
                .program = 1,
                .function = UINT32_MAX,
                .arguments = arguments,
                .argument_count = TFRT_ARRAY_SIZE(arguments),
                .result_count = TFRT_WIRE_MAX_RESULTS,
                .results_wanted = UINT64_MAX,
                .take_inline = true,
                .pure = true,
                .depth = TFRT_WIRE_MAX_DEPTH,
                .location = &location,
                .device = TEXT("cuda:0"),
                .results_can_wait = true,
                .push_to = push_to,
                .push_to_count = TFRT_ARRAY_SIZE(push_to),
                .image = TEXT("a program")}},
    {.kind = TFRT_WIRE_FRAME_INVOKE, .invoke = {.call = 1}},
    {.kind = TFRT_WIRE_FRAME_VOID, .void_call = {.call = 128, .result_count = 3, .error = &error}},
    {.kind = TFRT_WIRE_FRAME_VOID,
     .void_call = {.call = 129, .result_count = 1, .error = &error, .key = TEXT("turn")}},
    {.kind = TFRT_WIRE_FRAME_RESULT,
     .result = {.call = 16384,
                .results = results,
                .result_count = TFRT_ARRAY_SIZE(results),
                .done = true}},
    {.kind = TFRT_WIRE_FRAME_CANCEL, .cancel = {.call = 127, .reason = &error}},
    {.kind = TFRT_WIRE_FRAME_CANCEL_REQUEST,
     .cancel_request = {.request = UINT64_MAX, .reason = &error}},
    {.kind = TFRT_WIRE_FRAME_CANCEL_REQUEST, .cancel_request = {.start = 1}},
    {.kind = TFRT_WIRE_FRAME_END_REQUEST, .end_request = {.request = 9}},
    {.kind = TFRT_WIRE_FRAME_HURRY, .hurry = {.call = 127}},
    {.kind = TFRT_WIRE_FRAME_WANT,
     .want = {.want = 11,
              .id = PROMISED,
              .level = TFRT_WIRE_WANT_VALUE,
              .window = 4u << 20,
              .offset = 1u << 20,
              .resumes = 10}},
    {.kind = TFRT_WIRE_FRAME_RESOLVE, .resolve = {.want = 11, .item = INLINE_ITEM}},
    {.kind = TFRT_WIRE_FRAME_RESOLVE, .resolve = {.want = 11, .item = AVAILABLE_ITEM}},
    {.kind = TFRT_WIRE_FRAME_RESOLVE, .resolve = {.want = 11, .item = BULK_ITEM}},
    {.kind = TFRT_WIRE_FRAME_RESOLVE,
     .resolve = {.want = 11, .item = REFERENCE_ITEM, .origin = &origin}},
    {.kind = TFRT_WIRE_FRAME_RESOLVE, .resolve = {.want = 11, .item = ERROR_ITEM}},
    {.kind = TFRT_WIRE_FRAME_UNWANT, .unwant = {.want = 11}},
    {.kind = TFRT_WIRE_FRAME_RETAIN, .retain = {.ids = ids, .id_count = TFRT_ARRAY_SIZE(ids)}},
    {.kind = TFRT_WIRE_FRAME_RETAINED,
     .retained = {.items = retained, .item_count = TFRT_ARRAY_SIZE(retained)}},
    {.kind = TFRT_WIRE_FRAME_RELEASE,
     .release = {.ranges = ranges, .range_count = TFRT_ARRAY_SIZE(ranges)}},
    {.kind = TFRT_WIRE_FRAME_LOST, .lost = {.reference = REFERENCE}},
    {.kind = TFRT_WIRE_FRAME_REPLACE, .replace = {.old = REFERENCE, .item = ERROR_ITEM}},
    {.kind = TFRT_WIRE_FRAME_PUSH, .push = {.id = PROMISED, .item = INLINE_ITEM}},
    {.kind = TFRT_WIRE_FRAME_PUSH, .push = {.id = PROMISED, .item = REFERENCE_ITEM}},
    {.kind = TFRT_WIRE_FRAME_PUSH, .push = {.id = PROMISED, .item = ERROR_ITEM}},
    {.kind = TFRT_WIRE_FRAME_RESOLVE, .resolve = {.want = 11, .item = LIST_ITEM}},
    {.kind = TFRT_WIRE_FRAME_JOB_DETACH, .job_detach = {.error = &short_error}},
    {.kind = TFRT_WIRE_FRAME_JOB_GONE, .job_gone = {.job_id = BYTES_16, .error = &error}},
};
const size_t tfrt_wire_sample_body_count = TFRT_ARRAY_SIZE(tfrt_wire_sample_bodies);

static const tfrt_wire_trace_t trace = {
    .trace_id_high = 1, .trace_id_low = 2, .span_id = 3, .flags = 1};
static const tfrt_wire_running_kernel_t oldest = {
    .location = {.rank = 2, .incarnation = HOST_B, .kernel = TEXT("tfrt_test.spin"), .line = 4},
    .age_us = 1500000};
static const tfrt_wire_heartbeat_t heartbeat = {
    .number = 12,
    .echo = 11,
    .echo_delay_us = 950000,
    .clock_us = UINT64_MAX,
    .named = TFRT_WIRE_MAX_NUMBER,
    .kernels_started = 100,
    .kernels_retired = 99,
    .loop_turns = 5000,
    .device_streams = 6,
    .queued = 7,
    .oldest = &oldest,
};
// Bodies as they are on the wire: Hello as short as can be, Invoke 1, Unwant 11.
static const tfrt_wire_frame_t hello_frames[] = {
    {.kind = TFRT_WIRE_FRAME_HELLO,
     .body = TEXT("\x08\x01\x10\x01\x21\xa8\xa7\xa6\xa5\xa4\xa3\xa2\xa1\x38\x01\x50\x01\x58\x01")},
};
static const tfrt_wire_frame_t frames[] = {
    {.kind = TFRT_WIRE_FRAME_INVOKE,
     .job = 1,
     .epoch = 4,
     .request = 5,
     .has_budget = true,
     .budget_us = 2500000,
     .trace = &trace,
     .body = TEXT("\x08\x01")},
    {.kind = TFRT_WIRE_FRAME_UNWANT, .job = UINT32_MAX, .epoch = 4, .body = TEXT("\x08\x0b")},
    {.kind = TFRT_WIRE_FRAME_JOB_DETACH, .job = 1},
    {.kind = 1001, .job = 1, .body = TEXT("of a later version, may be skipped")},
    {.kind = 1002, .job = 1, .body = TEXT("of a later version, must not be skipped")},
};

const tfrt_wire_batch_t tfrt_wire_sample_batches[] = {
    {.version = 1,
     .from_incarnation = HOST_A,
     .session = 1,
     .frames = hello_frames,
     .frame_count = TFRT_ARRAY_SIZE(hello_frames)},
    {.version = 1,
     .from_incarnation = HOST_A,
     .to_incarnation = HOST_B,
     .session = 3,
     .ack = 42,
     .heartbeat = &heartbeat},
    {.version = 2,
     .from_incarnation = HOST_A,
     .to_incarnation = HOST_B,
     .session = UINT32_MAX,
     .first_seq = 1000,
     .ack = UINT64_MAX,
     .call_limit = 64,
     .want_limit = 128,
     .age_us = 300000,
     .heartbeat = &heartbeat,
     .frames = frames,
     .frame_count = TFRT_ARRAY_SIZE(frames)},
};
const size_t tfrt_wire_sample_batch_count = TFRT_ARRAY_SIZE(tfrt_wire_sample_batches);

#define FIRST_CHUNK                                                                           \
  {                                                                                           \
    .want = 11, .offset = 0, .type = TEXT("!tfrt_tensor.tensor"), .header = TEXT("\x01\x02"), \
    .total_size = 12, .last = true, .checksum_kind = TFRT_WIRE_CHECKSUM_CRC32C,               \
    .checksum = 0xe3069283u,                                                                  \
    .payload = TEXT(                                                                          \
        "payload\x00"                                                                         \
        "1234")                                                                               \
  }
#define NEXT_CHUNK \
  { .want = 11, .offset = 1u << 20, .payload = TEXT("more") }
#define WINDOW \
  { .want = 11, .limit = 8u << 20 }
#define OFFER                                                                                   \
  {                                                                                             \
    .want = 11, .type = TEXT("!tfrt_gpu.tensor"), .header = TEXT("12"), .total_size = 1u << 20, \
    .ticket = TEXT("where it is")                                                               \
  }
#define DECLINE \
  { .want = 11 }
#define ABORT \
  { .want = 11, .from_owner = true, .error = &error, .is_final = true }

const tfrt_wire_bulk_t tfrt_wire_sample_ups[] = {
    {.kind = TFRT_WIRE_BULK_GREETING,
     .hello = {.version = 1,
               .from_incarnation = HOST_A,
               .to_incarnation = HOST_B,
               .session = 3,
               .channel = 1,
               .connection = 2,
               .place = TEXT("here")}},
    {.kind = TFRT_WIRE_BULK_WINDOW, .window = WINDOW},
    {.kind = TFRT_WIRE_BULK_ABORT, .abort = ABORT},
    {.kind = TFRT_WIRE_BULK_CHUNK, .chunk = FIRST_CHUNK},
    {.kind = TFRT_WIRE_BULK_CHUNK, .chunk = NEXT_CHUNK},
    {.kind = TFRT_WIRE_BULK_CHUNK, .chunk = {.want = 1, .last = true}},
    {.kind = TFRT_WIRE_BULK_OFFER, .offer = OFFER},
    {.kind = TFRT_WIRE_BULK_DECLINE, .decline = DECLINE},
};
const size_t tfrt_wire_sample_up_count = TFRT_ARRAY_SIZE(tfrt_wire_sample_ups);

const tfrt_wire_bulk_t tfrt_wire_sample_downs[] = {
    {.kind = TFRT_WIRE_BULK_GREETING,
     .welcome = {.channel = 1, .last_dialled = 3, .place = TEXT("here")}},
    {.kind = TFRT_WIRE_BULK_GREETING, .welcome = {.channel = 1, .error = &error}},
    {.kind = TFRT_WIRE_BULK_WINDOW, .window = WINDOW},
    {.kind = TFRT_WIRE_BULK_ABORT, .abort = ABORT},
    {.kind = TFRT_WIRE_BULK_CHUNK, .chunk = FIRST_CHUNK},
    {.kind = TFRT_WIRE_BULK_CHUNK, .chunk = NEXT_CHUNK},
    {.kind = TFRT_WIRE_BULK_OFFER, .offer = OFFER},
    {.kind = TFRT_WIRE_BULK_DECLINE, .decline = DECLINE},
};
const size_t tfrt_wire_sample_down_count = TFRT_ARRAY_SIZE(tfrt_wire_sample_downs);
