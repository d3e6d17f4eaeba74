#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Everything that needs a GPU: the tests on one, and the figures of docs/gpu.md.
#
#   tests/gpu/run.sh                   builds, tests, measures, writes docs/gpu.md
#   tests/gpu/run.sh --pack FOLDER     builds only, and puts what is needed into FOLDER, for
#                                      a machine with a GPU and without Bazel
#   FOLDER/run.sh --packed             tests and measures there; writes FOLDER/gpu.md
#
# Without a GPU it says so in one line. Exit codes: 0 all passed and the figures are written;
# 1 a test failed; 2 wrong usage; 3 no GPU.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)

fail() { echo "run.sh: $2" >&2; exit "$1"; }

# Builds all, and copies it to the folder $1.
pack() {
  local root=$here/../..
  (cd "$root" && bazel build --jobs="${JOBS:-2}" //tests/gpu:gpu_conformance_test \
      //tests/gpu:gpu_standard_kernels_test //tests/gpu:device_bench \
      //tools:bef_executor //tools:mlir_to_bef //tools:tfrt_worker)
  mkdir -p "$1"
  cp -f "$root"/bazel-bin/tests/gpu/{gpu_conformance_test,gpu_standard_kernels_test,device_bench} \
      "$root"/bazel-bin/tools/{bef_executor,mlir_to_bef,tfrt_worker} \
      "$root/tests/devices/programs_test.sh" "$root/docs/gpu.md" "$here/run.sh" "$1"
  rm -rf "$1/programs"
  cp -r "$root/tests/programs/devices" "$1/programs"
  chmod -R u+w "$1"
}

# Replaces the figures of the page $1 by those of this run, which come from $2 on the device $3.
write_figures() {
  local page=$1
  {
    sed -n '1,/<!-- figures -->/p' "$page"
    printf '\nMeasured on %s, %s.\n\n' "$3" "$(date -u +%Y-%m-%d)"
    printf '| | plain driver | this runtime | ratio |\n| --- | --- | --- | --- |\n'
    cat "$2"
    printf '\n'
    sed -n '/<!-- end of figures -->/,$p' "$page"
  } > "$page.new"
  mv "$page.new" "$page"
}

# Tests and measures with what lies in the folder $1.
run() {
  cd "$1"
  local device
  device=$(./device_bench --device 2> no_device) || fail 3 "no GPU to test on: $(cat no_device)"
  echo "Testing on $device"
  CK_DEFAULT_TIMEOUT=60 ./gpu_conformance_test || fail 1 "the conformance suite failed"
  CK_DEFAULT_TIMEOUT=60 ./gpu_standard_kernels_test || fail 1 "the kernels failed"
  ./programs_test.sh mlir_to_bef bef_executor - programs || fail 1 "a program failed"
  ./device_bench > figures || fail 1 "the benchmark failed"
  write_figures gpu.md figures "$device"
  cat figures
}

case "${1:-}" in
  "")
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    pack "$work"
    run "$work"
    cp "$work/gpu.md" "$here/../../docs/gpu.md"
    ;;
  --pack) [[ $# -eq 2 ]] || fail 2 "--pack needs a folder"; pack "$2" ;;
  --packed) run "$here" ;;
  *) fail 2 "unknown argument '$1'" ;;
esac
