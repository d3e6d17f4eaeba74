// SPDX-License-Identifier: Apache-2.0
#include "distributed/service/builtin.h"

#include "distributed/service/administration.h"
#include "distributed/service/answer.h"
#include "distributed/service/asking.h"
#include "distributed/service/copying.h"
#include "distributed/service/device_check.h"
#include "distributed/service/following.h"
#include "distributed/service/printing.h"
#include "distributed/service/sending.h"

bool tfrt_builtin_is_here(const tfrt_peer_t* peer, const tfrt_job_t* job,
                          const tfrt_wire_invoke_t* invoke) {
  switch (invoke->function) {
    case TFRT_WIRE_BUILTIN_PRINT:
      return invoke->argument_count == 2 && invoke->result_count == 1 && job->printer.print;
    case TFRT_WIRE_BUILTIN_TRACE:
      return invoke->argument_count == 0 && invoke->result_count == 1 &&
             peer->incarnation == job->client.incarnation;
    case TFRT_WIRE_BUILTIN_SEND:
      return invoke->argument_count == 2 && invoke->result_count == 1 &&
             tfrt_job_rank_of(job, peer->incarnation) != TFRT_WIRE_NO_RANK;
    case TFRT_WIRE_BUILTIN_COPY:
      return invoke->argument_count == 1 && invoke->result_count == 1;
    case TFRT_WIRE_BUILTIN_STATUS:
    case TFRT_WIRE_BUILTIN_INVENTORY:
      return invoke->argument_count == 0 && invoke->result_count == 1;
    case TFRT_WIRE_BUILTIN_CANCEL:
    case TFRT_WIRE_BUILTIN_FOLLOW:
    case TFRT_WIRE_BUILTIN_KEPT_RESULT:
    case TFRT_WIRE_BUILTIN_RECORD:
    case TFRT_WIRE_BUILTIN_ASK:
      return invoke->argument_count == 1 && invoke->result_count == 1;
    case TFRT_WIRE_BUILTIN_CHECK_DEVICE:
      return invoke->argument_count == 1 && invoke->result_count == 1 &&
             peer->node->options.check_device;
    case TFRT_WIRE_BUILTIN_DRAIN:
      return invoke->argument_count == 0 && invoke->result_count == 1 &&
             peer->node->options.on_drain;
    default:
      return false;
  }
}

void tfrt_builtin_start(tfrt_execution_t* execution, const tfrt_peer_t* peer) {
  switch (execution->function) {
    case TFRT_WIRE_BUILTIN_ASK:
      tfrt_answer_start(execution, TFRT_ANSWER_MESSAGE, tfrt_asking_write);
      break;
    case TFRT_WIRE_BUILTIN_TRACE:
    case TFRT_WIRE_BUILTIN_RECORD:
      tfrt_answer_start(execution, TFRT_ANSWER_TRACE, tfrt_asking_write_plain_trace);
      break;
    case TFRT_WIRE_BUILTIN_SEND:
      tfrt_sending_start(execution, tfrt_job_rank_of(execution->job, peer->incarnation));
      break;
    case TFRT_WIRE_BUILTIN_COPY:
      tfrt_copying_start(execution);
      break;
    case TFRT_WIRE_BUILTIN_STATUS:
    case TFRT_WIRE_BUILTIN_INVENTORY:
    case TFRT_WIRE_BUILTIN_CANCEL:
      tfrt_answer_start(execution, TFRT_ANSWER_TEXT, tfrt_asking_write_plain);
      break;
    case TFRT_WIRE_BUILTIN_DRAIN:
      tfrt_answer_start(execution, TFRT_ANSWER_TEXT, tfrt_administration_drain);
      break;
    case TFRT_WIRE_BUILTIN_CHECK_DEVICE:
      tfrt_device_check_start(execution);
      break;
    case TFRT_WIRE_BUILTIN_FOLLOW:
      tfrt_answer_start(execution, TFRT_ANSWER_TEXT, tfrt_following_write);
      break;
    case TFRT_WIRE_BUILTIN_KEPT_RESULT:
      tfrt_following_start_result(execution);
      break;
    default:
      tfrt_printing_start(execution, tfrt_job_rank_of(execution->job, peer->incarnation));
      break;
  }
}
