// SPDX-License-Identifier: Apache-2.0
//
// The evaluator of constants that a main hands to the compiler: a host of its own with all kernels,
// in which a function of pure ops runs on the calling thread.
//
// Life: the host is made when the first function is run; it stays.
//
// Thread rule: main thread only, after the kernel libraries were loaded.
// Failure rule: a host that can't be made has no kernels, so that nothing is folded.
#ifndef TFRT_TOOLS_KERNELS_CONSTANT_EVALUATOR_H_
#define TFRT_TOOLS_KERNELS_CONSTANT_EVALUATOR_H_

#include "compiler/op_table/constant_evaluator.h"

// The evaluator of this process. Main thread only.
const tfrt_constant_evaluator_t* tfrt_constant_evaluator(void);

#endif  // TFRT_TOOLS_KERNELS_CONSTANT_EVALUATOR_H_
