// SPDX-License-Identifier: Apache-2.0
//
// The same launches from a BEF function: as many ops, each on the chain of the one before, and no
// wait before the last one is done; and that function as a graph.
#include <stdio.h>
#include <string.h>

#include "host_runtime/base/string_builder.h"
#include "kernels/device/host_devices.h"
#include "tests/bench/bench_host.h"
#include "tests/gpu/device_bench.h"
#include "tools/kernels/device_platforms.h"

extern const char tfrt_conformance_image_text[];

#define VALUES \
  "%stream : !tfrt_gpu.stream, %function : !tfrt_gpu.function, %buffer : !tfrt_gpu.buffer"

#define TYPES "!tfrt_gpu.stream, !tfrt_gpu.function, !tfrt_gpu.buffer"

#define GRAPH_TYPE "!tfrt_gpu.graph"

// The stream, the function, the buffer, and the graph.
#define ARGUMENT_COUNT 4

typedef struct tfrt_program_bench_s {
  tfrt_bench_host_t host;
  tfrt_async_value_t* arguments[ARGUMENT_COUNT];  // +1 each
} tfrt_program_bench_t;

// --- The program ---------------------------------------------------------------------------

// Appends |text| as the inside of a string of MLIR.
static void program_bench_append_escaped(tfrt_string_builder_t* out, const char* text) {
  for (; *text; ++text) {
    unsigned char byte = (unsigned char)*text;
    if (byte < ' ' || byte == '"' || byte == '\\') {
      tfrt_string_builder_append_format(out, "\\%02X", byte);
    } else {
      tfrt_string_builder_append_fill(out, *text, 1);
    }
  }
}

// Appends the function |name|, which gives |call| the function @launches and waits for its end.
static void program_bench_append_entry(tfrt_string_builder_t* out, const char* name,
                                       const char* call, const char* types) {
  tfrt_string_builder_append_format(
      out,
      "func.func @%s(%s, %%graph : " GRAPH_TYPE
      ") -> !tfrt.chain {\n"
      "  %%ch0 = tfrt.new.chain\n"
      "  %%ch1 = %s @launches(%%ch0, %%stream, %%function, %%buffer) : %s\n"
      "  %%end = tfrt_gpu.stream.synchronize %%stream, %%ch1\n"
      "  tfrt.return %%end : !tfrt.chain\n}\n",
      name, VALUES, call, types);
}

static void program_bench_append_launches(tfrt_string_builder_t* out, int launches) {
  tfrt_string_builder_append_text(out, "func.func @launches(%ch0 : !tfrt.chain, " VALUES
                                       ") -> !tfrt.chain {\n"
                                       "  %zero = tfrt.constant.ui32 0\n"
                                       "  %one = tfrt.constant.ui32 1\n"
                                       "  %count = tfrt.constant.ui32 32\n");
  for (int i = 0; i < launches; ++i) {
    tfrt_string_builder_append_format(
        out,
        "  %%ch%d = tfrt_gpu.function.launch %%stream, %%function, blocks in (%%one, %%one, "
        "%%one), threads in (%%count, %%one, %%one), %%zero, %%ch%d, args(%%buffer, %%count) : "
        "(!tfrt_gpu.buffer, ui32)\n",
        i + 1, i);
  }
  tfrt_string_builder_append_format(out, "  tfrt.return %%ch%d : !tfrt.chain\n}\n", launches);
}

static void program_bench_append(tfrt_string_builder_t* out, int launches) {
  tfrt_string_builder_append_text(
      out, "func.func @prepare() -> (" TYPES ", " GRAPH_TYPE
           ") {\n"
           "  %ch = tfrt.new.chain\n"
           "  %ordinal = tfrt.constant.i32 0\n"
           "  %device = tfrt_gpu.device.get CUDA, %ordinal\n"
           "  %context = tfrt_gpu.context.primary %device\n"
           "  %stream = tfrt_gpu.stream.create %context\n"
           "  %allocator = tfrt_gpu.allocator.create %context\n"
           "  %size = tfrt.constant.i64 1024\n"
           "  %buffer = tfrt_gpu.mem.allocate %allocator, %stream, %size, %ch\n"
           "  %graph = tfrt_gpu.graph.create {plain_calls = 0 : i32}\n"
           "  %module = tfrt_gpu.module.load %context {data = \"");
  program_bench_append_escaped(out, tfrt_conformance_image_text);
  tfrt_string_builder_append_text(
      out,
      "\"}\n"
      "  %function = tfrt_gpu.module.get_function %module {name = \"test_increment\"}\n"
      "  tfrt.return %stream, %function, %buffer, %graph : " TYPES ", " GRAPH_TYPE "\n}\n");
  program_bench_append_launches(out, launches);
  program_bench_append_entry(out, "main", "tfrt.call", "(!tfrt.chain, " TYPES ") -> !tfrt.chain");
  program_bench_append_entry(out, "captured", "tfrt_gpu.graph.call %graph,", "!tfrt.chain, " TYPES);
}

// --- Running it ----------------------------------------------------------------------------

static void program_bench_open(tfrt_program_bench_t* state, const tfrt_device_bench_t* bench) {
  tfrt_string_builder_t text;
  tfrt_string_builder_initialize(&text, tfrt_allocator_system());
  program_bench_append(&text, bench->launches);
  tfrt_device_bench_ok(tfrt_string_builder_status(&text));
  tfrt_device_bench_ok(tfrt_bench_host_open(&state->host, 2, tfrt_string_builder_view(&text)));
  tfrt_string_builder_deinitialize(&text);
  tfrt_device_bench_ok(tfrt_device_platforms_add(state->host.host, bench->library));
  state->host.main = tfrt_program_find_function(state->host.program, "prepare");
  tfrt_bench_host_call(&state->host, NULL, state->arguments, ARGUMENT_COUNT);
  for (int i = 0; i < ARGUMENT_COUNT; ++i) {
    tfrt_device_bench_await_take(tfrt_async_value_retain(state->arguments[i]));
  }
}

static void program_bench_call(void* argument) {
  tfrt_program_bench_t* state = argument;
  tfrt_async_value_t* end;
  tfrt_bench_host_call(&state->host, state->arguments, &end, 1);
  tfrt_device_bench_await_take(end);
}

// Prints the line |what| of the function |name|.
static void program_bench_run(tfrt_program_bench_t* state, const tfrt_device_bench_t* bench,
                              const char* name, const char* what, double plain_launch) {
  state->host.main = tfrt_program_find_function(state->host.program, name);
  double time = tfrt_device_bench_measure(program_bench_call, state) / bench->launches;
  printf("| %s | %.0f ns | %.0f ns | %.2f |\n", what, plain_launch, time, time / plain_launch);
}

void tfrt_device_bench_run_program(tfrt_device_bench_t* bench, double plain_launch) {
  tfrt_program_bench_t state = {0};
  program_bench_open(&state, bench);
  program_bench_run(&state, bench, "main", "the same from a BEF function", plain_launch);
  program_bench_run(&state, bench, "captured", "that function as a graph", plain_launch);
  for (int i = 0; i < ARGUMENT_COUNT; ++i) tfrt_async_value_release(state.arguments[i]);
  tfrt_host_devices_drain(state.host.host);
  tfrt_bench_host_close(&state.host);
}
