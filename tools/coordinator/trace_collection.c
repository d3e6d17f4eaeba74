// SPDX-License-Identifier: Apache-2.0
#include "tools/coordinator/trace_collection.h"

#include <inttypes.h>
#include <stdio.h>

#include "tools/coordinator/clock_comparison.h"
#include "tools/coordinator/value_wait.h"
#include "tools/output/chrome_trace.h"
#include "tools/output/kernel_profile.h"

static int64_t trace_collection_now(void) { return tfrt_clock_now_ns(tfrt_clock_system()); }

// Adds what |value| (+0), which is being asked for, has of |host| to its trace, and compares
// clocks.
static tfrt_status_t trace_collection_take(tfrt_client_t* client, tfrt_run_loop_t* loop,
                                           tfrt_async_value_t* value, int64_t asked_ns,
                                           tfrt_clock_comparison_t* clock,
                                           tfrt_chrome_trace_host_t* host) {
  int64_t clock_ns = 0;
  uint64_t dropped = 0;
  TFRT_RETURN_IF_ERROR(
      tfrt_value_wait(client, value, loop, TFRT_TRACE_COLLECTION_PATIENCE_MS, false));
  int64_t answered_ns = trace_collection_now();
  if (tfrt_async_value_is_error(value)) return tfrt_status_retain(tfrt_async_value_error(value));
  TFRT_RETURN_IF_ERROR(tfrt_client_read_trace(value, host->trace, &clock_ns, &dropped));
  tfrt_clock_comparison_note(clock, asked_ns, answered_ns, clock_ns);
  dropped += tfrt_trace_dropped(host->trace);
  if (dropped == 0) return NULL;
  fprintf(stderr, "tfrt: the trace lacks %" PRIu64 " spans of host %u, which had no room\n",
          dropped, host->rank);
  return NULL;
}

// Fills |host|, whose trace is empty, with what host |host->rank| says.
static tfrt_status_t trace_collection_ask(tfrt_client_t* client, tfrt_run_loop_t* loop,
                                          tfrt_chrome_trace_host_t* host) {
  tfrt_clock_comparison_t clock = {0};
  tfrt_status_t status = NULL;
  for (int i = 0; i <= TFRT_CLOCK_COMPARISON_QUESTIONS && !status; ++i) {
    bool is_last = i == TFRT_CLOCK_COMPARISON_QUESTIONS;
    int64_t asked_ns = trace_collection_now();
    tfrt_client_question_t question = {.kind = TFRT_CLIENT_ASK_RECORD,
                                       .about = tfrt_string_view_of("clock")};
    if (is_last) question = (tfrt_client_question_t){.kind = TFRT_CLIENT_ASK_TRACE};
    tfrt_async_value_t* value = tfrt_client_ask(client, host->rank, &question);
    status = trace_collection_take(client, loop, value, asked_ns, &clock, host);
    tfrt_async_value_release(value);
  }
  host->clock_offset_ns = clock.offset_ns;
  return status;
}

static tfrt_status_t trace_collection_fill(tfrt_client_t* client, uint32_t host_count,
                                           tfrt_run_loop_t* loop, tfrt_chrome_trace_host_t* hosts) {
  for (uint32_t i = 0; i < host_count; ++i) {
    TFRT_RETURN_IF_ERROR(
        tfrt_trace_create(TFRT_TRACE_COLLECTION_LIMIT, tfrt_allocator_system(), &hosts[i].trace));
    hosts[i].rank = i;
    tfrt_status_t status = trace_collection_ask(client, loop, &hosts[i]);
    if (!status) continue;
    fprintf(stderr, "tfrt: the trace lacks host %u: %s\n", i, tfrt_status_message(status));
    tfrt_status_release(status);
  }
  return NULL;
}

// Writes the profile of what |hosts| have recorded.
static tfrt_status_t trace_collection_write_profile(const tfrt_chrome_trace_host_t* hosts,
                                                    uint32_t host_count,
                                                    const tfrt_trace_files_t* files) {
  tfrt_allocator_t allocator = tfrt_allocator_system();
  tfrt_trace_t** traces = tfrt_allocator_allocate_zeroed(allocator, host_count * sizeof(*traces));
  if (!traces) return tfrt_status_out_of_memory();
  for (uint32_t i = 0; i < host_count; ++i) traces[i] = hosts[i].trace;
  tfrt_status_t status =
      tfrt_kernel_profile_write(files->profile_path, traces, host_count, files->program);
  tfrt_allocator_free(allocator, traces, host_count * sizeof(*traces));
  return status;
}

tfrt_status_t tfrt_trace_collection_write(tfrt_client_t* client,
                                          const tfrt_string_view_t* addresses, uint32_t host_count,
                                          tfrt_run_loop_t* loop, const tfrt_trace_files_t* files) {
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
  if (!status) status = trace_collection_fill(client, host_count, loop, hosts);
  if (!status && files->trace_path) {
    status = tfrt_chrome_trace_write(files->trace_path, hosts, host_count);
  }
  if (!status && files->profile_path) {
    status = trace_collection_write_profile(hosts, host_count, files);
  }
  for (uint32_t i = 0; i < host_count && hosts; ++i) tfrt_trace_release(hosts[i].trace);
  tfrt_allocator_free(allocator, hosts, host_count * sizeof(*hosts));
  tfrt_allocator_free(allocator, names, host_count * sizeof(*names));
  return status;
}
