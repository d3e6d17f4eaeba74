#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The example prints what its README shows, and says what is wrong with its arguments.
#   eager_test.sh EAGER LAYER.bef EXPECTED
set -eu
"$1" "$2" > "$TEST_TMPDIR/output.txt"
diff "$3" "$TEST_TMPDIR/output.txt"
if "$1" "$TEST_TMPDIR/nothing.bef" > /dev/null 2> "$TEST_TMPDIR/error.txt"; then
  echo "a file that is not there is no error" >&2
  exit 1
fi
grep -q "nothing.bef can't be read" "$TEST_TMPDIR/error.txt"
