// SPDX-License-Identifier: Apache-2.0
#include "tests/distributed/job/job_harness.h"

#include <check.h>
#include <string.h>

#include "distributed/host/node.h"
#include "host_runtime/async/builtin_types.h"

const char tfrt_job_simple_program[] =
    "func.func @f(%x: i32) -> i32 {\n"
    "  %y = tfrt.add.i32 %x, %x\n"
    "  tfrt.return %y : i32\n"
    "}\n"
    "func.func @main(%x: i32) -> i32 {\n"
    "  %y = tfrt.call @f(%x) {host = 1 : i32} : (i32) -> i32\n"
    "  tfrt.return %y : i32\n"
    "}\n";

void tfrt_job_drop_client(tfrt_node_world_t* world) {
  for (uint32_t i = 0; i < world->result_count; ++i) tfrt_async_value_release(world->results[i]);
  world->result_count = 0;
  if (!world->client) return;
  tfrt_client_close(world->client, NULL);
  tfrt_client_release(world->client);
  world->client = NULL;
}

void tfrt_job_open_client(tfrt_node_world_t* world, const char* const* addresses, uint32_t count,
                          int64_t deadline_ns) {
  tfrt_string_view_t views[TFRT_NODE_WORLD_MAX_HOSTS];
  if (!addresses) count = world->host_count;
  for (uint32_t i = 0; i < count; ++i) {
    views[i] = tfrt_string_view_of(addresses ? addresses[i] : world->hosts[i].address);
  }
  tfrt_client_options_t options = {.addresses = views,
                                   .host_count = count,
                                   .name = tfrt_string_view_of("test"),
                                   .deadline_ns = deadline_ns};
  tfrt_status_t status =
      tfrt_client_create(world->hosts[world->host_count].node, &options, &world->client);
  ck_assert_msg(!status, "%s", tfrt_status_message(status));
}

static bool is_answered(void* argument) {
  const tfrt_node_world_t* world = argument;
  return tfrt_async_value_is_available(tfrt_client_opened(world->client));
}

tfrt_status_t tfrt_job_await_open(tfrt_node_world_t* world) {
  ck_assert(tfrt_simulated_network_run_until(world->network, is_answered, world,
                                             60 * TFRT_NODE_WORLD_SECOND));
  tfrt_async_value_t* opened = tfrt_client_opened(world->client);
  return tfrt_async_value_is_error(opened) ? tfrt_async_value_error(opened) : NULL;
}

void tfrt_job_expect_error(tfrt_status_t status, tfrt_status_code_t code, const char* part) {
  ck_assert_ptr_nonnull(status);
  char text[2048];
  tfrt_status_format(status, text, sizeof(text));
  ck_assert_msg(tfrt_status_code(status) == code, "%s", text);
  ck_assert_msg(strstr(text, part), "no '%s' in '%s'", part, text);
}

void tfrt_job_start(tfrt_node_world_t* world, const char* text, int32_t x) {
  tfrt_async_value_t* argument = tfrt_async_value_create_i32(x);
  tfrt_node_world_start(world, text, &argument, 1, 1);
  tfrt_async_value_release(argument);
}

void tfrt_job_expect(tfrt_node_world_t* world, const char* text, int32_t x, int32_t right) {
  tfrt_job_start(world, text, x);
  tfrt_node_world_await(world);
  ck_assert_int_eq(tfrt_node_world_i32(world, 0), right);
  tfrt_async_value_release(world->results[0]);
  world->result_count = 0;
}

typedef struct count_wait_s {
  tfrt_node_world_t* world;
  size_t count;
} count_wait_t;

static bool has_count(void* argument) {
  const count_wait_t* wait = argument;
  for (uint32_t i = 0; i <= wait->world->host_count; ++i) {
    tfrt_node_t* node = wait->world->hosts[i].node;
    if (!node) continue;
    if (tfrt_node_counts(node).jobs != wait->count) return false;
    tfrt_node_counts_t counts = tfrt_node_counts(node);
    bool is_used = counts.objects || counts.remote_values || counts.outgoing_calls ||
                   counts.incoming_calls || counts.incoming_wants;
    if (wait->count == 0 && is_used) return false;
  }
  return true;
}

void tfrt_job_await_count(tfrt_node_world_t* world, size_t count) {
  count_wait_t wait = {.world = world, .count = count};
  ck_assert(tfrt_simulated_network_run_until(world->network, has_count, &wait,
                                             20 * TFRT_NODE_WORLD_SECOND));
}
