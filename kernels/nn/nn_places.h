// SPDX-License-Identifier: Apache-2.0
//
// The places (kernels/nn/math/kept.h) of the ops of one program: one for each, made when it first
// runs. They are a resource of the program, and end with it.
//
//   program --resources--> "tfrt_nn" --> site --> place
//
// Thread rule: thread-safe. Failure rule: none; without memory there is no place.
#ifndef TFRT_KERNELS_NN_NN_PLACES_H_
#define TFRT_KERNELS_NN_NN_PLACES_H_

#include "host_runtime/executor/kernel/kernel_frame.h"
#include "kernels/nn/math/kept.h"

// The place of the op at |site| (+0, lives as long as the program), or NULL. Thread-safe.
tfrt_nn_place_t* tfrt_nn_places_find(const tfrt_kernel_site_t* site);

#endif  // TFRT_KERNELS_NN_NN_PLACES_H_
