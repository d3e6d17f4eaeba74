#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Compiles the CUDA sources of this tree to the PTX texts that are kept beside them:
#
#   kernels/device/cuda/compile.sh [--check]
#
# Needs nvcc and ptxas (CUDA 13) on PATH or under /usr/local/cuda/bin; nothing else in the
# project does. With --check nothing is written: it fails if a kept text is not what the source
# gives today.
#
# Any driver refuses PTX of a later version than its own, and any GPU PTX for a later one. So
# each text is marked with the least version and architecture that it needs, which ptxas then
# confirms; nvcc itself marks them with its own version.
set -euo pipefail
cd "$(dirname "$0")/../../.."
PATH="$PATH:/usr/local/cuda/bin"
command -v nvcc ptxas > /dev/null || { echo "compile.sh: there is no nvcc on PATH" >&2; exit 2; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# compile SOURCE ARCHITECTURE_OF_NVCC PTX_VERSION TARGET [FLAG...]: makes SOURCE's .ptx.
compile() {
  local source=$1 kept="${1%.cu}.ptx"
  nvcc -ptx -arch="compute_$2" -O3 "${@:5}" "$source" -o "$work/raw.ptx"
  {
    echo "// SPDX-License-Identifier: Apache-2.0"
    echo "// Made of ${source##*/} by kernels/device/cuda/compile.sh."
    sed -e '/^\/\//d' -e "s/^\.version .*/.version $3/" -e "s/^\.target .*/.target $4/" \
        -e '/^[[:space:]]*\/\/ \.globl/d' -e 's/[[:space:]]*$//' "$work/raw.ptx" | cat -s
  } > "$work/new.ptx"
  ptxas -arch="sm_$2" "$work/new.ptx" -o "$work/checked.cubin"
  if [[ ${check:-} ]]; then
    cmp "$work/new.ptx" "$kept"
  else
    cp "$work/new.ptx" "$kept"
    echo "$kept"
  fi
}

[[ ${1:-} == --check ]] && check=1
# Relocatable, so that its variable can be seen from outside.
compile devices/conformance/test_kernels.cu 75 6.4 sm_70 -rdc=true
compile kernels/device/cuda/standard_kernels.cu 75 6.4 sm_70
compile examples/mnist/kernels.cu 75 6.4 sm_70
# Tensor cores know f16 from 7.0 on, bf16 from 8.0.
compile kernels/device/cuda/f16_kernels.cu 75 6.4 sm_70
compile kernels/device/cuda/f16_sm80_kernels.cu 80 7.0 sm_80
compile kernels/device/cuda/bf16_kernels.cu 80 7.0 sm_80
