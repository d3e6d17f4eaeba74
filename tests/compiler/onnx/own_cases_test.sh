#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# All cases of this folder pass, and there are some.
#
#   own_cases_test.sh BACKEND_CASES A_MODEL     A_MODEL is CASES/node/CASE/model.onnx
set -eu

cases=$(dirname "$(dirname "$(dirname "$2")")")
output=$("$1" "$cases") || { echo "$output" | grep -v '^pass'; exit 1; }
echo "$output" | tail -1
echo "$output" | grep -q '^[1-9][0-9]* passed, 0 skipped, 0 failed$'
