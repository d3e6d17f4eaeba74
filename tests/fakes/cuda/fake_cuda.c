// SPDX-License-Identifier: Apache-2.0
//
// The test's side of the fake driver.
#include "tests/fakes/cuda/fake_cuda.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

const tfrt_fake_cuda_control_t* tfrt_fake_cuda_control(void) {
  void* library = dlopen(TFRT_FAKE_CUDA_PATH, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  const tfrt_fake_cuda_control_t* control =
      library ? dlsym(library, "tfrt_fake_cuda_control_table") : NULL;
  if (!control) {
    fprintf(stderr, "%s\n", dlerror());
    exit(1);
  }
  return control;
}
