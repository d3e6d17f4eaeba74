#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Runs clang-tidy with the checks of .clang-tidy on every C file of the product, in the source tree
# that the WORKSPACE file shows. Code that protoc-c generates is made anew beside it; the name of gRPC's
# file, which a repository rule finds (third_party/system_library.bzl), is any.
set -euo pipefail

cd "$(dirname "$(readlink -f WORKSPACE)")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for file in proto/*.proto compiler/onnx/*.proto; do
  protoc-c --c_out="$work" "$file"
done

tidy() {
  clang-tidy-14 --quiet "$@" -- -std=c11 -D_GNU_SOURCE '-DTFRT_GRPC_FILE_NAME="libgrpc.so"' -I. "-I$work" \
    2>"$work/messages.$$"
}

# A test of the test: a mistake is found.
printf 'int f(int x) {\n  if (x == 1);\n  return x;\n}\n' >"$work/wrong.c"
if tidy --config-file=.clang-tidy "$work/wrong.c" >/dev/null; then
  echo "error: clang-tidy finds nothing wrong with an if statement that has an empty body" >&2
  exit 1
fi

export work
export -f tidy
find compiler devices distributed embedding host_runtime kernels tools -name '*.c' -print0 |
  xargs -0 -P "$(nproc)" -n 20 bash -c 'tidy "$@" || { cat "$work/messages.$$" >&2; exit 1; }' tidy
