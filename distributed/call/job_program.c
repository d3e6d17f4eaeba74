// SPDX-License-Identifier: Apache-2.0
#include "distributed/call/job_program.h"

#include "distributed/tuning/tuning.h"
#include "distributed/value/object_table.h"
#include "distributed/value/remote_value.h"

// Gives |cached| (+0) the name |handle| of |namer|.
static tfrt_status_t job_add_program(tfrt_job_t* job, uint64_t namer, uint32_t handle,
                                     tfrt_cached_program_t* cached) {
  tfrt_job_program_t* program =
      tfrt_allocator_allocate_zeroed(job->node->options.allocator, sizeof(*program));
  if (!program) return tfrt_status_out_of_memory();
  program->namer = namer;
  program->handle = handle;
  program->cached = tfrt_cached_program_retain(cached);
  tfrt_list_push_back(&job->programs.list, &program->link);
  return NULL;
}

// A Program came. Returns an error (+1) for what is impossible.
static tfrt_status_t job_on_program(const tfrt_incoming_frame_t* in) {
  tfrt_peer_t* peer = in->peer;
  tfrt_job_t* job = in->job;
  const tfrt_wire_program_t* program = &in->body->program;
  if (!job || tfrt_job_is_closed(job)) return NULL;
  if (job->asks_only) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "a program came in a job that only asks");
  }
  if (tfrt_job_find_program(job, peer->incarnation, program->handle)) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "the program handle %u came twice",
                              program->handle);
  }
  tfrt_node_t* node = job->node;
  // The bytes from another source may never come, or come as an error that is not this job's.
  const tfrt_program_source_t source = {.job = job, .owner = program->reference.owner};
  tfrt_cached_program_t* cached = tfrt_program_cache_find(node, program->sha256, &source);
  if (!cached) {
    tfrt_remote_value_t* bytes = tfrt_remote_value_create(job, &program->reference, NULL);
    if (!bytes) return tfrt_status_out_of_memory();
    cached =
        tfrt_program_cache_add(node, program->sha256, program->size, &bytes->base.base, &source);
    tfrt_remote_value_release(bytes);
    if (!cached) return tfrt_status_out_of_memory();
  }
  tfrt_cached_program_load(cached, NULL);
  tfrt_status_t status = job_add_program(job, peer->incarnation, program->handle, cached);
  tfrt_cached_program_release(cached);
  return status;
}

// Sets |*out_program| to the entry of |cached| among the programs that we have named.
static tfrt_status_t job_name_program(tfrt_job_t* job, tfrt_cached_program_t* cached,
                                      tfrt_job_program_t** out_program) {
  *out_program = NULL;
  for (tfrt_list_link_t* link = job->programs.list.next; link != &job->programs.list;
       link = link->next) {
    tfrt_job_program_t* program = TFRT_CONTAINER_OF(link, tfrt_job_program_t, link);
    if (program->namer != job->node->incarnation || program->cached != cached) continue;
    *out_program = program;
    return NULL;
  }
  if (job->programs.next > TFRT_JOB_MAX_PROGRAMS) {
    return tfrt_status_create(TFRT_STATUS_RESOURCE_EXHAUSTED,
                              "a host names at most %u programs in a job: put their functions into "
                              "one, or open another job",
                              TFRT_JOB_MAX_PROGRAMS);
  }
  tfrt_object_t* object = tfrt_object_table_export(job->node->objects, job, cached->bytes);
  if (!object) return tfrt_status_out_of_memory();
  tfrt_status_t status = job_add_program(job, job->node->incarnation, job->programs.next, cached);
  if (status) {
    tfrt_object_table_end_loan(job->node->objects, object);
    return status;
  }
  *out_program = tfrt_job_find_program(job, job->node->incarnation, job->programs.next++);
  (*out_program)->object = object->id;
  object->name = "program";
  return NULL;
}

tfrt_status_t tfrt_job_announce_program(tfrt_job_t* job, tfrt_peer_t* peer,
                                        tfrt_cached_program_t* program, uint32_t* out_handle) {
  *out_handle = 0;
  tfrt_job_program_t* named = NULL;
  TFRT_RETURN_IF_ERROR(job_name_program(job, program, &named));
  tfrt_peer_job_t* known = tfrt_peer_find_or_create_job(peer, job);
  if (!known) return tfrt_status_out_of_memory();
  uint64_t bit = UINT64_C(1) << (named->handle - 1);
  *out_handle = named->handle;
  if (known->told_programs & bit) return NULL;
  tfrt_wire_body_t body = {.kind = TFRT_WIRE_FRAME_PROGRAM,
                           .program = {.handle = named->handle,
                                       .sha256 = tfrt_string_view_make((const char*)program->sha256,
                                                                       sizeof(program->sha256)),
                                       .size = program->size,
                                       .reference = {.id = named->object,
                                                     .owner = job->node->incarnation,
                                                     .owner_rank = job->rank,
                                                     .namer_rank = job->rank}}};
  TFRT_RETURN_IF_ERROR(tfrt_peer_try_send(peer, &(tfrt_peer_frame_t){.job = job}, &body));
  known->told_programs |= bit;
  return NULL;
}

static void job_program_on_job_past(const tfrt_owner_end_t* end) {
  for (tfrt_list_link_t* link; (link = tfrt_list_pop_front(&end->job->programs.list));) {
    tfrt_job_program_t* program = TFRT_CONTAINER_OF(link, tfrt_job_program_t, link);
    tfrt_cached_program_release(program->cached);
    tfrt_allocator_free(end->node->options.allocator, program, sizeof(*program));
  }
}

static const tfrt_owner_rule_t tfrt_job_program_rules[] = {
    {TFRT_OWNER_JOB_PAST, TFRT_OWNER_JOBS, job_program_on_job_past},
};

static const tfrt_frame_handler_t tfrt_job_program_handlers[] = {
    {TFRT_WIRE_FRAME_PROGRAM, job_on_program},
};

const tfrt_node_part_t tfrt_job_program_part = {
    .rules = tfrt_job_program_rules,
    .rule_count = TFRT_ARRAY_SIZE(tfrt_job_program_rules),
    .handlers = tfrt_job_program_handlers,
    .handler_count = TFRT_ARRAY_SIZE(tfrt_job_program_handlers),
};
