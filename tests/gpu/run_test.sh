#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# run.sh where there is no GPU, and the benchmark over the fake driver, whose numbers mean
# nothing.
set -euo pipefail
cp tests/gpu/run.sh tests/gpu/device_bench "$TEST_TMPDIR"
if [[ ! -e /proc/driver/nvidia/version ]]; then
  code=0
  "$TEST_TMPDIR/run.sh" --packed 2> said || code=$?
  [[ $code -eq 3 && $(wc -l < said) -eq 1 ]] || { echo "exit code $code, said:"; cat said; exit 1; }
  grep -q 'run.sh: no GPU to test on: device_bench: no CUDA' said
fi
# The workers take what the system's libraries offer as the driver.
mkdir "$TEST_TMPDIR/driver"
cp tests/fakes/cuda/libfake_cuda_driver.so "$TEST_TMPDIR/driver/libcuda.so.1"
LD_LIBRARY_PATH=$TEST_TMPDIR/driver TFRT_BENCH_TOOLS=tools \
  tests/gpu/device_bench tests/fakes/cuda/libfake_cuda_driver.so > figures
# Four lines about launches, fifteen about how late the host knows, four about copies, twelve about
# elements, two about transfers, and twenty-four about products.
[[ $(grep -c '^| .* | .* | .* | [0-9.]* |$' figures) -eq 61 &&
   $(wc -l < figures) -eq 61 ]] || { cat figures; exit 1; }
