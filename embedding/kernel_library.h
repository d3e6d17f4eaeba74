// SPDX-License-Identifier: Apache-2.0
//
// All that a kernel library needs: one include for the author of kernels. The functions declared
// here may be called by kernels of a shared library in every program of this project that loads
// some (embedding/kernel_api.py lists it for the linker).
//
// Thread rule and failure rule: those of each header.
#ifndef TFRT_EMBEDDING_KERNEL_LIBRARY_H_
#define TFRT_EMBEDDING_KERNEL_LIBRARY_H_

#include "host_runtime/async/async_value.h"
#include "host_runtime/async/blocking_wait.h"
#include "host_runtime/async/builtin_types.h"
#include "host_runtime/async/cancellation.h"
#include "host_runtime/async/join.h"
#include "host_runtime/async/parallel_for.h"
#include "host_runtime/async/priority_work_queue.h"
#include "host_runtime/async/queued_work.h"
#include "host_runtime/async/type.h"
#include "host_runtime/async/work_queue.h"
#include "host_runtime/async/work_queue_type.h"
#include "host_runtime/base/allocator.h"
#include "host_runtime/base/allocator_type.h"
#include "host_runtime/base/clock.h"
#include "host_runtime/base/file.h"
#include "host_runtime/base/file_system.h"
#include "host_runtime/base/log.h"
#include "host_runtime/base/metrics.h"
#include "host_runtime/base/number_text.h"
#include "host_runtime/base/status.h"
#include "host_runtime/base/string_builder.h"
#include "host_runtime/base/string_view.h"
#include "host_runtime/base/sync.h"
#include "host_runtime/base/trace.h"
#include "host_runtime/base/version.h"
#include "host_runtime/bef/bef_attribute.h"
#include "host_runtime/executor/descriptor/kernel_descriptor.h"
#include "host_runtime/executor/kernel/function.h"
#include "host_runtime/executor/kernel/kernel_frame.h"
#include "host_runtime/executor/kernel/kernel_library.h"
#include "host_runtime/executor/kernel/sync_frame.h"
#include "host_runtime/executor/program/race_memory.h"
#include "host_runtime/executor/request/request_context.h"
#include "host_runtime/host_context.h"
#include "host_runtime/tensor/dense_host_tensor.h"
#include "host_runtime/tensor/dtype.h"
#include "host_runtime/tensor/host_buffer.h"
#include "host_runtime/tensor/host_tensor.h"
#include "host_runtime/tensor/scalar_host_tensor.h"
#include "host_runtime/tensor/shape.h"
#include "host_runtime/tensor/string_host_tensor.h"
#include "host_runtime/tensor/tensor_conversion.h"
#include "host_runtime/tensor/tensor_type.h"
#include "host_runtime/tensor/tensor_types.h"

#endif  // TFRT_EMBEDDING_KERNEL_LIBRARY_H_
