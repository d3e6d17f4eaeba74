// SPDX-License-Identifier: Apache-2.0
//
// Passes on one block of many ops: time of the processor for each op, which must not grow with
// their number. A pass waits for nothing, so the time that others take from it doesn't count.
// For chains also the most memory for each op that the program and the pass have at a time.
#include <inttypes.h>
#include <time.h>

#include "compiler/parser/parser.h"
#include "compiler/passes/async_ref_count_optimizer.h"
#include "compiler/passes/async_ref_count_verifier.h"
#include "compiler/passes/async_ref_counter.h"
#include "compiler/passes/chain_inserter.h"
#include "host_runtime/base/counting_allocator.h"
#include "tests/bench/benchmark.h"
#include "tools/kernels/op_tables.h"

enum { COUNT, CANCEL, CANCEL_OF_ONE_VALUE, CHECK, INSERT_CHAINS, CHAINS_MEMORY };

typedef struct state_s {
  const tfrt_benchmark_t* benchmark;
  int64_t size;
  tfrt_string_builder_t text;
} state_t;

static state_t current;

// Appends a function of |size| ops. With one value, each call takes a reference of it, with an add
// before and a drop behind it. Else there is a new token for each call.
static void append_block(int64_t size, bool is_one_value, tfrt_string_builder_t* text) {
  tfrt_string_builder_append_text(text,
                                  "func.func private @source() -> !async.token\n"
                                  "func.func private @sink(!async.token)\n"
                                  "func.func @main(%t: !async.token) {\n");
  for (int64_t i = 0; i < size; i += 4) {
    if (is_one_value) {
      tfrt_string_builder_append_text(text,
                                      "async.runtime.add_ref %t {count = 1 : i64} : !async.token\n"
                                      "async.await %t : !async.token\n"
                                      "func.call @sink(%t) : (!async.token) -> ()\n"
                                      "async.runtime.drop_ref %t {count = 1 : i64} : "
                                      "!async.token\n");
    } else {
      tfrt_string_builder_append_format(text,
                                        "%%v%" PRId64
                                        " = func.call @source() : () -> "
                                        "!async.token\n"
                                        "async.await %%v%" PRId64
                                        " : !async.token\n"
                                        "func.call @sink(%%v%" PRId64
                                        ") : (!async.token) -> ()\n"
                                        "async.await %%t : !async.token\n",
                                        i, i, i);
    }
  }
  tfrt_string_builder_append_text(text, "return\n}\n");
}

// Appends a function of |size| ops without chains. Tensors are filled, read twice, and written to
// once more; each of eight is used again and again, and all others once.
static void append_tensors(int64_t size, tfrt_string_builder_t* text) {
  tfrt_string_builder_append_text(text, "func.func @main() {\n");
  for (int64_t i = 0; i < size; i += 5) {
    int64_t tensor = i % 3 == 0 && i >= 40 ? i / 5 % 8 * 5 : i;
    if (tensor == i) {
      tfrt_string_builder_append_format(text,
                                        "%%t%" PRId64
                                        " = tfrt_dht.create_uninitialized_tensor.f32.2 "
                                        "[2 : i64, 2 : i64]\n",
                                        i);
    } else {
      tfrt_string_builder_append_format(text, "%%c%" PRId64 " = tfrt.constant.i32 1\n", i);
    }
    tfrt_string_builder_append_format(text,
                                      "tfrt_dht.fill_tensor_with_constant.f32 %%t%" PRId64
                                      " 2.0 : f32\n"
                                      "%%u%" PRId64 " = tfrt_tensor.relu %%t%" PRId64
                                      "\n"
                                      "tfrt_dht.print_tensor %%t%" PRId64
                                      "\n"
                                      "tfrt_dht.fill_tensor_with_constant.f32 %%t%" PRId64
                                      " 3.0 : f32\n",
                                      tensor, i, tensor, tensor, tensor);
  }
  tfrt_string_builder_append_text(text, "tfrt.return\n}\n");
}

static bool is_of_chains(const tfrt_benchmark_t* benchmark) {
  return benchmark->kind == INSERT_CHAINS || benchmark->kind == CHAINS_MEMORY;
}

static int64_t processor_time_ns(void) {
  struct timespec time;
  if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time) != 0) return 0;
  return (int64_t)time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

// Runs the pass of |self| in |context|; sets |*out_elapsed|. A pass that it needs runs before that.
static bool run_passes(const state_t* self, tfrt_ir_context_t* context,
                       tfrt_diagnostics_t* diagnostics, int64_t* out_elapsed) {
  const tfrt_op_tables_t* tables = tfrt_all_op_tables();
  int kind = self->benchmark->kind;
  bool counts_first = kind == CANCEL || kind == CHECK;
  tfrt_ir_operation_t* module = tfrt_parse_module(context, tables, diagnostics);
  bool ok = module &&
            (!counts_first || tfrt_count_async_references(context, tables, module, diagnostics));
  int64_t begin = processor_time_ns();
  if (ok && kind == COUNT) {
    ok = tfrt_count_async_references(context, tables, module, diagnostics);
  } else if (ok && kind == CHECK) {
    ok = tfrt_verify_async_ref_counts(context, tables, module, diagnostics);
  } else if (ok && is_of_chains(self->benchmark)) {
    ok = tfrt_insert_chains(context, tables, module, diagnostics);
  } else if (ok) {
    ok = tfrt_optimize_async_ref_counts(context, tables, module, diagnostics);
  }
  *out_elapsed = processor_time_ns() - begin;
  // Checked behind the clock; of one value, calls take references that nobody gave.
  if (ok && (kind == COUNT || kind == CANCEL)) {
    ok = tfrt_verify_async_ref_counts(context, tables, module, diagnostics);
  }
  if (ok && is_of_chains(self->benchmark)) ok = tfrt_check_no_chain_missing(module, diagnostics);
  return ok;
}

static tfrt_status_t sample_pass(void* state, double* out_figure) {
  const state_t* self = state;
  tfrt_ir_context_t* context = NULL;
  tfrt_diagnostics_t diagnostics;
  int64_t elapsed = 0;
  bool counts_memory = self->benchmark->kind == CHAINS_MEMORY;
  tfrt_counting_allocator_t counting;
  tfrt_counting_allocator_initialize(&counting, tfrt_allocator_system(),
                                     TFRT_COUNTING_ALLOCATOR_UNLIMITED);
  TFRT_RETURN_IF_ERROR(tfrt_ir_context_allocate(
      counts_memory ? tfrt_counting_allocator_interface(&counting) : tfrt_allocator_system(),
      &context));
  tfrt_diagnostics_initialize(&diagnostics, "bench", tfrt_string_builder_view(&self->text),
                              tfrt_allocator_system());
  bool ok = run_passes(self, context, &diagnostics, &elapsed);
  tfrt_diagnostics_deinitialize(&diagnostics);
  tfrt_ir_context_free(context);
  int64_t amount = counts_memory ? tfrt_counting_allocator_counts(&counting).max_bytes : elapsed;
  *out_figure = (double)amount / (double)self->size;
  return ok ? NULL : tfrt_status_create(TFRT_STATUS_INTERNAL, "the pass failed");
}

static tfrt_status_t open_block(const tfrt_benchmark_t* benchmark,
                                const tfrt_benchmark_files_t* files, int64_t size,
                                void** out_state) {
  (void)files;
  current = (state_t){.benchmark = benchmark, .size = size};
  tfrt_string_builder_initialize(&current.text, tfrt_allocator_system());
  if (is_of_chains(benchmark)) {
    append_tensors(size, &current.text);
  } else {
    append_block(size, benchmark->kind == CANCEL_OF_ONE_VALUE, &current.text);
  }
  *out_state = &current;
  return tfrt_string_builder_status(&current.text);
}

static void close_block(void* state) { tfrt_string_builder_deinitialize(&((state_t*)state)->text); }

#define BENCHMARK_OF(NAME, UNIT, KIND, SIZE)                                            \
  {                                                                                     \
    .name = "passes/" NAME, .unit = UNIT, .size = SIZE, .small_size = 40, .kind = KIND, \
    .open = open_block, .sample = sample_pass, .close = close_block                     \
  }
#define BENCHMARK(NAME, KIND, SIZE) BENCHMARK_OF(NAME, "ns", KIND, SIZE)

static const tfrt_benchmark_t benchmarks[] = {
    BENCHMARK("count_references_of_10k", COUNT, 10000),
    BENCHMARK("count_references_of_100k", COUNT, 100000),
    BENCHMARK("cancel_counts_of_10k", CANCEL, 10000),
    BENCHMARK("cancel_counts_of_100k", CANCEL, 100000),
    BENCHMARK("cancel_counts_of_one_value_of_10k", CANCEL_OF_ONE_VALUE, 10000),
    BENCHMARK("cancel_counts_of_one_value_of_100k", CANCEL_OF_ONE_VALUE, 100000),
    BENCHMARK("check_counts_of_10k", CHECK, 10000),
    BENCHMARK("check_counts_of_100k", CHECK, 100000),
    BENCHMARK("insert_chains_of_10k", INSERT_CHAINS, 10000),
    BENCHMARK("insert_chains_of_100k", INSERT_CHAINS, 100000),
    BENCHMARK("insert_chains_of_1m", INSERT_CHAINS, 1000000),
    BENCHMARK_OF("chains_memory_of_100k", "byte", CHAINS_MEMORY, 100000),
    BENCHMARK_OF("chains_memory_of_1m", "byte", CHAINS_MEMORY, 1000000),
};

tfrt_benchmark_group_t tfrt_pass_benchmarks(void) {
  return (tfrt_benchmark_group_t){benchmarks, TFRT_ARRAY_SIZE(benchmarks)};
}
