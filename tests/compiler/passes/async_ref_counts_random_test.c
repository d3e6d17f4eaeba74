// SPDX-License-Identifier: Apache-2.0
//
// Reference counts of random control-flow graphs: the pass places them, the verifier accepts them,
// a machine that runs the function finds no mistake, and the same behind the optimising pass.
// Mistakes that are planted are found, each kind of them.
//
// TFRT_TEST_GRAPHS in the environment says how many graphs; TFRT_TEST_FIRST_GRAPH, which comes
// first.

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "compiler/passes/async_ref_count_optimizer.h"
#include "compiler/passes/async_ref_count_verifier.h"
#include "compiler/passes/async_ref_counter.h"
#include "compiler/verifier/verifier.h"
#include "tests/compiler/compiler_test_support.h"
#include "tests/compiler/passes/count_machine.h"
#include "tests/compiler/passes/random_flow.h"
#include "tests/support/test_main.h"
#include "tools/kernels/op_tables.h"

#define DEFAULT_GRAPHS 800
#define RUNS 3
#define MAX_COUNTS 1024

static uint64_t number_of(const char* name, uint64_t otherwise) {
  const char* text = getenv(name);
  return text ? strtoull(text, NULL, 10) : otherwise;
}

// --- Programs ---------------------------------------------------------------------------------

typedef struct graph_s {
  tfrt_string_builder_t text;
  test_program_t program;
  tfrt_ir_operation_t* function;
} graph_t;

static void graph_open(graph_t* graph, uint64_t seed, bool always_ends) {
  tfrt_string_builder_initialize(&graph->text, tfrt_allocator_system());
  test_random_flow(seed, always_ends, &graph->text);
  test_program_verify(&graph->program, tfrt_string_builder_text(&graph->text));
  ck_assert_msg(graph->program.module != NULL, "seed %" PRIu64 ": %s\n%s", seed,
                tfrt_string_builder_text(&graph->program.errors),
                tfrt_string_builder_text(&graph->text));
  graph->function = tfrt_ir_module_block(graph->program.module)->last;
}

static void graph_close(graph_t* graph) {
  test_program_free(&graph->program);
  tfrt_string_builder_deinitialize(&graph->text);
}

typedef bool (*pass_fn_t)(tfrt_ir_context_t* context, const tfrt_op_tables_t* tables,
                          tfrt_ir_operation_t* module, tfrt_diagnostics_t* diagnostics);

static bool run_pass(graph_t* graph, pass_fn_t pass) {
  test_program_t* program = &graph->program;
  return pass(program->context, tfrt_all_op_tables(), program->module, &program->diagnostics);
}

// Fails with the program and what is reported of it.
static void report(graph_t* graph, uint64_t seed, const char* what) {
  tfrt_string_builder_t text;
  tfrt_string_builder_initialize(&text, tfrt_allocator_system());
  tfrt_diagnostics_render(&graph->program.diagnostics, &text);
  tfrt_print_operation(graph->program.module, NULL, &text);
  fprintf(stderr, "%s\n", tfrt_string_builder_text(&text));
  tfrt_string_builder_deinitialize(&text);
  ck_abort_msg("seed %" PRIu64 ": %s", seed, what);
}

static void check_counts(graph_t* graph, uint64_t seed, const char* when) {
  test_random_t random = {seed};
  bool is_valid = tfrt_verify_module(graph->program.context, graph->program.module,
                                     &graph->program.diagnostics);
  if (!is_valid || !run_pass(graph, tfrt_verify_async_ref_counts)) report(graph, seed, when);
  for (int i = 0; i < RUNS; ++i) {
    const char* mistake = test_count_machine_run(graph->function, &random);
    if (mistake) report(graph, seed, mistake);
  }
}

START_TEST(random_graphs_are_counted_right) {
  uint64_t first = number_of("TFRT_TEST_FIRST_GRAPH", 1);
  uint64_t count = number_of("TFRT_TEST_GRAPHS", DEFAULT_GRAPHS);
  uint64_t wrong_before = 0;
  for (uint64_t seed = first; seed < first + count; ++seed) {
    graph_t graph;
    test_random_t random = {seed};
    graph_open(&graph, seed, seed % 4 != 0);
    if (test_count_machine_run(graph.function, &random)) ++wrong_before;
    ck_assert(run_pass(&graph, tfrt_count_async_references));
    check_counts(&graph, seed, "wrong behind the pass that counts");
    ck_assert(run_pass(&graph, tfrt_optimize_async_ref_counts));
    check_counts(&graph, seed, "wrong behind the pass that cancels");
    graph_close(&graph);
  }
  // The machine sees when counts are missing.
  ck_assert_uint_gt(wrong_before, count / 2);
}
END_TEST

// --- Planted mistakes ---------------------------------------------------------------------------

typedef enum mistake_e {
  ADD_REMOVED = 0,
  DROP_REMOVED,
  ADD_DOUBLED,
  DROP_DOUBLED,
  COUNT_RAISED,
  MOVED_OVER_BRANCH,
  DROPPED_EARLY,
  OTHER_VALUE,
  MISTAKE_COUNT,
} mistake_t;

static const char* const mistake_names[] = {"an add is gone",      "a drop is gone",
                                            "an add stands twice", "a drop stands twice",
                                            "a count is too high", "a drop moved over a branch",
                                            "a drop is too early", "a drop of another value"};

typedef struct counts_s {
  tfrt_ir_operation_t* ops[MAX_COUNTS];
  uint32_t count;
} counts_t;

static bool is_drop(const tfrt_ir_operation_t* op) {
  return tfrt_ir_operation_is(op, "async.runtime.drop_ref");
}

static bool is_add(const tfrt_ir_operation_t* op) {
  return tfrt_ir_operation_is(op, "async.runtime.add_ref");
}

static bool list_count(tfrt_ir_operation_t* op, void* user_data) {
  counts_t* counts = user_data;
  if ((is_add(op) || is_drop(op)) && counts->count < MAX_COUNTS) counts->ops[counts->count++] = op;
  return true;
}

static tfrt_ir_operation_t* copy_of(graph_t* graph, const tfrt_ir_operation_t* op) {
  tfrt_ir_value_t* operands[] = {op->operands[0].value};
  tfrt_ir_operation_parts_t parts = {.name = op->name,
                                     .descriptor = op->descriptor,
                                     .location = op->location,
                                     .operands = operands,
                                     .operand_count = 1,
                                     .attributes = op->attributes,
                                     .attribute_count = op->attribute_count};
  return tfrt_ir_operation_create(graph->program.context, &parts);
}

static void raise_count(graph_t* graph, tfrt_ir_operation_t* op) {
  tfrt_ir_context_t* context = graph->program.context;
  const tfrt_ir_attribute_t* count = tfrt_ir_operation_attribute(op, "count");
  count =
      tfrt_ir_attribute_integer(context, count->type, tfrt_ir_attribute_integer_value(count) + 1);
  ck_assert(
      tfrt_ir_operation_set_attribute(context, op, tfrt_ir_string_of(context, "count"), count));
}

// Moves |drop|, of a value from before its block, before a branch to that block and another one.
static bool move_over_branch(tfrt_ir_operation_t* drop) {
  tfrt_ir_block_t* home = drop->block;
  if (tfrt_ir_value_block(drop->operands[0].value)->region != home->region) return false;
  if (tfrt_ir_value_block(drop->operands[0].value) == home) return false;
  for (tfrt_ir_block_t* block = home->region->first_block; block; block = block->next) {
    bool comes_here = false;
    bool goes_elsewhere = false;
    for (uint32_t i = 0; i < block->last->successor_count; ++i) {
      bool is_here = tfrt_ir_operation_successors(block->last)[i] == home;
      comes_here |= is_here;
      goes_elsewhere |= !is_here;
    }
    // From the block itself it would move to that block's end, which may be right.
    if (!comes_here || !goes_elsewhere || block == home) continue;
    tfrt_ir_operation_t* end = block->last;
    tfrt_ir_block_remove(drop);
    tfrt_ir_block_insert_before(end, drop);
    return true;
  }
  return false;
}

// Moves |drop| before the op that needs the value last, if that takes no reference.
static bool drop_early(tfrt_ir_operation_t* drop) {
  const tfrt_ir_value_t* value = drop->operands[0].value;
  for (tfrt_ir_operation_t* op = drop->previous; op; op = op->previous) {
    bool is_user = false;
    for (uint32_t i = 0; i < op->operand_count; ++i) is_user |= op->operands[i].value == value;
    if (!is_user) continue;
    if (!tfrt_ir_operation_is(op, "async.await") && !tfrt_ir_operation_is(op, "async.execute")) {
      return false;
    }
    for (const tfrt_ir_operation_t* add = op->previous; add && is_add(add); add = add->previous) {
      if (add->operands[0].value == value) return false;
    }
    tfrt_ir_block_remove(drop);
    tfrt_ir_block_insert_before(op, drop);
    return true;
  }
  return false;
}

static bool plant(graph_t* graph, mistake_t mistake, tfrt_ir_operation_t* op) {
  tfrt_ir_value_t* argument = graph->function->regions[0].first_block->arguments[3];
  bool wants_add = mistake == ADD_REMOVED || mistake == ADD_DOUBLED;
  if (mistake != COUNT_RAISED && wants_add != is_add(op)) return false;
  switch (mistake) {
    case ADD_REMOVED:
    case DROP_REMOVED:
      tfrt_ir_operation_erase(op);
      return true;
    case ADD_DOUBLED:
    case DROP_DOUBLED:
      tfrt_ir_block_insert_before(op, copy_of(graph, op));
      return true;
    case COUNT_RAISED:
      raise_count(graph, op);
      return true;
    case MOVED_OVER_BRANCH:
      return move_over_branch(op);
    case DROPPED_EARLY:
      return drop_early(op);
    case OTHER_VALUE:
      if (op->operands[0].value == argument) return false;
      tfrt_ir_operand_set(&op->operands[0], argument);
      return true;
    case MISTAKE_COUNT:
      break;
  }
  return false;
}

// Plants |mistake| in one of the counts of |graph|; false: none allows it.
static bool plant_somewhere(graph_t* graph, mistake_t mistake, uint64_t seed) {
  test_random_t random = {~seed};
  counts_t counts = {.count = 0};
  tfrt_ir_operation_walk(graph->function, list_count, &counts);
  if (!counts.count) return false;
  uint32_t first = test_random_below(&random, counts.count);
  for (uint32_t i = 0; i < counts.count; ++i) {
    if (plant(graph, mistake, counts.ops[(first + i) % counts.count])) return true;
  }
  return false;
}

START_TEST(planted_mistakes_are_found) {
  uint64_t first = number_of("TFRT_TEST_FIRST_GRAPH", 1);
  uint64_t count = number_of("TFRT_TEST_GRAPHS", DEFAULT_GRAPHS);
  uint64_t planted[MISTAKE_COUNT] = {0};
  for (uint64_t seed = first; seed < first + count; ++seed) {
    mistake_t mistake = (mistake_t)(seed % MISTAKE_COUNT);
    graph_t graph;
    graph_open(&graph, seed, true);
    ck_assert(run_pass(&graph, tfrt_count_async_references));
    // Those that the second pass leaves are counts as well.
    bool cancels = mistake != DROPPED_EARLY && seed / MISTAKE_COUNT % 2;
    if (cancels) ck_assert(run_pass(&graph, tfrt_optimize_async_ref_counts));
    if (plant_somewhere(&graph, mistake, seed)) {
      ++planted[mistake];
      if (run_pass(&graph, tfrt_verify_async_ref_counts)) {
        report(&graph, seed, mistake_names[mistake]);
      }
    }
    graph_close(&graph);
  }
  for (int i = 0; i < MISTAKE_COUNT; ++i) {
    printf("%s: %" PRIu64 " planted, all found\n", mistake_names[i], planted[i]);
    ck_assert_uint_gt(planted[i], 0);
  }
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* graphs = tcase_create("graphs");
  tcase_set_timeout(graphs, 3000);
  tcase_add_test(graphs, random_graphs_are_counted_right);
  tcase_add_test(graphs, planted_mistakes_are_found);
  Suite* suite = suite_create("async_ref_counts_random");
  suite_add_tcase(suite, graphs);
  return suite;
}
