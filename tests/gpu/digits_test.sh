#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# The digits on three workers whose device is the host, by kernels, and the fake driver's, by libraries:
# the workers take what the system's libraries offer under their names, which is one file here, as
# the fake is one.
set -euo pipefail
tests/gpu/digits.sh tools/tfrt cpu examples/mnist false
for name in libcuda.so.1 libcublas.so.13 libcudnn.so.9; do
  mkdir -p "$TEST_TMPDIR/driver"
  ln -s "$PWD/tests/fakes/cuda/libfake_cuda_driver.so" "$TEST_TMPDIR/driver/$name"
done
LD_LIBRARY_PATH=$TEST_TMPDIR/driver tests/gpu/digits.sh tools/tfrt cuda examples/mnist true
