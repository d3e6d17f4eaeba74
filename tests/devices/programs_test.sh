#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Programs with devices, on the CPU and on CUDA over the fake driver:
#
#   programs_test.sh MLIR_TO_BEF BEF_EXECUTOR FAKE_DRIVER|- FOLDER [gpus=N] [clusters=0|1]
#
# Each FOLDER/NAME.mlir names the platform CPU and prints what NAME.out says, without threads
# and with two. For CUDA, the text is the same but for that name, and so is the output. Errors
# are compared with the comments `expected-error` of the text, `on-cuda-error` for CUDA alone. With
# `-` for the fake driver it is CUDA alone, on GPUs. The last arguments say how many GPUs there are and
# whether they have clusters; programs that need more are left out. Where there are two, members of a
# group are on GPUs of their own, and so is work on `another device`.
set -euo pipefail
mlir_to_bef=$PWD/$1 bef_executor=$PWD/$2 folder=$PWD/$4
gpus=3 clusters=1
for fact in "${@:5}"; do
  [[ $fact =~ ^(gpus|clusters)=[0-9]+$ ]] || { echo "what is '$fact'?" >&2; exit 2; }
  declare "$fact"
done
if [[ $3 == - ]]; then
  platforms=cuda library=
else
  platforms="cpu cuda" library=$PWD/$3
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp "$folder"/*.ptx "$work"
cd "$work"
# Removes the drivers' own messages, the number of devices, and addresses.
same='s/error: .*\(C[PUDA]*_ERROR_[A-Z_]*\).*/error: \1/; s/: this host has [0-9]* of them//
      s/pointer=0x[0-9a-f]* /pointer=... /'

# Says why the program $1 can't run on the platform $2, if so.
lacks() {
  [[ $2 == cuda ]] || return 0
  [[ $1 != ccl || $gpus -ge 2 ]] || echo "it needs two GPUs, and there is $gpus"
  [[ $1 != clusters || $clusters -eq 1 ]] || echo "it needs clusters, which this GPU has not"
}

# Says what a run that printed this lacked, if so: a GPU may be there without NVIDIA's libraries of
# maths, and a cuDNN may have no engine of that number.
lacked() {
  [[ -z $library ]] || return 0
  grep -Em 1 -o 'no (cu[BD]|NCCL).*|CUDNN_STATUS_NOT_SUPPORTED' printed || true
}

count=0
for text in "$folder"/*.mlir; do
  name=$(basename "$text" .mlir)
  for platform in $platforms; do
    sed "s/\(device.get\|unique_id\) CPU/\1 ${platform^^}/; s/device = \"cpu:/device = \"$platform:/
         s/on-$platform-error/expected-error/" "$text" > "$name.mlir"
    [[ $platform != cuda || $gpus -lt 2 ]] ||
      sed -i '/another device/s/cuda:0/cuda:1/
              /func.func @\(sum\|exchange\)(/,/^}/s/device.get CUDA, %ordinal/device.get CUDA, %rank/' "$name.mlir"
    sed "s/cpu:/$platform:/g; s/CPU_ERROR_/${platform^^}_ERROR_/g; s/(CPU)/(${platform^^})/" "${text%.mlir}.out" > expected
    "$mlir_to_bef" "$name.mlir" > "$name.bef"
    reason=$(lacks "$name" "$platform")
    if [[ $reason ]]; then
      echo "$name on $platform: left out: $reason"
      continue
    fi
    for queue in s mstd:2; do
      code=0
      "$bef_executor" --work_queue_type=$queue --cuda_library_for_testing="$library" \
          "$name.bef" > printed 2> said || code=$?
      reason=$(lacked)
      if [[ $reason ]]; then
        echo "$name on $platform, $queue: left out: $reason"
        continue
      fi
      [[ $code -eq 0 ]] || { echo "$name on $platform, $queue: exit code $code"; cat said printed; exit 1; }
      grep -v '^Choosing' printed | sed "$same" > output
      diff output expected || { echo "$name on $platform, $queue: another output"; exit 1; }
      # CUDA has graphs: what can be captured is.
      [[ $platform != cuda ]] || ! grep "'push' is no graph" said || exit 1
      count=$((count + 1))
    done
  done
done
[[ $count -ge 4 ]] || { echo "only $count runs"; exit 1; }
