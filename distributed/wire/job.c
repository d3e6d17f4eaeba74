// SPDX-License-Identifier: Apache-2.0
#include "distributed/wire/job.h"

#include "distributed/wire/codec.h"

TFRT_WIRE_JOB_FRAMES(TFRT_WIRE_DECLARE_MESSAGE)

// The kinds of items that a client sends to the root and gets back.
#define TFRT_WIRE_JOB_ITEM_KINDS                                                              \
  (TFRT_WIRE_ITEM_BIT(TFRT_WIRE_ITEM_INLINE) | TFRT_WIRE_ITEM_BIT(TFRT_WIRE_ITEM_REFERENCE) | \
   TFRT_WIRE_ITEM_BIT(TFRT_WIRE_ITEM_ERROR))

static const tfrt_wire_field_t job_attach_fields[] = {
    TFRT_WIRE_FIELD(tfrt_wire_job_attach_t, handle, 1, UINT32, .required = true),
    TFRT_WIRE_FIELD(tfrt_wire_job_attach_t, job_id, 2, BYTES, .exact = true,
                    .limit = TFRT_WIRE_JOB_ID_SIZE),
    TFRT_WIRE_FIELD(tfrt_wire_job_attach_t, proof, 3, BYTES, .exact = true,
                    .limit = TFRT_WIRE_PROOF_SIZE),
};
const tfrt_wire_message_t tfrt_wire_job_attach_message =
    TFRT_WIRE_MESSAGE("JobAttach", tfrt_wire_job_attach_t, job_attach_fields);

static const tfrt_wire_field_t job_gone_fields[] = {
    TFRT_WIRE_FIELD(tfrt_wire_job_gone_t, job_id, 1, BYTES, .exact = true,
                    .limit = TFRT_WIRE_JOB_ID_SIZE),
    TFRT_WIRE_FIELD(tfrt_wire_job_gone_t, error, 2, MESSAGE, .form = TFRT_WIRE_FORM_POINTER,
                    .message = &tfrt_wire_error_message),
};
const tfrt_wire_message_t tfrt_wire_job_gone_message =
    TFRT_WIRE_MESSAGE("JobGone", tfrt_wire_job_gone_t, job_gone_fields);

static const tfrt_wire_field_t member_fields[] = {
    TFRT_WIRE_FIELD(tfrt_wire_member_t, rank, 1, UINT32, .limit = TFRT_WIRE_NO_RANK - 1),
    TFRT_WIRE_FIELD(tfrt_wire_member_t, incarnation, 2, FIXED64, .required = true),
    TFRT_WIRE_REPEATED(tfrt_wire_member_t, addresses, address_count, 3, STRING,
                       TFRT_WIRE_MAX_ADDRESSES, .limit = TFRT_WIRE_MAX_NAME_SIZE),
    TFRT_WIRE_FIELD(tfrt_wire_member_t, name, 4, STRING, .limit = TFRT_WIRE_MAX_NAME_SIZE),
};
static const tfrt_wire_message_t member_message =
    TFRT_WIRE_MESSAGE("Member", tfrt_wire_member_t, member_fields);

static const tfrt_wire_field_t view_fields[] = {
    TFRT_WIRE_FIELD(tfrt_wire_view_t, epoch, 1, UINT32, .required = true),
    TFRT_WIRE_REPEATED(tfrt_wire_view_t, members, member_count, 2, MESSAGE, TFRT_WIRE_MAX_MEMBERS,
                       .message = &member_message),
    TFRT_WIRE_FIELD(tfrt_wire_view_t, features, 3, UINT64),
};

// So that a rank is found by bisection, and is there once.
static tfrt_status_t check_view(const void* object) {
  const tfrt_wire_view_t* view = object;
  for (size_t i = 1; i < view->member_count; ++i) {
    if (view->members[i - 1].rank < view->members[i].rank) continue;
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "View.members: rank %u comes behind rank %u, must be rising",
                              view->members[i].rank, view->members[i - 1].rank);
  }
  return NULL;
}

static const tfrt_wire_message_t view_message =
    TFRT_WIRE_MESSAGE("View", tfrt_wire_view_t, view_fields, .check = check_view);

static const tfrt_wire_field_t job_budgets_fields[] = {
    TFRT_WIRE_FIELD(tfrt_wire_job_budgets_t, memory_bytes, 1, UINT64),
    TFRT_WIRE_FIELD(tfrt_wire_job_budgets_t, objects, 2, UINT32),
    TFRT_WIRE_FIELD(tfrt_wire_job_budgets_t, calls, 3, UINT32),
    TFRT_WIRE_FIELD(tfrt_wire_job_budgets_t, requests, 4, UINT32),
};
static const tfrt_wire_message_t job_budgets_message =
    TFRT_WIRE_MESSAGE("JobBudgets", tfrt_wire_job_budgets_t, job_budgets_fields);

static const tfrt_wire_field_t job_open_fields[] = {
    TFRT_WIRE_FIELD(tfrt_wire_job_open_t, job_id, 1, BYTES, .exact = true,
                    .limit = TFRT_WIRE_JOB_ID_SIZE),
    TFRT_WIRE_FIELD(tfrt_wire_job_open_t, key, 2, BYTES, .exact = true,
                    .limit = TFRT_WIRE_KEY_SIZE),
    TFRT_WIRE_FIELD(tfrt_wire_job_open_t, budgets, 3, MESSAGE, .form = TFRT_WIRE_FORM_POINTER,
                    .message = &job_budgets_message),
    TFRT_WIRE_FIELD(tfrt_wire_job_open_t, view, 4, MESSAGE, .required = true,
                    .message = &view_message),
    TFRT_WIRE_FIELD(tfrt_wire_job_open_t, root, 5, UINT32),
    TFRT_WIRE_FIELD(tfrt_wire_job_open_t, name, 6, STRING, .limit = TFRT_WIRE_MAX_NAME_SIZE),
    TFRT_WIRE_FIELD(tfrt_wire_job_open_t, asks_only, 7, BOOL),
    TFRT_WIRE_FIELD(tfrt_wire_job_open_t, detached, 8, BOOL),
};
const tfrt_wire_message_t tfrt_wire_job_open_message =
    TFRT_WIRE_MESSAGE("JobOpen", tfrt_wire_job_open_t, job_open_fields);

static const tfrt_wire_field_t job_opened_fields[] = {
    TFRT_WIRE_FIELD(tfrt_wire_job_opened_t, error, 1, MESSAGE, .form = TFRT_WIRE_FORM_POINTER,
                    .message = &tfrt_wire_error_message),
};
const tfrt_wire_message_t tfrt_wire_job_opened_message =
    TFRT_WIRE_MESSAGE("JobOpened", tfrt_wire_job_opened_t, job_opened_fields);

static const tfrt_wire_field_t job_start_fields[] = {
    TFRT_WIRE_FIELD(tfrt_wire_job_start_t, start, 1, UINT64, .required = true),
    TFRT_WIRE_FIELD(tfrt_wire_job_start_t, program, 2, UINT32, .required = true),
    TFRT_WIRE_FIELD(tfrt_wire_job_start_t, function, 3, UINT32),
    TFRT_WIRE_REPEATED(tfrt_wire_job_start_t, arguments, argument_count, 4, MESSAGE,
                       TFRT_WIRE_MAX_ARGUMENTS, .item_kinds = TFRT_WIRE_JOB_ITEM_KINDS,
                       .message = &tfrt_wire_item_message),
    TFRT_WIRE_FIELD(tfrt_wire_job_start_t, detach, 5, BOOL),
    TFRT_WIRE_FIELD(tfrt_wire_job_start_t, keep_results_ms, 6, UINT64),
};
const tfrt_wire_message_t tfrt_wire_job_start_message =
    TFRT_WIRE_MESSAGE("JobStart", tfrt_wire_job_start_t, job_start_fields);

static const tfrt_wire_field_t job_end_fields[] = {
    TFRT_WIRE_FIELD(tfrt_wire_job_end_t, start, 1, UINT64, .required = true),
    TFRT_WIRE_FIELD(tfrt_wire_job_end_t, request, 2, UINT64),
    TFRT_WIRE_REPEATED(tfrt_wire_job_end_t, results, result_count, 3, MESSAGE,
                       TFRT_WIRE_MAX_RESULTS, .item_kinds = TFRT_WIRE_JOB_ITEM_KINDS,
                       .message = &tfrt_wire_item_message),
    TFRT_WIRE_FIELD(tfrt_wire_job_end_t, error, 4, MESSAGE, .form = TFRT_WIRE_FORM_POINTER,
                    .message = &tfrt_wire_error_message),
};
const tfrt_wire_message_t tfrt_wire_job_end_message =
    TFRT_WIRE_MESSAGE("JobEnd", tfrt_wire_job_end_t, job_end_fields);

static const tfrt_wire_field_t job_close_fields[] = {
    TFRT_WIRE_FIELD(tfrt_wire_job_close_t, error, 1, MESSAGE, .form = TFRT_WIRE_FORM_POINTER,
                    .message = &tfrt_wire_error_message),
};
const tfrt_wire_message_t tfrt_wire_job_close_message =
    TFRT_WIRE_MESSAGE("JobClose", tfrt_wire_job_close_t, job_close_fields);

static const tfrt_wire_field_t job_detach_fields[] = {
    TFRT_WIRE_FIELD(tfrt_wire_job_detach_t, error, 1, MESSAGE, .form = TFRT_WIRE_FORM_POINTER,
                    .message = &tfrt_wire_error_message),
};
const tfrt_wire_message_t tfrt_wire_job_detach_message =
    TFRT_WIRE_MESSAGE("JobDetach", tfrt_wire_job_detach_t, job_detach_fields);
