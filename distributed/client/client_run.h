// SPDX-License-Identifier: Apache-2.0
//
// One start of a client: a function with its arguments, until its results are known.
//
//   WAITING --job is open--> SENT (JobStart) --JobEnd--> results forwarded, freed
//      |cancel                 |cancel: CancelRequest, the root still answers
//      +-----------------------+--closed, root lost--> results are errors, freed
//
// Life:
//  1. Created from the user's start; in its client's list.
//  2. Sent when the job is open.
//  3. Freed with its end: each result has been given a value or an error by then.
//
// Thread rule: everything here needs the node's lock, but create.
// Failure rule: a failure is the error of the results.
#ifndef TFRT_DISTRIBUTED_CLIENT_CLIENT_RUN_H_
#define TFRT_DISTRIBUTED_CLIENT_CLIENT_RUN_H_

#include "distributed/client/client_impl.h"
#include "distributed/domain/program_cache.h"

typedef struct tfrt_client_run_s {
  tfrt_list_link_t link;  // in the client's runs
  uint64_t number;        // from 1
  uint32_t function;
  char name[TFRT_WIRE_MAX_NAME_SIZE + 1];  // of the function, for errors; "": not known
  tfrt_cached_program_t* program;          // +1
  uint32_t argument_count;
  tfrt_async_value_t** arguments;  // +1 each
  uint32_t result_count;
  tfrt_indirect_value_t** results;  // +1 each
  tfrt_indirect_value_t* ended;     // +1; NULL: nobody asks
  bool sent;
} tfrt_client_run_t;

static inline tfrt_client_run_t* tfrt_client_run_of(tfrt_list_link_t* link) {
  return TFRT_CONTAINER_OF(link, tfrt_client_run_t, link);
}

// Makes a run of |start|, without number and program, and sets its results (+1 each); NULL
// when memory is out, and no result is set. Takes the lock itself.
tfrt_client_run_t* tfrt_client_run_create(tfrt_client_t* client, const tfrt_client_start_t* start,
                                          tfrt_async_value_t** out_results);

// Sends |run| to the root of the open job; if that can't be done it fails.
void tfrt_client_run_send(tfrt_client_t* client, tfrt_client_run_t* run);

// Ends |run| as |end|, which |root| has sent, says, and frees it.
void tfrt_client_run_end(tfrt_client_t* client, tfrt_client_run_t* run, tfrt_peer_t* root,
                         const tfrt_wire_job_end_t* end);

// Ends |run|, whose results from |first| on are the error |status| (+0), and frees it.
void tfrt_client_run_fail(tfrt_client_t* client, tfrt_client_run_t* run, uint32_t first,
                          tfrt_status_t status);

// Ends |run|, whose results are the error of |opened| once that has it, and frees it: the client is
// closed, and its job was never open.
void tfrt_client_run_leave_unopened(tfrt_client_t* client, tfrt_client_run_t* run);

// Fails all results of |run|, because |root| is lost: the error names it and the function.
void tfrt_client_run_lose(tfrt_client_t* client, tfrt_client_run_t* run, const tfrt_peer_t* root);

// Stops |run| because of |reason| (+0): at once if it was not sent, else the root is asked to.
void tfrt_client_run_cancel(tfrt_client_t* client, tfrt_client_run_t* run, tfrt_status_t reason);

#endif  // TFRT_DISTRIBUTED_CLIENT_CLIENT_RUN_H_
