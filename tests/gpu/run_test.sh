#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# run.sh from packing on: where there is no GPU, and with the fake driver, cuBLAS, cuDNN and NCCL under
# the names of the real ones. A program that breaks one of their rules fails. The figures mean nothing.
set -euo pipefail
# Other tests run beside this one, which has the limits of programs that run alone.
export CK_TIMEOUT_MULTIPLIER=4
packed=$TEST_TMPDIR/packed
BUILT=$PWD tests/gpu/run.sh --pack "$packed"

# Each program finds its libraries in the folder, but for those that come with each system.
for program in "$packed"/{gpu_conformance_test,device_bench,bef_executor,mlir_to_bef,tfrt,tfrt_worker} \
    "$packed/lib/libdnnl.so.2"; do
  LD_LIBRARY_PATH=$packed/lib ldd "$program" | awk '$2 == "=>" {print $1, $3}' | while read -r name path; do
    case $name in
      libc.so.*|libm.so.*|libpthread.so.*|libdl.so.*|librt.so.*|libstdc++.so.*|libgcc_s.so.*) ;;
      *) [[ $path == "$packed/lib/$name" ]] || { echo "$program needs $name, which is at $path"; exit 1; } ;;
    esac
  done
done

if [[ ! -e /proc/driver/nvidia/version ]]; then
  code=0
  "$packed/run.sh" --packed 2> said || code=$?
  [[ $code -eq 3 && $(wc -l < said) -eq 1 ]] || { echo "exit code $code, said:"; cat said; exit 1; }
  grep -q 'run.sh: no GPU to test on: device_bench: no CUDA' said
fi

mkdir "$TEST_TMPDIR/driver" "$TEST_TMPDIR/tools"
for name in libcuda.so.1 libcublas.so.13 libcudnn.so.9 libnccl.so.2; do
  ln -s "$PWD/tests/fakes/cuda/libfake_cuda_driver.so" "$TEST_TMPDIR/driver/$name"
done
# Stand-ins for what comes with CUDA's toolkit: the fake driver needs no code but the names.
cat > "$TEST_TMPDIR/tools/nvcc" <<'END'
#!/bin/bash
[[ $* == "-ptx -arch=compute_75 saxpy.cu -o saxpy.ptx" ]] || exit 1
grep -q 'void saxpy(float a, const float\* x, float\* y, unsigned int count)' saxpy.cu
cat > saxpy.ptx <<'PTX'
.version 6.4
.target sm_75
.address_size 64
.visible .entry saxpy(.param .f32 saxpy_0, .param .u64 saxpy_1, .param .u64 saxpy_2, .param .u32 saxpy_3)
{
  trap;
}
PTX
END
cat > "$TEST_TMPDIR/tools/compute-sanitizer" <<'END'
#!/bin/bash
[[ $1 == --tool && $2 == memcheck && $3 == --error-exitcode && $4 == 9 ]] || exit 1
shift 4
[[ $1 != --report-api-errors ]] || shift 2
"$@" || exit 9
echo "========= ERROR SUMMARY: 0 errors"
END
chmod +x "$TEST_TMPDIR"/tools/*

# Runs the parts that are named, all without names; keeps what it says, and its exit code.
try() {
  code=0
  PATH=$TEST_TMPDIR/tools:$PATH LD_LIBRARY_PATH=$TEST_TMPDIR/driver TFRT_FAKE_CUDA_STRICT=1 \
    BENCH_DRIVER=libcuda.so.1 TFRT_BENCH_TOOLS=. "$packed/run.sh" --packed "$@" > said 2>&1 || code=$?
}
try
[[ $code -eq 0 ]] || { echo "exit code $code"; cat said; exit 1; }
grep -q '^Testing on fake GPU 0, driver for CUDA 13.0$' said
[[ $(grep -c '^[a-z]* *passed, [0-9]* s$' said) -eq 8 ]] || { cat said; exit 1; }
! grep 'left out' said "$packed"/logs/* || exit 1
[[ $(grep -c 'ERROR SUMMARY: 0 errors' "$packed/logs/sanitizer") -eq 5 ]]
# Four lines about launches, fifteen about how late the host knows, four about copies, twelve about
# elements, two about transfers, and twenty-four about products.
[[ $(grep -c '^| .* | .* | .* | [0-9.]* |$' "$packed/gpu.md") -eq 61 ]] || { cat "$packed/gpu.md"; exit 1; }
grep -q '^Measured on fake GPU 0' "$packed/gpu.md"

# A machine with one GPU, and without clusters, leaves programs out that need more.
(cd "$packed" && PATH=$TEST_TMPDIR/tools:$PATH LD_LIBRARY_PATH=$TEST_TMPDIR/driver \
  ./programs_test.sh mlir_to_bef bef_executor - programs gpus=1 clusters=0) > said || { cat said; exit 1; }
diff said - <<'END'
ccl on cuda: left out: it needs two GPUs, and there is 1
clusters on cuda: left out: it needs clusters, which this GPU has not
END

# A part that fails keeps no other one from running; a part that there isn't is said before anything runs.
echo 'exit 1' > "$packed/page.sh"
try page kernels
[[ $code -eq 1 ]]
grep -q '^page *FAILED with exit code 1' said
grep -q '^kernels *passed' said
try nothing
[[ $code -eq 2 && $(cat said) == "run.sh: no part 'nothing'"* ]]
