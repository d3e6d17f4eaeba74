// SPDX-License-Identifier: Apache-2.0
#include "kernels/nn/nn_kernels.h"

#include "host_runtime/tensor/tensor_types.h"
#include "kernels/nn/math/ops.h"
#include "kernels/nn/nn_constant.h"
#include "kernels/nn/nn_job.h"
#include "kernels/nn/ops/ops.h"

// The ops in the order of the list, which is that of the op table.
enum {
#define NUMBER(name, summary, attributes, results, work) OP_##name,
  TFRT_NN_OP_LIST(NUMBER)
#undef NUMBER
};

// Jobs outlive the kernel, so they get copies of what says what to run.
#define KERNEL(name, summary, attributes, results, units)                                         \
  static void kernel_##name(tfrt_kernel_frame_t* frame) {                                         \
    const tfrt_nn_op_t op = {                                                                     \
        .descriptor = &tfrt_nn_ops.descriptors[OP_##name], .run = tfrt_nn_##name, .work = units}; \
    tfrt_nn_job_start(frame, &op);                                                                \
  }
TFRT_NN_OP_LIST(KERNEL)
#undef KERNEL

static const tfrt_kernel_registration_t registrations[] = {
#define REGISTRATION(name, summary, attributes, results, work) {"tfrt_nn." #name, kernel_##name},
    TFRT_NN_OP_LIST(REGISTRATION)
#undef REGISTRATION
        {"tfrt_nn.constant", tfrt_nn_constant},
    {"tfrt_nn.condition", tfrt_nn_condition},
};

tfrt_status_t tfrt_nn_kernels_register(tfrt_kernel_registry_t* registry) {
  TFRT_RETURN_IF_ERROR(tfrt_tensor_types_register());
  return tfrt_kernel_registry_add_all(registry, &tfrt_nn_ops, registrations,
                                      TFRT_ARRAY_SIZE(registrations));
}
