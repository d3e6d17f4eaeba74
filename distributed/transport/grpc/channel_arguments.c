// SPDX-License-Identifier: Apache-2.0
#include "distributed/transport/grpc/channel_arguments.h"

#include <limits.h>
#include <stddef.h>

#include "distributed/transport/transport.h"
#include "distributed/tuning/tuning.h"
#include "host_runtime/base/macros.h"

// No pings: heartbeats tell the living from the dead. But any time, however long, that is
// not "never" is what makes gRPC set the time limit (TCP_USER_TIMEOUT) at the socket.
#define NO_KEEPALIVE_MS (INT_MAX - 1)

#define MAX_ARGUMENTS 24

typedef struct arguments_s {
  grpc_arg values[MAX_ARGUMENTS];
  grpc_channel_args args;
} arguments_t;

static void add(arguments_t* arguments, const char* key, int value) {
  grpc_arg* arg = &arguments->values[arguments->args.num_args++];
  arg->type = GRPC_ARG_INTEGER;
  arg->key = (char*)key;
  arg->value.integer = value;
}

static void add_common(arguments_t* arguments, const tfrt_grpc_channel_settings_t* settings) {
  arguments->args.num_args = 0;
  arguments->args.args = arguments->values;
  // Our own side keeps the limit when it writes; the other side may be anybody.
  add(arguments, GRPC_ARG_MAX_SEND_MESSAGE_LENGTH, -1);
  add(arguments, GRPC_ARG_MAX_RECEIVE_MESSAGE_LENGTH, (int)TFRT_TRANSPORT_MAX_MESSAGE_SIZE);
  add(arguments, GRPC_ARG_HTTP2_MAX_FRAME_SIZE, TFRT_TUNING_GRPC_FRAME_BYTES);
  add(arguments, GRPC_ARG_HTTP2_STREAM_LOOKAHEAD_BYTES, TFRT_TUNING_GRPC_WINDOW_BYTES);
  add(arguments, GRPC_ARG_HTTP2_BDP_PROBE, 0);
  add(arguments, GRPC_ARG_KEEPALIVE_TIME_MS, NO_KEEPALIVE_MS);
  add(arguments, GRPC_ARG_KEEPALIVE_TIMEOUT_MS, settings->stall_limit_ms);
  add(arguments, GRPC_ARG_ENABLE_CHANNELZ, 0);
}

static void add_client(arguments_t* arguments) {
  add(arguments, GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  add(arguments, GRPC_ARG_ENABLE_RETRIES, 0);
  add(arguments, GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  add(arguments, GRPC_ARG_SERVICE_CONFIG_DISABLE_RESOLUTION, 1);
  add(arguments, GRPC_ARG_INHIBIT_HEALTH_CHECKING, 1);
}

grpc_channel* tfrt_grpc_channel_open(const char* target,
                                     const tfrt_grpc_channel_settings_t* settings) {
  arguments_t arguments;
  add_common(&arguments, settings);
  add_client(&arguments);
  return grpc_channel_create(target, settings->credentials->channel, &arguments.args);
}

grpc_server* tfrt_grpc_server_open(const tfrt_grpc_channel_settings_t* settings) {
  arguments_t arguments;
  add_common(&arguments, settings);
  // A port that is taken has to be an error and not a port that two processes share.
  add(&arguments, GRPC_ARG_ALLOW_REUSEPORT, 0);
  add(&arguments, GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS, TFRT_TUNING_GRPC_HANDSHAKE_MS);
  add(&arguments, GRPC_ARG_MAX_CONNECTION_IDLE_MS, TFRT_TUNING_GRPC_IDLE_MS);
  return grpc_server_create(&arguments.args, NULL);
}

int tfrt_grpc_server_bind(grpc_server* server, const char* address,
                          const tfrt_grpc_channel_settings_t* settings) {
  return grpc_server_add_http2_port(server, address, settings->credentials->server);
}
