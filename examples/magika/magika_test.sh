#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# The C program and the script tell the same of the same files, and that is what the files are.
#
#   magika_test.sh MAGIKA MODEL.bef TFRT
set -euo pipefail

folder=examples/magika
files=("$folder/README.md" "$folder/magika.c" "$folder/magika.py" "$folder/model.onnx" "$folder/magika_test.sh")

"$1" "$2" "$folder/labels.txt" "${files[@]}" >"$TEST_TMPDIR/c.txt"
"$folder/magika.py" --tfrt "$3" "${files[@]}" >"$TEST_TMPDIR/python.txt"
diff "$TEST_TMPDIR/c.txt" "$TEST_TMPDIR/python.txt"
sed 's/ (.*//' "$TEST_TMPDIR/c.txt" | diff - "$folder/expected_output.txt"

if "$1" "$2" "$folder/labels.txt" missing.txt 2>"$TEST_TMPDIR/error.txt"; then exit 1; fi
diff "$TEST_TMPDIR/error.txt" - <<<"magika: NOT_FOUND: missing.txt can't be read"
