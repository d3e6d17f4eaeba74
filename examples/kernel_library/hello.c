// SPDX-License-Identifier: Apache-2.0
//
// The smallest kernel library: one kernel.
#include <tfrt/kernel_library.h>

static void hello_twice(tfrt_kernel_frame_t* frame) {
  tfrt_kernel_frame_set_f64(frame, 0, 2 * tfrt_kernel_frame_f64(frame, 0));
}

static const tfrt_operand_descriptor_t number[] = {{"number", "f64", TFRT_OPERAND_DEMANDED}};
static const tfrt_result_descriptor_t result[] = {{"result", "f64"}};

static const tfrt_kernel_descriptor_t ops[] = {
    {.name = "hello.twice",
     .summary = "Twice a number.",
     .assembly = "operands attr-dict",
     TFRT_OPERANDS(number),
     TFRT_RESULTS(result),
     .flags = TFRT_KERNEL_PURE},
};

static const tfrt_kernel_registration_t kernels[] = {{"hello.twice", hello_twice}};

const tfrt_kernel_library_t tfrt_kernel_library = {
    TFRT_KERNEL_LIBRARY_HEADER("hello"),
    TFRT_KERNEL_LIBRARY_OPS(ops),
    TFRT_KERNEL_LIBRARY_KERNELS(kernels),
};
