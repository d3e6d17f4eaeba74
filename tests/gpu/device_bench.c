// SPDX-License-Identifier: Apache-2.0
//
// The cost of the device layer beside the plain driver, in one run on one GPU:
//
//   device_bench --device         the GPU and its driver, in one line; fails where there is none
//   device_bench --facts          how many GPUs there are, and whether the first has clusters:
//                                 "gpus=1 clusters=1"
//   device_bench                  one line of a Markdown table per measurement
//   device_bench LIBRARY          with another driver's library: only shows that it runs
//   device_bench --send PORT [LIBRARY]    one end of staged_pipe.h, which the other one starts
#include "tests/gpu/device_bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host_runtime/async/blocking_wait.h"
#include "host_runtime/async/thread_pool_work_queue.h"
#include "host_runtime/base/clock.h"
#include "host_runtime/base/random.h"
#include "host_runtime/base/sync.h"
#include "tests/gpu/staged_pipe.h"

#define RUNS 5
#define LAUNCHES 10000
#define LAUNCHES_FOR_SHOW 100
#define COPIES 16
#define COPIES_FOR_SHOW 2

extern const char tfrt_conformance_image_text[];

// The runs of each measurement, after a first one that doesn't count.
static int runs = RUNS;

void tfrt_device_bench_ok(tfrt_status_t status) {
  if (!status) return;
  fprintf(stderr, "device_bench: %s\n", tfrt_status_message(status));
  exit(1);
}

void tfrt_device_bench_plain_ok(const tfrt_device_bench_t* bench, tfrt_cuda_result_t result,
                                const char* call) {
  tfrt_device_bench_ok(tfrt_cuda_status(&bench->api, "plain driver", result, call));
}

// --- Set-up --------------------------------------------------------------------------

static void device_bench_open(tfrt_device_bench_t* bench) {
  tfrt_cuda_platform_options_t options = {.library_for_testing = bench->library};
  tfrt_thread_pool_options_t queue_options = {.thread_count = 2};
  tfrt_device_bench_ok(tfrt_cuda_library_open(
      bench->library ? bench->library : TFRT_CUDA_LIBRARY_NAME, &bench->api));
  tfrt_device_bench_ok(tfrt_thread_pool_work_queue_create(&queue_options, tfrt_allocator_system(),
                                                          &bench->work_queue));
  tfrt_device_bench_ok(tfrt_cuda_platform_create(&options, tfrt_allocator_system(),
                                                 bench->work_queue, &bench->platform));
  tfrt_device_bench_ok(tfrt_device_platform_device(bench->platform, 0, &bench->device));
}

static void device_bench_prepare(tfrt_device_bench_t* bench) {
  const char* image = tfrt_conformance_image_text;
  const size_t size = TFRT_DEVICE_BENCH_COPY_SIZE;
  tfrt_device_allocator_t* host_allocator;
  tfrt_device_bench_ok(
      tfrt_device_load_module(bench->device, image, strlen(image), &bench->module));
  tfrt_device_bench_ok(
      tfrt_device_module_function(bench->module, "test_increment", &bench->function));
  tfrt_device_bench_ok(tfrt_device_allocator_create(bench->device, &bench->allocator));
  for (int i = 0; i < 2; ++i) {
    tfrt_device_bench_ok(tfrt_device_create_stream(bench->device, &bench->streams[i]));
    tfrt_device_bench_ok(tfrt_device_allocator_allocate(bench->allocator, bench->streams[i], size,
                                                        &bench->buffers[i]));
    tfrt_device_bench_ok(tfrt_device_stream_fill(bench->streams[i], bench->buffers[i], 0, 4));
  }
  tfrt_device_bench_ok(
      tfrt_device_allocator_create_caching(bench->device, TFRT_DEVICE_SPACE_HOST, &host_allocator));
  tfrt_device_bench_ok(tfrt_device_allocator_allocate(host_allocator, NULL, size, &bench->host));
  memset(tfrt_device_buffer_host_data(bench->host), 0, size);
  tfrt_device_allocator_release(host_allocator);
  for (int i = 0; i < 2; ++i) tfrt_device_bench_finish(bench, i);
}

static void device_bench_prepare_plain(tfrt_device_bench_t* bench) {
  const tfrt_cuda_api_t* api = &bench->api;
  tfrt_cuda_device_id_t id;
  tfrt_device_bench_plain_ok(bench, api->DeviceGet(&id, 0), "cuDeviceGet");
  tfrt_device_bench_plain_ok(bench, api->DevicePrimaryCtxRetain(&bench->context, id), "retain");
  tfrt_device_bench_plain_ok(bench, api->CtxPushCurrent(bench->context), "push");
  for (int i = 0; i < 2; ++i) {
    tfrt_device_bench_plain_ok(
        bench, api->StreamCreate(&bench->plain_streams[i], TFRT_CUDA_STREAM_NON_BLOCKING),
        "stream");
  }
  tfrt_device_bench_plain_ok(
      bench,
      api->ModuleLoadDataEx(&bench->plain_module, tfrt_conformance_image_text, 0, NULL, NULL),
      "load");
  tfrt_device_bench_plain_ok(
      bench, api->ModuleGetFunction(&bench->plain_function, bench->plain_module, "test_increment"),
      "function");
}

tfrt_status_t tfrt_device_bench_fill(tfrt_device_bench_t* bench, tfrt_device_buffer_t* buffer,
                                     uint32_t width) {
  char* host = tfrt_device_buffer_host_data(bench->host);
  size_t size = buffer->size < bench->host->size ? buffer->size : bench->host->size;
  tfrt_random_t random;
  tfrt_random_initialize(&random, 1);
  for (size_t i = 0; i < size; i += width) {
    // The exponents of 1/8 to just below 1, of either sign.
    uint32_t bits = (uint32_t)tfrt_random_next(&random);
    float number = (float)(int32_t)bits / 2147483648.0f;
    uint16_t half = (uint16_t)((bits & 0x83ffu) | (0x3000u + (bits >> 10 & 0x0800u)));
    memcpy(host + i, width == 4 ? (void*)&number : (void*)&half, width);
  }
  for (size_t at = 0; at < buffer->size; at += size) {
    size_t part = buffer->size - at < size ? buffer->size - at : size;
    TFRT_RETURN_IF_ERROR(
        tfrt_device_stream_copy(bench->streams[0], buffer, at, bench->host, 0, part));
  }
  // The next one writes to the same memory of the host.
  tfrt_device_bench_finish(bench, 0);
  return NULL;
}

// --- Waiting and measuring -------------------------------------------------------------

void tfrt_device_bench_await_take(tfrt_async_value_t* value) {
  tfrt_blocking_wait(&value, 1);
  if (tfrt_async_value_is_error(value)) tfrt_device_bench_ok(tfrt_async_value_error(value));
  tfrt_async_value_release(value);
}

void tfrt_device_bench_finish(tfrt_device_bench_t* bench, int index) {
  tfrt_device_bench_await_take(tfrt_device_stream_await_soon(bench->streams[index]));
}

// Waits by asking again and again, which is the quickest way to know.
void tfrt_device_bench_finish_plain(tfrt_device_bench_t* bench, int index) {
  const tfrt_cuda_api_t* api = &bench->api;
  tfrt_cuda_event_handle_t event;
  tfrt_device_bench_plain_ok(bench, api->EventCreate(&event, TFRT_CUDA_EVENT_DISABLE_TIMING),
                             "event");
  tfrt_device_bench_plain_ok(bench, api->EventRecord(event, bench->plain_streams[index]), "record");
  tfrt_cuda_result_t result;
  do {
    result = api->EventQuery(event);
    // The stand-in's streams are threads, which want a turn.
    if (bench->library) tfrt_thread_yield();
  } while (result == TFRT_CUDA_ERROR_NOT_READY);
  tfrt_device_bench_plain_ok(bench, result, "cuEventQuery");
  tfrt_device_bench_plain_ok(bench, api->EventDestroy(event), "destroy");
}

// The time of |work|, in nanoseconds, but no more than |least|.
static double device_bench_time(void (*work)(void* state), void* state, double least) {
  int64_t begin = tfrt_clock_now_ns(tfrt_clock_system());
  work(state);
  double time = (double)(tfrt_clock_now_ns(tfrt_clock_system()) - begin);
  return time < least ? time : least;
}

double tfrt_device_bench_measure(void (*work)(void* state), void* state) {
  double least = 1e18;
  work(state);
  for (int i = 0; i < runs; ++i) least = device_bench_time(work, state, least);
  return least;
}

tfrt_device_bench_pair_t tfrt_device_bench_measure_pair(void (*plain)(void* state),
                                                        void (*layer)(void* state), void* state) {
  tfrt_device_bench_pair_t least = {1e18, 1e18};
  plain(state);
  layer(state);
  for (int i = 0; i < runs; ++i) {
    least.plain = device_bench_time(plain, state, least.plain);
    least.layer = device_bench_time(layer, state, least.layer);
  }
  return least;
}

// --- Launches ----------------------------------------------------------------------------

// Launches of a small kernel; each needs the one before.
static void device_bench_launch_plain(void* state) {
  tfrt_device_bench_t* bench = state;
  uint32_t count = 32;
  void* parameters[] = {&bench->buffers[0]->address, &count};
  for (int i = 0; i < bench->launches; ++i) {
    tfrt_device_bench_plain_ok(bench,
                               bench->api.LaunchKernel(bench->plain_function, 1, 1, 1, 32, 1, 1, 0,
                                                       bench->plain_streams[0], parameters, NULL),
                               "cuLaunchKernel");
  }
  tfrt_device_bench_finish_plain(bench, 0);
}

// The same by the layer, given to |stream|.
static void device_bench_give(tfrt_device_bench_t* bench, tfrt_device_stream_t* stream) {
  uint32_t count = 32;
  tfrt_device_launch_t launch = {.grid = {1, 1, 1}, .block = {32, 1, 1}};
  tfrt_device_argument_t arguments[] = {{.buffer = bench->buffers[0]},
                                        {.bytes = &count, .size = sizeof(count)}};
  for (int i = 0; i < bench->launches; ++i) {
    tfrt_device_bench_ok(tfrt_device_stream_launch(stream, bench->function, &launch, arguments, 2));
  }
}

static void device_bench_launch(void* state) {
  tfrt_device_bench_t* bench = state;
  device_bench_give(bench, bench->streams[0]);
  tfrt_device_bench_finish(bench, 0);
}

static void device_bench_launch_graph(void* state) {
  tfrt_device_bench_t* bench = state;
  tfrt_device_bench_ok(tfrt_device_graph_launch(bench->graph, bench->streams[0]));
  tfrt_device_bench_finish(bench, 0);
}

static void device_bench_run_graph(tfrt_device_bench_t* bench, double plain_launch) {
  tfrt_device_stream_t* capture;
  tfrt_device_bench_ok(tfrt_device_capture_begin(bench->device, &capture));
  device_bench_give(bench, capture);
  tfrt_device_bench_ok(tfrt_device_capture_end(capture, &bench->graph));
  tfrt_device_stream_release(capture);
  double time = tfrt_device_bench_measure(device_bench_launch_graph, bench) / bench->launches;
  printf("| the launches as a captured graph | %.0f ns | %.0f ns | %.2f |\n", plain_launch, time,
         time / plain_launch);
  tfrt_device_graph_release(bench->graph);
}

static void device_bench_run_launches(tfrt_device_bench_t* bench) {
  double plain = tfrt_device_bench_measure(device_bench_launch_plain, bench) / bench->launches;
  double layer = tfrt_device_bench_measure(device_bench_launch, bench) / bench->launches;
  printf("| one of 10,000 dependent launches | %.0f ns | %.0f ns | %.2f |\n", plain, layer,
         layer / plain);
  tfrt_device_bench_run_program(bench, plain);
  device_bench_run_graph(bench, plain);
}

static int device_bench_show_device(const tfrt_device_bench_t* bench) {
  int version = 0;
  bench->api.DriverGetVersion(&version);
  printf("%s, driver for CUDA %d.%d\n", bench->device->properties.model, version / 1000,
         version % 1000 / 10);
  return 0;
}

static int device_bench_show_facts(const tfrt_device_bench_t* bench) {
  printf("gpus=%u clusters=%d\n", bench->platform->device_count,
         bench->device->properties.has_clusters);
  return 0;
}

int main(int argc, char** argv) {
  bool only_device = argc > 1 && strcmp(argv[1], "--device") == 0;
  bool only_facts = argc > 1 && strcmp(argv[1], "--facts") == 0;
  bool is_sender = argc > 2 && strcmp(argv[1], "--send") == 0;
  int library = is_sender ? 3 : only_device || only_facts ? 2 : 1;
  tfrt_device_bench_t bench = {.library = argc > library ? argv[library] : NULL};
  bench.launches = bench.library ? LAUNCHES_FOR_SHOW : LAUNCHES;
  bench.copies = bench.library ? COPIES_FOR_SHOW : COPIES;
  if (bench.library) runs = 1;
  device_bench_open(&bench);
  if (only_device) return device_bench_show_device(&bench);
  if (only_facts) return device_bench_show_facts(&bench);
  device_bench_prepare(&bench);
  device_bench_prepare_plain(&bench);
  if (is_sender) {
    tfrt_staged_pipe_send(&bench, atoi(argv[2]));
    return 0;
  }
  setvbuf(stdout, NULL, _IOLBF, 0);
  device_bench_run_launches(&bench);
  tfrt_device_bench_run_lateness(&bench);
  tfrt_device_bench_run_copies(&bench);
  tfrt_device_bench_run_elements(&bench);
  tfrt_device_bench_run_transfers(&bench);
  tfrt_device_bench_run_matmul(&bench);
  return 0;
}
