// SPDX-License-Identifier: Apache-2.0
//
// Layers of neural networks on this host's memory, as plain loops: what CPU devices do for
// devices/device_dnn.h and device_dnn_plan.h. Every element is made of all that it needs at once,
// in f64, and rounded once.
//
// Thread rule: thread-safe. Failure rule: none fails; calls were checked.
#ifndef TFRT_DEVICES_CPU_CPU_DNN_MATH_H_
#define TFRT_DEVICES_CPU_CPU_DNN_MATH_H_

#include "devices/device_dnn_plan.h"

typedef enum tfrt_cpu_dnn_kind_e {
  TFRT_CPU_DNN_POOL,
  TFRT_CPU_DNN_UNPOOL,
  TFRT_CPU_DNN_CONVOLVE,
  TFRT_CPU_DNN_FUSE,
  TFRT_CPU_DNN_PLAN,
} tfrt_cpu_dnn_kind_t;

// A run of a plan, which needs it no longer.
typedef struct tfrt_cpu_dnn_plan_run_s {
  tfrt_dnn_plan_form_t form;
  tfrt_dnn_plan_memory_t memory;
} tfrt_cpu_dnn_plan_run_t;

// Any call, as queues hold it.
typedef struct tfrt_cpu_dnn_call_s {
  tfrt_cpu_dnn_kind_t kind;
  union {
    tfrt_dnn_pool_t pool;
    tfrt_dnn_unpool_t unpool;
    tfrt_dnn_convolve_t convolve;
    tfrt_dnn_fuse_t fuse;
    tfrt_cpu_dnn_plan_run_t plan;
  };
} tfrt_cpu_dnn_call_t;

// Does |call|, a tfrt_cpu_dnn_call_t, with the memory at its addresses; buffers are not looked at.
// Thread-safe.
void tfrt_cpu_dnn_run(const void* call);

#endif  // TFRT_DEVICES_CPU_CPU_DNN_MATH_H_
