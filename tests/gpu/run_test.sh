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
tests/gpu/device_bench tests/fakes/cuda/libfake_cuda_driver.so > figures
# Three lines about launches, four about copies, and six about products, which have nothing to be
# compared with here.
[[ $(grep -c '^| .* | .* | .* | [0-9.]* |$' figures) -eq 7 &&
   $(grep -c '^| .* | no cuBLAS | .* | - |$' figures) -eq 6 &&
   $(wc -l < figures) -eq 13 ]] || { cat figures; exit 1; }
