// SPDX-License-Identifier: Apache-2.0
#include "tools/cluster/host_process.h"

#include <malloc.h>
#include <string.h>
#include <sys/resource.h>

#include "distributed/host/node.h"
#include "distributed/transport/grpc/grpc_transport.h"
#include "host_runtime/async/thread_pool_work_queue.h"
#include "host_runtime/base/log.h"
#include "host_runtime/base/machine.h"
#include "kernels/device/host_devices.h"
#include "tools/kernels/device_platforms.h"
#include "tools/kernels/kernel_rooms.h"

void tfrt_host_process_options_initialize(tfrt_host_process_options_t* out_options) {
  *out_options = (tfrt_host_process_options_t){.heartbeat_ms = TFRT_HOST_PROCESS_HEARTBEAT_MS,
                                               .silence_ms = TFRT_HOST_PROCESS_SILENCE_MS,
                                               .lends_memory = true};
}

// How long the ends of connections may take: longer than bytes that a peer does not read stay
// borrowed (stall_limit_ms in grpc_transport.h).
#define TFRT_HOST_PROCESS_DRAIN_MS 13000

// Bytes at the end of the heap that stay this process's.
#define TFRT_HOST_PROCESS_KEPT_HEAP (16 << 20)

// gRPC reads each message into new memory of the heap. Memory that was returned to the system comes
// back one page fault at a time, which costs more than reading does.
static void host_process_keep_heap(void) {
  mallopt(M_MMAP_THRESHOLD, TFRT_HOST_PROCESS_KEPT_HEAP / 2);
  mallopt(M_TRIM_THRESHOLD, TFRT_HOST_PROCESS_KEPT_HEAP);
  mallopt(M_TOP_PAD, TFRT_HOST_PROCESS_KEPT_HEAP / 16);
}

// Each peer takes a descriptor or two; what the system allows is enough for most.
static void host_process_raise_file_limit(void) {
  struct rlimit files;
  if (getrlimit(RLIMIT_NOFILE, &files) != 0) return;
  files.rlim_cur = files.rlim_max;
  setrlimit(RLIMIT_NOFILE, &files);
}

static tfrt_status_t host_process_make_host(tfrt_host_process_t* process,
                                            const tfrt_host_process_options_t* options) {
  tfrt_allocator_t allocator = tfrt_allocator_system();
  tfrt_thread_pool_options_t pool = {.thread_count = (int)options->threads};
  tfrt_work_queue_t* queue = NULL;
  TFRT_RETURN_IF_ERROR(tfrt_thread_pool_work_queue_create(&pool, allocator, &queue));
  TFRT_RETURN_IF_ERROR(
      tfrt_host_context_allocate(allocator, tfrt_clock_system(), queue, &process->host));
  process->host->data_directory = options->data_directory;
  TFRT_RETURN_IF_ERROR(tfrt_kernel_rooms_register(process->host->registry));
  tfrt_kernel_registry_set_type_checks(process->host->registry, options->checks_types);
  tfrt_kernel_registry_set_race_checks(process->host->registry, options->checks_races);
  return tfrt_device_platforms_add(process->host, NULL);
}

static tfrt_status_t host_process_make_transport(tfrt_host_process_t* process,
                                                 const tfrt_host_process_options_t* options) {
  tfrt_grpc_transport_options_t transport = tfrt_grpc_transport_default_options();
  if (options->tls.authorities) {
    transport.credentials.kind = TFRT_GRPC_CREDENTIALS_TLS;
    transport.credentials.files = options->tls;
  }
  return tfrt_grpc_transport_create(&transport, tfrt_allocator_system(), &process->transport);
}

static tfrt_status_t host_process_make_node(tfrt_host_process_t* process,
                                            const tfrt_host_process_options_t* options) {
  tfrt_node_options_t node;
  tfrt_node_options_initialize(&node);
  node.allocator = tfrt_allocator_system();
  node.timers = &process->timers;
  node.transport = process->transport;
  node.host = process->host;
  node.check_device = tfrt_host_devices_check;
  if (options->lends_memory) node.place = tfrt_string_view_of(tfrt_machine_place());
  node.is_encrypted = options->tls.authorities != NULL;
  node.job_limits = options->job_limits;
  node.logs_events = options->logs_events;
  node.on_drain = options->on_drain;
  node.on_drain_self = options->on_drain_self;
  node.session.name = options->name;
  node.session.cluster_key = options->cluster_key;
  node.session.limits.heartbeat_period_ms = (uint32_t)options->heartbeat_ms;
  node.session.limits.silence_ms = (uint32_t)options->silence_ms;
  if (options->linger_ms > 0) {
    node.session.linger_ns = options->linger_ms * TFRT_NANOSECONDS_PER_MILLISECOND;
  }
  // Suspected at three of five parts of the silence, as the defaults are.
  node.session.suspect_ns = options->silence_ms * TFRT_NANOSECONDS_PER_MILLISECOND * 3 / 5;
  return tfrt_node_create(&node, &process->node);
}

// Closes the transport, if there is one. False if that does not come to its end.
static bool host_process_end_transport(tfrt_host_process_t* process) {
  if (!process->transport) return true;
  tfrt_transport_close(process->transport);
  if (tfrt_grpc_transport_drain_within(process->transport, TFRT_HOST_PROCESS_DRAIN_MS)) return true;
  tfrt_log(TFRT_LOG_WARNING, NULL,
           "gRPC does not tell that a connection has ended, as happens where memory is short "
           "(ulimit -v): this process ends without it");
  return false;
}

// Gives back what there is, the newest first.
static void host_process_free(tfrt_host_process_t* process) {
  // If the transport has not ended, a late callback may still use all of this, so nothing is freed.
  if (!host_process_end_transport(process)) return;
  // The node takes part in transfers to and from devices until they are over.
  if (process->host) tfrt_host_devices_drain(process->host);
  // The ends of connections are news, too.
  if (process->host) tfrt_work_queue_quiesce(process->host->work_queue);
  tfrt_node_release(process->node);
  tfrt_transport_release(process->transport);
  tfrt_host_context_free(process->host);
  tfrt_timer_queue_deinitialize(&process->timers);
}

tfrt_status_t tfrt_host_process_initialize(tfrt_host_process_t* process,
                                           const tfrt_host_process_options_t* options) {
  memset(process, 0, sizeof(*process));
  host_process_keep_heap();
  host_process_raise_file_limit();
  tfrt_timer_queue_initialize(&process->timers, tfrt_clock_system());
  tfrt_status_t status = tfrt_timer_queue_start_thread(&process->timers);
  if (!status) status = host_process_make_host(process, options);
  if (!status) status = host_process_make_transport(process, options);
  if (!status) status = host_process_make_node(process, options);
  if (status) host_process_free(process);
  return status;
}

void tfrt_host_process_set_serving(tfrt_host_process_t* process, bool is_serving) {
  tfrt_grpc_transport_set_serving(process->transport, is_serving);
}

void tfrt_host_process_shut_down(tfrt_host_process_t* process) {
  tfrt_node_close(process->node);
  tfrt_node_drain(process->node);
  // Kernels that were cancelled may still run, and tell the node so.
  tfrt_work_queue_quiesce(process->host->work_queue);
  host_process_free(process);
}
