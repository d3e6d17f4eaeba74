#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Installs what is missing, builds, starts three workers on this machine, and classifies 1,000
# handwritten digits on them with the program examples/mnist/mnist.mlir. Everything that it has
# started is stopped at the end.
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
bazel build --color=no --curses=no --noshow_progress //tools:tfrt //tools:tfrt_worker </dev/null

folder=$(mktemp -d)
pids=()

# Lets the workers finish, waits for them, and leaves nothing behind.
stop() {
  if ((${#pids[@]})); then
    kill -TERM "${pids[@]}" 2>/dev/null || true
    wait "${pids[@]}" || true
  fi
  rm -rf "$folder"
}
trap stop EXIT

# Any program with this key may use the workers: here, the coordinator below.
TFRT_CLUSTER_KEY=$(od -An -N32 -tx1 /dev/urandom | tr -d ' \n')
export TFRT_CLUSTER_KEY

for rank in 0 1 2; do
  bazel-bin/tools/tfrt_worker --name="demo-$rank" --data-directory=examples/mnist \
    --ready-file="$folder/$rank" --log-level=warning >/dev/null </dev/null &
  pids+=($!)
done

# The ready file of a worker appears whole, when it listens.
hosts=
for rank in 0 1 2; do
  until [[ -e $folder/$rank ]]; do
    kill -0 "${pids[rank]}" || exit 1
    sleep 0.02
  done
  hosts+=${hosts:+,}$(<"$folder/$rank")
done
echo "three workers listen on $hosts"

start=$(date +%s%N)
bazel-bin/tools/tfrt run examples/mnist/mnist.mlir --hosts "$hosts" \
  --arg images=examples/mnist/data/test-images-idx3-ubyte.gz \
  --arg labels=examples/mnist/data/test-labels-idx1-ubyte.gz \
  --trace "$trace"
end=$(date +%s%N)
printf 'time: %d ms\ntrace: %s (open it at ui.perfetto.dev or chrome://tracing)\n' \
  $(((end - start) / 1000000)) "$trace"
