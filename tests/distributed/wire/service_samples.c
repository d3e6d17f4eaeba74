// SPDX-License-Identifier: Apache-2.0
#include "tests/distributed/wire/service_samples.h"

#define TEXT(literal) \
  { literal, sizeof(literal) - 1 }
#define JOB TEXT("0123456789abcdef")
#define ID \
  { .namer = UINT64_C(0xa1a2a3a4a5a6a7a8), .number = 7, .index = 1 }

static const tfrt_wire_location_t place = {
    .function = TEXT("main"), .file = TEXT("some/program.mlir"), .line = 13, .column = 8};
static const tfrt_wire_parent_t parent = {.caller = 0xb2, .number = 9};

const tfrt_wire_question_t tfrt_wire_sample_questions[] = {
    {.kind = TFRT_WIRE_ASK_STATUS},
    {.kind = TFRT_WIRE_ASK_INVENTORY},
    {.kind = TFRT_WIRE_ASK_INVENTORY, .inventory = {.kinds = UINT32_MAX, .limit = 300}},
    {.kind = TFRT_WIRE_ASK_CANCEL, .cancel = {.job = JOB}},
    {.kind = TFRT_WIRE_ASK_CANCEL, .cancel = {.caller = 0xa1, .number = 3, .place = &place}},
    {.kind = TFRT_WIRE_ASK_TRACE},
    {.kind = TFRT_WIRE_ASK_RECORD},
    {.kind = TFRT_WIRE_ASK_RECORD,
     .record = {.action = TFRT_WIRE_RECORD_BEGIN, .job = JOB, .milliseconds = 1000}},
    {.kind = TFRT_WIRE_ASK_RECORD,
     .record = {.action = TFRT_WIRE_RECORD_READ, .since_ns = 123456789}},
    {.kind = TFRT_WIRE_ASK_FOLLOW, .follow = {.job = JOB, .from = UINT64_MAX}},
    {.kind = TFRT_WIRE_ASK_KEPT_RESULT, .kept_result = {.job = JOB, .index = 2}},
    {.kind = TFRT_WIRE_ASK_DRAIN},
};
const size_t tfrt_wire_sample_question_count = TFRT_ARRAY_SIZE(tfrt_wire_sample_questions);

static const tfrt_wire_host_counts_t counts = {1, 2, 3, 4, 5, 6, 7, 8};
static const tfrt_wire_host_counters_t counters = {1, 2, 3, 4, 5, 6};
static const tfrt_wire_need_t needs[] = {{.owner = 0xa1, .id = ID}, {.owner = 0xb2, .id = ID}};
static const tfrt_wire_holder_t holders[] = {{0xa1}, {0xb2}};

#define WORK                                                                                    \
  {                                                                                             \
    .request = 4, .function = TEXT("wait"), .age_us = 2000000, .state = TFRT_WIRE_WORK_LOADING, \
    .needs = needs, .need_count = TFRT_ARRAY_SIZE(needs)                                        \
  }
#define VALUE \
  { .state = TFRT_WIRE_VALUE_READY, .type = TEXT("i32"), .has_size = true, .size = UINT64_MAX }

const tfrt_wire_answer_part_t tfrt_wire_sample_parts[] = {
    {.kind = TFRT_WIRE_PART_HOST,
     .host = {.incarnation = 0xa1, .name = TEXT("demo-0"), .serving = true}},
    {.kind = TFRT_WIRE_PART_HOST,
     .host = {.incarnation = 0xa1,
              .name = TEXT("demo-0"),
              .serving = true,
              .counts = &counts,
              .counters = &counters}},
    {.kind = TFRT_WIRE_PART_PEER,
     .peer = {.incarnation = 0xb2,
              .state = 1,
              .round_trip_us = 312,
              .address = TEXT("127.0.0.1:7001"),
              .name = TEXT("demo-1"),
              .frames_sent = 12,
              .frames_received = 9,
              .bytes_sent = 3020,
              .bytes_received = 1120,
              .payload_bytes_sent = 1,
              .payload_bytes_received = 1000000,
              .payload_bytes_borrowed = 2}},
    {.kind = TFRT_WIRE_PART_JOB,
     .job = {.job = JOB,
             .name = TEXT("test"),
             .rank = 1,
             .hosts = 3,
             .root = 0xa1,
             .client = 0xc3,
             .age_us = 5,
             .state = TFRT_WIRE_JOB_STATE_DETACHED}},
    {.kind = TFRT_WIRE_PART_MEMBER,
     .member = {.job = JOB,
                .rank = 2,
                .incarnation = 0xb2,
                .address = TEXT("127.0.0.1:7001"),
                .is_lost = true}},
    {.kind = TFRT_WIRE_PART_START, .start = {.job = JOB, .number = 1, .work = WORK}},
    {.kind = TFRT_WIRE_PART_INCOMING_CALL,
     .incoming_call = {.job = JOB, .caller = 0xa1, .number = 3, .depth = 1, .work = WORK}},
    {.kind = TFRT_WIRE_PART_OUTGOING_CALL,
     .outgoing_call = {.job = JOB,
                       .callee = 0xb2,
                       .number = 3,
                       .request = 4,
                       .function = TEXT("wait"),
                       .age_us = 7,
                       .is_cancelled = true,
                       .parent = &parent,
                       .place = &place}},
    {.kind = TFRT_WIRE_PART_OBJECT,
     .object = {.job = JOB,
                .id = ID,
                .value = VALUE,
                .age_us = 7,
                .function = TEXT("f"),
                .holders = holders,
                .holder_count = TFRT_ARRAY_SIZE(holders),
                .loans = 2}},
    {.kind = TFRT_WIRE_PART_REMOTE_VALUE,
     .remote_value = {.job = JOB,
                      .id = ID,
                      .owner = 0xb2,
                      .value = VALUE,
                      .age_us = 7,
                      .function = TEXT("f"),
                      .place = &place}},
    {.kind = TFRT_WIRE_PART_MAIL,
     .mail = {.job = JOB,
              .is_sent = true,
              .request = 4,
              .sender = 2,
              .key = TEXT("a key\0\xff"),
              .kernel = TEXT("tfrt_dist.recv"),
              .place = &place}},
    {.kind = TFRT_WIRE_PART_KERNEL,
     .kernel = {.job = JOB,
                .request = 4,
                .parent = &parent,
                .kernel = TEXT("tfrt.add.i32"),
                .place = &place,
                .age_us = 12}},
    {.kind = TFRT_WIRE_PART_KERNEL, .kernel = {.kernel = TEXT("tfrt.add.i32")}},
    {.kind = TFRT_WIRE_PART_CLOCK, .clock = {.clock_ns = 123456789012345, .dropped = 3}},
    {.kind = TFRT_WIRE_PART_SPAN,
     .span = {.begin_ns = 1000,
              .end_ns = 2000,
              .request = 4,
              .thread = 5,
              .category = TEXT("kernel"),
              .name = TEXT("tfrt.add.i32"),
              .location = 6}},
    {.kind = TFRT_WIRE_PART_DONE},
    {.kind = TFRT_WIRE_PART_MORE,
     .more = {.jobs = 1,
              .members = 2,
              .starts = 3,
              .incoming_calls = UINT64_MAX,
              .outgoing_calls = 5,
              .objects = 1000000,
              .remote_values = 7,
              .mail = 8}},
    {.kind = TFRT_WIRE_PART_FOLLOW,
     .follow = {.state = TFRT_WIRE_DETACHED_ENDED,
                .function = TEXT("main"),
                .results = 2,
                .from = 3,
                .next = 80,
                .has_more = true,
                .is_loss = true}},
    {.kind = TFRT_WIRE_PART_LINE, .line = {.rank = 1, .text = TEXT("a li"), .rest = 2}},
    {.kind = TFRT_WIRE_PART_LINE, .line = {.rank = 1, .text = TEXT("n\xff")}},
    {.kind = TFRT_WIRE_PART_DRAIN, .drain = {.jobs = 3}},
};
const size_t tfrt_wire_sample_part_count = TFRT_ARRAY_SIZE(tfrt_wire_sample_parts);
