#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Compares the pages that PROGRAM writes with the committed ones beside INDEX.
#
#   kernels_page_test.sh PROGRAM INDEX

set -eu
pages=$(mktemp -d)
trap 'rm -rf "$pages"' EXIT
mkdir "$pages/kernels"
"$1" --folder="$pages"
committed=$(dirname "$2")
if ! diff "$2" "$pages/kernels.md" || ! diff -r "$committed/kernels" "$pages/kernels"; then
  echo "$2 and $committed/kernels/ are not what the op tables say; to mend it:" \
    "rm docs/kernels/*; bazel-bin/tools/kernel_docs --folder=docs" >&2
  exit 1
fi
