// SPDX-License-Identifier: Apache-2.0
//
// Plans carried out without a network: all members of a group run in one loop, which picks the next
// member and step at random. The loop keeps the rules for the executor of a plan. The oracle is the
// result of the same collective for few elements that came with the records.
#include "kernels/distributed/collective_plan.h"

#include <string.h>

#include "host_runtime/base/random.h"
#include "kernels/distributed/collective_result.h"
#include "tests/support/test_main.h"

enum { MAX_MEMBERS = 9, MAX_STEPS = 4096 };

// A message that was sent and not taken yet: where its bytes are at the sender.
typedef struct message_s {
  bool is_sent;
  bool is_taken;
  const char* bytes;
  size_t size;
} message_t;

typedef struct member_s {
  tfrt_collective_plan_t plan;
  int64_t* input;
  tfrt_dense_host_tensor_t output;
  void* made[MAX_STEPS];
  bool began[MAX_STEPS];
  bool done[MAX_STEPS];
  bool has_arrived[MAX_MEMBERS];
  uint32_t next_receive;
  uint32_t next_send;
  uint32_t receives;
  uint32_t sends;
  size_t sent_bytes;
} member_t;

typedef struct group_s {
  uint32_t count;
  uint32_t window;
  bool knows_pairs;
  tfrt_collective_record_t records[MAX_MEMBERS];
  member_t members[MAX_MEMBERS];
  message_t messages[MAX_MEMBERS][MAX_MEMBERS][MAX_STEPS];
} group_t;

static group_t group;

static tfrt_collective_view_t view_of(uint32_t position) {
  return (tfrt_collective_view_t){
      .records = group.records, .count = group.count, .position = position};
}

// --- Carrying out ------------------------------------------------------------------

static bool begin_receive(member_t* member) {
  const tfrt_collective_plan_t* plan = &member->plan;
  while (member->next_receive < plan->step_count &&
         !tfrt_collective_step_receives(&plan->steps[member->next_receive])) {
    ++member->next_receive;
  }
  if (member->next_receive == plan->step_count || member->receives == group.window) return false;
  const tfrt_collective_step_t* step = &plan->steps[member->next_receive];
  if (step->after != TFRT_COLLECTIVE_NO_STEP && !member->done[step->after]) return false;
  if (step->number > 0 && !member->has_arrived[step->member]) return false;
  member->began[member->next_receive++] = true;
  ++member->receives;
  return true;
}

static const char* bytes_of(const member_t* member, const tfrt_collective_step_t* step) {
  if (step->kind == TFRT_COLLECTIVE_SEND_STEP) return member->made[step->after];
  if (step->kind == TFRT_COLLECTIVE_SEND_INPUT) return (const char*)member->input + step->input;
  return (const char*)tfrt_dense_host_tensor_data(&member->output) + step->output;
}

static bool begin_send(member_t* member) {
  tfrt_collective_plan_t* plan = &member->plan;
  while (member->next_send < plan->step_count &&
         tfrt_collective_step_receives(&plan->steps[member->next_send])) {
    ++member->next_send;
  }
  if (member->next_send == plan->step_count || member->sends == group.window) return false;
  const tfrt_collective_step_t* step = &plan->steps[member->next_send];
  if (step->after != TFRT_COLLECTIVE_NO_STEP && !member->done[step->after]) return false;
  ck_assert_uint_gt(step->size, 0);
  if (step->kind == TFRT_COLLECTIVE_COPY) {
    memcpy((char*)tfrt_dense_host_tensor_data(&member->output) + step->output,
           (const char*)member->input + step->input, step->size);
    member->done[member->next_send++] = true;
    return true;
  }
  message_t* message = &group.messages[plan->position][step->member][step->number];
  ck_assert(!message->is_sent);
  *message = (message_t){.is_sent = true, .bytes = bytes_of(member, step), .size = step->size};
  member->began[member->next_send++] = true;
  member->sent_bytes += step->size;
  ++member->sends;
  return true;
}

static void combine(member_t* member, const tfrt_collective_step_t* step, void* target,
                    const char* received) {
  const tfrt_collective_record_t* record = &group.records[member->plan.position];
  int64_t count = (int64_t)(step->size / sizeof(int64_t));
  const char* own =
      step->joins ? member->made[step->after] : (const char*)member->input + step->input;
  tfrt_reduction_apply(record->reduction, record->dtype, target, step->own_first ? own : received,
                       step->own_first ? received : own, count);
  if (step->finish) {
    tfrt_reduction_finish(record->reduction, record->dtype, target, count, group.count);
  }
}

// Takes the message that step |index| waits for, and lets its sender know.
static bool end_receive(member_t* member, uint32_t index) {
  const tfrt_collective_step_t* step = &member->plan.steps[index];
  message_t* message = &group.messages[step->member][member->plan.position][step->number];
  if (!message->is_sent) return false;
  ck_assert(!message->is_taken);
  ck_assert_uint_eq(message->size, step->size);
  char* target = NULL;
  if (step->kind == TFRT_COLLECTIVE_RECEIVE_RELAY) {
    target = member->made[index] = tfrt_allocator_allocate(tfrt_allocator_system(), step->size);
  } else {
    target = (char*)tfrt_dense_host_tensor_data(&member->output) + step->output;
  }
  if (step->kind == TFRT_COLLECTIVE_RECEIVE_STORE) {
    memcpy(target, message->bytes, step->size);
  } else {
    combine(member, step, target, message->bytes);
  }
  message->is_taken = true;
  --group.members[step->member].sends;
  --member->receives;
  member->has_arrived[step->member] = true;
  member->done[index] = true;
  return true;
}

// Ends one receive under way, from any place.
static bool end_some_receive(member_t* member, tfrt_random_t* random) {
  uint32_t count = member->plan.step_count;
  if (count == 0) return false;
  uint32_t first = (uint32_t)tfrt_random_below(random, count);
  for (uint32_t i = 0; i < count; ++i) {
    uint32_t index = (first + i) % count;
    bool is_under_way = tfrt_collective_step_receives(&member->plan.steps[index]) &&
                        member->began[index] && !member->done[index];
    if (is_under_way && end_receive(member, index)) return true;
  }
  return false;
}

// Returns true if |member| did something.
static bool act(member_t* member, tfrt_random_t* random) {
  switch (tfrt_random_below(random, 3)) {
    case 0:
      return begin_receive(member) || begin_send(member) || end_some_receive(member, random);
    case 1:
      return begin_send(member) || end_some_receive(member, random) || begin_receive(member);
    default:
      return end_some_receive(member, random) || begin_receive(member) || begin_send(member);
  }
}

static void carry_out(tfrt_random_t* random) {
  uint32_t idle = 0;
  while (idle < group.count) {
    uint32_t first = (uint32_t)tfrt_random_below(random, group.count);
    for (idle = 0; idle < group.count; ++idle) {
      if (act(&group.members[(first + idle) % group.count], random)) break;
    }
  }
}

// --- Collectives -------------------------------------------------------------------

// Gives the member |position| |rows| rows of |width| numbers.
static void give(uint32_t position, tfrt_collective_kind_t kind, tfrt_reduction_t reduction,
                 uint32_t root, int64_t rows, int64_t width, tfrt_random_t* random) {
  tfrt_collective_record_t* record = &group.records[position];
  *record = (tfrt_collective_record_t){.kind = kind,
                                       .reduction = reduction,
                                       .root = root,
                                       .dtype = TFRT_DTYPE_I64,
                                       .knows_pairs = group.knows_pairs,
                                       .has_elements = true};
  const int64_t dims[2] = {rows, width};
  ck_assert_ptr_null(tfrt_shape_make(dims, 2, &record->shape));
  size_t size = tfrt_collective_record_size(record);
  int64_t* input = tfrt_allocator_allocate(tfrt_allocator_system(), size + 8);
  for (size_t i = 0; i < size / 8; ++i) input[i] = (int64_t)tfrt_random_below(random, 1000) - 500;
  record->elements = tfrt_string_view_make((const char*)input, size);
  group.members[position].input = input;
}

static void begin(uint32_t position, size_t chunk) {
  member_t* member = &group.members[position];
  tfrt_collective_view_t view = view_of(position);
  tfrt_allocator_t allocator = tfrt_allocator_system();
  tfrt_collective_plan_initialize(&member->plan, group.count, position, chunk, allocator);
  ck_assert_ptr_null(tfrt_collective_result_plan(&view, &member->plan));
  ck_assert_uint_lt(member->plan.step_count, MAX_STEPS);
  ck_assert_ptr_null(tfrt_collective_result_initialize(&view, allocator, &member->output));
}

static void expect_complete(uint32_t position) {
  member_t* member = &group.members[position];
  for (uint32_t i = 0; i < member->plan.step_count; ++i) {
    bool receives = tfrt_collective_step_receives(&member->plan.steps[i]);
    ck_assert(receives ? member->done[i] : member->began[i] || member->done[i]);
  }
  ck_assert_uint_eq(member->sends, 0);
  tfrt_collective_view_t view = view_of(position);
  if (tfrt_collective_result_is_operand(&view)) return;
  tfrt_dense_host_tensor_t right;
  ck_assert_ptr_null(tfrt_collective_result_initialize(&view, tfrt_allocator_system(), &right));
  ck_assert_ptr_null(tfrt_collective_result_fill(&view, tfrt_allocator_system(), &right));
  ck_assert(tfrt_dense_host_tensor_equal(&member->output, &right));
  tfrt_dense_host_tensor_deinitialize(&right);
}

static void end(uint32_t position) {
  member_t* member = &group.members[position];
  for (uint32_t i = 0; i < member->plan.step_count; ++i) {
    tfrt_allocator_free(tfrt_allocator_system(), member->made[i], member->plan.steps[i].size);
  }
  tfrt_allocator_free(tfrt_allocator_system(), member->input,
                      group.records[position].elements.size + 8);
  tfrt_dense_host_tensor_deinitialize(&member->output);
  tfrt_collective_plan_deinitialize(&member->plan);
}

// Runs one collective of |count| members; member i has |rows[i]| rows. The last 8 of 16 seeds know
// pairs.
static void run(tfrt_collective_kind_t kind, uint32_t count, const int64_t* rows, int64_t width,
                uint64_t seed) {
  tfrt_random_t random;
  tfrt_random_initialize(&random, seed);
  memset(&group, 0, sizeof(group));
  group.count = count;
  group.knows_pairs = seed / 8 % 2 == 1;
  group.window = 1 + (uint32_t)(seed % 4);
  uint32_t root = (uint32_t)(seed % count);
  bool has_root = tfrt_collective_kind_has_root(kind);
  tfrt_reduction_t reduction = TFRT_REDUCTION_SUM;
  if (tfrt_collective_kind_reduces(kind)) {
    reduction = (tfrt_reduction_t)(seed % TFRT_REDUCTION_COUNT);
  }
  for (uint32_t i = 0; i < count; ++i) {
    give(i, kind, reduction, has_root ? root : 0, rows[i], width, &random);
  }
  for (uint32_t i = 0; i < count; ++i) begin(i, 8 * (1 + seed % 5));
  carry_out(&random);
  for (uint32_t i = 0; i < count; ++i) expect_complete(i);
  for (uint32_t i = 0; i < count; ++i) end(i);
}

static const tfrt_collective_kind_t alike[] = {
    TFRT_COLLECTIVE_ALL_REDUCE, TFRT_COLLECTIVE_REDUCE,    TFRT_COLLECTIVE_REDUCE_SCATTER,
    TFRT_COLLECTIVE_ALL_GATHER, TFRT_COLLECTIVE_BROADCAST, TFRT_COLLECTIVE_ALL_TO_ALL,
};

START_TEST(every_member_gets_what_the_oracle_says) {
  tfrt_collective_kind_t kind = alike[_i];
  for (uint32_t count = 2; count <= MAX_MEMBERS; ++count) {
    for (uint64_t seed = 0; seed < 40; ++seed) {
      int64_t rows[MAX_MEMBERS];
      for (uint32_t i = 0; i < count; ++i) rows[i] = (int64_t)(seed % 23);
      run(kind, count, rows, 1 + (int64_t)(seed % 3), seed);
    }
  }
}
END_TEST

// An all_reduce in pairs of doubles whose sum depends on the order.
static void run_doubles(uint32_t count) {
  tfrt_random_t random;
  tfrt_random_initialize(&random, count);
  memset(&group, 0, sizeof(group));
  group.count = count;
  group.window = 2;
  group.knows_pairs = true;
  for (uint32_t i = 0; i < count; ++i) {
    give(i, TFRT_COLLECTIVE_ALL_REDUCE, TFRT_REDUCTION_SUM, 0, 12, 1, &random);
    group.records[i].dtype = TFRT_DTYPE_F64;
    for (int j = 0; j < 12; ++j) {
      double number = 1e15 / (double)(1 + tfrt_random_below(&random, 99));
      memcpy(&group.members[i].input[j], &number, sizeof(number));
    }
  }
  for (uint32_t i = 0; i < count; ++i) begin(i, 24);
  carry_out(&random);
}

// Returns true if the first member has what adding the operands in line makes of them.
static bool is_added_in_line(void) {
  tfrt_collective_view_t view = view_of(0);
  tfrt_dense_host_tensor_t in_line;
  ck_assert_ptr_null(tfrt_collective_result_initialize(&view, tfrt_allocator_system(), &in_line));
  ck_assert_ptr_null(tfrt_collective_result_fill(&view, tfrt_allocator_system(), &in_line));
  bool is_equal = tfrt_dense_host_tensor_equal(&group.members[0].output, &in_line);
  tfrt_dense_host_tensor_deinitialize(&in_line);
  return is_equal;
}

START_TEST(members_agree_to_the_last_bit) {
  bool depends_on_order = false;
  for (uint32_t count = 2; count <= MAX_MEMBERS; ++count) {
    run_doubles(count);
    for (uint32_t i = 1; i < count; ++i) {
      ck_assert(tfrt_dense_host_tensor_equal(&group.members[i].output, &group.members[0].output));
    }
    depends_on_order = depends_on_order || !is_added_in_line();
    for (uint32_t i = 0; i < count; ++i) end(i);
  }
  // Otherwise these numbers would show nothing.
  ck_assert(depends_on_order);
}
END_TEST

START_TEST(rows_may_be_uneven) {
  tfrt_collective_kind_t kind = _i == 0 ? TFRT_COLLECTIVE_ALL_GATHER : TFRT_COLLECTIVE_ALL_TO_ALL;
  for (uint32_t count = 2; count <= MAX_MEMBERS; ++count) {
    for (uint64_t seed = 0; seed < 40; ++seed) {
      int64_t rows[MAX_MEMBERS];
      for (uint32_t i = 0; i < count; ++i) rows[i] = (int64_t)((seed + 7 * i) % 12);
      run(kind, count, rows, (int64_t)(seed % 3), seed);
    }
  }
}
END_TEST

// The bytes that the member |position| sends in a collective of four that have 24 numbers each: in
// pairs, if it can be, for the seed 8, and in a ring for 0.
static size_t sent_by(tfrt_collective_kind_t kind, uint32_t position, uint64_t seed) {
  static const int64_t rows[4] = {24, 24, 24, 24};
  run(kind, 4, rows, 1, seed);
  return group.members[position].sent_bytes;
}

START_TEST(no_member_sends_more_than_it_must) {
  const size_t size = 24 * sizeof(int64_t);
  for (uint32_t i = 0; i < 4; ++i) {
    ck_assert_uint_eq(sent_by(TFRT_COLLECTIVE_ALL_REDUCE, i, 0), size / 4 * 6);
    ck_assert_uint_eq(sent_by(TFRT_COLLECTIVE_ALL_REDUCE, i, 8), size * 2);
    ck_assert_uint_eq(sent_by(TFRT_COLLECTIVE_REDUCE_SCATTER, i, 0), size / 4 * 3);
    ck_assert_uint_eq(sent_by(TFRT_COLLECTIVE_ALL_GATHER, i, 0), size * 3);
    ck_assert_uint_eq(sent_by(TFRT_COLLECTIVE_ALL_TO_ALL, i, 0), size / 4 * 3);
    ck_assert_uint_eq(sent_by(TFRT_COLLECTIVE_BROADCAST, i, 0), i == 3 ? 0 : size);
    ck_assert_uint_eq(sent_by(TFRT_COLLECTIVE_REDUCE, i, 0), i == 0 ? 0 : size);
  }
}
END_TEST

// The chunk of a collective |kind| in which three members have |sizes| bytes, and as many as
// |old_members| are of a version that knows one size only.
static size_t chunk_of(tfrt_collective_kind_t kind, const size_t* sizes, uint32_t old_members) {
  tfrt_collective_record_t records[3];
  for (uint32_t i = 0; i < 3; ++i) {
    records[i] = (tfrt_collective_record_t){
        .kind = kind, .dtype = TFRT_DTYPE_UI8, .knows_large_chunks = i >= old_members};
    ck_assert_ptr_null(tfrt_shape_make(&(int64_t){(int64_t)sizes[i]}, 1, &records[i].shape));
  }
  size_t chunk = 0;
  for (uint32_t i = 0; i < 3; ++i) {
    const tfrt_collective_view_t view = {.records = records, .count = 3, .position = i};
    size_t own = tfrt_collective_result_chunk(&view);
    ck_assert(i == 0 || own == chunk);
    chunk = own;
  }
  return chunk;
}

START_TEST(many_bytes_go_in_large_chunks_if_all_know_them) {
  const size_t mebibyte = (size_t)1 << 20;
  const size_t half = mebibyte / 2;
  const struct {
    size_t size;
    size_t chunk;
  } cases[] = {{0, half},
               {16 * mebibyte - 1, half},
               {16 * mebibyte, mebibyte},
               {32 * mebibyte - 1, mebibyte},
               {32 * mebibyte, 2 * mebibyte},
               {1024 * mebibyte, 2 * mebibyte}};
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(cases); ++i) {
    const size_t alike_sizes[3] = {cases[i].size, cases[i].size, cases[i].size};
    const size_t uneven[3] = {1, cases[i].size, 0};
    ck_assert_uint_eq(chunk_of(TFRT_COLLECTIVE_ALL_REDUCE, alike_sizes, 0), cases[i].chunk);
    ck_assert_uint_eq(chunk_of(TFRT_COLLECTIVE_ALL_GATHER, uneven, 0), cases[i].chunk);
    ck_assert_uint_eq(chunk_of(TFRT_COLLECTIVE_ALL_REDUCE, alike_sizes, 1), half);
    ck_assert_uint_eq(chunk_of(TFRT_COLLECTIVE_ALL_REDUCE, alike_sizes, 3), half);
  }
}
END_TEST

// How many messages all of |count| members send in an all_reduce of |size| bytes; |old_members| of
// them are of a version that knows only rings.
static uint32_t messages_of(uint32_t count, size_t size, uint32_t old_members) {
  tfrt_collective_record_t records[MAX_MEMBERS];
  for (uint32_t i = 0; i < count; ++i) {
    records[i] = (tfrt_collective_record_t){.kind = TFRT_COLLECTIVE_ALL_REDUCE,
                                            .dtype = TFRT_DTYPE_UI8,
                                            .knows_pairs = i >= old_members};
    ck_assert_ptr_null(tfrt_shape_make(&(int64_t){(int64_t)size}, 1, &records[i].shape));
  }
  uint32_t messages = 0;
  for (uint32_t i = 0; i < count; ++i) {
    const tfrt_collective_view_t view = {.records = records, .count = count, .position = i};
    tfrt_collective_plan_t plan;
    tfrt_collective_plan_initialize(&plan, count, i, 2 * TFRT_COLLECTIVE_MAX_PAIRS,
                                    tfrt_allocator_system());
    ck_assert_ptr_null(tfrt_collective_result_plan(&view, &plan));
    for (uint32_t j = 0; j < plan.step_count; ++j) {
      messages += !tfrt_collective_step_receives(&plan.steps[j]);
    }
    tfrt_collective_plan_deinitialize(&plan);
  }
  return messages;
}

START_TEST(few_bytes_go_in_pairs_if_all_know_them) {
  const size_t few = TFRT_COLLECTIVE_MAX_PAIRS;
  const struct {
    uint32_t count;
    uint32_t ring;
    uint32_t pairs;
  } cases[] = {{2, 4, 2}, {3, 12, 4}, {4, 24, 8}, {5, 40, 10}, {7, 84, 14}, {8, 112, 24}};
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(cases); ++i) {
    ck_assert_uint_eq(messages_of(cases[i].count, few, 0), cases[i].pairs);
    ck_assert_uint_eq(messages_of(cases[i].count, few + 1, 0), cases[i].ring);
    ck_assert_uint_eq(messages_of(cases[i].count, few, 1), cases[i].ring);
    ck_assert_uint_eq(messages_of(cases[i].count, few, cases[i].count), cases[i].ring);
  }
}
END_TEST

START_TEST(who_is_paired_sends) {
  for (uint32_t count = 2; count <= MAX_MEMBERS; ++count) {
    for (uint32_t i = 0; i < count; ++i) {
      bool sends[MAX_MEMBERS] = {false};
      tfrt_collective_plan_t plan;
      tfrt_collective_plan_initialize(&plan, count, i, 8, tfrt_allocator_system());
      tfrt_collective_plan_all_reduce_in_pairs(&plan, 8);
      for (uint32_t j = 0; j < plan.step_count; ++j) {
        if (!tfrt_collective_step_receives(&plan.steps[j])) sends[plan.steps[j].member] = true;
      }
      for (uint32_t j = 0; j < count; ++j) {
        ck_assert(sends[j] == tfrt_collective_plan_are_paired(count, i, j));
      }
      tfrt_collective_plan_deinitialize(&plan);
    }
  }
}
END_TEST

START_TEST(messages_are_numbered_for_each_pair_and_direction) {
  tfrt_collective_plan_t plan;
  tfrt_collective_plan_initialize(&plan, 3, 0, 8, tfrt_allocator_system());
  static const uint8_t kinds[5] = {TFRT_COLLECTIVE_SEND_INPUT, TFRT_COLLECTIVE_SEND_INPUT,
                                   TFRT_COLLECTIVE_SEND_OUTPUT, TFRT_COLLECTIVE_RECEIVE_STORE,
                                   TFRT_COLLECTIVE_COPY};
  static const uint32_t members[5] = {1, 2, 1, 1, 0};
  static const uint32_t numbers[5] = {0, 0, 1, 0, 0};
  for (uint32_t i = 0; i < 5; ++i) {
    tfrt_collective_step_t step = {.kind = kinds[i], .member = members[i], .size = 8};
    ck_assert_uint_eq(tfrt_collective_plan_add(&plan, &step), i);
    ck_assert_uint_eq(plan.steps[i].number, numbers[i]);
  }
  tfrt_collective_plan_deinitialize(&plan);
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* plans = tcase_create("plans");
  tcase_set_timeout(plans, 60);
  tcase_add_loop_test(plans, every_member_gets_what_the_oracle_says, 0, TFRT_ARRAY_SIZE(alike));
  tcase_add_test(plans, members_agree_to_the_last_bit);
  tcase_add_loop_test(plans, rows_may_be_uneven, 0, 2);
  tcase_add_test(plans, no_member_sends_more_than_it_must);
  tcase_add_test(plans, many_bytes_go_in_large_chunks_if_all_know_them);
  tcase_add_test(plans, few_bytes_go_in_pairs_if_all_know_them);
  tcase_add_test(plans, who_is_paired_sends);
  tcase_add_test(plans, messages_are_numbered_for_each_pair_and_direction);
  Suite* suite = suite_create("collective plans");
  suite_add_tcase(suite, plans);
  return suite;
}
