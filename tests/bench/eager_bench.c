// SPDX-License-Identifier: Apache-2.0
//
// Ops that are run one by one, without a program: the executor's chain of adds is what they
// are to be compared with.
#include "host_runtime/eager/eager_op.h"
#include "tests/bench/bench_host.h"
#include "tests/bench/benchmark.h"

typedef enum kind_e {
  ADD,       // v = v + 1 by a handle
  ADD_TAKE,  // the same with arguments that are given away
  ADD_NAME,  // the same by name: looked up and let go each time
  FUNCTION,  // the same by a function of a program
} kind_t;

typedef struct state_s {
  tfrt_bench_host_t host;
  tfrt_eager_op_t* op;
  kind_t kind;
  int64_t size;
} state_t;

static state_t current;

static tfrt_eager_op_options_t add_options(void) {
  return (tfrt_eager_op_options_t){.name = "tfrt.add.i32", .place = TFRT_EAGER_HERE};
}

// Runs one op on |value| (consumed) and |one| and sets |*out_next| (+1).
static tfrt_status_t run(state_t* self, const tfrt_execution_context_t* context,
                         tfrt_async_value_t* value, tfrt_async_value_t* one,
                         tfrt_async_value_t** out_next) {
  tfrt_async_value_t* arguments[] = {value, one};
  tfrt_eager_op_options_t options = add_options();
  tfrt_status_t status = NULL;
  switch (self->kind) {
    case ADD:
      status = tfrt_eager_op_run(self->op, context, arguments, 2, out_next, 1);
      break;
    case ADD_TAKE:
      tfrt_async_value_retain(one);
      return tfrt_eager_op_run_take(self->op, context, arguments, 2, out_next, 1);
    case ADD_NAME:
      status = tfrt_eager_run(context, &options, arguments, 2, out_next, 1);
      break;
    case FUNCTION:
      status = tfrt_eager_op_run(self->op, context, arguments, 1, out_next, 1);
      break;
  }
  tfrt_async_value_release(value);
  return status;
}

static tfrt_status_t sample(void* state, double* out_figure) {
  state_t* self = state;
  tfrt_execution_context_t context =
      tfrt_host_context_execution(self->host.host, self->host.request);
  tfrt_async_value_t* one = tfrt_async_value_create_i32(1);
  tfrt_async_value_t* value = tfrt_async_value_create_i32(0);
  tfrt_status_t status = NULL;
  int64_t begin = tfrt_benchmark_now_ns();
  for (int64_t i = 0; i < self->size && !status; ++i) {
    tfrt_async_value_t* next = NULL;
    status = run(self, &context, value, one, &next);
    value = next;
  }
  *out_figure = (double)(tfrt_benchmark_now_ns() - begin) / (double)self->size;
  if (!status) {
    int32_t result = *(const int32_t*)tfrt_async_value_payload(tfrt_async_value_resolved(value));
    if (result != self->size) {
      status = tfrt_status_create(TFRT_STATUS_INTERNAL, "%d came out", result);
    }
  }
  tfrt_async_value_release(value);
  tfrt_async_value_release(one);
  return status;
}

static const char program_text[] =
    "func.func @main(%x: i32) -> i32 {\n"
    "  %one = tfrt.constant.i32 1\n"
    "  %y = tfrt.add.i32 %x, %one\n"
    "  tfrt.return %y : i32\n"
    "}\n";

static tfrt_status_t open_ops(const tfrt_benchmark_t* benchmark,
                              const tfrt_benchmark_files_t* files, int64_t size, void** out_state) {
  (void)files;
  *out_state = &current;
  current = (state_t){.kind = (kind_t)benchmark->kind, .size = size};
  TFRT_RETURN_IF_ERROR(
      tfrt_bench_host_open(&current.host, benchmark->threads, tfrt_string_view_of(program_text)));
  if (current.kind == FUNCTION) {
    return tfrt_eager_op_create_composite(current.host.program, "main", &current.op);
  }
  tfrt_eager_op_options_t options = add_options();
  return tfrt_eager_op_create(current.host.host->registry, &options, &current.op);
}

static void close_ops(void* state) {
  state_t* self = state;
  tfrt_eager_op_release(self->op);
  tfrt_bench_host_close(&self->host);
}

#define BENCHMARK(NAME, KIND)                                                              \
  {                                                                                        \
    .name = "eager/" NAME, .unit = "ns", .size = 100000, .small_size = 30, .kind = (KIND), \
    .open = open_ops, .sample = sample, .close = close_ops                                 \
  }

static const tfrt_benchmark_t benchmarks[] = {
    BENCHMARK("add", ADD),
    BENCHMARK("add_take", ADD_TAKE),
    BENCHMARK("add_by_name", ADD_NAME),
    BENCHMARK("function", FUNCTION),
};

tfrt_benchmark_group_t tfrt_eager_benchmarks(void) {
  return (tfrt_benchmark_group_t){benchmarks, TFRT_ARRAY_SIZE(benchmarks)};
}
