#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
#   mlir_async_bench_test.sh BENCHMARK LIBRARY: runs each case, small, and looks for its line.
set -euo pipefail

output=$("./$1" "./$2" 3 100)
echo "$output"
[[ $(grep -c 'min' <<<"$output") -eq 10 ]]
if "./$1" 2>/dev/null || "./$1" ./absent.so 2>/dev/null; then
  echo "error: a wrong call is no error" >&2
  exit 1
fi
