// SPDX-License-Identifier: Apache-2.0
#include <inttypes.h>
#include <stdio.h>

#include "distributed/call/outgoing_call.h"
#include "distributed/client/client_impl.h"
#include "distributed/service/trace_image.h"
#include "distributed/service/tracing.h"
#include "host_runtime/async/builtin_types.h"

// Sets the job (+1) and callee of |request|. With the lock held.
static tfrt_status_t tfrt_client_find_host(const tfrt_client_t* client, uint32_t rank,
                                           tfrt_outgoing_call_request_t* request) {
  if (rank >= client->options.host_count) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "there is no host %u", rank);
  }
  if (client->closed) return tfrt_status_retain(client->end);
  if (!client->is_open) {
    return tfrt_status_create(TFRT_STATUS_FAILED_PRECONDITION, "the job is not open");
  }
  request->job = tfrt_job_retain(client->job);
  request->callee = client->hosts[rank].incarnation;
  return NULL;
}

// The result (+1) of the built-in |function| with |argument| (+0, NULL: none) on host |rank|: one
// value of |type| (NULL: of any).
static tfrt_async_value_t* tfrt_client_ask_with(tfrt_client_t* client, uint32_t rank,
                                                uint32_t function, const char* name,
                                                const char* type, tfrt_async_value_t* argument) {
  tfrt_async_value_t* result = NULL;
  tfrt_outgoing_call_request_t request = {.function = function,
                                          .name = name,
                                          .deadline_ns = TFRT_TIME_INFINITE,
                                          .arguments = &argument,
                                          .argument_count = argument ? 1 : 0,
                                          .results = &result,
                                          .result_count = 1,
                                          .result_types = type ? &type : NULL};
  tfrt_node_lock_tables(client->node);
  tfrt_status_t status = tfrt_client_find_host(client, rank, &request);
  tfrt_node_unlock(client->node);
  if (status) return tfrt_async_value_create_error_take(status);
  tfrt_outgoing_call_start(client->node, &request);
  tfrt_node_lock_tables(client->node);
  tfrt_job_release(request.job);
  tfrt_node_unlock(client->node);
  return result;
}

static tfrt_async_value_t* tfrt_client_ask(tfrt_client_t* client, uint32_t rank, uint32_t function,
                                           const char* name, const char* type) {
  return tfrt_client_ask_with(client, rank, function, name, type, NULL);
}

tfrt_async_value_t* tfrt_client_trace(tfrt_client_t* client, uint32_t rank) {
  return tfrt_client_ask(client, rank, TFRT_WIRE_BUILTIN_TRACE, "trace", "!tfrt.trace");
}

tfrt_async_value_t* tfrt_client_status(tfrt_client_t* client, uint32_t rank) {
  return tfrt_client_ask(client, rank, TFRT_WIRE_BUILTIN_STATUS, "status", "!tfrt.string");
}

tfrt_async_value_t* tfrt_client_inventory(tfrt_client_t* client, uint32_t rank) {
  return tfrt_client_ask(client, rank, TFRT_WIRE_BUILTIN_INVENTORY, "inventory", "!tfrt.string");
}

// The same with |what| as the argument.
static tfrt_async_value_t* tfrt_client_ask_about(tfrt_client_t* client, uint32_t rank,
                                                 uint32_t function, const char* name,
                                                 const char* type, tfrt_string_view_t what) {
  tfrt_async_value_t* argument = tfrt_async_value_create_string(what);
  tfrt_async_value_t* result = tfrt_client_ask_with(client, rank, function, name, type, argument);
  tfrt_async_value_release(argument);
  return result;
}

tfrt_async_value_t* tfrt_client_record(tfrt_client_t* client, uint32_t rank,
                                       tfrt_string_view_t what) {
  return tfrt_client_ask_about(client, rank, TFRT_WIRE_BUILTIN_RECORD, "record", "!tfrt.trace",
                               what);
}

tfrt_async_value_t* tfrt_client_cancel_on(tfrt_client_t* client, uint32_t rank,
                                          tfrt_string_view_t what) {
  return tfrt_client_ask_about(client, rank, TFRT_WIRE_BUILTIN_CANCEL, "cancel", "!tfrt.string",
                               what);
}

tfrt_async_value_t* tfrt_client_check_device(tfrt_client_t* client, uint32_t rank,
                                             const char* name) {
  return tfrt_client_ask_about(client, rank, TFRT_WIRE_BUILTIN_CHECK_DEVICE, "check_device",
                               "!tfrt.chain", tfrt_string_view_of(name));
}

tfrt_async_value_t* tfrt_client_drain(tfrt_client_t* client, uint32_t rank) {
  return tfrt_client_ask(client, rank, TFRT_WIRE_BUILTIN_DRAIN, "drain", "!tfrt.string");
}

// Asks |function| about |number| of the job |id|.
static tfrt_async_value_t* tfrt_client_ask_of_job(tfrt_client_t* client, uint32_t rank,
                                                  uint32_t function, const char* name,
                                                  const char* type, tfrt_string_view_t id,
                                                  uint64_t number) {
  char text[TFRT_CLIENT_JOB_ID_SIZE + 32];
  snprintf(text, sizeof(text), "%.*s %" PRIu64, (int)(id.size < 33 ? id.size : 33), id.data,
           number);
  return tfrt_client_ask_about(client, rank, function, name, type, tfrt_string_view_of(text));
}

tfrt_async_value_t* tfrt_client_follow(tfrt_client_t* client, uint32_t rank, tfrt_string_view_t id,
                                       uint64_t from) {
  return tfrt_client_ask_of_job(client, rank, TFRT_WIRE_BUILTIN_FOLLOW, "follow", "!tfrt.string",
                                id, from);
}

tfrt_async_value_t* tfrt_client_kept_result(tfrt_client_t* client, uint32_t rank,
                                            tfrt_string_view_t id, uint32_t index) {
  return tfrt_client_ask_of_job(client, rank, TFRT_WIRE_BUILTIN_KEPT_RESULT, "kept_result", NULL,
                                id, index);
}

void tfrt_client_job_id(tfrt_client_t* client, char out_id[TFRT_CLIENT_JOB_ID_SIZE]) {
  tfrt_node_lock_tables(client->node);
  out_id[0] = '\0';
  for (size_t i = 0; client->job && i < TFRT_WIRE_JOB_ID_SIZE; ++i) {
    snprintf(out_id + 2 * i, TFRT_CLIENT_JOB_ID_SIZE - 2 * i, "%02x", client->job->identity.id[i]);
  }
  tfrt_node_unlock(client->node);
}

tfrt_status_t tfrt_client_read_trace(tfrt_async_value_t* value, tfrt_trace_t* trace,
                                     int64_t* out_clock_ns, uint64_t* out_dropped) {
  tfrt_type_id_t type = TFRT_TYPE_NONE;
  TFRT_RETURN_IF_ERROR(tfrt_tracing_type(&type));
  tfrt_async_value_t* payload = tfrt_async_value_resolved(value);
  if (payload->type_id != type) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "a %s is no trace",
                              tfrt_type_get(payload->type_id)->name);
  }
  return tfrt_trace_image_read(tfrt_async_value_string(payload), trace, out_clock_ns, out_dropped);
}
