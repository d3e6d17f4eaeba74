#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# A test program must fail when a test fails or crashes, and when nothing ran at all.
set -euo pipefail

readonly SUITE=tests/support/sample_suite
failures=0

# expect_exit CODE NAME=VALUE...: runs the sample suite in that environment.
expect_exit() {
  local expected=$1 actual=0
  shift
  env -u TESTBRIDGE_TEST_ONLY "$@" "$SUITE" >"$TEST_TMPDIR/log" 2>&1 || actual=$?
  if [[ $actual -ne $expected ]]; then
    echo "error: $* exits with $actual, not $expected:" >&2
    cat "$TEST_TMPDIR/log" >&2
    failures=$((failures + 1))
  fi
}

expect_exit 0 SAMPLE=passes
expect_exit 1 SAMPLE=fails
expect_exit 1 SAMPLE=crashes
expect_exit 1 SAMPLE=empty
expect_exit 0 SAMPLE=fails TESTBRIDGE_TEST_ONLY=first
expect_exit 1 SAMPLE=fails TESTBRIDGE_TEST_ONLY=second
expect_exit 1 SAMPLE=passes TESTBRIDGE_TEST_ONLY=no_such_case
expect_exit 1 SAMPLE=passes TESTBRIDGE_TEST_ONLY=second
exit $((failures > 0))
