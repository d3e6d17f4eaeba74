#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Fails unless .clang-format's style is the one of every C file in the source tree, found by its
# WORKSPACE file. To mend: `git ls-files '*.c' '*.h' | xargs clang-format-14 -i`.
set -euo pipefail

cd "$(dirname "$(readlink -f WORKSPACE)")"

# A test of the test: a line that is formatted otherwise is found.
if printf 'int  x;\n' | clang-format-14 --dry-run -Werror --assume-filename=tests/x.c 2>/dev/null; then
  echo "error: clang-format-14 finds nothing wrong with two spaces" >&2
  exit 1
fi

find . -name 'bazel-*' -prune -o -name .git -prune -o \( -name '*.c' -o -name '*.h' \) -print0 |
  xargs -0 -P "$(nproc)" -n 50 clang-format-14 --dry-run -Werror
