#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Installs what is missing, builds, and classifies 1,000 handwritten digits with the program
# examples/mnist/mnist.mlir: text to BEF, BEF to kernels, kernels to an accuracy.
#
#   tools/demo.sh [--trace FILE]
set -euo pipefail

cd "$(dirname "$0")/.."
trace=${TMPDIR:-/tmp}/tfrt-mnist-trace.json
case "${1:-}" in
  "") ;;
  --trace)
    trace=${2:?"--trace wants a FILE"}
    ;;
  *)
    echo "usage: tools/demo.sh [--trace FILE]" >&2
    exit 2
    ;;
esac

tools/install_deps.sh
bazel build --color=no --curses=no --noshow_progress //tools:tfrt </dev/null

start=$(date +%s%N)
bazel-bin/tools/tfrt run examples/mnist/mnist.mlir \
  --arg images=examples/mnist/data/test-images-idx3-ubyte.gz \
  --arg labels=examples/mnist/data/test-labels-idx1-ubyte.gz \
  --trace "$trace"
end=$(date +%s%N)
printf 'time: %d ms\ntrace: %s (open it at ui.perfetto.dev or chrome://tracing)\n' \
  $(((end - start) / 1000000)) "$trace"
