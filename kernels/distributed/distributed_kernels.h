// SPDX-License-Identifier: Apache-2.0
//
// Hosts in programs: which one this is, calls to one or to all, lists of their results, and values
// that move. The op table, ops.c, describes each kernel.
//
//   tfrt_dist.host %i --> %h --> tfrt_dist.call %h @f(...)      request's router --> another host
//   tfrt_dist.call_all @f(...) --> %list --> list.sum, list.get ...
//
// The kernels know hosts only as the request's router does (call_router.h): on a cluster that
// is the job's, in one process host_runtime/executor/hosts/in_process_hosts.h, or nobody, and then
// this process is the only host.
//
// Thread rule: registration is thread-compatible; the kernels are thread-safe.
// Failure rule: a kernel's failure is its results' error, with its place in the program.
#ifndef TFRT_KERNELS_DISTRIBUTED_DISTRIBUTED_KERNELS_H_
#define TFRT_KERNELS_DISTRIBUTED_DISTRIBUTED_KERNELS_H_

#include "host_runtime/executor/kernel/kernel_registry.h"

// Registers the types of this room, and of host_runtime/tensor, and adds the kernels to
// |registry|. Thread-compatible.
tfrt_status_t tfrt_distributed_kernels_register(tfrt_kernel_registry_t* registry) TFRT_MUST_USE;

#endif  // TFRT_KERNELS_DISTRIBUTED_DISTRIBUTED_KERNELS_H_
