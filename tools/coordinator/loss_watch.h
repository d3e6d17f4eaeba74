// SPDX-License-Identifier: Apache-2.0
//
// Tells the first loss of a host on the standard error stream while the run goes on, and ends the
// run if the user wants that.
//
//   NONE --a host is lost--> SEEN --15 ms--> TOLD --host 0 has answered, or is late--> DONE
//                             |                '--the run ends by it, or nothing is waited for-->
//                             DONE
//                             '--the run's results come meanwhile: their errors say more
//
// Host 0 knows more of a loss than this process: the function and its line. Both see it at the same
// time. If a result depends on it, and all others are there, host 0 says so within the 15 ms.
//
// Life: started with a client; looks between the turns of the event loop; deinitialised after the
// client was closed.
//
// Thread rule: main thread only. Failure rule: none fails.
#ifndef TFRT_TOOLS_COORDINATOR_LOSS_WATCH_H_
#define TFRT_TOOLS_COORDINATOR_LOSS_WATCH_H_

#include "distributed/client/client.h"
#include "tools/coordinator/run_loop.h"
#include "tools/coordinator/run_plan.h"

// How far the first loss has come.
typedef enum tfrt_loss_watch_step_e {
  TFRT_LOSS_WATCH_NONE,
  TFRT_LOSS_WATCH_SEEN,  // the alarm runs
  TFRT_LOSS_WATCH_TOLD,  // host 0 was asked what it waits for; the alarm runs
  TFRT_LOSS_WATCH_DONE,
} tfrt_loss_watch_step_t;

typedef struct tfrt_loss_watch_s {
  tfrt_client_t* client;        // +0
  tfrt_run_loop_t* loop;        // +0
  const tfrt_run_plan_t* plan;  // +0
  bool ends_run;                // where no call can be made again
  bool has_retries;             // some call of the program can
  tfrt_loss_watch_step_t step;
  tfrt_task_t on_loss;            // runs when a host is lost, or the client closed, on any thread
  tfrt_task_t on_answer;          // likewise, when host 0 has answered
  tfrt_async_value_t* inventory;  // +1; the answer; NULL: it was not asked
  tfrt_status_t told;             // +0, the client's; the loss that was printed, or OK
} tfrt_loss_watch_t;

// Begins to watch |client|, which runs |plan|; they and |loop| outlive |watch|. |ends_run|: a loss
// ends a run in which no call has retries. Main thread only.
void tfrt_loss_watch_start(tfrt_loss_watch_t* watch, tfrt_client_t* client, tfrt_run_loop_t* loop,
                           const tfrt_run_plan_t* plan, bool ends_run);

// Takes the steps that are due. |watch| uses the alarm of its loop. Main thread only.
void tfrt_loss_watch_look(tfrt_loss_watch_t* watch);

// Gives back what |watch| has; one that is all zero has nothing. Main thread only.
void tfrt_loss_watch_deinitialize(tfrt_loss_watch_t* watch);

#endif  // TFRT_TOOLS_COORDINATOR_LOSS_WATCH_H_
