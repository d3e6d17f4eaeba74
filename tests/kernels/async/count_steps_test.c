// SPDX-License-Identifier: Apache-2.0
//
// Reference counts at run time: the executor gives objects back at the step where the counts of the
// program say so. Programs make objects, which are counted, and say at each step how many live, in
// a queue without threads. Each is run as it stands, with counts by hand; or with the counts that
// the pass places, once more with those that the optimising pass leaves, and once more without
// counts.

#include <string.h>

#include "compiler/passes/pass.h"
#include "compiler/translate.h"
#include "host_runtime/async/inline_work_queue.h"
#include "host_runtime/bef/bef_file.h"
#include "host_runtime/executor/program/program.h"
#include "host_runtime/host_context.h"
#include "tests/support/test_main.h"
#include "tools/kernels/kernel_rooms.h"
#include "tools/kernels/op_tables.h"

#define OBJECT "!count_steps.object"
#define CHAIN "!tfrt.chain"
#define MAX_TABLES 64

// --- Kernels ----------------------------------------------------------------------------------

static tfrt_type_id_t object_type;
static int live_objects;
static tfrt_string_builder_t steps;

static void destroy_object(void* payload) {
  (void)payload;
  --live_objects;
}

static void make_object(tfrt_kernel_frame_t* frame) {
  tfrt_async_value_t* value = tfrt_async_value_create_available(object_type);
  ++live_objects;
  tfrt_kernel_frame_set(frame, 0, value);
}

static void note_step(tfrt_kernel_frame_t* frame) {
  tfrt_string_builder_append_format(&steps, "%d ", live_objects);
  tfrt_kernel_frame_set_ready_chain(frame, 0);
}

static const tfrt_operand_descriptor_t chain_in[] = {{"chain", CHAIN, TFRT_OPERAND_AWAITED}};
static const tfrt_result_descriptor_t chain_out[] = {{"chain", CHAIN}};
static const tfrt_result_descriptor_t object_out[] = {{"object", OBJECT}};
static const tfrt_kernel_descriptor_t descriptors[] = {
    {.name = "count_steps.object", .summary = "An object.", TFRT_RESULTS(object_out)},
    {.name = "count_steps.step",
     .summary = "Notes the live objects.",
     TFRT_OPERANDS(chain_in),
     TFRT_RESULTS(chain_out)},
};
static const tfrt_kernel_table_t table = {descriptors, TFRT_ARRAY_SIZE(descriptors)};
static const tfrt_kernel_registration_t kernels[] = {
    {"count_steps.object", make_object},
    {"count_steps.step", note_step},
};

// --- Programs ---------------------------------------------------------------------------------

#define VALUE "!async.value<" OBJECT ">"
#define STEP "func.call @step() : () -> ()\n"
#define SOURCE(NAME) NAME " = func.call @source() : () -> " VALUE "\n"
#define AWAIT(NAME) "async.runtime.await " NAME " : " VALUE "\n"

static const char library[] =
    "func.func @step() {\n"
    "  %t = async.execute {\n"
    "    %c = tfrt.new.chain\n"
    "    %d = \"count_steps.step\"(%c) : (!tfrt.chain) -> !tfrt.chain\n"
    "    async.yield\n"
    "  }\n"
    "  async.await %t : !async.token\n"
    "  return\n"
    "}\n"
    "func.func @source() -> " VALUE
    " {\n"
    "  %t, %v = async.execute -> " VALUE
    " {\n"
    "    %o = \"count_steps.object\"() : () -> " OBJECT
    "\n"
    "    async.yield %o : " OBJECT
    "\n"
    "  }\n"
    "  async.await %t : !async.token\n"
    "  return %v : " VALUE
    "\n"
    "}\n"
    "func.func @sink(%v: " VALUE
    ") {\n"
    "  async.runtime.await %v : " VALUE "\n" STEP
    "  return\n"
    "}\n";

typedef struct program_s {
  const char* name;
  const char* text;   // of @main
  const char* steps;  // the live objects at each
  bool has_counts;    // by hand, in all of the functions that it shows
} program_t;

static const program_t programs[] = {
    {.name = "an unused object goes at once",
     .text = "func.func @main() {\n" SOURCE("%v") STEP "return\n}\n",
     .steps = "0 "},
    {.name = "behind the last use",
     .text = "func.func @main() {\n" SOURCE("%v") SOURCE("%w") STEP AWAIT("%v") STEP AWAIT("%w")
         STEP "return\n}\n",
     .steps = "2 1 0 "},
    {.name = "a callee gives back what it takes",
     .text = "func.func @main() {\n" SOURCE("%v") "func.call @sink(%v) : (" VALUE ") -> ()\n" STEP
                                                  "return\n}\n",
     .steps = "0 0 "},
    {.name = "and the caller keeps its own",
     .text = "func.func @main() {\n" SOURCE("%v") "func.call @sink(%v) : (" VALUE
                                                  ") -> ()\n" STEP AWAIT("%v") STEP "return\n}\n",
     .steps = "1 1 0 "},
    {.name = "a task keeps what it captures",
     .text = "func.func @main() {\n" SOURCE("%v") "%t = async.execute {\n" AWAIT("%v") STEP
     "async.yield\n}\n" STEP "async.await %t : !async.token\n" STEP "return\n}\n",
     .steps = "1 0 0 "},
    {.name = "one of two ways uses it",
     .text = "func.func @main() {\n%c = arith.constant 1 : i1\n" SOURCE(
         "%v") "cf.cond_br %c, ^a, ^b\n^a:\n" STEP AWAIT("%v") STEP "return\n^b:\n" STEP
                                                                    "return\n}\n",
     .steps = "1 0 "},
    {.name = "the other one gives it back at its head",
     .text = "func.func @main() {\n%c = arith.constant 0 : i1\n" SOURCE(
         "%v") "cf.cond_br %c, ^a, ^b\n^a:\n" STEP AWAIT("%v") STEP "return\n^b:\n" STEP
                                                                    "return\n}\n",
     .steps = "0 "},
    {.name = "a loop hands its object round",
     .text = "func.func @main() {\n%n = arith.constant 3 : i32\n%zero = arith.constant 0 : i32\n"
             "%one = arith.constant 1 : i32\n" SOURCE(
                 "%v") "cf.br ^loop(%v, %n : " VALUE ", i32)\n^loop(%u: " VALUE
                       ", %i: i32):\n" SOURCE("%w") STEP AWAIT("%u") STEP
     "%j = arith.subi %i, %one : i32\n%more = arith.cmpi sgt, %j, %zero : i32\n"
     "cf.cond_br %more, ^loop(%w, %j : " VALUE ", i32), ^end\n^end:\n" STEP "return\n}\n",
     .steps = "2 1 2 1 2 1 0 "},
    {.name = "a structured loop does so, too",
     .text = "func.func @main() {\n%n = arith.constant 2 : index\n%c0 = arith.constant 0 : index\n"
             "%c1 = arith.constant 1 : index\n" SOURCE(
                 "%v") "%r = scf.for %i = %c0 to %n step %c1 iter_args(%u = %v) -> (" VALUE
                       ") {\n" SOURCE("%w") STEP AWAIT("%u") STEP
     "scf.yield %w : " VALUE "\n}\n" AWAIT("%r") STEP "return\n}\n",
     .steps = "2 1 2 1 0 "},
    {.name = "a drop by hand comes later than the last use",
     .text = "func.func @main() {\n" SOURCE("%v") AWAIT("%v") STEP STEP
     "async.runtime.drop_ref %v {count = 1 : i64} : " VALUE "\n" STEP "return\n}\n",
     .steps = "1 1 0 ",
     .has_counts = true},
    {.name = "by hand over a branch",
     .text = "func.func @main() {\n" SOURCE("%v")
         AWAIT("%v") "cf.br ^next\n^next:\n" STEP
                     "async.runtime.add_ref %v {count = 1 : i64} : " VALUE "\n" STEP
                     "async.runtime.drop_ref %v {count = 2 : i64} : " VALUE "\n" STEP "return\n}\n",
     .steps = "1 1 0 ",
     .has_counts = true},
    {.name = "a borrowing region leaves it to what is around",
     .text = "func.func @main() {\n%c = arith.constant 1 : i1\n" SOURCE("%v") "scf.if %c {\n" AWAIT(
         "%v") STEP "scf.yield\n}\n"
                    "async.runtime.drop_ref %v {count = 1 : i64} : " VALUE "\n" STEP "return\n}\n",
     .steps = "1 0 ",
     .has_counts = true},
};

// --- Runs -------------------------------------------------------------------------------------

static tfrt_host_context_t* open_host(void) {
  static const tfrt_type_t type = {.name = OBJECT, .size = 8, .destroy = destroy_object};
  tfrt_work_queue_t* queue = NULL;
  tfrt_host_context_t* host = NULL;
  ck_assert_ptr_null(tfrt_type_register(&type, &object_type));
  ck_assert_ptr_null(tfrt_inline_work_queue_create(tfrt_allocator_system(), &queue));
  ck_assert_ptr_null(
      tfrt_host_context_allocate(tfrt_allocator_system(), tfrt_clock_system(), queue, &host));
  ck_assert_ptr_null(tfrt_kernel_rooms_register(host->registry));
  ck_assert_ptr_null(
      tfrt_kernel_registry_add_all(host->registry, &table, kernels, TFRT_ARRAY_SIZE(kernels)));
  return host;
}

// Appends what |count| passes make of |text| to |result|.
static void run_passes(const tfrt_op_tables_t* tables, const char* text, const char* const* names,
                       size_t count, tfrt_string_builder_t* result) {
  const tfrt_pass_t* passes[4];
  tfrt_diagnostics_t diagnostics;
  for (size_t i = 0; i < count; ++i) passes[i] = tfrt_pass_find(names[i]);
  tfrt_text_to_text_options_t options = {.passes = passes, .pass_count = count};
  tfrt_diagnostics_initialize(&diagnostics, "t.mlir", tfrt_string_view_of(text),
                              tfrt_allocator_system());
  tfrt_status_t status =
      tfrt_optimize_text(tables, &options, tfrt_allocator_system(), &diagnostics, result);
  ck_assert_msg(status == NULL, "%s\n%s", status ? tfrt_status_message(status) : "", text);
  tfrt_diagnostics_deinitialize(&diagnostics);
}

// Runs @main of |text|.
static void run_main(tfrt_host_context_t* host, const tfrt_op_tables_t* tables, const char* text) {
  tfrt_allocator_t system = tfrt_allocator_system();
  tfrt_string_builder_t report;
  void* bytes = NULL;
  size_t size = 0;
  tfrt_bef_file_t* file = NULL;
  tfrt_program_t* program = NULL;
  tfrt_request_context_t* request = NULL;
  tfrt_string_builder_initialize(&report, system);
  tfrt_status_t status = tfrt_translate_text_to_bef("t.mlir", tfrt_string_view_of(text), tables,
                                                    NULL, system, &report, &bytes, &size);
  ck_assert_msg(status == NULL, "%s", tfrt_string_builder_text(&report));
  tfrt_string_builder_deinitialize(&report);
  ck_assert_ptr_null(tfrt_bef_file_create(bytes, size, system, &file));
  tfrt_allocator_free(system, bytes, size);
  ck_assert_ptr_null(tfrt_program_create(file, host->registry, system, &program));
  tfrt_bef_file_release(file);
  tfrt_request_options_t options = tfrt_request_options_default();
  ck_assert_ptr_null(tfrt_request_context_create(&options, system, &request));
  const tfrt_function_t* function = tfrt_program_find_function(program, "main");
  ck_assert_uint_eq(function->result_count, 1);
  tfrt_execution_context_t context = tfrt_host_context_execution(host, request);
  tfrt_async_value_t* result = NULL;
  tfrt_function_execute_here(function, &context, NULL, &result);
  tfrt_work_queue_await(host->work_queue, &result, 1);
  tfrt_work_queue_quiesce(host->work_queue);
  ck_assert(!tfrt_async_value_is_error(result));
  tfrt_async_value_release(result);
  tfrt_request_context_release(request);
  tfrt_program_release(program);
}

// Runs |program| behind |count| passes, and compares its steps.
static void check_steps(const program_t* program, const char* const* names, size_t count) {
  tfrt_host_context_t* host = open_host();
  const tfrt_op_tables_t* all = tfrt_all_op_tables();
  tfrt_kernel_table_t list[MAX_TABLES];
  tfrt_op_tables_t tables = {.tables = list, .count = all->count + 1};
  ck_assert_uint_le(tables.count, MAX_TABLES);
  memcpy(list, all->tables, all->count * sizeof(list[0]));
  list[all->count] = table;
  tfrt_string_builder_t whole;
  tfrt_string_builder_t text;
  tfrt_string_builder_initialize(&whole, tfrt_allocator_system());
  tfrt_string_builder_initialize(&text, tfrt_allocator_system());
  tfrt_string_builder_initialize(&steps, tfrt_allocator_system());
  tfrt_string_builder_append_text(&whole, library);
  tfrt_string_builder_append_text(&whole, program->text);
  run_passes(&tables, tfrt_string_builder_text(&whole), names, count, &text);
  live_objects = 0;
  run_main(host, &tables, tfrt_string_builder_text(&text));
  ck_assert_msg(
      tfrt_string_view_equal(tfrt_string_builder_view(&steps), tfrt_string_view_of(program->steps)),
      "%s, behind %zu passes: %s, and not %s\n%s", program->name, count,
      tfrt_string_builder_text(&steps), program->steps, tfrt_string_builder_text(&text));
  ck_assert_int_eq(live_objects, 0);
  tfrt_string_builder_deinitialize(&steps);
  tfrt_string_builder_deinitialize(&text);
  tfrt_string_builder_deinitialize(&whole);
  tfrt_host_context_free(host);
}

START_TEST(objects_go_where_the_counts_say) {
  static const char* const passes[] = {"async-ref-counting", "async-ref-counting-opt",
                                       "verify-async-ref-counts"};
  const program_t* program = &programs[_i];
  check_steps(program, passes, 0);
  if (program->has_counts) return;
  check_steps(program, passes, 1);
  check_steps(program, passes, 3);
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* counts = tcase_create("counts");
  tcase_add_loop_test(counts, objects_go_where_the_counts_say, 0, TFRT_ARRAY_SIZE(programs));
  Suite* suite = suite_create("count_steps");
  suite_add_tcase(suite, counts);
  return suite;
}
