// SPDX-License-Identifier: Apache-2.0
#include "distributed/service/asking.h"

#include "distributed/call/incoming_call.h"
#include "distributed/service/administration.h"
#include "distributed/service/answer.h"
#include "distributed/service/inventory.h"
#include "distributed/service/plain_form.h"
#include "distributed/service/recording.h"
#include "distributed/service/status_report.h"
#include "distributed/service/tracing.h"

// The spans of a job are for its client alone.
static tfrt_status_t tfrt_asking_trace(tfrt_execution_t* execution, tfrt_string_builder_t* out) {
  uint64_t asker = tfrt_incoming_call_cast(execution)->peer->incarnation;
  if (asker == execution->job->client.incarnation) return tfrt_tracing_write(execution, out);
  return tfrt_status_create(TFRT_STATUS_UNIMPLEMENTED,
                            "the trace of a job is for the client that has opened it");
}

static tfrt_status_t tfrt_asking_answer(tfrt_execution_t* execution,
                                        const tfrt_wire_question_t* question,
                                        tfrt_string_builder_t* out) {
  switch (question->kind) {
    case TFRT_WIRE_ASK_STATUS:
      return tfrt_status_report_write(execution, out);
    case TFRT_WIRE_ASK_INVENTORY:
      return tfrt_inventory_write(execution, out);
    case TFRT_WIRE_ASK_CANCEL:
      return tfrt_administration_cancel(execution, &question->cancel, out);
    case TFRT_WIRE_ASK_RECORD:
      return tfrt_recording_write(execution, &question->record, out);
    default:
      return tfrt_asking_trace(execution, out);
  }
}

tfrt_status_t tfrt_asking_write(tfrt_execution_t* execution, tfrt_string_builder_t* out) {
  tfrt_wire_question_t question;
  tfrt_arena_t arena;
  tfrt_arena_initialize(&arena, execution->node->options.allocator);
  tfrt_status_t status =
      tfrt_wire_question_decode(tfrt_answer_question(execution), &arena, &question);
  if (!status) status = tfrt_asking_answer(execution, &question, out);
  tfrt_arena_deinitialize(&arena);
  return status;
}

// --- Plain forms -----------------------------------------------------------------

static tfrt_wire_question_kind_t tfrt_asking_kind(uint32_t function) {
  switch (function) {
    case TFRT_WIRE_BUILTIN_TRACE:
      return TFRT_WIRE_ASK_TRACE;
    case TFRT_WIRE_BUILTIN_STATUS:
      return TFRT_WIRE_ASK_STATUS;
    case TFRT_WIRE_BUILTIN_CANCEL:
      return TFRT_WIRE_ASK_CANCEL;
    case TFRT_WIRE_BUILTIN_RECORD:
      return TFRT_WIRE_ASK_RECORD;
    default:
      return TFRT_WIRE_ASK_INVENTORY;
  }
}

typedef tfrt_status_t (*tfrt_asking_form_fn_t)(tfrt_string_view_t answer,
                                               tfrt_string_builder_t* out);

static tfrt_status_t tfrt_asking_write_as(tfrt_execution_t* execution, tfrt_asking_form_fn_t form,
                                          tfrt_string_builder_t* out) {
  tfrt_plain_question_t plain;
  TFRT_RETURN_IF_ERROR(tfrt_plain_question_read(tfrt_asking_kind(execution->function),
                                                tfrt_answer_question(execution), &plain));
  tfrt_string_builder_t parts;
  tfrt_string_builder_initialize(&parts, execution->node->options.allocator);
  tfrt_status_t status = tfrt_asking_answer(execution, &plain.question, &parts);
  if (!status) status = form(tfrt_string_builder_view(&parts), out);
  tfrt_string_builder_deinitialize(&parts);
  return status;
}

tfrt_status_t tfrt_asking_write_plain(tfrt_execution_t* execution, tfrt_string_builder_t* out) {
  return tfrt_asking_write_as(execution, tfrt_plain_answer_write, out);
}

tfrt_status_t tfrt_asking_write_plain_trace(tfrt_execution_t* execution,
                                            tfrt_string_builder_t* out) {
  return tfrt_asking_write_as(execution, tfrt_plain_answer_write_trace, out);
}
