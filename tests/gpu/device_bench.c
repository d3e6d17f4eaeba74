// SPDX-License-Identifier: Apache-2.0
//
// What the device layer costs beside the plain driver, in one run on one GPU:
//
//   device_bench --device         the GPU and its driver, in one line; fails where there is none
//   device_bench                  one line of a Markdown table per measurement
//   device_bench LIBRARY ...      with another driver's library: only shows that it runs
//
// Each measurement is the least of several runs, because everything else makes it longer.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "devices/cuda/cuda_library.h"
#include "devices/cuda/cuda_platform.h"
#include "devices/device_allocator.h"
#include "devices/device_stream.h"
#include "host_runtime/async/blocking_wait.h"
#include "host_runtime/async/thread_pool_work_queue.h"
#include "host_runtime/base/clock.h"

#define RUNS 5
#define LAUNCHES 10000
#define LAUNCHES_FOR_SHOW 100
#define COPY_SIZE ((size_t)16 << 20)
#define COPIES 16

extern const char tfrt_conformance_image_text[];

// All that is measured with, of both sides: the plain driver and the layer over it.
typedef struct tfrt_bench_s {
  tfrt_cuda_api_t api;
  tfrt_cuda_context_t context;
  tfrt_cuda_stream_handle_t plain_stream;
  tfrt_cuda_function_handle_t plain_function;
  tfrt_work_queue_t* work_queue;
  tfrt_device_platform_t* platform;
  tfrt_device_t* device;
  tfrt_device_stream_t* stream;
  tfrt_device_function_t* function;
  tfrt_device_buffer_t* buffer;
  tfrt_device_buffer_t* host;
  int launches;
} tfrt_bench_t;

static void tfrt_bench_ok(tfrt_status_t status) {
  if (!status) return;
  fprintf(stderr, "device_bench: %s\n", tfrt_status_message(status));
  exit(1);
}

static void tfrt_bench_plain_ok(const tfrt_bench_t* bench, tfrt_cuda_result_t result,
                                const char* call) {
  tfrt_bench_ok(tfrt_cuda_status(&bench->api, "plain driver", result, call));
}

// --- Set-up --------------------------------------------------------------------------

static void tfrt_bench_open(tfrt_bench_t* bench, const char* library) {
  tfrt_cuda_platform_options_t options = {.library_for_testing = library};
  tfrt_thread_pool_options_t queue_options = {.thread_count = 2};
  tfrt_bench_ok(tfrt_cuda_library_open(library ? library : TFRT_CUDA_LIBRARY_NAME, &bench->api));
  tfrt_bench_ok(tfrt_thread_pool_work_queue_create(&queue_options, tfrt_allocator_system(),
                                                   &bench->work_queue));
  tfrt_bench_ok(tfrt_cuda_platform_create(&options, tfrt_allocator_system(), bench->work_queue,
                                          &bench->platform));
  tfrt_bench_ok(tfrt_device_platform_device(bench->platform, 0, &bench->device));
}

static void tfrt_bench_prepare_layer(tfrt_bench_t* bench) {
  const char* image = tfrt_conformance_image_text;
  tfrt_device_module_t* module;
  tfrt_device_allocator_t* allocator;
  tfrt_device_allocator_t* host_allocator;
  tfrt_bench_ok(tfrt_device_create_stream(bench->device, &bench->stream));
  tfrt_bench_ok(tfrt_device_load_module(bench->device, image, strlen(image), &module));
  tfrt_bench_ok(tfrt_device_module_function(module, "test_increment", &bench->function));
  tfrt_bench_ok(tfrt_device_allocator_create(bench->device, &allocator));
  tfrt_bench_ok(
      tfrt_device_allocator_allocate(allocator, bench->stream, COPY_SIZE, &bench->buffer));
  tfrt_bench_ok(
      tfrt_device_allocator_create_caching(bench->device, TFRT_DEVICE_SPACE_HOST, &host_allocator));
  tfrt_bench_ok(tfrt_device_allocator_allocate(host_allocator, NULL, COPY_SIZE, &bench->host));
  memset(tfrt_device_buffer_host_data(bench->host), 0, COPY_SIZE);
  tfrt_device_allocator_release(host_allocator);
  tfrt_device_allocator_release(allocator);
  tfrt_device_module_release(module);
}

static void tfrt_bench_prepare_plain(tfrt_bench_t* bench) {
  const tfrt_cuda_api_t* api = &bench->api;
  tfrt_cuda_device_id_t id;
  tfrt_cuda_module_handle_t module;
  tfrt_bench_plain_ok(bench, api->DeviceGet(&id, 0), "cuDeviceGet");
  tfrt_bench_plain_ok(bench, api->DevicePrimaryCtxRetain(&bench->context, id), "retain");
  tfrt_bench_plain_ok(bench, api->CtxPushCurrent(bench->context), "push");
  tfrt_bench_plain_ok(bench, api->StreamCreate(&bench->plain_stream, TFRT_CUDA_STREAM_NON_BLOCKING),
                      "stream");
  tfrt_bench_plain_ok(
      bench, api->ModuleLoadDataEx(&module, tfrt_conformance_image_text, 0, NULL, NULL), "load");
  tfrt_bench_plain_ok(
      bench, api->ModuleGetFunction(&bench->plain_function, module, "test_increment"), "function");
}

static void tfrt_bench_finish_layer(tfrt_bench_t* bench) {
  tfrt_async_value_t* end = tfrt_device_stream_await(bench->stream);
  tfrt_blocking_wait(&end, 1);
  if (tfrt_async_value_is_error(end)) tfrt_bench_ok(tfrt_async_value_error(end));
  tfrt_async_value_release(end);
}

// Waits by asking again and again, which is the quickest way to know.
static void tfrt_bench_finish_plain(tfrt_bench_t* bench) {
  const tfrt_cuda_api_t* api = &bench->api;
  tfrt_cuda_event_handle_t event;
  tfrt_bench_plain_ok(bench, api->EventCreate(&event, TFRT_CUDA_EVENT_DISABLE_TIMING), "event");
  tfrt_bench_plain_ok(bench, api->EventRecord(event, bench->plain_stream), "record");
  while (api->EventQuery(event) == TFRT_CUDA_ERROR_NOT_READY) {
  }
  tfrt_bench_plain_ok(bench, api->EventDestroy(event), "destroy");
}

// --- What is measured ----------------------------------------------------------------

// Launches of a small kernel, each of which needs the one before.
static void tfrt_bench_launch_plain(tfrt_bench_t* bench) {
  uint32_t count = 32;
  void* parameters[] = {&bench->buffer->address, &count};
  for (int i = 0; i < bench->launches; ++i) {
    tfrt_bench_plain_ok(bench,
                        bench->api.LaunchKernel(bench->plain_function, 1, 1, 1, 32, 1, 1, 0,
                                                bench->plain_stream, parameters, NULL),
                        "cuLaunchKernel");
  }
  tfrt_bench_finish_plain(bench);
}

static void tfrt_bench_launch_layer(tfrt_bench_t* bench) {
  uint32_t count = 32;
  tfrt_device_launch_t launch = {.grid = {1, 1, 1}, .block = {32, 1, 1}};
  tfrt_device_argument_t arguments[] = {{.buffer = bench->buffer},
                                        {.bytes = &count, .size = sizeof(count)}};
  for (int i = 0; i < bench->launches; ++i) {
    tfrt_bench_ok(tfrt_device_stream_launch(bench->stream, bench->function, &launch, arguments, 2));
  }
  tfrt_bench_finish_layer(bench);
}

static void tfrt_bench_copy_plain(tfrt_bench_t* bench) {
  for (int i = 0; i < COPIES; ++i) {
    tfrt_bench_plain_ok(bench,
                        bench->api.MemcpyAsync(bench->buffer->address, bench->host->address,
                                               COPY_SIZE, bench->plain_stream),
                        "cuMemcpyAsync");
  }
  tfrt_bench_finish_plain(bench);
}

static void tfrt_bench_copy_layer(tfrt_bench_t* bench) {
  for (int i = 0; i < COPIES; ++i) {
    tfrt_bench_ok(
        tfrt_device_stream_copy(bench->stream, bench->buffer, 0, bench->host, 0, COPY_SIZE));
  }
  tfrt_bench_finish_layer(bench);
}

// The least time of |work|, in nanoseconds; it runs once before.
static double tfrt_bench_measure(tfrt_bench_t* bench, void (*work)(tfrt_bench_t*)) {
  double least = 1e18;
  for (int i = 0; i <= RUNS; ++i) {
    int64_t begin = tfrt_clock_now_ns(tfrt_clock_system());
    work(bench);
    double time = (double)(tfrt_clock_now_ns(tfrt_clock_system()) - begin);
    if (i > 0 && time < least) least = time;
  }
  return least;
}

int main(int argc, char** argv) {
  bool only_device = argc > 1 && strcmp(argv[1], "--device") == 0;
  tfrt_bench_t bench = {0};
  const char* library = argc > 1 && !only_device ? argv[1] : NULL;
  bench.launches = library ? LAUNCHES_FOR_SHOW : LAUNCHES;
  tfrt_bench_open(&bench, library);
  int version = 0;
  bench.api.DriverGetVersion(&version);
  if (only_device) {
    printf("%s, driver for CUDA %d.%d\n", bench.device->properties.model, version / 1000,
           version % 1000 / 10);
    return 0;
  }
  tfrt_bench_prepare_layer(&bench);
  tfrt_bench_prepare_plain(&bench);
  tfrt_bench_finish_layer(&bench);
  double plain = tfrt_bench_measure(&bench, tfrt_bench_launch_plain) / bench.launches;
  double layer = tfrt_bench_measure(&bench, tfrt_bench_launch_layer) / bench.launches;
  printf("| one of 10,000 dependent launches | %.0f ns | %.0f ns | %.2f |\n", plain, layer,
         layer / plain);
  double bytes = (double)COPY_SIZE * COPIES;
  plain = bytes / tfrt_bench_measure(&bench, tfrt_bench_copy_plain);
  layer = bytes / tfrt_bench_measure(&bench, tfrt_bench_copy_layer);
  printf("| pinned memory to the device, 16 MiB each | %.1f GB/s | %.1f GB/s | %.2f |\n", plain,
         layer, layer / plain);
  return 0;
}
