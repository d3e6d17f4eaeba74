// SPDX-License-Identifier: Apache-2.0
#include "tests/distributed/collective/device_world.h"

#include <check.h>

#include "devices/device_manager.h"
#include "distributed/domain/domain.h"
#include "distributed/host/node.h"
#include "host_runtime/base/clock.h"
#include "host_runtime/base/sync.h"
#include "host_runtime/tensor/tensor_types.h"
#include "kernels/device/host_devices.h"
#include "tests/fakes/cuda/fake_cuda.h"
#include "tools/kernels/device_platforms.h"

#define PATIENCE_NS (60 * TFRT_NANOSECONDS_PER_SECOND)

static bool worlds_are_encrypted;

void tfrt_device_world_set_encrypted(bool is_encrypted) { worlds_are_encrypted = is_encrypted; }

static void add_devices(uint32_t index, tfrt_node_options_t* options) {
  (void)index;
  ck_assert_ptr_null(tfrt_device_platforms_add(options->host, TFRT_FAKE_CUDA_PATH));
  options->check_device = tfrt_host_devices_check;
  options->is_encrypted = worlds_are_encrypted;
}

void tfrt_device_world_begin(tfrt_node_world_t* world, uint32_t host_count, uint64_t seed,
                             uint64_t window) {
  tfrt_simulated_options_t options;
  tfrt_simulated_options_initialize(&options);
  options.seed = seed;
  options.jitter_ns = seed > 1 ? 4 * options.delay_ns : options.jitter_ns;
  tfrt_fake_cuda_control()->set_seed(seed);
  tfrt_node_world_set_configure(add_devices);
  tfrt_node_world_initialize_with_window(world, host_count, &options, window);
}

// The work of drivers and queues takes real time.
static void let_devices_work(const tfrt_node_world_t* world) {
  for (uint32_t i = 0; i <= world->host_count; ++i) {
    if (world->hosts[i].context) tfrt_work_queue_quiesce(world->hosts[i].context->work_queue);
  }
  tfrt_thread_yield();
}

void tfrt_device_world_run_a_moment(tfrt_node_world_t* world) {
  tfrt_node_world_run_for(world, TFRT_NANOSECONDS_PER_MILLISECOND);
  let_devices_work(world);
}

typedef struct condition_s {
  bool (*is_done)(const tfrt_node_world_t* world);
  const tfrt_node_world_t* world;
} condition_t;

static bool is_met(void* argument) {
  const condition_t* condition = argument;
  return condition->is_done(condition->world);
}

void tfrt_device_world_run_until(tfrt_node_world_t* world,
                                 bool (*is_done)(const tfrt_node_world_t* world)) {
  int64_t deadline_ns = tfrt_clock_now_ns(tfrt_clock_system()) + PATIENCE_NS;
  condition_t condition = {is_done, world};
  while (!tfrt_simulated_network_run_until(world->network, is_met, &condition,
                                           TFRT_NANOSECONDS_PER_MILLISECOND)) {
    ck_assert_msg(tfrt_clock_now_ns(tfrt_clock_system()) < deadline_ns, "nothing more comes");
    let_devices_work(world);
  }
}

bool tfrt_device_world_has_results(const tfrt_node_world_t* world) {
  bool has_all = true;
  for (uint32_t i = 0; i < world->result_count; ++i) {
    has_all &= tfrt_async_value_is_available(world->results[i]);
  }
  return has_all;
}

static bool has_no_transfers(const tfrt_node_world_t* world) {
  uint64_t count = 0;
  for (uint32_t i = 0; i <= world->host_count; ++i) {
    if (world->hosts[i].node) count += tfrt_node_counts(world->hosts[i].node).transfers;
  }
  return count == 0;
}

void tfrt_device_world_end(tfrt_node_world_t* world) {
  // Transfers that a driver has begun take real time.
  tfrt_device_world_run_until(world, has_no_transfers);
  tfrt_node_world_finish(world);
  tfrt_node_world_deinitialize(world);
  tfrt_node_world_set_configure(NULL);
  char text[2048];
  int count = tfrt_fake_cuda_control()->defects(text, sizeof(text));
  ck_assert_msg(count == 0, "%d defects:\n%s", count, text);
  ck_assert_int_eq(tfrt_fake_cuda_control()->live(), 0);
}

int32_t tfrt_device_world_number(int64_t index, int32_t seed) { return (int32_t)index * 7 + seed; }

tfrt_async_value_t* tfrt_device_world_make_tensor(int64_t count, int32_t seed) {
  tfrt_dense_host_tensor_t tensor;
  tfrt_shape_t shape;
  ck_assert_ptr_null(tfrt_shape_make(&count, 1, &shape));
  ck_assert_ptr_null(
      tfrt_dense_host_tensor_initialize(TFRT_DTYPE_I32, &shape, tfrt_allocator_system(), &tensor));
  int32_t* numbers = tfrt_dense_host_tensor_data(&tensor);
  for (int64_t i = 0; i < count; ++i) numbers[i] = tfrt_device_world_number(i, seed);
  return tfrt_async_value_create_tensor_take(&tensor);
}

const int32_t* tfrt_device_world_numbers(const tfrt_node_world_t* world, uint32_t index,
                                         int64_t* out_count) {
  tfrt_async_value_t* value = world->results[index];
  if (tfrt_async_value_is_error(value)) {
    ck_abort_msg("%s", tfrt_status_message(tfrt_async_value_error(value)));
  }
  const tfrt_host_tensor_t* tensor = tfrt_async_value_payload(tfrt_async_value_resolved(value));
  *out_count = tfrt_dense_host_tensor_element_count(&tensor->dense);
  return tfrt_dense_host_tensor_data(&tensor->dense);
}
