#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Compares the page that PROGRAM writes with the committed PAGE.
#
#   kernels_page_test.sh PROGRAM PAGE

set -eu
page=$(mktemp)
trap 'rm -f "$page"' EXIT
"$1" > "$page"
if ! diff "$2" "$page"; then
  echo "$2 is not what the op tables say: bazel-bin/tools/kernel_docs > docs/kernels.md" >&2
  exit 1
fi
