#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Installs the Debian packages that building, testing and running tfrt-c needs:
# apt only, and only those that are missing. Needs root, or sudo.
#
#   tools/install_deps.sh          install what is missing
#   tools/install_deps.sh --mlir   and what tests with MLIR's own tools need, which are skipped else
#   tools/install_deps.sh --list   print each package with its reason, install nothing
set -euo pipefail

# One package a line, then the reason that it is here.
readonly PACKAGES="
bazel-bootstrap       the build tool, Bazel 4.2.3
bazel-platforms       Bazel's @platforms, from disk instead of the network
bazel-rules-java      Bazel's @rules_java, from disk instead of the network
bazel-rules-proto     Bazel's @rules_proto, from disk instead of the network
gcc                   the default compiler
g++                   the C++ runtime that libFuzzer links
libc6-dev             the C library's headers
binutils              ar, ld and nm for every configuration
clang-14              the second compiler, and libFuzzer's
lld-14                the linker of the AddressSanitizer build
clang-format-14       the formatter that .clang-format configures
clang-tidy-14         the checks that .clang-tidy names
libclang-rt-14-dev    clang's sanitizer and libFuzzer runtimes
libasan8              gcc's AddressSanitizer runtime
libubsan1             gcc's UndefinedBehaviorSanitizer runtime
libtsan2              gcc's ThreadSanitizer runtime
llvm-14-tools         FileCheck and not, for test files with RUN lines
llvm-14               llvm-symbolizer, for readable sanitizer reports
pkg-config            finds the libraries below, and libtfrt for others
make                  builds the example of a kernel library
libgrpc-dev           the network transport (distributed/transport/grpc)
libprotobuf-c-dev     wire messages (distributed/wire)
protobuf-c-compiler   generates their C code
protobuf-compiler     protoc, for stubs in other languages
protobuf-compiler-grpc  the gRPC plug-ins of protoc, for the same
libdnnl-dev           maths of tensors (kernels/tensor/onednn)
libjpeg62-turbo-dev   decodes images (kernels/tensor/files)
libpng-dev            the same
libzip-dev            reads archives of arrays (kernels/tensor/files)
libssl-dev            SHA-256, TLS (distributed/security)
libuv1-dev            the event loop of the tools
zlib1g-dev            gzip inputs of the tools
libyaml-dev           cluster files of the tools
check                 the unit test framework
spin                  the model checker, for the protocol's models (proto/model)
iproute2              network namespaces and slow links, for tests of faults (tests/faults)
nftables              packets that are lost, for the same
locales               sources of locales, for tests in some of them
python3               scripts and a few tests
python3-numpy         trains the example model
python3-grpcio        a stock gRPC client, for tests of the wire contract
python3-onnx          makes the models of an example (examples/models)
libonnx-testdata      test cases of the ONNX project (compiler/onnx, kernels/nn)
unzip                 Bazel's own start-up on a fresh machine
zip                   Bazel's test runner packs undeclared outputs with it
"

# Only with --mlir: some 900 MB.
readonly MLIR_PACKAGES="
mlir-22-tools         mlir-opt and mlir-runner, for programs of MLIR's async dialect
libmlir-22-dev        the libraries that mlir-runner loads for them
llvm-22               opt and llc, which compile them ahead of time
valgrind              what such programs do with memory
"

fail() {
  echo "install_deps.sh: error: $*" >&2
  exit 1
}

package_names() {
  awk 'NF { print $1 }' <<<"$packages"
}

# Prints the packages that dpkg does not have in the state "installed".
missing_packages() {
  local installed
  installed=$(dpkg-query -W -f='${Package} ${db:Status-Status}\n' $(package_names) \
    2>/dev/null | awk '$2 == "installed" { print $1 }') || true
  comm -23 <(package_names | sort -u) <(sort -u <<<"$installed")
}

packages=$PACKAGES
case "${1:-}" in
  "") ;;
  --mlir) packages+=$MLIR_PACKAGES ;;
  --list)
    awk 'NF' <<<"$PACKAGES$MLIR_PACKAGES"
    exit 0
    ;;
  *) fail "unknown argument '$1'; there are --mlir and --list" ;;
esac
command -v dpkg-query >/dev/null && command -v apt-get >/dev/null ||
  fail "this machine has no apt; install these by hand (Debian 12 names): $(package_names | xargs)"

missing=$(missing_packages | xargs)
if [[ -z "$missing" ]]; then
  echo "install_deps.sh: all $(package_names | wc -l) packages are installed"
  exit 0
fi

as_root=()
if [[ $EUID -ne 0 ]]; then
  command -v sudo >/dev/null ||
    fail "not root and no sudo; as root, run: apt-get install $missing"
  as_root=(sudo)
  # Without a terminal nobody can type a password: fail instead of waiting for one.
  [[ -t 0 ]] || as_root=(sudo -n)
  "${as_root[@]}" true || fail "sudo refused; as root, run: apt-get install $missing"
fi

echo "install_deps.sh: installing with apt-get: $missing"
apt_get() {
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get -q -y -o DPkg::Lock::Timeout=300 -o Dpkg::Use-Pty=0 "$@" </dev/null
}
apt_get update >/dev/null ||
  fail "apt-get update failed: is the network up, and /etc/apt/sources.list right?"
# shellcheck disable=SC2086
apt_get install --no-install-recommends $missing ||
  fail "apt-get could not install: $missing"

missing=$(missing_packages | xargs)
[[ -z "$missing" ]] || fail "apt-get reported success, but these are still missing: $missing"
echo "install_deps.sh: done"
