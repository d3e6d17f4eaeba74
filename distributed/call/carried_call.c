// SPDX-License-Identifier: Apache-2.0
#include "distributed/call/carried_call.h"

// The image of the program of |call|.
static tfrt_status_t tfrt_carried_call_find_image(const tfrt_routed_call_t* call,
                                                  tfrt_string_view_t* out_image) {
  const tfrt_function_t* function = call->function;
  tfrt_bef_file_t* file = function->program ? tfrt_program_file(function->program) : NULL;
  size_t size = 0;
  const char* bytes = file ? tfrt_bef_file_bytes(file, &size) : NULL;
  if (!bytes || size > TFRT_WIRE_MAX_IMAGE_SIZE || function->index != 0) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "@%s is of a program that is not the job's: of such, only function 0 "
                              "of a BEF file of at most %u bytes can be called on other hosts",
                              function->name, TFRT_WIRE_MAX_IMAGE_SIZE);
  }
  if (call->options->retries > 0) {
    return tfrt_status_create(
        TFRT_STATUS_INVALID_ARGUMENT,
        "@%s is of a program that is not the job's: a call of it is not tried "
        "again, so leave retries out",
        function->name);
  }
  *out_image = tfrt_string_view_make(bytes, size);
  return NULL;
}

// Sets |*out_site| to |site| (NULL: unknown) with texts of |texts|. With the lock held.
static void tfrt_carried_call_copy_site(tfrt_text_pool_t* texts, const tfrt_status_origin_t* site,
                                        tfrt_status_origin_t* out_site) {
  *out_site = (tfrt_status_origin_t){.rank = TFRT_STATUS_NO_RANK};
  if (site) *out_site = *site;
  out_site->function = tfrt_text_pool_keep(texts, out_site->function);
  out_site->kernel = tfrt_text_pool_keep(texts, out_site->kernel);
  out_site->file = tfrt_text_pool_keep(texts, out_site->file);
}

static void tfrt_carried_call_keep_texts(tfrt_text_pool_t* texts, const tfrt_routed_call_t* call,
                                         tfrt_status_origin_t* out_site,
                                         tfrt_outgoing_call_request_t* request) {
  tfrt_carried_call_copy_site(texts, call->site, out_site);
  request->site = out_site;
  request->name = tfrt_text_pool_keep(texts, call->function->name);
  request->device = tfrt_text_pool_keep(texts, call->options->device);
  request->results_device = tfrt_text_pool_keep(texts, call->context->device);
}

tfrt_status_t tfrt_carried_call_describe(tfrt_job_t* job, const tfrt_routed_call_t* call,
                                         tfrt_status_origin_t* out_site,
                                         tfrt_outgoing_call_request_t* request) {
  tfrt_carried_call_keep_texts(&job->node->texts, call, out_site, request);
  if (tfrt_program_cache_find_program(job->node, call->function->program)) return NULL;
  request->function = TFRT_WIRE_BUILTIN_RUN;
  return tfrt_carried_call_find_image(call, &request->image);
}

const tfrt_status_origin_t* tfrt_carried_call_keep_site(tfrt_job_t* job,
                                                        const tfrt_execution_context_t* context,
                                                        const tfrt_status_origin_t* site,
                                                        tfrt_status_origin_t* out_site) {
  if (!context->request->options.names_are_short_lived) return site;
  tfrt_node_lock_tables(job->node);
  tfrt_carried_call_copy_site(&job->node->texts, site, out_site);
  tfrt_node_unlock(job->node);
  return out_site;
}

tfrt_status_t tfrt_carried_call_take_program(tfrt_job_t* job, const tfrt_wire_invoke_t* invoke,
                                             tfrt_cached_program_t** out_program) {
  *out_program = NULL;
  if (job->asks_only) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "a program came in a job that only asks");
  }
  tfrt_cached_program_t* program = NULL;
  TFRT_RETURN_IF_ERROR(tfrt_program_cache_add_few_bytes(job->node, invoke->image, &program));
  *out_program = program;
  // The cache has it until the lock is opened.
  tfrt_cached_program_release(program);
  return NULL;
}
