// SPDX-License-Identifier: Apache-2.0
//
// All of libtfrt: one include for a program that runs host programs. The headers behind it say
// everything; in the order in which a program needs them:
//
//   host_context.h        what a process has one of; needs a work queue (inline_work_queue.h,
//                         thread_pool_work_queue.h) and an allocator (allocator.h)
//   standard_kernels.h    the kernels that come with libtfrt
//   gpu.h                 devices and their kernels, for who wants them
//   kernel_library.h      kernels from elsewhere
//   device_library.h      devices from elsewhere
//   model.h               the short way: tensors in, one function, tensors out
//   program_source.h      a program from a text or a BEF file
//   request_context.h     one execution: cancel, deadline (request_deadline.h), output
//   function.h            the call
//   async_value.h         arguments and results; blocking_wait.h waits for them
//   eager_op.h            one op without a program
//   status.h              errors
//
// Thread rule and failure rule: those of each header.
#ifndef TFRT_EMBEDDING_TFRT_H_
#define TFRT_EMBEDDING_TFRT_H_

#include "embedding/device_library.h"
#include "embedding/gpu.h"
#include "embedding/kernel_library.h"
#include "embedding/model.h"
#include "embedding/program_source.h"
#include "embedding/standard_kernels.h"
#include "host_runtime/async/blocking_wait.h"
#include "host_runtime/async/inline_work_queue.h"
#include "host_runtime/async/thread_pool_work_queue.h"
#include "host_runtime/async/timer_queue.h"
#include "host_runtime/base/counting_allocator.h"
#include "host_runtime/base/metric_table.h"
#include "host_runtime/base/trace.h"
#include "host_runtime/bef/bef_file.h"
#include "host_runtime/eager/eager_attribute.h"
#include "host_runtime/eager/eager_op.h"
#include "host_runtime/executor/program/program.h"
#include "host_runtime/executor/program/race_memory.h"
#include "host_runtime/executor/request/output.h"
#include "host_runtime/executor/request/request_deadline.h"

#endif  // TFRT_EMBEDDING_TFRT_H_
