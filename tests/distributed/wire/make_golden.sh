#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Prints a C array of the bytes that protoc makes of a message in text form, for each argument
# NAME=MESSAGE=PROTO=TEXT: array golden_NAME, of tfrt.peer.v1.MESSAGE in the file PROTO. Run in the
# root of the tree.
set -eu

for spec in "$@"; do
  IFS== read -r name message proto text <<EOF
$spec
EOF
  echo "static const unsigned char golden_$name[] = {"
  protoc --encode="tfrt.peer.v1.$message" "$proto" <"$text" >bytes.$$
  od -An -v -tx1 bytes.$$ | sed 's/\([0-9a-f][0-9a-f]\)/0x\1,/g'
  echo "};"
  rm bytes.$$
done
