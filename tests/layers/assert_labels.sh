#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Fails unless the file of labels in $1, a query's answer, is "empty" or "some" as $2 says;
# $3 is the sentence to print when it is not.
set -euo pipefail

labels=$(sort -u "$1")
case "$2" in
  empty) [[ -z "$labels" ]] && exit 0 ;;
  some) [[ -n "$labels" ]] && exit 0 ;;
  *) echo "assert_labels.sh: '$2' is neither empty nor some" >&2 && exit 2 ;;
esac
echo "error: $3" >&2
[[ -z "$labels" ]] || sed 's/^/  /' <<<"$labels" >&2
exit 1
