#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Builds everything and installs it: libtfrt (shared and static), its headers and pkg-config
# files, the tools, the docs. No network is used.
#
#   tools/install.sh --prefix DIR [--libdir NAME] [--config NAME]
#
#   --prefix DIR   where to; default /usr/local
#   --libdir NAME  the folder for libraries below it; default lib
#   --config NAME  how it is built (.bazelrc); default install: optimised, without assertions.
#                  `default` is the build of the tests: optimised, with assertions
#
# DESTDIR in the environment is put before DIR, for packages. BAZEL_FLAGS (such as
# --output_user_root=DIR) go before Bazel's command.
set -euo pipefail

caller=$PWD
cd "$(dirname "$0")/.."
prefix=/usr/local libdir=lib config=install

usage() {
  sed -n '3,/^set/s/^# \{0,1\}//p' "$0" | sed '/^set/d'
}

while (($#)); do
  case "$1" in
    --help | -h) usage && exit 0 ;;
    --prefix=* | --libdir=* | --config=*) set -- "${1%%=*}" "${1#*=}" "${@:2}" && continue ;;
    --prefix) prefix=${2:?"--prefix wants a folder"} ;;
    --libdir) libdir=${2:?"--libdir wants a name"} ;;
    --config) config=${2:?"--config wants a name"} ;;
    *)
      echo "install.sh: unknown option '$1'" >&2
      usage >&2
      exit 2
      ;;
  esac
  shift 2
done
[[ $prefix == /* ]] || prefix=$caller/$prefix

read -ra flags <<<"${BAZEL_FLAGS:-}"
configuration=()
[[ $config == default ]] || configuration=(--config="$config")
bazel "${flags[@]}" build --color=no --curses=no --noshow_progress "${configuration[@]}" \
  //embedding:install_all </dev/null
built=$(bazel "${flags[@]}" info "${configuration[@]}" bazel-bin </dev/null 2>/dev/null)
embedding/install_tree.py --prefix "$prefix" --destdir "${DESTDIR:-}" --libdir "$libdir" \
  --built "$built"
