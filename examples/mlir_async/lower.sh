#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Lowers a program with async.execute, async.func and the like to MLIR's llvm dialect, with stock
# passes only:
#
#   ./lower.sh PROGRAM.mlir > LOWERED.mlir
set -euo pipefail

async=async-func-to-async-runtime,async-to-async-runtime
counts='func.func(async-runtime-ref-counting,async-runtime-ref-counting-opt)'
llvm=convert-async-to-llvm,convert-scf-to-cf,convert-vector-to-llvm,finalize-memref-to-llvm
llvm+=,convert-arith-to-llvm,convert-func-to-llvm,convert-cf-to-llvm,reconcile-unrealized-casts

exec mlir-opt-22 --pass-pipeline="builtin.module($async,$counts,$llvm)" "$@"
