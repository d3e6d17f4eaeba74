#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Everything that needs a GPU: the tests on one, and the figures of docs/gpu.md.
#
#   tests/gpu/run.sh                   builds, tests, measures, writes docs/gpu.md
#   tests/gpu/run.sh --pack FOLDER     builds only, and puts what is needed into FOLDER, for
#                                      a machine with a GPU and without Bazel; with it come the
#                                      shared libraries that the machine may lack, and env.sh, which
#                                      sets the path to them (run.sh --packed reads it itself)
#   FOLDER/run.sh --packed [PART...]   tests and measures there: all parts, or those named; writes
#                                      FOLDER/gpu.md when the benchmark was one of them
#
# The parts: conformance, lending (memory between processes), kernels, programs, digits, page
# (docs/gpu_programs.md), bench, sanitizer. A part that fails, or that takes more than PART_SECONDS (1800),
# doesn't keep the others from running; a summary comes last. FOLDER/logs has what each of them said.
#
# Without a GPU it says so in one line. Exit codes: 0 all passed and the figures are written;
# 1 a part failed; 2 wrong usage; 3 no GPU.
#
# For its test: BUILT names a folder with the programs, which are not built then; with BENCH_DRIVER, another
# driver's library, the benchmark only shows that it runs.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
parts="conformance lending kernels programs digits page bench sanitizer"

fail() { echo "run.sh: $2" >&2; exit "$1"; }

# The shared libraries of the programs in the folder $1 that another machine may lack: those that they
# are linked with, and oneDNN, which they open when the host's processor is to do mathematics. All but
# the C library's and the compiler's, which come with each system, and must be the system's own.
copy_libraries() {
  local program
  mkdir -p "$1/lib"
  cp -fL "$(PATH=$PATH:/sbin:/usr/sbin ldconfig -p | awk '$1 == "libdnnl.so.2" {print $NF; exit}')" "$1/lib"
  for program in "$1"/* "$1/lib/libdnnl.so.2"; do
    [[ -f $program && -x $program && $program != *.sh || $program == *.so.* ]] || continue
    ldd "$program" | awk '$2 == "=>" && $3 ~ /^\// {print $1, $3}'
  done | sort -u | while read -r name path; do
    case $name in
      libc.so.*|libm.so.*|libpthread.so.*|libdl.so.*|librt.so.*|libstdc++.so.*|libgcc_s.so.*) ;;
      *) cp -fL "$path" "$1/lib/$name" ;;
    esac
  done
  cat > "$1/env.sh" <<'EOF'
# To be read by a shell: lets the programs of this folder find the libraries that came with them, those of
# NVIDIA's that Python packages brought, and then those of CUDA's toolkits; and the shell their tools.
packed=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
LD_LIBRARY_PATH=$packed/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
for python in python3 /opt/*/bin/python3 /opt/*/.venv/bin/python3; do
  command -v "$python" > /dev/null || continue
  site=$("$python" -c 'import sysconfig; print(sysconfig.get_paths()["purelib"])' 2> /dev/null) || continue
  for folder in "$site"/nvidia/*/lib; do
    [[ ! -d $folder ]] || LD_LIBRARY_PATH=$LD_LIBRARY_PATH:$folder
  done
done
for folder in /usr/local/cuda/lib64 /usr/local/cuda-*/lib64; do
  [[ ! -d $folder ]] || LD_LIBRARY_PATH=$LD_LIBRARY_PATH:$folder
done
for folder in /usr/local/cuda/bin /usr/local/cuda-*/bin; do
  [[ ! -d $folder ]] || PATH=$PATH:$folder
done
export LD_LIBRARY_PATH PATH
EOF
}

# Builds all, and copies it to the folder $1.
pack() {
  local root=$here/../.. built=${BUILT:-}
  [[ $built ]] || (cd "$root" && bazel build --jobs="${JOBS:-2}" //tests/gpu:gpu_conformance_test \
      //tests/gpu:gpu_lending_test //tests/gpu:gpu_standard_kernels_test //tests/gpu:device_bench \
      //tools:bef_executor //tools:mlir_to_bef //tools:tfrt //tools:tfrt_worker)
  built=${built:-$root/bazel-bin}
  mkdir -p "$1"
  cp -f "$built"/tests/gpu/{gpu_conformance_test,gpu_lending_test,gpu_standard_kernels_test,device_bench} \
      "$built"/tools/{bef_executor,mlir_to_bef,tfrt,tfrt_worker} \
      "$root/tests/devices/programs_test.sh" "$root"/docs/{gpu,gpu_programs}.md \
      "$here"/{run,digits,page}.sh "$1"
  rm -rf "$1"/{programs,mnist}
  cp -rL "$root/tests/programs/devices" "$1/programs"
  mkdir -p "$1/mnist/data"
  cp -rL "$root"/examples/mnist/{mnist_devices.mlir,kernels.ptx,weights} "$1/mnist"
  cp "$root"/examples/mnist/data/test-* "$1/mnist/data"
  chmod -R u+w "$1"
  strip --strip-debug "$1"/{gpu_conformance_test,gpu_lending_test,gpu_standard_kernels_test,device_bench} \
      "$1"/{bef_executor,mlir_to_bef,tfrt,tfrt_worker}
  copy_libraries "$1"
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

# --- The parts -------------------------------------------------------------------------------

run_conformance() { CK_DEFAULT_TIMEOUT=60 ./gpu_conformance_test; }
run_lending() { CK_DEFAULT_TIMEOUT=60 ./gpu_lending_test; }
run_kernels() { CK_DEFAULT_TIMEOUT=60 ./gpu_standard_kernels_test; }
run_programs() { ./programs_test.sh mlir_to_bef bef_executor - programs $(./device_bench --facts); }
run_digits() { ./digits.sh ./tfrt cuda mnist; }
run_page() { ./page.sh ./tfrt gpu_programs.md; }
run_bench() { ./device_bench ${BENCH_DRIVER:+"$BENCH_DRIVER"} | tee figures.new && mv figures.new figures; }

# By a tool of CUDA's toolkit: its findings are printed, and counted at the end of each report.
run_sanitizer() {
  if ! command -v compute-sanitizer > /dev/null; then
    echo "left out: no compute-sanitizer on PATH"
    return 0
  fi
  local name calls failed=0
  for name in buffers graphs kernels tensors; do
    sed 's/device.get CPU/device.get CUDA/; s/on-cuda-error/expected-error/' \
        "programs/$name.mlir" > "$name.mlir"
    ./mlir_to_bef "$name.mlir" > "$name.bef"
    cp -f programs/*.ptx .
    # Some of the calls in this one are to fail.
    [[ $name == kernels ]] && calls=no || calls=explicit
    compute-sanitizer --tool memcheck --error-exitcode 9 --report-api-errors $calls \
        ./bef_executor "$name.bef" > "$name.said" 2>&1 ||
      { failed=1; echo "$name:"; head -60 "$name.said"; }
    echo "$name: $(grep 'ERROR SUMMARY' "$name.said" || echo 'no summary')"
  done
  CK_FORK=no CK_DEFAULT_TIMEOUT=600 compute-sanitizer --tool memcheck --error-exitcode 9 \
      ./gpu_standard_kernels_test > kernels.said 2>&1 || { failed=1; head -60 kernels.said; }
  echo "the kernels: $(grep 'ERROR SUMMARY' kernels.said || echo 'no summary')"
  return $failed
}

# Runs the parts that are named, in the folder $1.
run() {
  cd "$1"
  shift
  local device part start code summary="" failed=0
  [[ ! -f env.sh ]] || . ./env.sh
  device=$(./device_bench --device 2> no_device) || fail 3 "no GPU to test on: $(cat no_device)"
  echo "Testing on $device"
  mkdir -p logs
  for part in "$@"; do
    echo "--- $part"
    start=$SECONDS code=0
    # A part stops at the first command of it that fails, which only a shell of its own does here.
    timeout -k 10 "${PART_SECONDS:-1800}" \
        bash -euo pipefail -c "$(declare -f "run_$part"); run_$part" > "logs/$part" 2>&1 || code=$?
    [[ $code -eq 0 ]] && result=passed || { result="FAILED with exit code $code"; failed=1; }
    [[ $code -eq 0 && $part != bench && $part != sanitizer ]] && tail -n 3 "logs/$part" || cat "logs/$part"
    summary+=$(printf '%-12s %s, %d s' "$part" "$result" $((SECONDS - start)))$'\n'
    [[ $part != bench || $code -ne 0 ]] || write_figures gpu.md figures "$device"
  done
  printf -- '--- On %s\n%s' "$device" "$summary"
  [[ $failed -eq 0 ]] || fail 1 "not all parts passed"
}

case "${1:-}" in
  "")
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    pack "$work"
    run "$work" $parts
    cp "$work/gpu.md" "$here/../../docs/gpu.md"
    ;;
  --pack) [[ $# -eq 2 ]] || fail 2 "--pack needs a folder"; pack "$2" ;;
  --packed)
    shift
    for part in "$@"; do
      [[ " $parts " == *" $part "* ]] || fail 2 "no part '$part': there are $parts"
    done
    [[ $# -gt 0 ]] || set -- $parts
    run "$here" "$@"
    ;;
  *) fail 2 "unknown argument '$1'" ;;
esac
