#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Runs the blocks of docs/gpu_programs.md, in their order, and compares the tensor that they print with
# that of the page:
#
#   page.sh TFRT PAGE
#
# Without nvcc it says that the page is left out.
set -euo pipefail
tools=$(cd "$(dirname "$1")" && pwd) page=$(realpath "$2")
PATH=$tools:$PATH:/usr/local/cuda/bin
if ! command -v nvcc > /dev/null; then
  echo "left out: no nvcc on PATH"
  exit 0
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
awk '/^```sh$/ {on = 1; next} /^```$/ {on = 0} on' "$page" > blocks.sh
grep '^DenseHostTensor' "$page" > expected
bash -euo pipefail blocks.sh > printed 2>&1 || { cat printed; exit 1; }
grep '^DenseHostTensor' printed | diff expected -
echo "$(grep -c . blocks.sh) lines ran, and printed what the page says"
