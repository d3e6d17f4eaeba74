#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# The handwritten digits on three workers of this machine, each on the same first device:
#
#   digits.sh TFRT PLATFORM FOLDER [true|false]
#
# FOLDER is examples/mnist. On the platform cuda it is the program as it is; on cpu it is the same program
# with the other name. It runs with the libraries where they are (true), with the kernels of the example
# (false), or with each. All logits have to be those of the host, to 1/1000, and 996 digits right.
set -euo pipefail
tfrt=$1 platform=$2 folder=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -r "$folder"/{weights,kernels.ptx} "$work"
sed "s/\"cuda:0\"/\"$platform:0\"/" "$folder/mnist_devices.mlir" > "$work/mnist_devices.mlir"

# Runs the program with has_libraries=$1; 1 if there are no such libraries.
classify() {
  local code=0
  "$tfrt" run "$work/mnist_devices.mlir" --local 3 --arg has_libraries="$1" \
      --arg images="$folder/data/test-images-idx3-ubyte.gz" \
      --arg labels="$folder/data/test-labels-idx1-ubyte.gz" > "$work/printed" 2>&1 || code=$?
  if [[ $1 == true && $code -ne 0 ]] && grep -Eq 'no (cuDNN|cuBLAS)' "$work/printed"; then
    echo "by libraries: left out: $(grep -Eom 1 'no (cuDNN|cuBLAS).*' "$work/printed")"
    return 0
  fi
  if [[ $code -ne 0 ]] ||
     ! grep -q '^996 of 1000 digits are right, and 10000 of 10000 logits as' "$work/printed"; then
    echo "has_libraries=$1: exit code $code"
    cat "$work/printed"
    return 1
  fi
  echo "has_libraries=$1: $(grep 'digits are right' "$work/printed")"
}

for form in ${4:-true false}; do classify "$form"; done
