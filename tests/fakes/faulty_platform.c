// SPDX-License-Identifier: Apache-2.0
#include "tests/fakes/faulty_platform.h"

#include "devices/device_blas.h"
#include "devices/device_ccl.h"
#include "devices/device_dnn_plan.h"
#include "devices/device_stream.h"

#define MAX_DEVICES 4

typedef struct tfrt_faulty_device_s {
  tfrt_device_t base;
  tfrt_device_t* inner;  // +1
} tfrt_faulty_device_t;

typedef struct tfrt_faulty_platform_s {
  tfrt_device_platform_t base;
  tfrt_device_platform_t* inner;                       // +1
  _Atomic uint32_t countdowns[TFRT_FAULT_KIND_COUNT];  // 0: no call fails
  tfrt_faulty_device_t devices[MAX_DEVICES];
} tfrt_faulty_platform_t;

typedef struct tfrt_faulty_stream_s {
  tfrt_device_stream_t base;
  tfrt_device_stream_t* inner;  // +1
} tfrt_faulty_stream_t;

typedef struct tfrt_faulty_event_s {
  tfrt_device_event_t base;
  tfrt_device_event_t* inner;  // +1
} tfrt_faulty_event_t;

typedef struct tfrt_faulty_module_s {
  tfrt_device_module_t base;
  tfrt_device_module_t* inner;  // +1
} tfrt_faulty_module_t;

typedef struct tfrt_faulty_function_s {
  tfrt_device_function_t base;
  tfrt_device_function_t* inner;  // +1
} tfrt_faulty_function_t;

typedef struct tfrt_faulty_dnn_s {
  tfrt_device_dnn_t base;
  tfrt_device_dnn_t* inner;  // +1
} tfrt_faulty_dnn_t;

typedef struct tfrt_faulty_plan_s {
  tfrt_device_dnn_plan_t base;
  tfrt_device_dnn_plan_t* inner;  // +1
} tfrt_faulty_plan_t;

typedef struct tfrt_faulty_ccl_s {
  tfrt_device_ccl_t base;
  tfrt_device_ccl_t* inner;  // +1
} tfrt_faulty_ccl_t;

typedef struct tfrt_faulty_blas_s {
  tfrt_device_blas_t base;
  tfrt_device_blas_t* inner;  // +1
} tfrt_faulty_blas_t;

static tfrt_device_t* faulty_device_inner(tfrt_device_t* device) {
  return device ? TFRT_CONTAINER_OF(device, tfrt_faulty_device_t, base)->inner : NULL;
}
static tfrt_device_stream_t* faulty_stream_inner(tfrt_device_stream_t* stream) {
  return TFRT_CONTAINER_OF(stream, tfrt_faulty_stream_t, base)->inner;
}
static tfrt_device_event_t* faulty_event_inner(tfrt_device_event_t* event) {
  return TFRT_CONTAINER_OF(event, tfrt_faulty_event_t, base)->inner;
}
static tfrt_device_module_t* faulty_module_inner(tfrt_device_module_t* module) {
  return TFRT_CONTAINER_OF(module, tfrt_faulty_module_t, base)->inner;
}
static tfrt_device_function_t* faulty_function_inner(tfrt_device_function_t* function) {
  return TFRT_CONTAINER_OF(function, tfrt_faulty_function_t, base)->inner;
}

// --- Faults --------------------------------------------------------------------

const char* tfrt_fault_kind_name(tfrt_fault_kind_t kind) {
  static const char* const names[] = {"allocate",    "pin",        "create stream", "create event",
                                      "load module", "function",   "global",        "copy",
                                      "fill",        "launch",     "record",        "wait",
                                      "query",       "await",      "deallocate",    "create blas",
                                      "blas",        "create dnn", "dnn",           "create ccl",
                                      "ccl"};
  _Static_assert(TFRT_ARRAY_SIZE(names) == TFRT_FAULT_KIND_COUNT, "each kind has a name");
  return names[kind];
}

void tfrt_faulty_platform_fail(tfrt_device_platform_t* platform, tfrt_fault_kind_t kind,
                               uint32_t n) {
  tfrt_faulty_platform_t* faulty = TFRT_CONTAINER_OF(platform, tfrt_faulty_platform_t, base);
  atomic_store_explicit(&faulty->countdowns[kind], n, memory_order_relaxed);
}

// The error of this call, if it is the one that is to fail. A broken driver breaks none of its
// own devices: the call just does nothing.
static tfrt_status_t faulty_check(tfrt_device_t* device, tfrt_fault_kind_t kind) {
  tfrt_faulty_platform_t* faulty =
      TFRT_CONTAINER_OF(device->platform, tfrt_faulty_platform_t, base);
  // The loss of the inner device is that of the outer one, too.
  tfrt_status_t lost = tfrt_device_check(faulty_device_inner(device));
  if (lost) tfrt_device_lose(device, lost);
  tfrt_status_release(lost);
  _Atomic uint32_t* countdown = &faulty->countdowns[kind];
  uint32_t left = atomic_load_explicit(countdown, memory_order_relaxed);
  while (left > 0 && !atomic_compare_exchange_weak_explicit(
                         countdown, &left, left - 1, memory_order_relaxed, memory_order_relaxed)) {
  }
  if (left != 1) return NULL;
  return tfrt_status_create(
      kind == TFRT_FAULT_ALLOCATE ? TFRT_STATUS_RESOURCE_EXHAUSTED : TFRT_STATUS_INTERNAL,
      "%s: %s failed: FAULT_ERROR_INJECTED", device->name, tfrt_fault_kind_name(kind));
}

// --- Events --------------------------------------------------------------------

static void faulty_event_destroy(tfrt_device_event_t* event) {
  tfrt_device_event_release(faulty_event_inner(event));
  tfrt_allocator_free(event->device->platform->allocator, event, sizeof(tfrt_faulty_event_t));
}

static tfrt_status_t faulty_event_query(tfrt_device_event_t* event, bool* out_done) {
  TFRT_RETURN_IF_ERROR(faulty_check(event->device, TFRT_FAULT_QUERY));
  return tfrt_device_event_query(faulty_event_inner(event), out_done);
}

static tfrt_async_value_t* faulty_event_await(tfrt_device_event_t* event, bool in_hurry) {
  tfrt_status_t fault = faulty_check(event->device, TFRT_FAULT_AWAIT);
  if (fault) return tfrt_async_value_create_error_take(fault);
  return in_hurry ? tfrt_device_event_await_soon(faulty_event_inner(event))
                  : tfrt_device_event_await(faulty_event_inner(event));
}

static tfrt_status_t faulty_event_elapsed(tfrt_device_event_t* end, tfrt_device_event_t* start,
                                          float* out_milliseconds) {
  return tfrt_device_event_elapsed(faulty_event_inner(end), faulty_event_inner(start),
                                   out_milliseconds);
}

static const tfrt_device_event_vtable_t event_vtable = {faulty_event_destroy, faulty_event_query,
                                                        faulty_event_await, faulty_event_elapsed};

static tfrt_status_t faulty_create_event(tfrt_device_t* device, bool with_timing,
                                         tfrt_device_event_t** out_event) {
  TFRT_RETURN_IF_ERROR(faulty_check(device, TFRT_FAULT_CREATE_EVENT));
  tfrt_device_event_t* inner;
  TFRT_RETURN_IF_ERROR(tfrt_device_create_event(faulty_device_inner(device), with_timing, &inner));
  tfrt_faulty_event_t* event =
      tfrt_allocator_allocate_zeroed(device->platform->allocator, sizeof(*event));
  event->inner = inner;
  tfrt_device_event_initialize(&event->base, &event_vtable, device, with_timing);
  *out_event = &event->base;
  return NULL;
}

// --- Modules -------------------------------------------------------------------

static void faulty_module_destroy(tfrt_device_module_t* module) {
  tfrt_device_module_release(faulty_module_inner(module));
  tfrt_allocator_free(module->device->platform->allocator, module, sizeof(tfrt_faulty_module_t));
}

static void faulty_function_destroy(tfrt_device_function_t* function) {
  tfrt_device_function_release(faulty_function_inner(function));
  tfrt_allocator_free(function->module->device->platform->allocator, function,
                      sizeof(tfrt_faulty_function_t));
}

static const tfrt_device_function_vtable_t function_vtable = {.destroy = faulty_function_destroy};

static tfrt_status_t faulty_module_function(tfrt_device_module_t* module, const char* name,
                                            tfrt_device_function_t** out_function) {
  TFRT_RETURN_IF_ERROR(faulty_check(module->device, TFRT_FAULT_GET_FUNCTION));
  tfrt_device_function_t* inner;
  TFRT_RETURN_IF_ERROR(tfrt_device_module_function(faulty_module_inner(module), name, &inner));
  tfrt_faulty_function_t* function =
      tfrt_allocator_allocate_zeroed(module->device->platform->allocator, sizeof(*function));
  tfrt_status_t status =
      tfrt_device_function_initialize(&function->base, &function_vtable, module, name);
  function->inner = inner;
  function->base.parameter_count = inner->parameter_count;
  memcpy(function->base.parameter_sizes, inner->parameter_sizes, sizeof(inner->parameter_sizes));
  *out_function = &function->base;
  return status;
}

static tfrt_status_t faulty_module_global(tfrt_device_module_t* module, const char* name,
                                          tfrt_device_address_t* out_address, size_t* out_size) {
  TFRT_RETURN_IF_ERROR(faulty_check(module->device, TFRT_FAULT_GET_GLOBAL));
  tfrt_device_module_t* inner = faulty_module_inner(module);
  return inner->vtable->global(inner, name, out_address, out_size);
}

static const tfrt_device_module_vtable_t module_vtable = {
    faulty_module_destroy, faulty_module_function, faulty_module_global};

static tfrt_status_t faulty_load_module(tfrt_device_t* device, const char* image, size_t size,
                                        tfrt_device_module_t** out_module) {
  TFRT_RETURN_IF_ERROR(faulty_check(device, TFRT_FAULT_LOAD_MODULE));
  tfrt_device_module_t* inner;
  TFRT_RETURN_IF_ERROR(tfrt_device_load_module(faulty_device_inner(device), image, size, &inner));
  tfrt_faulty_module_t* module =
      tfrt_allocator_allocate_zeroed(device->platform->allocator, sizeof(*module));
  tfrt_device_module_initialize(&module->base, &module_vtable, device);
  module->inner = inner;
  *out_module = &module->base;
  return NULL;
}

// --- Streams -------------------------------------------------------------------

static void faulty_stream_destroy(tfrt_device_stream_t* stream) {
  tfrt_device_stream_release(faulty_stream_inner(stream));
  tfrt_allocator_free(stream->device->platform->allocator, stream, sizeof(tfrt_faulty_stream_t));
}

static tfrt_status_t faulty_stream_copy(tfrt_device_stream_t* stream,
                                        const tfrt_device_copy_t* copy) {
  TFRT_RETURN_IF_ERROR(faulty_check(stream->device, TFRT_FAULT_COPY));
  tfrt_device_copy_t inner_copy = *copy;
  inner_copy.target_device = faulty_device_inner(copy->target_device);
  inner_copy.source_device = faulty_device_inner(copy->source_device);
  tfrt_device_stream_t* inner = faulty_stream_inner(stream);
  return inner->vtable->copy(inner, &inner_copy);
}

static tfrt_status_t faulty_stream_fill(tfrt_device_stream_t* stream,
                                        const tfrt_device_fill_t* fill) {
  TFRT_RETURN_IF_ERROR(faulty_check(stream->device, TFRT_FAULT_FILL));
  tfrt_device_stream_t* inner = faulty_stream_inner(stream);
  return inner->vtable->fill(inner, fill);
}

static tfrt_status_t faulty_stream_launch(tfrt_device_stream_t* stream,
                                          tfrt_device_function_t* function,
                                          const tfrt_device_launch_t* launch,
                                          void* const* parameters, const size_t* sizes,
                                          uint32_t parameter_count) {
  TFRT_RETURN_IF_ERROR(faulty_check(stream->device, TFRT_FAULT_LAUNCH));
  tfrt_device_stream_t* inner = faulty_stream_inner(stream);
  return inner->vtable->launch(inner, faulty_function_inner(function), launch, parameters, sizes,
                               parameter_count);
}

static tfrt_status_t faulty_stream_record(tfrt_device_stream_t* stream,
                                          tfrt_device_event_t* event) {
  TFRT_RETURN_IF_ERROR(faulty_check(stream->device, TFRT_FAULT_RECORD));
  return tfrt_device_stream_record(faulty_stream_inner(stream), faulty_event_inner(event));
}

static tfrt_status_t faulty_stream_wait(tfrt_device_stream_t* stream, tfrt_device_event_t* event) {
  TFRT_RETURN_IF_ERROR(faulty_check(stream->device, TFRT_FAULT_WAIT));
  return tfrt_device_stream_wait(faulty_stream_inner(stream), faulty_event_inner(event));
}

static tfrt_status_t faulty_stream_allocate(tfrt_device_stream_t* stream, size_t size,
                                            tfrt_device_address_t* out_address) {
  TFRT_RETURN_IF_ERROR(faulty_check(stream->device, TFRT_FAULT_ALLOCATE));
  tfrt_device_stream_t* inner = faulty_stream_inner(stream);
  return inner->vtable->allocate(inner, size, out_address);
}

// The memory does go back: that it doesn't would be a leak of the test.
static tfrt_status_t faulty_stream_deallocate(tfrt_device_stream_t* stream,
                                              tfrt_device_address_t address, size_t size) {
  tfrt_device_stream_t* inner = faulty_stream_inner(stream);
  TFRT_RETURN_IF_ERROR(inner->vtable->deallocate(inner, address, size));
  return faulty_check(stream->device, TFRT_FAULT_DEALLOCATE);
}

// The answer of the inner stream: streams of the CPU have no graphs.
static tfrt_status_t faulty_stream_begin_capture(tfrt_device_stream_t* stream) {
  tfrt_device_stream_t* inner = faulty_stream_inner(stream);
  return inner->vtable->begin_capture(inner);
}

static tfrt_status_t faulty_stream_end_capture(tfrt_device_stream_t* stream,
                                               tfrt_device_graph_t** out_graph) {
  tfrt_device_stream_t* inner = faulty_stream_inner(stream);
  return inner->vtable->end_capture(inner, out_graph);
}

static const tfrt_device_stream_vtable_t stream_vtable = {
    .destroy = faulty_stream_destroy,
    .copy = faulty_stream_copy,
    .fill = faulty_stream_fill,
    .launch = faulty_stream_launch,
    .record = faulty_stream_record,
    .wait = faulty_stream_wait,
    .allocate = faulty_stream_allocate,
    .deallocate = faulty_stream_deallocate,
    .begin_capture = faulty_stream_begin_capture,
    .end_capture = faulty_stream_end_capture,
};

static tfrt_status_t faulty_create_stream(tfrt_device_t* device,
                                          tfrt_device_stream_t** out_stream) {
  TFRT_RETURN_IF_ERROR(faulty_check(device, TFRT_FAULT_CREATE_STREAM));
  tfrt_device_stream_t* inner;
  TFRT_RETURN_IF_ERROR(tfrt_device_create_stream(faulty_device_inner(device), &inner));
  tfrt_faulty_stream_t* stream =
      tfrt_allocator_allocate_zeroed(device->platform->allocator, sizeof(*stream));
  stream->inner = inner;
  tfrt_device_stream_initialize(&stream->base, &stream_vtable, device);
  *out_stream = &stream->base;
  return NULL;
}

// --- Linear algebra ------------------------------------------------------------

static tfrt_device_blas_t* faulty_blas_inner(tfrt_device_blas_t* blas) {
  return TFRT_CONTAINER_OF(blas, tfrt_faulty_blas_t, base)->inner;
}

static void faulty_blas_destroy(tfrt_device_blas_t* blas) {
  tfrt_device_blas_release(faulty_blas_inner(blas));
  tfrt_allocator_free(blas->device->platform->allocator, blas, sizeof(tfrt_faulty_blas_t));
}

static tfrt_status_t faulty_blas_axpy(tfrt_device_blas_t* blas, tfrt_device_stream_t* stream,
                                      const tfrt_blas_axpy_t* call) {
  TFRT_RETURN_IF_ERROR(faulty_check(blas->device, TFRT_FAULT_BLAS));
  tfrt_device_blas_t* inner = faulty_blas_inner(blas);
  return inner->vtable->axpy(inner, faulty_stream_inner(stream), call);
}

static tfrt_status_t faulty_blas_scale(tfrt_device_blas_t* blas, tfrt_device_stream_t* stream,
                                       const tfrt_blas_scale_t* call) {
  TFRT_RETURN_IF_ERROR(faulty_check(blas->device, TFRT_FAULT_BLAS));
  tfrt_device_blas_t* inner = faulty_blas_inner(blas);
  return inner->vtable->scale(inner, faulty_stream_inner(stream), call);
}

static tfrt_status_t faulty_blas_multiply(tfrt_device_blas_t* blas, tfrt_device_stream_t* stream,
                                          const tfrt_blas_multiply_t* call) {
  TFRT_RETURN_IF_ERROR(faulty_check(blas->device, TFRT_FAULT_BLAS));
  tfrt_device_blas_t* inner = faulty_blas_inner(blas);
  return inner->vtable->multiply(inner, faulty_stream_inner(stream), call);
}

static tfrt_status_t faulty_blas_solve(tfrt_device_blas_t* blas, tfrt_device_stream_t* stream,
                                       const tfrt_blas_solve_t* call) {
  TFRT_RETURN_IF_ERROR(faulty_check(blas->device, TFRT_FAULT_BLAS));
  tfrt_device_blas_t* inner = faulty_blas_inner(blas);
  return inner->vtable->solve(inner, faulty_stream_inner(stream), call);
}

static const tfrt_device_blas_vtable_t blas_vtable = {faulty_blas_destroy, faulty_blas_axpy,
                                                      faulty_blas_scale, faulty_blas_multiply,
                                                      faulty_blas_solve};

static tfrt_status_t faulty_create_blas(tfrt_device_t* device, tfrt_device_blas_t** out_blas) {
  TFRT_RETURN_IF_ERROR(faulty_check(device, TFRT_FAULT_CREATE_BLAS));
  tfrt_device_blas_t* inner;
  TFRT_RETURN_IF_ERROR(tfrt_device_create_blas(faulty_device_inner(device), &inner));
  tfrt_faulty_blas_t* blas =
      tfrt_allocator_allocate_zeroed(device->platform->allocator, sizeof(*blas));
  blas->inner = inner;
  tfrt_device_blas_initialize(&blas->base, &blas_vtable, device);
  *out_blas = &blas->base;
  return NULL;
}

// --- Layers of neural networks ---------------------------------------------------

static tfrt_device_dnn_t* faulty_dnn_inner(tfrt_device_dnn_t* dnn) {
  return TFRT_CONTAINER_OF(dnn, tfrt_faulty_dnn_t, base)->inner;
}

static void faulty_dnn_destroy(tfrt_device_dnn_t* dnn) {
  tfrt_device_dnn_release(faulty_dnn_inner(dnn));
  tfrt_allocator_free(dnn->device->platform->allocator, dnn, sizeof(tfrt_faulty_dnn_t));
}

static tfrt_status_t faulty_dnn_pool(tfrt_device_dnn_t* dnn, tfrt_device_stream_t* stream,
                                     const tfrt_dnn_pool_t* call) {
  TFRT_RETURN_IF_ERROR(faulty_check(dnn->device, TFRT_FAULT_DNN));
  tfrt_device_dnn_t* inner = faulty_dnn_inner(dnn);
  return inner->vtable->pool(inner, faulty_stream_inner(stream), call);
}

static tfrt_status_t faulty_dnn_unpool(tfrt_device_dnn_t* dnn, tfrt_device_stream_t* stream,
                                       const tfrt_dnn_unpool_t* call) {
  TFRT_RETURN_IF_ERROR(faulty_check(dnn->device, TFRT_FAULT_DNN));
  tfrt_device_dnn_t* inner = faulty_dnn_inner(dnn);
  return inner->vtable->unpool(inner, faulty_stream_inner(stream), call);
}

static tfrt_status_t faulty_dnn_convolve(tfrt_device_dnn_t* dnn, tfrt_device_stream_t* stream,
                                         const tfrt_dnn_convolve_t* call) {
  TFRT_RETURN_IF_ERROR(faulty_check(dnn->device, TFRT_FAULT_DNN));
  tfrt_device_dnn_t* inner = faulty_dnn_inner(dnn);
  return inner->vtable->convolve(inner, faulty_stream_inner(stream), call);
}

static tfrt_status_t faulty_dnn_fuse(tfrt_device_dnn_t* dnn, tfrt_device_stream_t* stream,
                                     const tfrt_dnn_fuse_t* call) {
  TFRT_RETURN_IF_ERROR(faulty_check(dnn->device, TFRT_FAULT_DNN));
  tfrt_device_dnn_t* inner = faulty_dnn_inner(dnn);
  return inner->vtable->fuse(inner, faulty_stream_inner(stream), call);
}

static void faulty_plan_destroy(tfrt_device_dnn_plan_t* plan) {
  tfrt_device_dnn_plan_release(TFRT_CONTAINER_OF(plan, tfrt_faulty_plan_t, base)->inner);
  tfrt_allocator_free(plan->device->platform->allocator, plan, sizeof(tfrt_faulty_plan_t));
}

static tfrt_status_t faulty_plan_run(tfrt_device_dnn_plan_t* plan, tfrt_device_dnn_t* dnn,
                                     tfrt_device_stream_t* stream,
                                     const tfrt_dnn_plan_memory_t* memory) {
  TFRT_RETURN_IF_ERROR(faulty_check(plan->device, TFRT_FAULT_DNN));
  tfrt_device_dnn_plan_t* inner = TFRT_CONTAINER_OF(plan, tfrt_faulty_plan_t, base)->inner;
  return inner->vtable->run(inner, faulty_dnn_inner(dnn), faulty_stream_inner(stream), memory);
}

static const tfrt_device_dnn_plan_vtable_t plan_vtable = {faulty_plan_destroy, faulty_plan_run};

static tfrt_status_t faulty_dnn_build(tfrt_device_dnn_t* dnn, const tfrt_dnn_plan_form_t* form,
                                      const tfrt_dnn_engine_t* engine,
                                      tfrt_device_dnn_plan_t** out_plan) {
  TFRT_RETURN_IF_ERROR(faulty_check(dnn->device, TFRT_FAULT_DNN));
  tfrt_device_dnn_plan_t* inner;
  TFRT_RETURN_IF_ERROR(tfrt_device_dnn_build(faulty_dnn_inner(dnn), form, engine, &inner));
  tfrt_faulty_plan_t* plan =
      tfrt_allocator_allocate_zeroed(dnn->device->platform->allocator, sizeof(*plan));
  plan->inner = inner;
  tfrt_device_dnn_plan_initialize(&plan->base, &plan_vtable, dnn->device, form);
  *out_plan = &plan->base;
  return NULL;
}

static const tfrt_device_dnn_vtable_t dnn_vtable = {faulty_dnn_destroy, faulty_dnn_pool,
                                                    faulty_dnn_unpool,  faulty_dnn_convolve,
                                                    faulty_dnn_fuse,    faulty_dnn_build};

static tfrt_status_t faulty_create_dnn(tfrt_device_t* device, tfrt_device_dnn_t** out_dnn) {
  TFRT_RETURN_IF_ERROR(faulty_check(device, TFRT_FAULT_CREATE_DNN));
  tfrt_device_dnn_t* inner;
  TFRT_RETURN_IF_ERROR(tfrt_device_create_dnn(faulty_device_inner(device), &inner));
  tfrt_faulty_dnn_t* dnn =
      tfrt_allocator_allocate_zeroed(device->platform->allocator, sizeof(*dnn));
  dnn->inner = inner;
  tfrt_device_dnn_initialize(&dnn->base, &dnn_vtable, device);
  *out_dnn = &dnn->base;
  return NULL;
}

// --- Groups of devices -----------------------------------------------------------

// A list that the inner member has.
typedef struct tfrt_faulty_list_s {
  tfrt_task_t task;
  tfrt_ccl_work_t* outer;
  tfrt_async_value_t* value;  // +1, of the inner list
} tfrt_faulty_list_t;

static tfrt_device_ccl_t* faulty_ccl_inner(tfrt_device_ccl_t* ccl) {
  return TFRT_CONTAINER_OF(ccl, tfrt_faulty_ccl_t, base)->inner;
}

static void faulty_ccl_destroy(tfrt_device_ccl_t* ccl) {
  tfrt_device_ccl_release(faulty_ccl_inner(ccl));
  tfrt_allocator_free(ccl->device->platform->allocator, ccl, sizeof(tfrt_faulty_ccl_t));
}

static tfrt_async_value_t* faulty_ccl_join(tfrt_device_ccl_t* ccl) {
  return tfrt_device_ccl_join(faulty_ccl_inner(ccl));
}

static void faulty_ccl_abort(tfrt_device_ccl_t* ccl, tfrt_status_t reason) {
  tfrt_device_ccl_abort(faulty_ccl_inner(ccl), reason);
}

static void faulty_list_finish(tfrt_task_t* task) {
  tfrt_faulty_list_t* list = TFRT_CONTAINER_OF(task, tfrt_faulty_list_t, task);
  tfrt_ccl_work_t* outer = list->outer;
  tfrt_status_t status = tfrt_async_value_is_error(list->value)
                             ? tfrt_status_retain(tfrt_async_value_error(list->value))
                             : NULL;
  tfrt_async_value_release(list->value);
  tfrt_allocator_free(outer->ccl->device->platform->allocator, list, sizeof(*list));
  tfrt_ccl_work_finish_take(outer, status);
}

// The inner list has the same addresses; the outer one keeps the buffers.
static void faulty_ccl_execute(tfrt_device_ccl_t* ccl, tfrt_ccl_work_t* outer) {
  tfrt_status_t status = faulty_check(ccl->device, TFRT_FAULT_CCL);
  if (status) {
    // The other members would wait for a member that doesn't come.
    tfrt_device_ccl_abort(ccl, status);
    tfrt_ccl_work_finish_take(outer, status);
    return;
  }
  tfrt_allocator_t allocator = ccl->device->platform->allocator;
  tfrt_faulty_list_t* list = tfrt_allocator_allocate_zeroed(allocator, sizeof(*list));
  tfrt_ccl_work_t* inner = tfrt_allocator_allocate_zeroed(
      allocator, sizeof(*inner) + outer->count * sizeof(*inner->calls));
  inner->calls = (tfrt_ccl_call_t*)(inner + 1);
  inner->ccl = tfrt_device_ccl_retain(faulty_ccl_inner(ccl));
  inner->stream = tfrt_device_stream_retain(faulty_stream_inner(outer->stream));
  inner->value = tfrt_async_value_create_unconstructed(TFRT_TYPE_CHAIN);
  inner->count = outer->count;
  for (size_t i = 0; i < outer->count; ++i) {
    inner->calls[i] = outer->calls[i];
    inner->calls[i].input = NULL;
    inner->calls[i].output = NULL;
  }
  list->outer = outer;
  list->value = tfrt_async_value_retain(inner->value);
  tfrt_task_initialize(&list->task, faulty_list_finish);
  inner->ccl->vtable->execute(inner->ccl, inner);
  tfrt_async_value_and_then(list->value, &list->task);
}

static void faulty_ccl_watch(tfrt_device_ccl_t* ccl) {
  tfrt_device_ccl_watch(faulty_ccl_inner(ccl));
}

static tfrt_status_t faulty_ccl_unwatch(tfrt_device_ccl_t* ccl) {
  return tfrt_device_ccl_unwatch(faulty_ccl_inner(ccl));
}

static const tfrt_device_ccl_vtable_t ccl_vtable = {faulty_ccl_destroy, faulty_ccl_join,
                                                    faulty_ccl_execute, faulty_ccl_abort,
                                                    faulty_ccl_watch,   faulty_ccl_unwatch};

static tfrt_status_t faulty_create_ccl(tfrt_device_t* device, const tfrt_ccl_id_t* id, int32_t rank,
                                       int32_t size, tfrt_device_ccl_t** out_ccl) {
  TFRT_RETURN_IF_ERROR(faulty_check(device, TFRT_FAULT_CREATE_CCL));
  tfrt_device_ccl_t* inner;
  TFRT_RETURN_IF_ERROR(tfrt_device_create_ccl(faulty_device_inner(device), id, rank, size, &inner));
  tfrt_faulty_ccl_t* ccl =
      tfrt_allocator_allocate_zeroed(device->platform->allocator, sizeof(*ccl));
  ccl->inner = inner;
  tfrt_device_ccl_initialize(&ccl->base, &ccl_vtable, device, rank, size);
  *out_ccl = &ccl->base;
  return NULL;
}

// --- Devices -------------------------------------------------------------------

static void faulty_device_destroy(tfrt_device_t* device) {
  tfrt_device_release(faulty_device_inner(device));
  tfrt_device_deinitialize(device);
}

static tfrt_status_t faulty_allocate(tfrt_device_t* device, tfrt_device_space_t space, size_t size,
                                     tfrt_device_address_t* out_address) {
  TFRT_RETURN_IF_ERROR(faulty_check(device, TFRT_FAULT_ALLOCATE));
  tfrt_device_t* inner = faulty_device_inner(device);
  return inner->vtable->allocate(inner, space, size, out_address);
}

static tfrt_status_t faulty_deallocate(tfrt_device_t* device, tfrt_device_space_t space,
                                       tfrt_device_address_t address, size_t size) {
  tfrt_device_t* inner = faulty_device_inner(device);
  TFRT_RETURN_IF_ERROR(inner->vtable->deallocate(inner, space, address, size));
  return faulty_check(device, TFRT_FAULT_DEALLOCATE);
}

static tfrt_status_t faulty_pin(tfrt_device_t* device, void* data, size_t size) {
  TFRT_RETURN_IF_ERROR(faulty_check(device, TFRT_FAULT_PIN));
  tfrt_device_t* inner = faulty_device_inner(device);
  return inner->vtable->pin(inner, data, size);
}

static tfrt_status_t faulty_unpin(tfrt_device_t* device, void* data, size_t size) {
  tfrt_device_t* inner = faulty_device_inner(device);
  return inner->vtable->unpin(inner, data, size);
}

static tfrt_status_t faulty_can_copy_from(tfrt_device_t* device, tfrt_device_t* peer,
                                          bool* out_can) {
  tfrt_device_t* inner = faulty_device_inner(device);
  return inner->vtable->can_copy_from(inner, faulty_device_inner(peer), out_can);
}

static tfrt_status_t faulty_ccl_site(tfrt_device_t* device, tfrt_ccl_site_t* out_site) {
  return tfrt_device_ccl_site(faulty_device_inner(device), out_site);
}

static const tfrt_device_vtable_t device_vtable = {
    .destroy = faulty_device_destroy,
    .allocate = faulty_allocate,
    .deallocate = faulty_deallocate,
    .pin = faulty_pin,
    .unpin = faulty_unpin,
    .create_stream = faulty_create_stream,
    .create_event = faulty_create_event,
    .load_module = faulty_load_module,
    .can_copy_from = faulty_can_copy_from,
    .create_blas = faulty_create_blas,
    .create_dnn = faulty_create_dnn,
    .create_ccl = faulty_create_ccl,
    .ccl_site = faulty_ccl_site,
};

// --- The platform --------------------------------------------------------------

static void faulty_platform_destroy(tfrt_device_platform_t* base) {
  tfrt_faulty_platform_t* platform = TFRT_CONTAINER_OF(base, tfrt_faulty_platform_t, base);
  tfrt_allocator_t allocator = base->allocator;
  for (uint32_t i = 0; i < base->device_count; ++i) {
    faulty_device_destroy(&platform->devices[i].base);
  }
  tfrt_device_platform_release(platform->inner);
  tfrt_device_platform_deinitialize(base);
  tfrt_allocator_free(allocator, platform, sizeof(*platform));
}

static tfrt_status_t faulty_platform_device(tfrt_device_platform_t* base, uint32_t ordinal,
                                            tfrt_device_t** out_device) {
  *out_device = &TFRT_CONTAINER_OF(base, tfrt_faulty_platform_t, base)->devices[ordinal].base;
  return NULL;
}

static tfrt_status_t faulty_platform_create_ccl_id(tfrt_device_platform_t* base,
                                                   tfrt_ccl_id_t* out_id) {
  tfrt_device_platform_t* inner = TFRT_CONTAINER_OF(base, tfrt_faulty_platform_t, base)->inner;
  return tfrt_device_platform_create_ccl_id(inner, out_id);
}

static const tfrt_device_platform_vtable_t platform_vtable = {
    .destroy = faulty_platform_destroy,
    .device = faulty_platform_device,
    .create_ccl_id = faulty_platform_create_ccl_id,
};

tfrt_status_t tfrt_faulty_platform_create(tfrt_device_platform_t* inner,
                                          tfrt_device_platform_t** out_platform) {
  *out_platform = NULL;
  tfrt_faulty_platform_t* platform =
      tfrt_allocator_allocate_zeroed(inner->allocator, sizeof(*platform));
  if (!platform) return tfrt_status_out_of_memory();
  uint32_t count = inner->device_count < MAX_DEVICES ? inner->device_count : MAX_DEVICES;
  tfrt_device_platform_initialize(&platform->base, &platform_vtable, "faulty", count,
                                  inner->allocator, inner->work_queue);
  platform->inner = tfrt_device_platform_retain(inner);
  tfrt_status_t status = NULL;
  for (uint32_t i = 0; i < count && !status; ++i) {
    tfrt_faulty_device_t* device = &platform->devices[i];
    tfrt_device_initialize(&device->base, &device_vtable, &platform->base, i);
    status = tfrt_device_platform_device(inner, i, &device->inner);
    if (!status) device->base.properties = device->inner->properties;
  }
  if (status) {
    faulty_platform_destroy(&platform->base);
    return status;
  }
  *out_platform = &platform->base;
  return NULL;
}
