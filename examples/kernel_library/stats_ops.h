// SPDX-License-Identifier: Apache-2.0
//
// The op table of the library.
#ifndef STATS_OPS_H_
#define STATS_OPS_H_

#include <tfrt/kernel_library.h>

enum { STATS_OP_COUNT = 7 };
extern const tfrt_kernel_descriptor_t stats_ops[STATS_OP_COUNT];

#endif  // STATS_OPS_H_
