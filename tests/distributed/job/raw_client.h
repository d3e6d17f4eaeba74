// SPDX-License-Identifier: Apache-2.0
//
// A client that sends frames by hand, right and wrong, to the only host of a world of nodes, and
// notes what that says. Its jobs have one key.
//
// Life: begun with a world that it makes, and with an open session; sends; ended with the world.
//
// Thread rule: thread-compatible. Failure rule: ck_assert_*.
#ifndef TFRT_TESTS_DISTRIBUTED_JOB_RAW_CLIENT_H_
#define TFRT_TESTS_DISTRIBUTED_JOB_RAW_CLIENT_H_

#include "distributed/session/session.h"
#include "distributed/threads/node_lock.h"
#include "distributed/wire/batch.h"
#include "tests/distributed/host/node_harness.h"

// The incarnations of the client and of the host.
#define TFRT_RAW_CLIENT_INCARNATION UINT64_C(0x7777)
#define TFRT_RAW_CLIENT_HOST UINT64_C(0x1000)

typedef struct tfrt_raw_client_s {
  tfrt_node_world_t* world;
  tfrt_simulated_endpoint_t* endpoint;
  tfrt_node_lock_t lock;
  tfrt_session_handler_t handler;
  tfrt_session_manager_t* manager;
  tfrt_session_t* session;
  // The id of the jobs that are opened next.
  char job_id[TFRT_WIRE_JOB_ID_SIZE];
  bool asks_only;
  tfrt_wire_job_budgets_t budgets;
  // Since the last frame that was sent: what the host sent, one word each, and the last error.
  char said[512];
  char error[512];
  uint32_t error_code;
  uint32_t host_handle;  // the host's for the job that it was attached to last
} tfrt_raw_client_t;

// Makes |world| one with a single host and |client|, which has a session to that.
void tfrt_raw_client_begin(tfrt_raw_client_t* client, tfrt_node_world_t* world);

// Ends the session of |client|, and its world, in which nothing must be left.
void tfrt_raw_client_end(tfrt_raw_client_t* client);

// Has |body| go under |handle|.
void tfrt_raw_client_post(tfrt_raw_client_t* client, const tfrt_wire_body_t* body, uint32_t handle,
                          int64_t deadline_ns);

// The same, and lets a millisecond pass.
void tfrt_raw_client_send(tfrt_raw_client_t* client, const tfrt_wire_body_t* body, uint32_t handle,
                          int64_t deadline_ns);

// Sends a JobOpen for |count| members with these incarnations, ranks from |first_rank|.
void tfrt_raw_client_open(tfrt_raw_client_t* client, uint32_t handle, const uint64_t* incarnations,
                          size_t count, uint32_t first_rank, uint32_t root, int64_t deadline_ns);

#endif  // TFRT_TESTS_DISTRIBUTED_JOB_RAW_CLIENT_H_
