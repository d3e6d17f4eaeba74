// SPDX-License-Identifier: Apache-2.0
//
// Linear algebra as work of the CPU's streams.
#include "devices/cpu/cpu_blas_math.h"
#include "devices/cpu/cpu_impl.h"

static void cpu_blas_destroy(tfrt_device_blas_t* blas) {
  tfrt_allocator_free(blas->device->platform->allocator, blas, sizeof(*blas));
}

static tfrt_status_t cpu_blas_give(tfrt_device_stream_t* stream, const tfrt_cpu_blas_call_t* call) {
  return tfrt_cpu_stream_call(stream, tfrt_cpu_blas_run, call, sizeof(*call));
}

static tfrt_status_t cpu_blas_give_axpy(tfrt_device_blas_t* blas, tfrt_device_stream_t* stream,
                                        const tfrt_blas_axpy_t* call) {
  (void)blas;
  return cpu_blas_give(stream, &(tfrt_cpu_blas_call_t){.kind = TFRT_CPU_BLAS_AXPY, .axpy = *call});
}

static tfrt_status_t cpu_blas_give_scale(tfrt_device_blas_t* blas, tfrt_device_stream_t* stream,
                                         const tfrt_blas_scale_t* call) {
  (void)blas;
  return cpu_blas_give(stream,
                       &(tfrt_cpu_blas_call_t){.kind = TFRT_CPU_BLAS_SCALE, .scale = *call});
}

static tfrt_status_t cpu_blas_give_multiply(tfrt_device_blas_t* blas, tfrt_device_stream_t* stream,
                                            const tfrt_blas_multiply_t* call) {
  (void)blas;
  return cpu_blas_give(stream,
                       &(tfrt_cpu_blas_call_t){.kind = TFRT_CPU_BLAS_MULTIPLY, .multiply = *call});
}

static tfrt_status_t cpu_blas_give_solve(tfrt_device_blas_t* blas, tfrt_device_stream_t* stream,
                                         const tfrt_blas_solve_t* call) {
  (void)blas;
  return cpu_blas_give(stream,
                       &(tfrt_cpu_blas_call_t){.kind = TFRT_CPU_BLAS_SOLVE, .solve = *call});
}

static const tfrt_device_blas_vtable_t blas_vtable = {
    .destroy = cpu_blas_destroy,
    .axpy = cpu_blas_give_axpy,
    .scale = cpu_blas_give_scale,
    .multiply = cpu_blas_give_multiply,
    .solve = cpu_blas_give_solve,
};

tfrt_status_t tfrt_cpu_device_create_blas(tfrt_device_t* device, tfrt_device_blas_t** out_blas) {
  tfrt_device_blas_t* blas =
      tfrt_allocator_allocate_zeroed(device->platform->allocator, sizeof(*blas));
  if (!blas) return tfrt_status_out_of_memory();
  tfrt_device_blas_initialize(blas, &blas_vtable, device);
  *out_blas = blas;
  return NULL;
}
