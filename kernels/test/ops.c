// SPDX-License-Identifier: Apache-2.0

#include "kernels/test/ops.h"

#define CHAIN "!tfrt.chain"
#define STRING "!tfrt.string"
#define ATOMIC "!test.atomic.i32"
#define RESOURCE "!tfrt.test.resource"
#define VT "!vt.value"
#define COORDINATE "!my.coordinate"

// --- Operands -----------------------------------------------------------------

static const tfrt_operand_descriptor_t two_i32[] = {
    {"lhs", "i32", TFRT_OPERAND_DEMANDED},
    {"rhs", "i32", TFRT_OPERAND_DEMANDED},
};
static const tfrt_operand_descriptor_t one_i32[] = {{"input", "i32", TFRT_OPERAND_DEMANDED}};
static const tfrt_operand_descriptor_t one_i64[] = {{"input", "i64", TFRT_OPERAND_DEMANDED}};
static const tfrt_operand_descriptor_t one_chain[] = {{"chain", CHAIN, TFRT_OPERAND_AWAITED}};
static const tfrt_operand_descriptor_t two_strings[] = {
    {"head", STRING, TFRT_OPERAND_DEMANDED},
    {"tail", STRING, TFRT_OPERAND_DEMANDED},
};
static const tfrt_operand_descriptor_t format_and_i32[] = {
    {"format", STRING, TFRT_OPERAND_DEMANDED},
    {"number", "i32", TFRT_OPERAND_DEMANDED},
};
static const tfrt_operand_descriptor_t path_operand[] = {{"path", STRING, TFRT_OPERAND_DEMANDED}};
static const tfrt_operand_descriptor_t string_and_chain[] = {
    {"text", STRING, TFRT_OPERAND_DEMANDED},
    {"chain", CHAIN, TFRT_OPERAND_AWAITED},
};
static const tfrt_operand_descriptor_t chain_and_i1[] = {
    {"chain", CHAIN, TFRT_OPERAND_AWAITED},
    {"value", "i1", TFRT_OPERAND_DEMANDED},
};
static const tfrt_operand_descriptor_t atomic_and_chain[] = {
    {"atomic", ATOMIC, TFRT_OPERAND_DEMANDED},
    {"chain", CHAIN, TFRT_OPERAND_AWAITED},
};
static const tfrt_operand_descriptor_t mutated_atomic_and_chain[] = {
    {"atomic", ATOMIC, TFRT_OPERAND_MUTATED},
    {"chain", CHAIN, TFRT_OPERAND_AWAITED},
};
static const tfrt_operand_descriptor_t mutated_atomic_i32_and_chain[] = {
    {"atomic", ATOMIC, TFRT_OPERAND_MUTATED},
    {"amount", "i32", TFRT_OPERAND_DEMANDED},
    {"chain", CHAIN, TFRT_OPERAND_AWAITED},
};
static const tfrt_operand_descriptor_t host_and_values[] = {
    {"host", "i32", TFRT_OPERAND_DEMANDED},
    {"inputs", TFRT_TYPE_ANY, TFRT_OPERAND_PASSED},
};
static const tfrt_operand_descriptor_t demanded_values[] = {
    {"inputs", TFRT_TYPE_ANY, TFRT_OPERAND_DEMANDED},
};
static const tfrt_operand_descriptor_t awaited_values[] = {
    {"inputs", TFRT_TYPE_ANY, TFRT_OPERAND_AWAITED},
};
static const tfrt_operand_descriptor_t passed_values[] = {
    {"inputs", TFRT_TYPE_ANY, TFRT_OPERAND_PASSED},
};
static const tfrt_operand_descriptor_t chain_and_values[] = {
    {"chain", CHAIN, TFRT_OPERAND_AWAITED},
    {"inputs", TFRT_TYPE_ANY, TFRT_OPERAND_DEMANDED},
};
static const tfrt_operand_descriptor_t i32_values[] = {{"inputs", "i32", TFRT_OPERAND_DEMANDED}};
static const tfrt_operand_descriptor_t one_any[] = {
    {"input", TFRT_TYPE_ANY, TFRT_OPERAND_DEMANDED},
};
static const tfrt_operand_descriptor_t mutated_resource_and_chain[] = {
    {"resource", RESOURCE, TFRT_OPERAND_MUTATED},
    {"chain", CHAIN, TFRT_OPERAND_AWAITED},
};
static const tfrt_operand_descriptor_t two_vt[] = {
    {"lhs", VT, TFRT_OPERAND_DEMANDED},
    {"rhs", VT, TFRT_OPERAND_DEMANDED},
};
static const tfrt_operand_descriptor_t vt_and_chain[] = {
    {"value", VT, TFRT_OPERAND_DEMANDED},
    {"chain", CHAIN, TFRT_OPERAND_AWAITED},
};
static const tfrt_operand_descriptor_t coordinate_and_chain[] = {
    {"coordinate", COORDINATE, TFRT_OPERAND_DEMANDED},
    {"chain", CHAIN, TFRT_OPERAND_AWAITED},
};

// --- Results, attributes, regions ----------------------------------------------

static const tfrt_result_descriptor_t i32_result[] = {{"result", "i32"}};
static const tfrt_result_descriptor_t two_i32_results[] = {{"first", "i32"}, {"second", "i32"}};
static const tfrt_result_descriptor_t three_i32_results[] = {
    {"first", "i32"},
    {"second", "i32"},
    {"third", "i32"},
};
static const tfrt_result_descriptor_t three_i64_results[] = {
    {"first", "i64"},
    {"second", "i64"},
    {"third", "i64"},
};
static const tfrt_result_descriptor_t i64_result[] = {{"result", "i64"}};
static const tfrt_result_descriptor_t string_result[] = {{"result", STRING}};
static const tfrt_result_descriptor_t atomic_result[] = {{"atomic", ATOMIC}};
static const tfrt_result_descriptor_t chain_result[] = {{"chain", CHAIN}};
static const tfrt_result_descriptor_t i32_and_chain_results[] = {
    {"value", "i32"},
    {"chain", CHAIN},
};
static const tfrt_result_descriptor_t any_result[] = {{"result", TFRT_TYPE_ANY}};
static const tfrt_result_descriptor_t any_results[] = {{"results", TFRT_TYPE_ANY}};
static const tfrt_result_descriptor_t i1_result[] = {{"result", "i1"}};
static const tfrt_result_descriptor_t i1_results[] = {{"results", "i1"}};
static const tfrt_result_descriptor_t two_any_results[] = {
    {"first", TFRT_TYPE_ANY},
    {"second", TFRT_TYPE_ANY},
};
static const tfrt_result_descriptor_t resource_and_chain_results[] = {
    {"resource", RESOURCE},
    {"chain", CHAIN},
};
static const tfrt_result_descriptor_t string_and_chain_results[] = {
    {"name", STRING},
    {"chain", CHAIN},
};
static const tfrt_result_descriptor_t vt_result[] = {{"result", VT}};
static const tfrt_result_descriptor_t coordinate_result[] = {{"coordinate", COORDINATE}};

static const tfrt_attribute_descriptor_t i1_value[] = {{"value", TFRT_ATTRIBUTE_I1, NULL}};
static const tfrt_attribute_descriptor_t i32_value[] = {{"value", TFRT_ATTRIBUTE_I32, NULL}};
static const tfrt_attribute_descriptor_t string_value[] = {
    {"value", TFRT_ATTRIBUTE_STRING, NULL},
};
static const tfrt_attribute_descriptor_t string_name[] = {
    {"name", TFRT_ATTRIBUTE_STRING, NULL},
};
static const tfrt_attribute_descriptor_t aggregate_value[] = {
    {"value", TFRT_ATTRIBUTE_AGGREGATE, NULL},
};
static const tfrt_attribute_descriptor_t cost_attributes[] = {
    {"id", TFRT_ATTRIBUTE_I64, NULL},
};
static const tfrt_attribute_descriptor_t benchmark_attributes[] = {
    {"duration_secs", TFRT_ATTRIBUTE_I32, NULL},
    {"max_count", TFRT_ATTRIBUTE_I32, NULL},
    {"name", TFRT_ATTRIBUTE_STRING, NULL},
    {"num_warmup_runs", TFRT_ATTRIBUTE_I32, "1"},
};

static const tfrt_attribute_descriptor_t op_attributes[] = {
    {"deadline_ms", TFRT_ATTRIBUTE_I32, "0"},
    {"op", TFRT_ATTRIBUTE_STRING, NULL},
    {"retries", TFRT_ATTRIBUTE_I32, "0"},
};
static const tfrt_attribute_descriptor_t count_attribute[] = {{"count", TFRT_ATTRIBUTE_I32, NULL}};

static const tfrt_attribute_descriptor_t sync_benchmark_attributes[] = {
    {"duration_secs", TFRT_ATTRIBUTE_I32, NULL},
    {"max_count", TFRT_ATTRIBUTE_I32, NULL},
    {"num_warmup_runs", TFRT_ATTRIBUTE_I32, "1"},
    {"target_fn", TFRT_ATTRIBUTE_SYMBOL, NULL},
};

// In the order of their names, as kernels get them.
static const tfrt_attribute_descriptor_t summands[] = {
    {"v0", TFRT_ATTRIBUTE_I32, "0"},  {"v1", TFRT_ATTRIBUTE_I32, "0"},
    {"v10", TFRT_ATTRIBUTE_I32, "0"}, {"v11", TFRT_ATTRIBUTE_I32, "0"},
    {"v12", TFRT_ATTRIBUTE_I32, "0"}, {"v13", TFRT_ATTRIBUTE_I32, "0"},
    {"v14", TFRT_ATTRIBUTE_I32, "0"}, {"v15", TFRT_ATTRIBUTE_I32, "0"},
    {"v16", TFRT_ATTRIBUTE_I32, "0"}, {"v17", TFRT_ATTRIBUTE_I32, "0"},
    {"v18", TFRT_ATTRIBUTE_I32, "0"}, {"v19", TFRT_ATTRIBUTE_I32, "0"},
    {"v2", TFRT_ATTRIBUTE_I32, "0"},  {"v20", TFRT_ATTRIBUTE_I32, "0"},
    {"v21", TFRT_ATTRIBUTE_I32, "0"}, {"v22", TFRT_ATTRIBUTE_I32, "0"},
    {"v23", TFRT_ATTRIBUTE_I32, "0"}, {"v24", TFRT_ATTRIBUTE_I32, "0"},
    {"v25", TFRT_ATTRIBUTE_I32, "0"}, {"v26", TFRT_ATTRIBUTE_I32, "0"},
    {"v27", TFRT_ATTRIBUTE_I32, "0"}, {"v28", TFRT_ATTRIBUTE_I32, "0"},
    {"v29", TFRT_ATTRIBUTE_I32, "0"}, {"v3", TFRT_ATTRIBUTE_I32, "0"},
    {"v30", TFRT_ATTRIBUTE_I32, "0"}, {"v4", TFRT_ATTRIBUTE_I32, "0"},
    {"v5", TFRT_ATTRIBUTE_I32, "0"},  {"v6", TFRT_ATTRIBUTE_I32, "0"},
    {"v7", TFRT_ATTRIBUTE_I32, "0"},  {"v8", TFRT_ATTRIBUTE_I32, "0"},
    {"v9", TFRT_ATTRIBUTE_I32, "0"},
};

static const tfrt_region_descriptor_t async_body[] = {{.name = "body"}};
static const tfrt_region_descriptor_t benchmark_body[] = {
    {.name = "body", .yields = any_result, .yield_count = 1},
};

// --- The table ------------------------------------------------------------------

static const tfrt_kernel_descriptor_t descriptors[] = {
    {.name = "tfrt_test.async_add.i32",
     .summary = "The sum of both operands, computed in the work queue.",
     TFRT_OPERANDS(two_i32),
     TFRT_RESULTS(i32_result),
     .flags = TFRT_KERNEL_PURE,
     .cost = 10},
    {.name = "tfrt_test.async_constant.i1",
     .summary = "The constant `value`, made in the work queue.",
     TFRT_RESULTS(i1_result),
     TFRT_ATTRIBUTES(i1_value),
     .cost = 10},
    {.name = "tfrt_test.async_constant.i32",
     .summary = "The constant `value`, made in the work queue.",
     TFRT_RESULTS(i32_result),
     TFRT_ATTRIBUTES(i32_value),
     .cost = 10},
    {.name = "tfrt_test.async_copy.i32",
     .summary = "The operand, copied in the work queue.",
     TFRT_OPERANDS(one_i32),
     TFRT_RESULTS(i32_result),
     .cost = 10},
    {.name = "tfrt_test.async_copy_2.i32",
     .summary = "The same.",
     TFRT_OPERANDS(one_i32),
     TFRT_RESULTS(i32_result),
     .cost = 10},
    {.name = "tfrt_test.async_copy.with_delay.i32",
     .summary = "The operand, copied in the work queue after a random delay of 1 to 10 ms.",
     TFRT_OPERANDS(one_i32),
     TFRT_RESULTS(i32_result),
     .cost = 10},
    {.name = "tfrt_test.async_copy.with_delay.i64",
     .summary = "The operand, copied in the work queue after a random delay of 1 to 10 ms.",
     TFRT_OPERANDS(one_i64),
     TFRT_RESULTS(i64_result),
     .cost = 10},
    {.name = "tfrt_test.copy.with_delay.i32",
     .summary = "The operand, copied here after a random delay of 1 to 10 ms.",
     TFRT_OPERANDS(one_i32),
     TFRT_RESULTS(i32_result),
     .cost = 10},
    {.name = "tfrt_test.copy.with_delay.i64",
     .summary = "The operand, copied here after a random delay of 1 to 10 ms.",
     TFRT_OPERANDS(one_i64),
     TFRT_RESULTS(i64_result),
     .cost = 10},
    {.name = "tfrt_test.count3.i32",
     .summary = "The operand plus 1, plus 2 and plus 3.",
     .assembly = "operands attr-dict",
     TFRT_OPERANDS(one_i32),
     TFRT_RESULTS(three_i32_results),
     .cost = 10},
    {.name = "tfrt_test.count3.i64",
     .summary = "The operand plus 1, plus 2 and plus 3.",
     .assembly = "operands attr-dict",
     TFRT_OPERANDS(one_i64),
     TFRT_RESULTS(three_i64_results),
     .cost = 10},
    {.name = "tfrt_test.sum",
     .summary = "The sum of the operands.",
     TFRT_OPERANDS(i32_values),
     TFRT_RESULTS(i32_result),
     .flags = TFRT_KERNEL_VARIADIC_OPERANDS,
     .cost = 10},
    {.name = "tfrt_test.atomic.create.i32",
     .summary = "A new counter that is 0.",
     TFRT_RESULTS(atomic_result),
     .cost = 10},
    {.name = "tfrt_test.atomic.get.i32",
     .summary = "The number in a counter.",
     TFRT_OPERANDS(atomic_and_chain),
     TFRT_RESULTS(i32_and_chain_results),
     .cost = 10},
    {.name = "tfrt_test.atomic.inc.i32",
     .summary = "Adds 1 to a counter.",
     TFRT_OPERANDS(mutated_atomic_and_chain),
     TFRT_RESULTS(chain_result),
     .cost = 10},
    {.name = "tfrt_test.atomic.add.i32",
     .summary = "Adds a number to a counter.",
     TFRT_OPERANDS(mutated_atomic_i32_and_chain),
     TFRT_RESULTS(chain_result),
     .cost = 10},
    {.name = "tfrt_test.get_string",
     .summary = "The constant `value`.",
     TFRT_RESULTS(string_result),
     TFRT_ATTRIBUTES(string_value),
     .flags = TFRT_KERNEL_SYNC_TOO,
     .cost = 10},
    {.name = "tfrt_test.append_string",
     .summary = "Both operands, one behind the other.",
     TFRT_OPERANDS(two_strings),
     TFRT_RESULTS(string_result),
     .flags = TFRT_KERNEL_SYNC_TOO,
     .cost = 10},
    {.name = "tfrt_test.string_equal",
     .summary = "True if both strings are equal.",
     TFRT_OPERANDS(two_strings),
     TFRT_RESULTS(i1_result),
     .flags = TFRT_KERNEL_TRAILING_CHAIN,
     .cost = 10},
    {.name = "tfrt_test.format_string",
     .summary = "The format with the number in place of its one conversion, as C's %d and %x.",
     TFRT_OPERANDS(format_and_i32),
     TFRT_RESULTS(string_result),
     .flags = TFRT_KERNEL_TRAILING_CHAIN,
     .cost = 10},
    {.name = "tfrt_test.read_string_from_file",
     .summary = "The bytes of a file, relative to the program's directory.",
     TFRT_OPERANDS(path_operand),
     TFRT_RESULTS(string_result),
     .flags = TFRT_KERNEL_TRAILING_CHAIN,
     .cost = 1000},
    {.name = "tfrt_test.print_string",
     .summary = "Prints `string = S` on a line of its own.",
     TFRT_OPERANDS(string_and_chain),
     TFRT_RESULTS(chain_result),
     .cost = 10},
    {.name = "tfrt_test.print_hello",
     .summary = "Prints `hello host executor!` on a line of its own.",
     TFRT_OPERANDS(one_chain),
     TFRT_RESULTS(chain_result),
     .cost = 10},
    {.name = "tfrt_test.print_bool",
     .summary = "Prints `true` or `false` on a line of its own.",
     TFRT_OPERANDS(chain_and_i1),
     TFRT_RESULTS(chain_result),
     .cost = 10},
    {.name = "tfrt_test.fail", .summary = "An error.", TFRT_RESULTS(i32_result), .cost = 10},
    {.name = "tfrt_test.partial_fail",
     .summary = "The number 1, and an error.",
     TFRT_RESULTS(two_i32_results),
     .cost = 10},
    {.name = "tfrt_test.report_error_async",
     .summary = "An error that comes later, from the work queue.",
     TFRT_RESULTS(i32_result),
     .cost = 10},
    {.name = "tfrt_test.report_error_concrete_async",
     .summary = "The operand if it is 0, else an error that comes later.",
     TFRT_OPERANDS(one_i32),
     TFRT_RESULTS(i32_result),
     .cost = 10},
    {.name = "tfrt_test.report_error_indirect_async",
     .summary = "The same with a result whose type is known later.",
     TFRT_OPERANDS(one_i32),
     TFRT_RESULTS(i32_result),
     .cost = 10},
    {.name = "tfrt_test.cancel",
     .summary = "Cancels the request it runs in.",
     TFRT_OPERANDS(one_chain),
     TFRT_RESULTS(i32_and_chain_results),
     .cost = 10},
    {.name = "tfrt_test.multi_arg_result",
     .summary = "The operands.",
     TFRT_OPERANDS(demanded_values),
     TFRT_RESULTS(any_results),
     .flags = TFRT_KERNEL_VARIADIC_OPERANDS | TFRT_KERNEL_VARIADIC_RESULTS |
              TFRT_KERNEL_RESULTS_AS_OPERANDS,
     .cost = 10},
    {.name = "tfrt_test.make_indirect",
     .summary = "The operands, each behind an indirect value.",
     TFRT_OPERANDS(demanded_values),
     TFRT_RESULTS(any_results),
     .flags = TFRT_KERNEL_VARIADIC_OPERANDS | TFRT_KERNEL_VARIADIC_RESULTS |
              TFRT_KERNEL_RESULTS_AS_OPERANDS,
     .cost = 10},
    {.name = "tfrt_test.stand_for",
     .summary = "The operands, in whatever state they are, each behind an indirect value.",
     TFRT_OPERANDS(passed_values),
     TFRT_RESULTS(any_results),
     .flags = TFRT_KERNEL_VARIADIC_OPERANDS | TFRT_KERNEL_VARIADIC_RESULTS |
              TFRT_KERNEL_RESULTS_AS_OPERANDS,
     .cost = 10},
    {.name = "tfrt_test.identity",
     .summary = "The operands, once the chain is there.",
     TFRT_OPERANDS(chain_and_values),
     TFRT_RESULTS(any_results),
     .flags = TFRT_KERNEL_VARIADIC_OPERANDS | TFRT_KERNEL_VARIADIC_RESULTS |
              TFRT_KERNEL_RESULTS_AS_OPERANDS,
     .cost = 10},
    {.name = "tfrt_test.run_op_on",
     .summary = "Runs the op of that name, which needs no attributes, on the host of that rank.",
     TFRT_OPERANDS(host_and_values),
     TFRT_RESULTS(any_results),
     TFRT_ATTRIBUTES(op_attributes),
     .flags = TFRT_KERNEL_VARIADIC_OPERANDS | TFRT_KERNEL_VARIADIC_RESULTS,
     .cost = TFRT_KERNEL_COST_UNKNOWN},
    {.name = "tfrt_test.sum_on",
     .summary = "The sum of the numbers up to `count`, each an op and added by one, on the host of "
                "that rank.",
     TFRT_OPERANDS(one_i32),
     TFRT_RESULTS(i32_result),
     TFRT_ATTRIBUTES(count_attribute),
     .cost = TFRT_KERNEL_COST_UNKNOWN},
    {.name = "tfrt_test.as_chain",
     .summary = "A chain that is there when all operands are.",
     TFRT_OPERANDS(awaited_values),
     TFRT_RESULTS(chain_result),
     .flags = TFRT_KERNEL_VARIADIC_OPERANDS,
     .cost = 10},
    {.name = "tfrt_test.usleep",
     .summary = "Sleeps so many microseconds in the blocking queue, then prints so.",
     TFRT_OPERANDS(one_i32),
     .flags = TFRT_KERNEL_TRAILING_CHAIN,
     .cost = 10},
    {.name = "tfrt_test.blocking.usleep",
     .summary = "The same; the chain is there when it has slept.",
     TFRT_OPERANDS(one_i32),
     TFRT_RESULTS(chain_result),
     .cost = 10},
    {.name = "tfrt_test.test_cost",
     .summary = "The number 0; prints `id: N`. Its cost is what the attribute `_tfrt_cost` says.",
     .assembly = "operands attr-dict types",
     TFRT_OPERANDS(i32_values),
     TFRT_RESULTS(i32_result),
     TFRT_ATTRIBUTES(cost_attributes),
     .flags = TFRT_KERNEL_VARIADIC_OPERANDS,
     .cost = 10},
    {.name = "tfrt_test.do.async",
     .summary = "Runs the body in the work queue.",
     .assembly = "operands attributes signature regions",
     TFRT_OPERANDS(passed_values),
     TFRT_RESULTS(any_results),
     TFRT_REGIONS(async_body),
     .flags = TFRT_KERNEL_VARIADIC_OPERANDS | TFRT_KERNEL_VARIADIC_RESULTS,
     .cost = TFRT_KERNEL_COST_UNKNOWN},
    {.name = "tfrt_test.benchmark",
     .summary = "Runs the body again and again and prints how long that took.",
     .assembly = "#name ( typed-operands ) settings regions",
     TFRT_OPERANDS(passed_values),
     TFRT_RESULTS(chain_result),
     TFRT_ATTRIBUTES(benchmark_attributes),
     TFRT_REGIONS(benchmark_body),
     .flags = TFRT_KERNEL_VARIADIC_OPERANDS,
     .cost = TFRT_KERNEL_COST_UNKNOWN},
    {.name = "tfrt_test.sync_benchmark",
     .summary = "Calls a function that gives nothing again and again and prints how long that "
                "took.",
     .assembly = "@target_fn ( typed-operands ) settings",
     TFRT_OPERANDS(passed_values),
     TFRT_ATTRIBUTES(sync_benchmark_attributes),
     .flags = TFRT_KERNEL_VARIADIC_OPERANDS | TFRT_KERNEL_SYNC_ONLY,
     .cost = TFRT_KERNEL_COST_UNKNOWN},
    {.name = "tfrt_test.fail_s",
     .summary = "An error.",
     TFRT_RESULTS(i32_result),
     .flags = TFRT_KERNEL_SYNC_ONLY,
     .cost = 10},
    {.name = "tfrt_test.error_s",
     .summary = "An error, with or without results.",
     TFRT_RESULTS(any_results),
     .flags = TFRT_KERNEL_SYNC_ONLY | TFRT_KERNEL_VARIADIC_RESULTS,
     .cost = 10},
    {.name = "tfrt_test.sync_sum",
     .summary = "The sum of the operands.",
     TFRT_OPERANDS(i32_values),
     TFRT_RESULTS(i32_result),
     .flags = TFRT_KERNEL_VARIADIC_OPERANDS | TFRT_KERNEL_SYNC_ONLY,
     .cost = 10},
    {.name = "tfrt_test.sync_sum2",
     .summary = "The same.",
     TFRT_OPERANDS(i32_values),
     TFRT_RESULTS(i32_result),
     .flags = TFRT_KERNEL_VARIADIC_OPERANDS | TFRT_KERNEL_SYNC_ONLY,
     .cost = 10},
    {.name = "tfrt_test.sync_sum_attributes",
     .summary = "The sum of its attributes.",
     TFRT_RESULTS(i32_result),
     TFRT_ATTRIBUTES(summands),
     .flags = TFRT_KERNEL_SYNC_ONLY,
     .cost = 10},
    {.name = "tfrt_test.share_to_two",
     .summary = "The operand, twice.",
     TFRT_OPERANDS(one_any),
     TFRT_RESULTS(two_any_results),
     .cost = 10},
    {.name = "tfrt_test.get_uniqueness",
     .summary = "For each operand, whether this kernel alone has it.",
     TFRT_OPERANDS(demanded_values),
     TFRT_RESULTS(i1_results),
     .flags = TFRT_KERNEL_VARIADIC_OPERANDS | TFRT_KERNEL_VARIADIC_RESULTS,
     .cost = 10},
    {.name = "tfrt_test.allocate_resource",
     .summary = "A resource that prints a line when it is made and when it is destroyed.",
     TFRT_OPERANDS(one_chain),
     TFRT_RESULTS(resource_and_chain_results),
     .cost = 10},
    {.name = "tfrt_test.deallocate_resource",
     .summary = "Destroys a resource now, and prints so.",
     TFRT_OPERANDS(mutated_resource_and_chain),
     TFRT_RESULTS(chain_result),
     .cost = 10},
    {.name = "tfrt_test.memory_leak_one_int32",
     .summary = "Leaks 4 bytes of the host's allocator.",
     .cost = 10},
    {.name = "tfrt_test.print_debug_info",
     .summary = "Prints the name that the kernel has in its location.",
     TFRT_OPERANDS(one_chain),
     TFRT_RESULTS(chain_result),
     .cost = 10},
    {.name = "tfrt_test.unique_loc",
     .summary = "A chain, or an error if another kernel has the same location.",
     TFRT_RESULTS(chain_result),
     TFRT_ATTRIBUTES(string_name),
     .cost = 10},
    {.name = "tfrt_test.get_thread_id",
     .summary = "The number of the thread, counted from 0 in the order of first use.",
     TFRT_OPERANDS(one_chain),
     TFRT_RESULTS(i32_result),
     .cost = 10},
    {.name = "tfrt_test.flat",
     .summary = "The strings and numbers in a nested array, one behind the other.",
     TFRT_RESULTS(any_results),
     TFRT_ATTRIBUTES(aggregate_value),
     .flags = TFRT_KERNEL_VARIADIC_RESULTS,
     .cost = 10},
    {.name = "tfrt_test.logging",
     .summary = "Logs the operand at three severities, twice.",
     TFRT_OPERANDS(string_and_chain),
     TFRT_RESULTS(chain_result),
     .cost = 10},
    {.name = "tfrt_test.use_sample_shared_context",
     .summary = "The name of an object that is made once.",
     TFRT_OPERANDS(one_chain),
     TFRT_RESULTS(string_and_chain_results),
     .cost = 10},
    {.name = "tfrt_test.async_value_get",
     .summary = "Reads a payload as what lies at its beginning, and tells what it found.",
     TFRT_RESULTS(string_result),
     .cost = 10},
    {.name = "tfrt_test.async_value_ref",
     .summary = "Takes values through their states, and tells of them.",
     TFRT_RESULTS(string_result),
     .cost = 10},
    {.name = "vt.constant",
     .summary = "The number `value`, as a value that prints its life.",
     TFRT_RESULTS(vt_result),
     TFRT_ATTRIBUTES(i32_value),
     .cost = 10},
    {.name = "vt.add",
     .summary = "The sum of both operands.",
     TFRT_OPERANDS(two_vt),
     TFRT_RESULTS(vt_result),
     .cost = 10},
    {.name = "vt.print",
     .summary = "Prints `print vt_value(N)` on a line of its own.",
     TFRT_OPERANDS(vt_and_chain),
     TFRT_RESULTS(chain_result),
     .cost = 10},
    {.name = "tfrt_tutorial.create_coordinate",
     .summary = "A pair of numbers.",
     TFRT_OPERANDS(two_i32),
     TFRT_RESULTS(coordinate_result),
     .cost = 10},
    {.name = "tfrt_tutorial.print_coordinate",
     .summary = "Prints `(x, y)` on a line of its own.",
     TFRT_OPERANDS(coordinate_and_chain),
     TFRT_RESULTS(chain_result),
     .cost = 10},
};

const tfrt_kernel_table_t tfrt_test_ops = {descriptors, TFRT_ARRAY_SIZE(descriptors)};
