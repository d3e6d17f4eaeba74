// SPDX-License-Identifier: Apache-2.0
//
// How hosts exchange tensors of devices by the devices' own library (devices/device_ccl.h): the
// groups of host_runtime/tensor/tensor_group.h. A group has a stream of its own, as its work may
// wait for other members.
//
//   operand's streams --events--> group's stream: [exchange] --> the result is available
//
// Groups are kept for a series of collectives and a device. Two runs of one series at the same time
// have no order among hosts, so one that is taken is given to nobody else.
//
// Thread rule: constant data.
// Failure rule: as tensor_group.h.
#ifndef TFRT_KERNELS_DEVICE_TENSOR_GROUPS_H_
#define TFRT_KERNELS_DEVICE_TENSOR_GROUPS_H_

#include "host_runtime/tensor/tensor_group.h"

// Those of "!tfrt_gpu.tensor". Thread-safe.
extern const tfrt_tensor_groups_t tfrt_gpu_tensor_groups;

#endif  // TFRT_KERNELS_DEVICE_TENSOR_GROUPS_H_
