#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Installs what is missing, builds everything and runs every test:
#
#   1. default   gcc 12: all targets are built, all tests run
#   2. asan      clang 14, AddressSanitizer, LeakSanitizer, UndefinedBehaviorSanitizer: all targets
#                are built, all tests run but those tagged "no-sanitizer" or "no-asan"
#   3. tsan      gcc 12, ThreadSanitizer: the tests tagged "concurrent", but not "no-tsan"
#
# The last line of the output is "N passed, N failed", where each test target counts once for
# each run; the exit code is 0 only if nothing failed.
#
#   tools/test.sh            all of it
#   tools/test.sh --quick    the first run only
set -uo pipefail

cd "$(dirname "$0")/.." || exit 1
case "${1:-}" in
  "") quick=false ;;
  --quick) quick=true ;;
  *)
    echo "usage: tools/test.sh [--quick]" >&2
    exit 2
    ;;
esac

if ! tools/install_deps.sh; then
  echo "test.sh: the packages that the build needs are not installed" >&2
  echo "0 passed, 1 failed"
  exit 1
fi

# Links that a build with another output folder left would be read as part of the tree.
find . -maxdepth 1 -type l -name 'bazel-*' -delete

events=$(mktemp -d)
trap 'rm -rf "$events"' EXIT
runs=()

# Most of the long tests wait for other processes, and for times to pass: one that starts clusters uses
# a processor for a fifth to a third of its time. Compilers don't wait; Bazel itself starts no more of
# them than there are processors.
slots=$(($(nproc) * 5 / 2))

# run NAME ARGUMENT...: one `bazel test //...`; goes on after failures, keeps the exit code.
run() {
  local name=$1 status=0 start=$SECONDS
  shift
  echo "test.sh: ${name}: bazel test $* //..."
  bazel test --keep_going --color=no --curses=no --noshow_progress \
    --jobs="$slots" --local_test_jobs="$slots" \
    --build_event_json_file="$events/$name.json" "$@" //... </dev/null || status=$?
  echo "test.sh: ${name}: finished in $((SECONDS - start)) s"
  runs+=("$name:$status:$events/$name.json")
}

run default
if ! $quick; then
  run asan --config=asan --build_tag_filters=-no-sanitizer,-no-asan \
    --test_tag_filters=-no-sanitizer,-no-asan
  run tsan --config=tsan --build_tests_only --test_tag_filters=concurrent,-no-sanitizer,-no-tsan
fi

# On a build machine nobody waits for the next build: leave no server behind.
[[ -z "${CI:-}" ]] || bazel shutdown </dev/null

echo
bazel/test_summary.py "${runs[@]}"
