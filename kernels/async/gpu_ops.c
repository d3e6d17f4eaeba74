// SPDX-License-Identifier: Apache-2.0
#include "kernels/async/ops.h"

#include "host_runtime/executor/descriptor/op_row.h"

// Work of a device takes tokens, and what it works on; it gives memory, a token, or both.
#define WORK(op, summary, family)                                                     \
  OP("gpu." op, summary, FORM("syntax " family), IN(PASS("operands", TFRT_TYPE_ANY)), \
     OUT(GIVE("results", TFRT_TYPE_ANY)), FLAGS(LANGUAGE, VARIADIC_OPERANDS, VARIADIC_RESULTS))

static const tfrt_kernel_descriptor_t descriptors[] = {
    OP("gpu.binary", "Code of devices: kernels, each with a name.", FORM("syntax gpu_binary"),
       SET(NEED("sym_name", STRING)), FLAGS(LANGUAGE)),
    WORK("wait", "A token behind several, or, without `async`, a wait for them.", "gpu_wait"),
    WORK("alloc", "Memory of a device.", "gpu_alloc"),
    WORK("dealloc", "Gives memory of a device back behind the work before.", "gpu_memory"),
    WORK("memcpy", "Copies memory, of a device or of the host.", "gpu_memory"),
    WORK("memset", "Sets each element of a device's memory to a number.", "gpu_memory"),
    WORK("launch_func", "Runs a kernel on a device.", "gpu_launch"),
};

const tfrt_kernel_table_t tfrt_gpu_language_ops = {descriptors, TFRT_ARRAY_SIZE(descriptors)};
