// SPDX-License-Identifier: Apache-2.0
//
// Collectives on a simulated network. Results are right in any order of messages. All members get
// one error when they don't agree. No member waits forever when one is lost.
#include <stdio.h>
#include <string.h>

#include "distributed/domain/domain.h"
#include "distributed/domain/job.h"
#include "host_runtime/async/builtin_types.h"
#include "host_runtime/base/random.h"
#include "host_runtime/tensor/tensor_types.h"
#include "kernels/distributed/collective_result.h"
#include "tests/distributed/host/node_harness.h"
#include "tests/support/test_main.h"

static tfrt_node_world_t world;
static char program[8192];

// --- Programs ----------------------------------------------------------------------

#define TENSOR "!tfrt_tensor.tensor"
#define CALL_ALL                                    \
  "  %l = tfrt_dist.call_all @part(%t, %rows, %ch)" \
  " : (" TENSOR ", i32, !tfrt.chain) -> (!tfrt_dist.list)\n"

// @part of a host takes |rows| rows of the operand, from row rank * rows on, and runs |body|,
// which makes %r of %own. With |is_uneven| it takes rows * (rank + 1), behind those of the
// hosts before it.
static void write_part(const char* body, bool is_uneven) {
  static const char even[] =
      "  %first = tfrt.mul.i32 %me, %rows\n"
      "  %own = tfrt_tensor.slice %t, %first, %rows\n";
  static const char uneven[] =
      "  %one = tfrt.constant.i32 1\n"
      "  %two = tfrt.constant.i32 2\n"
      "  %after = tfrt.add.i32 %me, %one\n"
      "  %twice = tfrt.mul.i32 %me, %after\n"
      "  %before, %rest = tfrt.div.i32 %twice, %two\n"
      "  %first = tfrt.mul.i32 %before, %rows\n"
      "  %count = tfrt.mul.i32 %after, %rows\n"
      "  %own = tfrt_tensor.slice %t, %first, %count\n";
  snprintf(program, sizeof(program),
           "func.func @part(%%t: " TENSOR ", %%rows: i32, %%ch: !tfrt.chain) -> " TENSOR
           " {\n"
           "  %%me = tfrt_dist.rank\n"
           "%s"
           "%s"
           "  tfrt.return %%r : " TENSOR
           "\n"
           "}\n",
           is_uneven ? uneven : even, body);
}

// @main calls @part on each host and returns what each gives, up to |host_count| results.
static void write_main(uint32_t host_count) {
  size_t used = strlen(program);
  char* end = program + used;
  size_t room = sizeof(program) - used;
  end += snprintf(end, room, "func.func @main(%%t: " TENSOR ", %%rows: i32) -> (" TENSOR);
  for (uint32_t i = 1; i < host_count; ++i) end += sprintf(end, ", " TENSOR);
  end += sprintf(end, ") {\n  %%ch = tfrt.new.chain\n%s", CALL_ALL);
  for (uint32_t i = 0; i < host_count; ++i) {
    end += sprintf(end, "  %%i%u = tfrt.constant.i32 %u\n", i, i);
    end += sprintf(end, "  %%r%u = tfrt_dist.list.get %%l, %%i%u : " TENSOR "\n", i, i);
  }
  end += sprintf(end, "  tfrt.return ");
  for (uint32_t i = 0; i < host_count; ++i) end += sprintf(end, "%s%%r%u", i ? ", " : "", i);
  end += sprintf(end, " : " TENSOR);
  for (uint32_t i = 1; i < host_count; ++i) end += sprintf(end, ", " TENSOR);
  end += sprintf(end, "\n}\n");
  ck_assert_uint_lt((size_t)(end - program), sizeof(program));
}

// --- Operands ----------------------------------------------------------------------

// All hosts' operands behind one another: |rows| numbers that follow from their place.
static tfrt_async_value_t* make_operands(int64_t rows) {
  tfrt_shape_t shape;
  ck_assert_ptr_null(tfrt_shape_make(&rows, 1, &shape));
  tfrt_dense_host_tensor_t tensor;
  ck_assert_ptr_null(
      tfrt_dense_host_tensor_initialize(TFRT_DTYPE_I32, &shape, tfrt_allocator_system(), &tensor));
  int32_t* numbers = tfrt_dense_host_tensor_data(&tensor);
  for (int64_t i = 0; i < rows; ++i) numbers[i] = (int32_t)(i * 7919 % 10007 - 5000);
  return tfrt_async_value_create_tensor_take(&tensor);
}

static const tfrt_dense_host_tensor_t* tensor_of(tfrt_async_value_t* value) {
  tfrt_async_value_t* concrete = tfrt_async_value_resolved(value);
  return &((const tfrt_host_tensor_t*)tfrt_async_value_payload(concrete))->dense;
}

// The records of |host_count| hosts with such operands.
static void describe(tfrt_collective_record_t* records, uint32_t host_count,
                     tfrt_async_value_t* operands, int64_t rows, bool is_uneven) {
  const char* numbers = tfrt_dense_host_tensor_data(tensor_of(operands));
  int64_t first = 0;
  for (uint32_t i = 0; i < host_count; ++i) {
    int64_t own = is_uneven ? rows * (i + 1) : rows;
    records[i].dtype = TFRT_DTYPE_I32;
    records[i].has_elements = true;
    records[i].elements = tfrt_string_view_make(numbers + 4 * first, 4 * (size_t)own);
    ck_assert_ptr_null(tfrt_shape_make(&own, 1, &records[i].shape));
    first += own;
  }
}

// --- Runs --------------------------------------------------------------------------

typedef struct what_s {
  const char* op;
  const char* attributes;
  tfrt_collective_kind_t kind;
  tfrt_reduction_t reduction;
  uint32_t root;
  bool is_uneven;
} what_t;

static const what_t whats[] = {
    {"all_reduce", " {reduction = \"sum\"}", TFRT_COLLECTIVE_ALL_REDUCE, TFRT_REDUCTION_SUM, 0, 0},
    {"all_reduce", " {reduction = \"max\"}", TFRT_COLLECTIVE_ALL_REDUCE, TFRT_REDUCTION_MAXIMUM, 0,
     0},
    {"reduce", " {reduction = \"mean\", root = 0 : i32}", TFRT_COLLECTIVE_REDUCE,
     TFRT_REDUCTION_MEAN, 0, 0},
    {"reduce_scatter", " {reduction = \"min\"}", TFRT_COLLECTIVE_REDUCE_SCATTER,
     TFRT_REDUCTION_MINIMUM, 0, 0},
    {"all_gather", "", TFRT_COLLECTIVE_ALL_GATHER, TFRT_REDUCTION_SUM, 0, 0},
    {"all_gather", "", TFRT_COLLECTIVE_ALL_GATHER, TFRT_REDUCTION_SUM, 0, 1},
    {"broadcast", " {root = 0 : i32}", TFRT_COLLECTIVE_BROADCAST, TFRT_REDUCTION_SUM, 0, 0},
    {"all_to_all", "", TFRT_COLLECTIVE_ALL_TO_ALL, TFRT_REDUCTION_SUM, 0, 0},
    {"all_to_all", "", TFRT_COLLECTIVE_ALL_TO_ALL, TFRT_REDUCTION_SUM, 0, 1},
};

static void start(uint32_t host_count, int64_t rows, int64_t all_rows,
                  const tfrt_simulated_options_t* options, uint32_t result_count) {
  tfrt_node_world_initialize(&world, host_count, options);
  tfrt_async_value_t* arguments[2] = {make_operands(all_rows),
                                      tfrt_async_value_create_i32((int32_t)rows)};
  tfrt_node_world_start(&world, program, arguments, 2, result_count);
  for (int i = 0; i < 2; ++i) tfrt_async_value_release(arguments[i]);
}

// The rows of all hosts, where the first one has |rows|.
static int64_t all_rows_of(const what_t* what, uint32_t host_count, int64_t rows) {
  return what->is_uneven ? rows * host_count * (host_count + 1) / 2 : rows * host_count;
}

// Starts |what| on |host_count| hosts with |rows| rows each.
static void start_what(const what_t* what, uint32_t host_count, int64_t rows,
                       const tfrt_simulated_options_t* options) {
  char body[256];
  snprintf(body, sizeof(body),
           "  %%g = tfrt_dist.world\n  %%r, %%c = tfrt_dist.%s %%g, %%own, %%ch%s\n", what->op,
           what->attributes);
  write_part(body, what->is_uneven);
  write_main(host_count);
  start(host_count, rows, all_rows_of(what, host_count, rows), options, host_count);
}

static void end(void) {
  tfrt_node_world_finish(&world);
  tfrt_node_world_deinitialize(&world);
}

// Checks the result of host |position| against the oracle.
static void expect_right(const what_t* what, uint32_t host_count, int64_t rows, uint32_t position) {
  tfrt_collective_record_t records[TFRT_NODE_WORLD_MAX_HOSTS];
  memset(records, 0, sizeof(records));
  for (uint32_t i = 0; i < host_count; ++i) {
    records[i].kind = what->kind;
    records[i].reduction = what->reduction;
  }
  tfrt_async_value_t* operands = make_operands(all_rows_of(what, host_count, rows));
  describe(records, host_count, operands, rows, what->is_uneven);
  tfrt_collective_view_t view = {.records = records, .count = host_count, .position = position};
  tfrt_dense_host_tensor_t right;
  tfrt_allocator_t allocator = tfrt_allocator_system();
  ck_assert_ptr_null(tfrt_collective_result_initialize(&view, allocator, &right));
  if (tfrt_collective_result_is_operand(&view)) {
    memcpy(tfrt_dense_host_tensor_data(&right), records[position].elements.data,
           records[position].elements.size);
  } else {
    ck_assert_ptr_null(tfrt_collective_result_fill(&view, allocator, &right));
  }
  ck_assert_msg(tfrt_dense_host_tensor_equal(tensor_of(world.results[position]), &right),
                "%s of %u hosts with %lld rows is wrong on host %u", what->op, host_count,
                (long long)rows, position);
  tfrt_dense_host_tensor_deinitialize(&right);
  tfrt_async_value_release(operands);
}

static void expect_no_error(uint32_t index) {
  if (!tfrt_async_value_is_error(world.results[index])) return;
  char text[1024];
  tfrt_status_format(tfrt_node_world_error(&world, index), text, sizeof(text));
  ck_abort_msg("%s", text);
}

static void run_right(const what_t* what, uint32_t host_count, int64_t rows,
                      const tfrt_simulated_options_t* options) {
  start_what(what, host_count, rows, options);
  tfrt_node_world_await(&world);
  for (uint32_t i = 0; i < host_count; ++i) {
    expect_no_error(i);
    expect_right(what, host_count, rows, i);
  }
  end();
}

START_TEST(every_size_on_every_number_of_hosts_is_right) {
  static const int64_t sizes[] = {0, 1, 5, 3000, 70000, 140000};
  for (uint32_t host_count = 1; host_count <= 6; ++host_count) {
    for (size_t i = 0; i < TFRT_ARRAY_SIZE(sizes); ++i) {
      run_right(&whats[_i], host_count, sizes[i], NULL);
    }
  }
}
END_TEST

// With this number of hosts the records go along a tree, and some members have a parent and a
// child.
#define TREE_HOSTS 20

// They are 6, 12 and 18, and have the leaves 7, 13 and 19.
#define TREE_INNER 6
#define TREE_LEAF 7

START_TEST(few_and_many_elements_in_a_tree_are_right) {
  run_right(&whats[_i], TREE_HOSTS, 1, NULL);
  run_right(&whats[_i], TREE_HOSTS, 3000, NULL);
}
END_TEST

// Invokes of messages when |what| has few elements on TREE_HOSTS hosts: all but the calls of @part.
static uint64_t count_messages(const what_t* what) {
  start_what(what, TREE_HOSTS, 1, NULL);
  tfrt_node_world_await(&world);
  for (uint32_t i = 0; i < TREE_HOSTS; ++i) {
    expect_no_error(i);
    expect_right(what, TREE_HOSTS, 1, i);
  }
  uint64_t invokes = tfrt_frame_oracle_count_all(world.frames, TFRT_WIRE_FRAME_INVOKE);
  end();
  return invokes - (TREE_HOSTS - 1);
}

static void make_old(uint32_t index, tfrt_node_options_t* options) {
  if (index == 11) options->session.features &= ~(tfrt_wire_features_t)TFRT_WIRE_FEATURE_TREES;
}

START_TEST(a_tree_takes_two_messages_for_each_member_but_the_first) {
  ck_assert_uint_eq(count_messages(&whats[0]), 2 * (TREE_HOSTS - 1));
}
END_TEST

START_TEST(a_member_of_an_earlier_version_makes_all_use_rounds) {
  tfrt_node_world_set_configure(make_old);
  uint64_t messages = count_messages(&whats[0]);
  tfrt_node_world_set_configure(NULL);
  ck_assert_uint_eq(messages, TREE_HOSTS * 5);
}
END_TEST

START_TEST(many_chunks_on_three_hosts_are_right) { run_right(&whats[_i], 3, 1100001, NULL); }
END_TEST

START_TEST(any_order_of_messages_and_broken_connections_change_nothing) {
  tfrt_simulated_options_t options;
  tfrt_simulated_options_initialize(&options);
  for (uint64_t seed = 1; seed <= 12; ++seed) {
    options.seed = seed;
    options.jitter_ns = 20 * options.delay_ns;
    options.break_chance = seed % 2 == 0 ? 5000 : 0;
    run_right(&whats[_i], 2 + (uint32_t)(seed % 4), seed % 3 == 0 ? 200000 : 40, &options);
    if (seed == 2) run_right(&whats[_i], TREE_HOSTS, 2, &options);
  }
}
END_TEST

// --- Operands stay -----------------------------------------------------------------

// Each host gives its operand once the collective is over; all_gather shows what that is.
START_TEST(an_operand_is_afterwards_what_it_was) {
  static const what_t gather = {"all_gather",       "", TFRT_COLLECTIVE_ALL_GATHER,
                                TFRT_REDUCTION_SUM, 0,  0};
  static const int64_t sizes[] = {5, 140000};
  const what_t* what = &whats[_i];
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(sizes); ++i) {
    char body[512];
    snprintf(body, sizeof(body),
             "  %%g = tfrt_dist.world\n  %%x, %%c = tfrt_dist.%s %%g, %%own, %%ch%s\n"
             "  %%r, %%c1 = tfrt_dist.all_gather %%g, %%own, %%c\n",
             what->op, what->attributes);
    write_part(body, false);
    write_main(3);
    start(3, sizes[i], 3 * sizes[i], NULL, 3);
    tfrt_node_world_await(&world);
    for (uint32_t position = 0; position < 3; ++position) {
      expect_no_error(position);
      expect_right(&gather, 3, sizes[i], position);
    }
    end();
  }
}
END_TEST

// --- Bytes -------------------------------------------------------------------------

#define BROADCAST_ELEMENTS 300000
#define TEXT_OF(number) #number
#define DECIMAL(number) TEXT_OF(number)

// Only the broadcast moves tensors: each host makes its own operand, and gives the size of what it
// got.
static const char broadcast_program[] =
    "func.func @part(%ch: !tfrt.chain) -> i32 {\n"
    "  %t = tfrt_dht.create_uninitialized_tensor.i32.1 [" DECIMAL(BROADCAST_ELEMENTS) " : i64]\n"
    "  %c1 = tfrt_dht.fill_tensor_with_constant.i32 %t, %ch 3 : i32\n"
    "  %g = tfrt_dist.world\n"
    "  %r, %c2 = tfrt_dist.broadcast %g, %t, %c1 {root = 0 : i32}\n"
    "  %n = tfrt_tensor.dim %r axis 0\n"
    "  tfrt.return %n : i32\n"
    "}\n"
    "func.func @main(%x: i32) -> i32 {\n"
    "  %ch = tfrt.new.chain\n"
    "  %l = tfrt_dist.call_all @part(%ch) : (!tfrt.chain) -> (!tfrt_dist.list)\n"
    "  %n = tfrt_dist.list.sum %l : i32\n"
    "  tfrt.return %n : i32\n"
    "}\n";

START_TEST(no_host_sends_what_is_broadcast_to_seven_twice) {
  const uint32_t hosts = 8;
  const uint64_t size = (uint64_t)BROADCAST_ELEMENTS * sizeof(int32_t);
  tfrt_node_world_initialize(&world, hosts, NULL);
  tfrt_node_world_start_i32(&world, broadcast_program, 0, 1);
  tfrt_node_world_await(&world);
  expect_no_error(0);
  ck_assert_int_eq(tfrt_node_world_i32(&world, 0), (int32_t)hosts * BROADCAST_ELEMENTS);
  uint64_t all = 0;
  for (uint32_t from = 0; from < hosts; ++from) {
    uint64_t sent = 0;
    for (uint32_t to = 0; to < hosts; ++to) sent += tfrt_node_world_bulk_bytes(&world, from, to);
    ck_assert_uint_lt(sent, 2 * size);
    all += sent;
  }
  ck_assert_uint_ge(all, 7 * size);
  end();
}
END_TEST

// --- Losses ------------------------------------------------------------------------

static void expect_right_or_lost(const what_t* what, uint32_t host_count, int64_t rows,
                                 uint32_t index, uint32_t lost) {
  if (!tfrt_async_value_is_error(world.results[index])) {
    expect_right(what, host_count, rows, index);
    return;
  }
  const tfrt_status_fields_t* fields = tfrt_status_fields(tfrt_node_world_error(&world, index));
  char text[1024];
  tfrt_status_format(tfrt_node_world_error(&world, index), text, sizeof(text));
  ck_assert_msg(fields->code == TFRT_STATUS_UNAVAILABLE, "%s", text);
  bool met = !tfrt_async_value_is_error(tfrt_client_opened(world.client));
  ck_assert_msg(!met || fields->root_key == 0x1000 + lost, "%s", text);
  ck_assert_msg(strstr(text, "host"), "%s", text);
}

// Kills the host |lost| of |host_count| in the middle; each result is the right one, and every
// waiting member gets an error.
static void run_with_kill(const what_t* what, uint32_t host_count, uint32_t lost, int64_t rows,
                          uint64_t seed) {
  tfrt_simulated_options_t options;
  tfrt_simulated_options_initialize(&options);
  options.seed = seed;
  options.jitter_ns = (int64_t)(seed % 5) * options.delay_ns;
  start_what(what, host_count, rows, &options);
  tfrt_random_t* random = tfrt_simulated_network_random(world.network);
  uint64_t limit = 5 * TFRT_NANOSECONDS_PER_MILLISECOND;
  tfrt_node_world_run_for(&world, (int64_t)tfrt_random_below(random, limit));
  tfrt_node_world_kill(&world, lost);
  tfrt_node_world_await(&world);
  for (uint32_t i = 0; i < host_count; ++i) {
    expect_right_or_lost(what, host_count, rows, i, lost);
  }
  end();
}

START_TEST(the_loss_of_a_member_is_an_error_on_all_that_wait) {
  // With the records, in pairs where there are some, in rings and chains.
  static const int64_t sizes[3] = {30, 40000, 150000};
  for (uint64_t seed = 1; seed <= 36; ++seed) {
    run_with_kill(&whats[_i], 4, (uint32_t)(seed % 4), sizes[seed % 3], seed);
  }
}
END_TEST

// The first member, which is the root of the job too, an inner one, and leaves.
START_TEST(the_loss_of_a_member_in_a_tree_is_an_error_on_all_that_wait) {
  static const uint32_t losses[] = {0, TREE_INNER, TREE_LEAF, TREE_HOSTS - 1};
  for (uint64_t seed = 1; seed <= 16; ++seed) {
    run_with_kill(&whats[0], TREE_HOSTS, losses[seed % TFRT_ARRAY_SIZE(losses)], 1, seed);
  }
}
END_TEST

// Host |late| waits forever; the others wait for it. Then it is lost.
static void run_loss_of_late(uint32_t host_count, uint32_t late) {
  char body[1024];
  snprintf(body, sizeof(body),
           "  %%late = tfrt.constant.i32 %u\n"
           "  %%is_late = \"tfrt.equal.i32\"(%%me, %%late) : (i32, i32) -> i1\n"
           "  %%r = tfrt.if %%is_late, %%own, %%ch, %%late : (" TENSOR
           ", !tfrt.chain, i32) -> (" TENSOR
           ") {\n"
           "    %%h = tfrt_dist.host %%late\n"
           "    %%key = tfrt_dist.key \"never\"\n"
           "    %%v, %%c = tfrt_dist.recv %%h, %%key, %%ch : " TENSOR
           "\n"
           "    tfrt.return %%v : " TENSOR
           "\n"
           "  } else {\n"
           "    %%g = tfrt_dist.world\n"
           "    %%s, %%c = tfrt_dist.all_reduce %%g, %%own, %%ch {reduction = \"sum\"}\n"
           "    tfrt.return %%s : " TENSOR
           "\n"
           "  }\n",
           late);
  write_part(body, false);
  write_main(host_count);
  start(host_count, 3, 3 * host_count, NULL, host_count);
  tfrt_node_world_run_for(&world, TFRT_NODE_WORLD_SECOND);
  for (uint32_t i = 0; i < host_count; ++i) {
    ck_assert(!tfrt_async_value_is_available(world.results[i]));
  }
  tfrt_node_world_kill(&world, late);
  // No answer waits for the silence that means death: the process refuses at once.
  tfrt_node_world_run_for(&world, TFRT_NODE_WORLD_SECOND / 10);
  char lost[32];
  snprintf(lost, sizeof(lost), "lost host %u", late);
  for (uint32_t i = 0; i < host_count; ++i) {
    ck_assert(tfrt_async_value_is_available(world.results[i]));
    const tfrt_status_fields_t* fields = tfrt_status_fields(tfrt_node_world_error(&world, i));
    ck_assert_int_eq(fields->code, TFRT_STATUS_UNAVAILABLE);
    ck_assert_ptr_nonnull(strstr(fields->message, lost));
    ck_assert_uint_eq(fields->root_key, 0x1000 + late);
    if (i == late) continue;
    // The place is that of what noticed the loss first: a member that waited, or the call.
    ck_assert(strcmp(fields->origin.kernel, "tfrt_dist.all_reduce") == 0 ||
              strcmp(fields->origin.kernel, "tfrt_dist.call_all") == 0);
    ck_assert_str_eq(fields->origin.file, "test.mlir");
    ck_assert_uint_gt(fields->origin.line, 0);
  }
  end();
}

START_TEST(a_loss_names_the_host_and_the_place) {
  run_loss_of_late(4, 2);
  run_loss_of_late(TREE_HOSTS, TREE_INNER);
  run_loss_of_late(TREE_HOSTS, TREE_LEAF);
}
END_TEST

// The turns that are left after a loss are not taken: there are far too many.
START_TEST(a_loss_ends_a_loop_of_collectives) {
  write_part(
      "  %g = tfrt_dist.world\n"
      "  %n = tfrt.constant.i32 2000000000\n"
      "  %c2, %r, %g2 = tfrt.repeat.i32 %n, %ch, %own, %g : !tfrt.chain, " TENSOR
      ", !tfrt_dist.group {\n"
      "    %s, %c = tfrt_dist.all_reduce %g, %own, %ch {reduction = \"sum\"}\n"
      "    tfrt.return %c, %s, %g : !tfrt.chain, " TENSOR
      ", !tfrt_dist.group\n"
      "  }\n",
      false);
  write_main(4);
  start(4, 3, 12, NULL, 4);
  tfrt_node_world_run_for(&world, TFRT_NODE_WORLD_SECOND / 10);
  for (uint32_t i = 0; i < 4; ++i) ck_assert(!tfrt_async_value_is_available(world.results[i]));
  tfrt_node_world_kill(&world, 2);
  tfrt_node_world_await(&world);
  for (uint32_t i = 0; i < 4; ++i) {
    const tfrt_status_fields_t* fields = tfrt_status_fields(tfrt_node_world_error(&world, i));
    ck_assert_int_eq(fields->code, TFRT_STATUS_UNAVAILABLE);
    ck_assert_uint_eq(fields->root_key, 0x1002);
  }
  end();
}
END_TEST

// A member is lost while others have what it sent, but not all of its bytes.
START_TEST(a_loss_in_the_middle_of_a_message_has_a_place_too) {
  for (uint64_t part = 0; part < 4; ++part) {
    start_what(&whats[0], 4, 150000, NULL);
    ck_assert(tfrt_node_world_run_until_bytes(&world, 3, 0, 1 + part * 40000));
    tfrt_node_world_kill(&world, 3);
    tfrt_node_world_await(&world);
    for (uint32_t i = 0; i < 3; ++i) {
      const tfrt_status_fields_t* fields = tfrt_status_fields(tfrt_node_world_error(&world, i));
      ck_assert_uint_eq(fields->root_key, 0x1003);
      ck_assert_str_eq(fields->origin.file, "test.mlir");
    }
    end();
  }
}
END_TEST

// --- Disagreement --------------------------------------------------------------------

// Host 1 does |odd| where the others do |usual|; both make %s of %own.
static void write_odd(const char* usual, const char* odd) {
  char body[2048];
  snprintf(body, sizeof(body),
           "  %%one_ = tfrt.constant.i32 1\n"
           "  %%g = tfrt_dist.world\n"
           "  %%is_one = \"tfrt.equal.i32\"(%%me, %%one_) : (i32, i32) -> i1\n"
           "  %%r = tfrt.if %%is_one, %%own, %%g, %%ch, %%one_ : (" TENSOR
           ", !tfrt_dist.group, !tfrt.chain, i32) -> (" TENSOR
           ") {\n"
           "    %s\n"
           "    tfrt.return %%s : " TENSOR
           "\n"
           "  } else {\n"
           "    %s\n"
           "    tfrt.return %%s : " TENSOR
           "\n"
           "  }\n",
           odd, usual);
  write_part(body, false);
}

#define SUM "%s, %c = tfrt_dist.all_reduce %g, %own, %ch {reduction = \"sum\"}"

typedef struct odd_s {
  const char* odd;
  const char* message;
} odd_t;

static const odd_t odds[] = {
    {"%s, %c = tfrt_dist.all_reduce %g, %own, %ch {reduction = \"max\"}",
     "host 0 has all_reduce sum of i32 [3], host 1 has all_reduce max of i32 [3]"},
    {"%s, %c = tfrt_dist.all_gather %g, %own, %ch", "host 1 has all_gather of i32 [3]"},
    {"%s, %c = tfrt_dist.broadcast %g, %own, %ch {root = 1 : i32}",
     "host 1 has broadcast with root 1 of i32 [3]"},
    {"%z = tfrt.constant.i32 0\n"
     "    %x = tfrt_tensor.slice %own, %z, %one_\n"
     "    %s, %c = tfrt_dist.all_reduce %g, %x, %ch {reduction = \"sum\"}",
     "host 1 has all_reduce sum of i32 [1]"},
    {"%x = tfrt_tensor.cast %own to f32\n"
     "    %s, %c = tfrt_dist.all_reduce %g, %x, %ch {reduction = \"sum\"}",
     "host 1 has all_reduce sum of f32 [3]"},
    {"%c = tfrt_dist.barrier %g, %ch\n"
     "    %s = \"tfrt_test.identity\"(%c, %own) : (!tfrt.chain, " TENSOR ") -> " TENSOR,
     "host 1 has barrier"},
    // An error of one member's operand is the error of all members.
    {"%z = tfrt.constant.i32 9\n"
     "    %x = tfrt_tensor.slice %own, %z, %one_\n"
     "    %s, %c = tfrt_dist.all_reduce %g, %x, %ch {reduction = \"sum\"}",
     "9"},
    {"%s, %c = tfrt_dist.reduce %g, %own, %ch {reduction = \"sum\", root = 7 : i32}",
     "the root, host 7, is no member of the group"},
};

static void run_odd(const odd_t* odd, uint32_t host_count) {
  write_odd(SUM, odd->odd);
  write_main(host_count);
  start(host_count, 3, 3 * host_count, NULL, host_count);
  tfrt_node_world_await(&world);
  for (uint32_t i = 0; i < host_count; ++i) {
    const tfrt_status_fields_t* fields = tfrt_status_fields(tfrt_node_world_error(&world, i));
    ck_assert_msg(strstr(fields->message, odd->message), "%s", fields->message);
    ck_assert(fields->code == TFRT_STATUS_INVALID_ARGUMENT ||
              fields->code == TFRT_STATUS_OUT_OF_RANGE);
    ck_assert_ptr_nonnull(strstr(fields->origin.file, "test.mlir"));
  }
  end();
}

START_TEST(members_that_dont_agree_are_all_told_so) {
  run_odd(&odds[_i], 4);
  if (_i % 3 == 0) run_odd(&odds[_i], TREE_HOSTS);
}
END_TEST

START_TEST(a_stranger_is_refused_and_the_members_go_on) {
  write_part(
      "  %g = tfrt_dist.group [0, 2]\n"
      "  %r, %c = tfrt_dist.all_reduce %g, %own, %ch {reduction = \"sum\"}\n",
      false);
  write_main(3);
  start(3, 2, 6, NULL, 3);
  tfrt_node_world_await(&world);
  expect_no_error(0);
  expect_no_error(2);
  const tfrt_status_fields_t* fields = tfrt_status_fields(tfrt_node_world_error(&world, 1));
  ck_assert_int_eq(fields->code, TFRT_STATUS_INVALID_ARGUMENT);
  ck_assert_str_eq(fields->message, "host 1 is no member of the group of hosts 0,2");
  end();
}
END_TEST

// --- Order -------------------------------------------------------------------------

START_TEST(chains_and_operands_order_collectives_of_one_group) {
  write_part(
      "  %g = tfrt_dist.world\n"
      "  %a, %c1 = tfrt_dist.all_reduce %g, %own, %ch {reduction = \"sum\"}\n"
      "  %b, %c2 = tfrt_dist.all_reduce %g, %own, %c1 {reduction = \"max\"}\n"
      "  %c3 = tfrt_dist.barrier %g, %c2\n"
      "  %d, %c4 = tfrt_dist.all_reduce %g, %a, %c3 {reduction = \"sum\"}\n"
      "  %r, %c5 = tfrt_dist.all_reduce %g, %d, %c3 {reduction = \"mean\"}\n",
      false);
  write_main(3);
  start(3, 1, 3, NULL, 3);
  tfrt_node_world_await(&world);
  int32_t sum = 0;
  tfrt_async_value_t* operands = make_operands(3);
  for (int i = 0; i < 3; ++i)
    sum += ((int32_t*)tfrt_dense_host_tensor_data(tensor_of(operands)))[i];
  tfrt_async_value_release(operands);
  for (uint32_t i = 0; i < 3; ++i) {
    expect_no_error(i);
    const int32_t* result = tfrt_dense_host_tensor_data(tensor_of(world.results[i]));
    ck_assert_int_eq(*result, 3 * sum);
  }
  end();
}
END_TEST

// Host 0 has no part in what hosts 1 and 2 do together.
static const char without_root_program[] =
    "func.func @meet() -> !tfrt.chain {\n"
    "  %ch = tfrt.new.chain\n"
    "  %g = tfrt_dist.group [1, 2]\n"
    "  %c = tfrt_dist.barrier %g, %ch\n"
    "  tfrt.return %c : !tfrt.chain\n"
    "}\n"
    "func.func @main(%x: i32) -> (!tfrt.chain, !tfrt.chain) {\n"
    "  %a = tfrt.call @meet() {host = 1 : i32} : () -> !tfrt.chain\n"
    "  %b = tfrt.call @meet() {host = 2 : i32} : () -> !tfrt.chain\n"
    "  tfrt.return %a, %b : !tfrt.chain, !tfrt.chain\n"
    "}\n";

START_TEST(turns_are_forgotten_with_their_request_where_the_root_had_none) {
  tfrt_node_world_initialize(&world, 3, NULL);
  for (int run = 0; run < 2; ++run) {
    tfrt_node_world_start_i32(&world, without_root_program, 0, 2);
    tfrt_node_world_await(&world);
    for (uint32_t i = 0; i < 2; ++i) {
      expect_no_error(i);
      tfrt_async_value_release(world.results[i]);
    }
    world.result_count = 0;
  }
  tfrt_node_world_run_for(&world, TFRT_NODE_WORLD_SECOND);
  for (uint32_t host = 0; host < 3; ++host) {
    const tfrt_list_link_t* jobs = &world.hosts[host].node->jobs;
    ck_assert_ptr_ne(jobs->next, jobs);
    tfrt_job_t* job = TFRT_CONTAINER_OF(jobs->next, tfrt_job_t, link);
    ck_assert(tfrt_list_is_empty(&job->exchange.turns.series));
  }
  end();
}
END_TEST

START_TEST(groups_with_names_of_their_own_need_no_order) {
  write_part(
      "  %g = tfrt_dist.world {name = \"a\"}\n"
      "  %h = tfrt_dist.group [2, 1, 0] {name = \"b\"}\n"
      "  %a, %c1 = tfrt_dist.all_gather %g, %own, %ch\n"
      "  %b, %c2 = tfrt_dist.all_gather %h, %own, %ch\n"
      "  %r = tfrt_tensor.concat %a, %b\n",
      false);
  write_main(3);
  start(3, 1, 3, NULL, 3);
  tfrt_node_world_await(&world);
  tfrt_async_value_t* operands = make_operands(3);
  const int32_t* numbers = tfrt_dense_host_tensor_data(tensor_of(operands));
  for (uint32_t i = 0; i < 3; ++i) {
    expect_no_error(i);
    const int32_t* result = tfrt_dense_host_tensor_data(tensor_of(world.results[i]));
    for (int j = 0; j < 3; ++j) {
      ck_assert_int_eq(result[j], numbers[j]);
      ck_assert_int_eq(result[3 + j], numbers[2 - j]);
    }
  }
  tfrt_async_value_release(operands);
  end();
}
END_TEST

START_TEST(collectives_that_nothing_orders_are_an_error) {
  write_part(
      "  %g = tfrt_dist.world\n"
      "  %a, %c1 = tfrt_dist.all_gather %g, %own, %ch\n"
      "  %b, %c2 = tfrt_dist.all_gather %g, %own, %ch\n"
      "  %r = tfrt_tensor.concat %a, %b\n",
      false);
  write_main(2);
  start(2, 1, 2, NULL, 2);
  tfrt_node_world_await(&world);
  for (uint32_t i = 0; i < 2; ++i) {
    const tfrt_status_fields_t* fields = tfrt_status_fields(tfrt_node_world_error(&world, i));
    ck_assert_int_eq(fields->code, TFRT_STATUS_FAILED_PRECONDITION);
    ck_assert_ptr_nonnull(strstr(fields->message, "order them by their chains"));
  }
  end();
}
END_TEST

// --- The end of waiting --------------------------------------------------------------

// All hosts but |late| wait in a barrier. The call of |late| has |options|, and never gets there.
static void start_waiting(uint32_t host_count, uint32_t late, const char* options) {
  char* end = program;
  end += snprintf(program, sizeof(program),
                  "func.func @wait(%%ch: !tfrt.chain) -> !tfrt.chain {\n"
                  "  %%g = tfrt_dist.world\n"
                  "  %%c = tfrt_dist.barrier %%g, %%ch\n"
                  "  tfrt.return %%c : !tfrt.chain\n"
                  "}\n"
                  "func.func @wait_longer(%%ch: !tfrt.chain) -> !tfrt.chain {\n"
                  "  %%zero = tfrt.constant.i32 0\n"
                  "  %%h = tfrt_dist.host %%zero\n"
                  "  %%key = tfrt_dist.key \"never\"\n"
                  "  %%v, %%c1 = tfrt_dist.recv %%h, %%key, %%ch : i32\n"
                  "  %%g = tfrt_dist.world\n"
                  "  %%c2 = tfrt_dist.barrier %%g, %%c1\n"
                  "  tfrt.return %%c2 : !tfrt.chain\n"
                  "}\n"
                  "func.func @main(%%t: " TENSOR ", %%rows: i32) -> (");
  for (uint32_t i = 0; i < host_count; ++i) end += sprintf(end, "%s!tfrt.chain", i ? ", " : "");
  end += sprintf(end, ") {\n  %%ch = tfrt.new.chain\n");
  for (uint32_t i = 0; i < host_count; ++i) {
    end += sprintf(end,
                   "  %%r%u = tfrt.call @%s(%%ch) {host = %u : i32%s} : (!tfrt.chain) -> "
                   "!tfrt.chain\n",
                   i, i == late ? "wait_longer" : "wait", i, i == late ? options : "");
  }
  end += sprintf(end, "  tfrt.return ");
  for (uint32_t i = 0; i < host_count; ++i) end += sprintf(end, "%s%%r%u", i ? ", " : "", i);
  end += sprintf(end, " : ");
  for (uint32_t i = 0; i < host_count; ++i) end += sprintf(end, "%s!tfrt.chain", i ? ", " : "");
  end += sprintf(end, "\n}\n");
  ck_assert_uint_lt((size_t)(end - program), sizeof(program));
  start(host_count, 0, 0, NULL, host_count);
}

typedef struct late_s {
  uint32_t host_count;
  uint32_t late;
} late_t;

static const late_t lates[] = {
    {3, 2}, {TREE_HOSTS, 0}, {TREE_HOSTS, TREE_INNER}, {TREE_HOSTS, TREE_LEAF}};

// @part of each of four hosts runs four collectives, each with an operand from another host.
static void write_unordered(void) {
  write_part(
      "  %g = tfrt_dist.world\n"
      "  %x0 = tfrt.call @same(%own) {host = 0 : i32} : (" TENSOR ") -> " TENSOR
      "\n"
      "  %x1 = tfrt.call @same(%own) {host = 1 : i32} : (" TENSOR ") -> " TENSOR
      "\n"
      "  %x2 = tfrt.call @same(%own) {host = 2 : i32} : (" TENSOR ") -> " TENSOR
      "\n"
      "  %x3 = tfrt.call @same(%own) {host = 3 : i32} : (" TENSOR ") -> " TENSOR
      "\n"
      "  %a0, %c0 = tfrt_dist.all_gather %g, %x0, %ch\n"
      "  %a1, %c1 = tfrt_dist.all_gather %g, %x1, %ch\n"
      "  %a2, %c2 = tfrt_dist.all_gather %g, %x2, %ch\n"
      "  %a3, %c3 = tfrt_dist.all_gather %g, %x3, %ch\n"
      "  %b0 = tfrt_tensor.concat %a0, %a1\n"
      "  %b1 = tfrt_tensor.concat %a2, %a3\n"
      "  %r = tfrt_tensor.concat %b0, %b1\n",
      false);
  strcat(program, "func.func @same(%t: " TENSOR ") -> " TENSOR
                  " {\n"
                  "  %u = tfrt_tensor.concat %t, %t\n"
                  "  tfrt.return %u : " TENSOR
                  "\n"
                  "}\n");
  write_main(4);
}

// Some hosts are turns ahead of others when the first of them learns that it can't go on.
START_TEST(many_that_nothing_orders_are_an_error_and_no_wait) {
  tfrt_simulated_options_t options;
  tfrt_simulated_options_initialize(&options);
  uint32_t errors = 0;
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    options.seed = seed;
    options.jitter_ns = (int64_t)(seed % 4) * 10 * options.delay_ns;
    write_unordered();
    start(4, seed % 2 ? 1 : 30000, seed % 2 ? 4 : 120000, &options, 4);
    tfrt_node_world_await(&world);
    for (uint32_t i = 0; i < 4; ++i) {
      if (!tfrt_async_value_is_error(world.results[i])) continue;
      ++errors;
      ck_assert_int_eq(tfrt_status_code(tfrt_node_world_error(&world, i)),
                       TFRT_STATUS_FAILED_PRECONDITION);
    }
    end();
  }
  ck_assert_uint_gt(errors, 0);
}
END_TEST

START_TEST(a_cancel_ends_it) {
  const uint32_t host_count = lates[_i].host_count;
  start_waiting(host_count, lates[_i].late, "");
  tfrt_node_world_run_for(&world, TFRT_NODE_WORLD_SECOND / 2);
  ck_assert(!tfrt_async_value_is_available(world.results[0]));
  tfrt_status_t reason = tfrt_status_create(TFRT_STATUS_CANCELLED, "enough of that");
  tfrt_client_cancel(world.client, world.start, reason);
  tfrt_status_release(reason);
  tfrt_node_world_await(&world);
  for (uint32_t i = 0; i < host_count; ++i) {
    ck_assert_int_eq(tfrt_status_code(tfrt_node_world_error(&world, i)), TFRT_STATUS_CANCELLED);
  }
  end();
}
END_TEST

START_TEST(a_deadline_of_one_member_ends_it_for_all) {
  const uint32_t host_count = lates[_i].host_count;
  start_waiting(host_count, lates[_i].late, ", deadline_ms = 1000 : i32");
  tfrt_node_world_await(&world);
  for (uint32_t i = 0; i < host_count; ++i) {
    ck_assert_int_eq(tfrt_status_code(tfrt_node_world_error(&world, i)),
                     TFRT_STATUS_DEADLINE_EXCEEDED);
  }
  end();
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* collectives = tcase_create("collectives");
  tcase_set_timeout(collectives, 60);
  size_t count = TFRT_ARRAY_SIZE(whats);
  tcase_add_loop_test(collectives, every_size_on_every_number_of_hosts_is_right, 0, count);
  tcase_add_loop_test(collectives, few_and_many_elements_in_a_tree_are_right, 0, count);
  tcase_add_test(collectives, a_tree_takes_two_messages_for_each_member_but_the_first);
  tcase_add_test(collectives, a_member_of_an_earlier_version_makes_all_use_rounds);
  tcase_add_loop_test(collectives, many_chunks_on_three_hosts_are_right, 0, count);
  tcase_add_loop_test(collectives, any_order_of_messages_and_broken_connections_change_nothing, 0,
                      count);
  tcase_add_loop_test(collectives, an_operand_is_afterwards_what_it_was, 0, count);
  tcase_add_test(collectives, no_host_sends_what_is_broadcast_to_seven_twice);
  tcase_add_loop_test(collectives, the_loss_of_a_member_is_an_error_on_all_that_wait, 0, count);
  tcase_add_test(collectives, the_loss_of_a_member_in_a_tree_is_an_error_on_all_that_wait);
  tcase_add_test(collectives, a_loss_names_the_host_and_the_place);
  tcase_add_test(collectives, a_loss_ends_a_loop_of_collectives);
  tcase_add_test(collectives, a_loss_in_the_middle_of_a_message_has_a_place_too);
  tcase_add_loop_test(collectives, members_that_dont_agree_are_all_told_so, 0,
                      TFRT_ARRAY_SIZE(odds));
  tcase_add_test(collectives, a_stranger_is_refused_and_the_members_go_on);
  tcase_add_test(collectives, chains_and_operands_order_collectives_of_one_group);
  tcase_add_test(collectives, groups_with_names_of_their_own_need_no_order);
  tcase_add_test(collectives, turns_are_forgotten_with_their_request_where_the_root_had_none);
  tcase_add_test(collectives, collectives_that_nothing_orders_are_an_error);
  tcase_add_test(collectives, many_that_nothing_orders_are_an_error_and_no_wait);
  tcase_add_loop_test(collectives, a_cancel_ends_it, 0, TFRT_ARRAY_SIZE(lates));
  tcase_add_loop_test(collectives, a_deadline_of_one_member_ends_it_for_all, 0,
                      TFRT_ARRAY_SIZE(lates));
  Suite* suite = suite_create("collectives");
  suite_add_tcase(suite, collectives);
  return suite;
}
