#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Prints the source of golden_bytes.h: the bytes that protoc makes of a message in text form, for
# each argument NAME=MESSAGE=PROTO=TEXT as array tfrt_golden_NAME, of tfrt.peer.v1.MESSAGE in the
# file PROTO. Run in the root of the tree.
set -eu

bytes=$(mktemp)
trap 'rm -f "$bytes"' EXIT
echo '#include "tests/distributed/wire/golden_bytes.h"'
for spec in "$@"; do
  IFS== read -r name message proto text <<EOF
$spec
EOF
  protoc --encode="tfrt.peer.v1.$message" "$proto" <"$text" >"$bytes"
  echo "const unsigned char tfrt_golden_$name[] = {"
  od -An -v -tx1 "$bytes" | sed 's/\([0-9a-f][0-9a-f]\)/0x\1,/g'
  echo "};"
  echo "const size_t tfrt_golden_${name}_size = sizeof(tfrt_golden_$name);"
done
