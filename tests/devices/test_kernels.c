// SPDX-License-Identifier: Apache-2.0
#include "tests/devices/test_kernels.h"

#include "host_runtime/base/clock.h"
#include "host_runtime/base/sync.h"

static tfrt_status_t test_add(const tfrt_device_launch_t* launch, void* const* parameters) {
  (void)launch;
  const float* a = *(const float**)parameters[0];
  const float* b = *(const float**)parameters[1];
  float* target = *(float**)parameters[2];
  uint32_t count = *(const uint32_t*)parameters[3];
  for (uint32_t i = 0; i < count; ++i) target[i] = a[i] + b[i];
  return NULL;
}

static tfrt_status_t test_increment(const tfrt_device_launch_t* launch, void* const* parameters) {
  (void)launch;
  uint32_t* target = *(uint32_t**)parameters[0];
  uint32_t count = *(const uint32_t*)parameters[1];
  for (uint32_t i = 0; i < count; ++i) target[i] += 1;
  return NULL;
}

static tfrt_status_t test_spin(const tfrt_device_launch_t* launch, void* const* parameters) {
  (void)launch;
  uint64_t duration_ns = *(const uint64_t*)parameters[0];
  int64_t end_ns = tfrt_clock_now_ns(tfrt_clock_system()) + (int64_t)duration_ns;
  while (tfrt_clock_now_ns(tfrt_clock_system()) < end_ns) tfrt_thread_yield();
  return NULL;
}

static tfrt_status_t test_fault(const tfrt_device_launch_t* launch, void* const* parameters) {
  (void)launch;
  (void)parameters;
  return tfrt_status_create(TFRT_STATUS_INTERNAL, "an address where nothing is");
}

static tfrt_status_t test_saxpy(const tfrt_device_launch_t* launch, void* const* parameters) {
  (void)launch;
  float a = *(const float*)parameters[0];
  const float* x = *(const float**)parameters[1];
  float* y = *(float**)parameters[2];
  uint32_t count = *(const uint32_t*)parameters[3];
  for (uint32_t i = 0; i < count; ++i) y[i] += a * x[i];
  return NULL;
}

const tfrt_cpu_kernel_t tfrt_test_kernels[TFRT_TEST_KERNEL_COUNT] = {
    {.name = "test_add", .run = test_add},   {.name = "test_increment", .run = test_increment},
    {.name = "test_spin", .run = test_spin}, {.name = "test_fault", .run = test_fault},
    {.name = "saxpy", .run = test_saxpy},
};
