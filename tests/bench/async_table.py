#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""What asynchronous programs cost here and with stock MLIR: each row by turns, and the medians.

    bazel build --config=release //tests/bench:mlir_async_bench //embedding/mlir_async:all \\
      //tools:mlir_to_bef //tools:bef_executor
    tests/bench/async_table.py $(bazel info --config=release bazel-bin) [ROUNDS]

The first rows are calls of the runtime's functions (mlir_async_bench). Those behind them are programs that
mlir-opt lowers and mlir-runner runs with each of the two libraries, and that mlir_to_bef lowers for
the executor. Programs are measured by the processor time of the process, less that of a run with one
region: a wall clock says little on a machine that does other work.

Exit codes: 0 measured; 2 something that it needs is missing.
"""
import os
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile

LLVM = "/usr/lib/llvm-22/lib"
STOCK = f"{LLVM}/libmlir_async_runtime.so"

# The words by which a row of mlir_async_bench is found, and the most that it may take of stock's time.
CALLS = {
    "add_ref + drop_ref": 1.0,
    "token: create, emplace, drop": 0.6,
    "await of a ready token": 1.0,
    "empty task through the pool": 0.4,
    "100,000 regions into a group": 0.5,
    "1,000,000 regions into a group": 0.5,
    "chain of 100,000 regions": 0.5,
    "region and blocking await": 0.9,
}

GROUP = """
func.func @main() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant SIZE : index
  %g = async.create_group %n : !async.group
  scf.for %i = %c0 to %n step %c1 {
    %u = async.execute { async.yield }
    %k = async.add_to_group %u, %g : !async.token
  }
  async.await_all %g
  return
}
"""

# Stock MLIR can't lower a loop that carries a token: a call hands it on there.
STOCK_CHAIN = """
func.func private @extend(%n: i64, %before: !async.token) -> !async.token {
  %one = arith.constant 1 : i64
  %two = arith.constant 2 : i64
  %single = arith.cmpi eq, %n, %one : i64
  cf.cond_br %single, ^single, ^many
^single:
  %t = async.execute [%before] { async.yield }
  return %t : !async.token
^many:
  %half = arith.divsi %n, %two : i64
  %rest = arith.subi %n, %half : i64
  %middle = call @extend(%half, %before) : (i64, !async.token) -> !async.token
  %last = call @extend(%rest, %middle) : (i64, !async.token) -> !async.token
  return %last : !async.token
}
func.func @main() {
  %n = arith.constant SIZE : i64
  %t0 = async.execute { async.yield }
  %last = call @extend(%n, %t0) : (i64, !async.token) -> !async.token
  async.await %last : !async.token
  return
}
"""

CHAIN = """
func.func @main() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant SIZE : index
  %t0 = async.execute { async.yield }
  %last = scf.for %i = %c0 to %n step %c1 iter_args(%t = %t0) -> (!async.token) {
    %u = async.execute [%t] { async.yield }
    scf.yield %u : !async.token
  }
  async.await %last : !async.token
  return
}
"""

# Name, stock's text, ours, regions.
PROGRAMS = [
    ("async.execute into a group", GROUP, GROUP, 100000),
    ("async.execute into a group", GROUP, GROUP, 1000000),
    ("async.execute in a chain", STOCK_CHAIN, CHAIN, 100000),
    ("async.execute in a chain", STOCK_CHAIN, CHAIN, 1000000),
]

LOWERING = (
    "builtin.module(async-func-to-async-runtime,async-to-async-runtime,"
    "func.func(async-runtime-ref-counting,async-runtime-ref-counting-opt),convert-async-to-llvm,"
    "convert-scf-to-cf,convert-vector-to-llvm,finalize-memref-to-llvm,convert-arith-to-llvm,"
    "convert-func-to-llvm,convert-cf-to-llvm,reconcile-unrealized-casts)"
)


def need(path):
    if not (os.path.exists(path) or shutil.which(path)):
        print(f"async_table.py: there is no {path}", file=sys.stderr)
        sys.exit(2)
    return path


def print_row(name, stock, own, limit):
    ratio = own / stock if stock > 0 else float("nan")
    verdict = "" if limit is None else f"{limit:7.2f} {'' if ratio <= limit else 'missed'}"
    print(f"{name:58} {stock:10.1f} {own:10.1f} {ratio:7.3f} {verdict}".rstrip(), flush=True)


def measure_calls(bin_folder, rounds):
    output = subprocess.run(
        [
            need(f"{bin_folder}/tests/bench/mlir_async_bench"),
            need(f"{bin_folder}/embedding/mlir_async/libtfrt_mlir_async_runtime.so"),
            need(STOCK),
            str(rounds),
        ],
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    ).stdout
    for line in output.splitlines()[1:]:
        parts = re.match(r"(.*?)  +([\d.]+) +([\d.]+) +([\d.]+)", line)
        limits = [limit for words, limit in CALLS.items() if line.startswith(words)]
        print_row(
            parts[1], float(parts[3]), float(parts[2]), limits[0] if limits else None
        )


def processor_time(command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime + after.ru_stime) - (before.ru_utime + before.ru_stime)


def lower(folder, bin_folder, name, text, own_text):
    """Writes both lowered programs; returns their paths without endings."""
    paths = [f"{folder}/{name}.stock", f"{folder}/{name}.own"]
    for path, content in zip(paths, [text, own_text]):
        with open(path + ".mlir", "w", encoding="utf-8") as file:
            file.write(content)
    with open(paths[0] + ".low.mlir", "w", encoding="utf-8") as file:
        command = ["mlir-opt-22", f"--pass-pipeline={LOWERING}", paths[0] + ".mlir"]
        subprocess.run(command, check=True, stdout=file)
    command = [f"{bin_folder}/tools/mlir_to_bef", paths[1] + ".mlir", "-o", paths[1] + ".bef"]
    subprocess.run(command, check=True)
    return paths


def runner(library, path):
    libraries = f"{LLVM}/libmlir_c_runner_utils.so,{LLVM}/libmlir_runner_utils.so,{library}"
    return [
        "mlir-runner-22",
        "-e",
        "main",
        "-entry-point-result=void",
        "-O3",
        f"-shared-libs={libraries}",
        path + ".low.mlir",
    ]


def executor(bin_folder, queue, path):
    return [
        f"{bin_folder}/tools/bef_executor",
        "--host_allocator_type=malloc",
        f"--work_queue_type={queue}",
        path + ".bef",
    ]


def measure_program(folder, bin_folder, rounds, program):
    name, text, own_text, size = program
    large = lower(
        folder, bin_folder, "large", text.replace("SIZE", str(size)), own_text.replace("SIZE", str(size))
    )
    small = lower(folder, bin_folder, "small", text.replace("SIZE", "1"), own_text.replace("SIZE", "1"))
    own_library = f"{bin_folder}/embedding/mlir_async/libtfrt_mlir_async_runtime.so"
    ways = {
        "stock": lambda paths: runner(STOCK, paths[0]),
        "on this runtime": lambda paths: runner(own_library, paths[0]),
        "as BEF, no threads": lambda paths: executor(bin_folder, "s", paths[1]),
        "as BEF, two threads": lambda paths: executor(bin_folder, "mstd:2", paths[1]),
    }
    times = {way: [] for way in ways}
    for _ in range(rounds):
        for way, command in ways.items():
            time = processor_time(command(large)) - processor_time(command(small))
            times[way].append(time / size * 1e9)
    figures = {way: statistics.median(list_) for way, list_ in times.items()}
    for way, figure in figures.items():
        if way == "stock":
            continue
        limit = 0.3 if "BEF" in way else 0.5
        print_row(f"{name}, {size:,}, {way}", figures["stock"], figure, limit)


def main():
    if len(sys.argv) not in (2, 3):
        print("usage: async_table.py BAZEL_BIN [ROUNDS]", file=sys.stderr)
        sys.exit(2)
    bin_folder = os.path.abspath(sys.argv[1])
    rounds = int(sys.argv[2]) if len(sys.argv) == 3 else 5
    for tool in ["mlir-opt-22", "mlir-runner-22"]:
        need(tool)
    for tool in ["mlir_to_bef", "bef_executor"]:
        need(f"{bin_folder}/tools/{tool}")
    print(f"{'ns, medians of ' + str(rounds):58} {'stock':>10} {'ours':>10} {'ratio':>7} at most")
    measure_calls(bin_folder, rounds)
    with tempfile.TemporaryDirectory() as folder:
        for program in PROGRAMS:
            measure_program(folder, bin_folder, rounds, program)


if __name__ == "__main__":
    main()
