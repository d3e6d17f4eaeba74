// SPDX-License-Identifier: Apache-2.0
//
// A cuDNN from before its backend: a library of its own, in which every call says that it is done.
#include "devices/cuda/cudnn_api.h"
#include "host_runtime/base/macros.h"

// Nobody looks at the parameters.
#pragma GCC diagnostic ignored "-Wunused-parameter"

#define FAKE_ENTRY(name, type, parameters) \
  TFRT_EXPORT type cudnn##name parameters; \
  type cudnn##name parameters { return (type)0; }
TFRT_CUDNN_ENTRIES(FAKE_ENTRY)
