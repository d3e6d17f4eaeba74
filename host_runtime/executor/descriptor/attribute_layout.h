// SPDX-License-Identifier: Apache-2.0
//
// How the op table's kinds of attributes lie in BEF: the one place that ties the kinds that
// kernels declare to the types of the file format. The loader checks attributes by it, and the
// compiler reads those of files that don't name their types.
//
// Thread rule: constant data. Failure rule: none fails.
#ifndef TFRT_HOST_RUNTIME_EXECUTOR_DESCRIPTOR_ATTRIBUTE_LAYOUT_H_
#define TFRT_HOST_RUNTIME_EXECUTOR_DESCRIPTOR_ATTRIBUTE_LAYOUT_H_

#include "host_runtime/bef/bef_format.h"
#include "host_runtime/executor/descriptor/kernel_descriptor.h"

// The type in BEF of an attribute of |kind|; TFRT_BEF_ATTRIBUTE_UNSUPPORTED for symbols, which
// are not stored as attributes. Thread-safe.
tfrt_bef_attribute_type_t tfrt_attribute_layout(tfrt_attribute_kind_t kind);

#endif  // TFRT_HOST_RUNTIME_EXECUTOR_DESCRIPTOR_ATTRIBUTE_LAYOUT_H_
