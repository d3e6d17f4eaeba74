// SPDX-License-Identifier: Apache-2.0
//
// N hosts that are all this process: they run a distributed program without workers and without a
// network. Each host has a router and an output of its own. A call to another host runs in a
// request with that host's router and output (in_process_call.h). So kernels that ask for their
// host get the same answer as on a cluster, and a cancel ends the same calls.
//
//   request --router--> call {host = 2} --> function in a request of its own
//      |                                         |
//    prints "text"                             prints "[2] text"
//
// A value that one sends another waits in the mailbox of the receiver (mailbox.h).
//
// Arguments and results are handed over as they are: nothing is copied, nothing is lost,
// and options that are about networks and failures (deadline_ms, pure, retries) mean
// nothing.
//
// Life:
//  1. Allocated with the number of hosts and the options that all requests share.
//  2. The program's entry function is called in the request, which is one of host 0.
//  3. Freed when nothing of these requests runs any more.
//
// Thread rule: thread-safe after allocation.
// Failure rule: allocation fails only with RESOURCE_EXHAUSTED; a call to a host that there
// isn't has errors as its results.
#ifndef TFRT_HOST_RUNTIME_EXECUTOR_HOSTS_IN_PROCESS_HOSTS_H_
#define TFRT_HOST_RUNTIME_EXECUTOR_HOSTS_IN_PROCESS_HOSTS_H_

#include "host_runtime/executor/request/request_context.h"

typedef struct tfrt_in_process_hosts_s tfrt_in_process_hosts_t;

// Sets |*out_hosts| to |host_count| hosts; 0: one, which also takes the calls that name others,
// so that a program for several hosts runs on it. |options| hold for the requests on
// each, but for router and output, which are the hosts' own; lines go on to
// |options->output|. Thread-safe.
tfrt_status_t tfrt_in_process_hosts_allocate(uint32_t host_count,
                                             const tfrt_request_options_t* options,
                                             tfrt_allocator_t allocator,
                                             tfrt_in_process_hosts_t** out_hosts) TFRT_MUST_USE;

// Gives |hosts| back; NULL is allowed. Thread-compatible.
void tfrt_in_process_hosts_free(tfrt_in_process_hosts_t* hosts);

// The request (+0) of the entry function; its cancel ends all that runs on |hosts|. Thread-safe.
tfrt_request_context_t* tfrt_in_process_hosts_request(tfrt_in_process_hosts_t* hosts);

#endif  // TFRT_HOST_RUNTIME_EXECUTOR_HOSTS_IN_PROCESS_HOSTS_H_
