// SPDX-License-Identifier: Apache-2.0
#include "tools/coordinator/trace_collection.h"

#include <inttypes.h>
#include <stdio.h>

#include "tools/common/chrome_trace.h"
#include "tools/coordinator/value_wait.h"

static int64_t tfrt_trace_collection_now(void) { return tfrt_clock_now_ns(tfrt_clock_system()); }

// Fills |host|, whose trace is empty, with what host |host->rank| says.
static tfrt_status_t tfrt_trace_collection_ask(tfrt_client_t* client, tfrt_run_loop_t* loop,
                                               tfrt_chrome_trace_host_t* host) {
  int64_t asked = tfrt_trace_collection_now();
  tfrt_async_value_t* value = tfrt_client_trace(client, host->rank);
  tfrt_status_t status =
      tfrt_value_wait(client, value, loop, TFRT_TRACE_COLLECTION_PATIENCE_MS, false);
  int64_t answered = tfrt_trace_collection_now();
  int64_t clock = 0;
  uint64_t dropped = 0;
  if (!status && tfrt_async_value_is_error(value)) {
    status = tfrt_status_retain(tfrt_async_value_error(value));
  }
  if (!status) status = tfrt_client_read_trace(value, host->trace, &clock, &dropped);
  if (!status && (clock < asked || clock > answered)) {
    host->clock_offset_ns = asked + (answered - asked) / 2 - clock;
  }
  dropped += tfrt_trace_dropped(host->trace);
  if (dropped > 0) {
    fprintf(stderr, "tfrt: the trace lacks %" PRIu64 " spans of host %u, which had no room\n",
            dropped, host->rank);
  }
  tfrt_async_value_release(value);
  return status;
}

static tfrt_status_t tfrt_trace_collection_fill(tfrt_client_t* client, uint32_t host_count,
                                                tfrt_run_loop_t* loop,
                                                tfrt_chrome_trace_host_t* hosts) {
  for (uint32_t i = 0; i < host_count; ++i) {
    TFRT_RETURN_IF_ERROR(
        tfrt_trace_create(TFRT_TRACE_COLLECTION_LIMIT, tfrt_allocator_system(), &hosts[i].trace));
    hosts[i].rank = i;
    tfrt_status_t status = tfrt_trace_collection_ask(client, loop, &hosts[i]);
    if (!status) continue;
    fprintf(stderr, "tfrt: the trace lacks host %u: %s\n", i, tfrt_status_message(status));
    tfrt_status_release(status);
  }
  return NULL;
}

tfrt_status_t tfrt_trace_collection_write(tfrt_client_t* client,
                                          const tfrt_string_view_t* addresses, uint32_t host_count,
                                          tfrt_run_loop_t* loop, const char* path) {
  typedef struct {
    char text[TFRT_TRANSPORT_ADDRESS_SIZE + 16];
  } name_t;
  tfrt_allocator_t allocator = tfrt_allocator_system();
  tfrt_chrome_trace_host_t* hosts =
      tfrt_allocator_allocate_zeroed(allocator, host_count * sizeof(*hosts));
  name_t* names = tfrt_allocator_allocate_zeroed(allocator, host_count * sizeof(*names));
  tfrt_status_t status = hosts && names ? NULL : tfrt_status_out_of_memory();
  for (uint32_t i = 0; i < host_count && !status; ++i) {
    snprintf(names[i].text, sizeof(names[i].text), "host %u (%.*s)", i, (int)addresses[i].size,
             addresses[i].data);
    hosts[i].name = names[i].text;
  }
  if (!status) status = tfrt_trace_collection_fill(client, host_count, loop, hosts);
  if (!status) status = tfrt_chrome_trace_write(path, hosts, host_count);
  for (uint32_t i = 0; i < host_count && hosts; ++i) tfrt_trace_release(hosts[i].trace);
  tfrt_allocator_free(allocator, hosts, host_count * sizeof(*hosts));
  tfrt_allocator_free(allocator, names, host_count * sizeof(*names));
  return status;
}
