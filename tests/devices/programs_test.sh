#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Programs with devices, on the CPU and on CUDA over the fake driver:
#
#   programs_test.sh MLIR_TO_BEF BEF_EXECUTOR FAKE_DRIVER|- FOLDER
#
# Each FOLDER/NAME.mlir names the platform CPU and prints what NAME.out says, without threads
# and with two. For CUDA, the text is the same but for that name, and so is the output. Errors
# are compared with the comments `expected-error` of the text, `on-cuda-error` for CUDA alone. With `-` for the fake driver it is
# CUDA alone, on a GPU.
set -euo pipefail
mlir_to_bef=$PWD/$1 bef_executor=$PWD/$2 folder=$PWD/$4
if [[ $3 == - ]]; then
  platforms=cuda library=
else
  platforms="cpu cuda" library=$PWD/$3
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp "$folder"/*.ptx "$work"
cd "$work"
# What drivers say in words of their own, how many devices there are, and addresses.
same='s/error: .*\(C[PUDA]*_ERROR_[A-Z_]*\).*/error: \1/; s/: this host has [0-9]* of them//
      s/pointer=0x[0-9a-f]* /pointer=... /'
count=0
for text in "$folder"/*.mlir; do
  name=$(basename "$text" .mlir)
  for platform in $platforms; do
    sed "s/\(device.get\|unique_id\) CPU/\1 ${platform^^}/; s/device = \"cpu:/device = \"$platform:/
         s/on-$platform-error/expected-error/" "$text" > "$name.mlir"
    sed "s/cpu:/$platform:/g; s/CPU_ERROR_/${platform^^}_ERROR_/g; s/(CPU)/(${platform^^})/" "${text%.mlir}.out" > expected
    "$mlir_to_bef" "$name.mlir" > "$name.bef"
    for queue in s mstd:2; do
      "$bef_executor" --work_queue_type=$queue --cuda_library_for_testing="$library" \
          "$name.bef" > printed 2> said || { echo "$name on $platform, $queue: exit code $?"; cat said; exit 1; }
      # A GPU may be there without NVIDIA's libraries of maths.
      if [[ -z $library ]] && grep -Eq 'error: no (cu[BD]|NCCL)' printed; then
        echo "$name on $platform, $queue: left out: $(grep -Em 1 -o 'no (cu[BD]|NCCL).*' printed)"
        continue
      fi
      # NCCL takes no two members on one GPU, as the program has them.
      if [[ -z $library && $name == ccl ]] && grep -q 'ncclInvalidUsage' printed; then
        echo "$name on $platform, $queue: left out: two members on a GPU"
        continue
      fi
      # Neither has each of them clusters.
      if [[ -z $library && $name == clusters ]] && ! grep -q 'values' printed; then
        echo "$name on $platform, $queue: left out: no clusters"
        continue
      fi
      # A cuDNN may have no engine of that number.
      if [[ -z $library && $name == dnn_plan ]] && grep -q 'CUDNN_STATUS_NOT_SUPPORTED' printed; then
        echo "$name on $platform, $queue: left out: an engine that is not there"
        continue
      fi
      grep -v '^Choosing' printed | sed "$same" > output
      diff output expected || { echo "$name on $platform, $queue: another output"; exit 1; }
      # CUDA has graphs: what can be captured is.
      [[ $platform != cuda ]] || ! grep "'push' is no graph" said || exit 1
      count=$((count + 1))
    done
  done
done
[[ $count -ge 4 ]] || { echo "only $count runs"; exit 1; }
