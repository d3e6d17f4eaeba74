// SPDX-License-Identifier: Apache-2.0
//
// Layers of neural networks as work of the CPU's streams.
#include "devices/cpu/cpu_dnn_math.h"
#include "devices/cpu/cpu_impl.h"

static void cpu_dnn_destroy(tfrt_device_dnn_t* dnn) {
  tfrt_allocator_free(dnn->device->platform->allocator, dnn, sizeof(*dnn));
}

static tfrt_status_t cpu_dnn_give(tfrt_device_stream_t* stream, const tfrt_cpu_dnn_call_t* call) {
  return tfrt_cpu_stream_call(stream, tfrt_cpu_dnn_run, call, sizeof(*call));
}

static tfrt_status_t cpu_dnn_give_pool(tfrt_device_dnn_t* dnn, tfrt_device_stream_t* stream,
                                       const tfrt_dnn_pool_t* call) {
  (void)dnn;
  return cpu_dnn_give(stream, &(tfrt_cpu_dnn_call_t){.kind = TFRT_CPU_DNN_POOL, .pool = *call});
}

static tfrt_status_t cpu_dnn_give_unpool(tfrt_device_dnn_t* dnn, tfrt_device_stream_t* stream,
                                         const tfrt_dnn_unpool_t* call) {
  (void)dnn;
  return cpu_dnn_give(stream, &(tfrt_cpu_dnn_call_t){.kind = TFRT_CPU_DNN_UNPOOL, .unpool = *call});
}

static tfrt_status_t cpu_dnn_give_convolve(tfrt_device_dnn_t* dnn, tfrt_device_stream_t* stream,
                                           const tfrt_dnn_convolve_t* call) {
  (void)dnn;
  return cpu_dnn_give(stream,
                      &(tfrt_cpu_dnn_call_t){.kind = TFRT_CPU_DNN_CONVOLVE, .convolve = *call});
}

static tfrt_status_t cpu_dnn_give_fuse(tfrt_device_dnn_t* dnn, tfrt_device_stream_t* stream,
                                       const tfrt_dnn_fuse_t* call) {
  (void)dnn;
  return cpu_dnn_give(stream, &(tfrt_cpu_dnn_call_t){.kind = TFRT_CPU_DNN_FUSE, .fuse = *call});
}

// --- Plans -------------------------------------------------------------------------------

static void cpu_dnn_plan_destroy(tfrt_device_dnn_plan_t* plan) {
  tfrt_allocator_free(plan->device->platform->allocator, plan, sizeof(*plan));
}

static tfrt_status_t cpu_dnn_plan_run(tfrt_device_dnn_plan_t* plan, tfrt_device_dnn_t* dnn,
                                      tfrt_device_stream_t* stream,
                                      const tfrt_dnn_plan_memory_t* memory) {
  (void)dnn;
  return cpu_dnn_give(stream,
                      &(tfrt_cpu_dnn_call_t){.kind = TFRT_CPU_DNN_PLAN,
                                             .plan = {.form = plan->form, .memory = *memory}});
}

static const tfrt_device_dnn_plan_vtable_t plan_vtable = {
    .destroy = cpu_dnn_plan_destroy,
    .run = cpu_dnn_plan_run,
};

// There is one way for every form, without choices and without a workspace.
static tfrt_status_t cpu_dnn_build(tfrt_device_dnn_t* dnn, const tfrt_dnn_plan_form_t* form,
                                   const tfrt_dnn_engine_t* engine,
                                   tfrt_device_dnn_plan_t** out_plan) {
  (void)engine;
  tfrt_device_dnn_plan_t* plan =
      tfrt_allocator_allocate_zeroed(dnn->device->platform->allocator, sizeof(*plan));
  if (!plan) return tfrt_status_out_of_memory();
  tfrt_device_dnn_plan_initialize(plan, &plan_vtable, dnn->device, form);
  *out_plan = plan;
  return NULL;
}

// --- Life --------------------------------------------------------------------------------

static const tfrt_device_dnn_vtable_t dnn_vtable = {
    .destroy = cpu_dnn_destroy,
    .pool = cpu_dnn_give_pool,
    .unpool = cpu_dnn_give_unpool,
    .convolve = cpu_dnn_give_convolve,
    .fuse = cpu_dnn_give_fuse,
    .build = cpu_dnn_build,
};

tfrt_status_t tfrt_cpu_device_create_dnn(tfrt_device_t* device, tfrt_device_dnn_t** out_dnn) {
  tfrt_device_dnn_t* dnn =
      tfrt_allocator_allocate_zeroed(device->platform->allocator, sizeof(*dnn));
  if (!dnn) return tfrt_status_out_of_memory();
  tfrt_device_dnn_initialize(dnn, &dnn_vtable, device);
  *out_dnn = dnn;
  return NULL;
}
