#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""What it costs to read, check and print a big generic text, here and with stock mlir-opt.

    bazel build --config=release //tools:tfrt_opt
    tests/bench/exchange_table.py $(bazel info --config=release bazel-bin)/tools/tfrt_opt [ROUNDS [MB]]

Each row is one text. Both tools read it, check it and print it in generic form to a file, by turns,
on one thread; they must print the same bytes. The figures are the medians of the processor time, user
and system, and the greatest resident memory. The clock would also count what other processes do.

Exit codes: 0 measured; 1 the tools printed different texts; 2 something that it needs is missing.
"""
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile

STOCK = "mlir-opt-22"
FLAGS = ["--allow-unregistered-dialect", "--mlir-print-op-generic"]


def chain(index):
    """A function of 1,000 adds in a chain."""
    yield (f'  "func.func"() <{{function_type = (i32) -> i32, sym_name = "f{index}"}}> ({{\n'
           "  ^bb0(%arg0: i32):\n")
    last = "%arg0"
    for i in range(1000):
        yield f'    %{i} = "tfrt.add.i32"({last}, %arg0) : (i32, i32) -> i32\n'
        last = f"%{i}"
    yield f'    "tfrt.return"({last}) : (i32) -> ()\n  }}) : () -> ()\n'


def tasks(index):
    """A function of 50 tasks, with constants, attributes, blocks and a call."""
    yield (f'  "func.func"() <{{function_type = (i64, i1) -> i64, sym_name = "f{index}"}}> ({{\n'
           "  ^bb0(%arg0: i64, %arg1: i1):\n")
    last = "%arg0"
    for i in range(50):
        yield (f'    %c{i} = "arith.constant"() <{{value = {i} : i64}}> : () -> i64\n'
               f'    %t{i}, %v{i} = "async.execute"() <{{operandSegmentSizes = array<i32: 0, 0>}}> '
               f'({{\n      %x = "arith.addi"({last}, %c{i}) <{{overflowFlags = '
               f"#arith.overflow<none>}}> : (i64, i64) -> i64\n"
               f'      "foo.note"(%x) {{level = {i % 7} : i32, name = "task"}} : (i64) -> ()\n'
               f'      "async.yield"(%x) : (i64) -> ()\n'
               f"    }}) : () -> (!async.token, !async.value<i64>)\n"
               f'    %r{i} = "async.await"(%v{i}) : (!async.value<i64>) -> i64\n')
        last = f"%r{i}"
    callee = max(index - 1, 0)
    yield ('    "cf.cond_br"(%arg1)[^bb1, ^bb2] <{operandSegmentSizes = array<i32: 1, 0, 0>}> : '
           "(i1) -> ()\n  ^bb1:\n"
           f'    %y = "func.call"({last}, %arg1) <{{callee = @f{callee}}}> : (i64, i1) -> i64\n'
           '    "func.return"(%y) : (i64) -> ()\n  ^bb2:\n'
           f'    "func.return"({last}) : (i64) -> ()\n  }}) : () -> ()\n')


TEXTS = {"chains of adds": chain, "tasks, constants, blocks, calls": tasks}


def write_text(path, function, size):
    with open(path, "w", encoding="utf-8") as file:
        file.write('"builtin.module"() ({\n')
        index = 0
        while file.tell() < size:
            file.writelines(function(index))
            index += 1
        file.write("}) : () -> ()\n")


def measure(command, output):
    """Seconds of the processor, and MB of memory, that `command` takes."""
    pid = os.posix_spawn(command[0], [*command, "-o", output], os.environ)
    _, status, usage = os.wait4(pid, 0)
    if status:
        raise SystemExit(f"{command[0]} failed: {os.waitstatus_to_exitcode(status)}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def same_text(first, second):
    """Whether both files hold the same, but for the empty line that mlir-opt ends with."""
    sizes = [os.path.getsize(path) for path in (first, second)]
    with open(first, "rb") as one, open(second, "rb") as other:
        while True:
            left, right = one.read(1 << 24), other.read(1 << 24)
            if not left or not right:
                return sizes[0] <= sizes[1] <= sizes[0] + 1 and right.strip() == b""
            if left != right[:len(left)]:
                return False


def main():
    if len(sys.argv) < 2 or not os.access(sys.argv[1], os.X_OK):
        sys.stderr.write(__doc__)
        return 2
    stock = shutil.which(STOCK)
    if not stock:
        sys.stderr.write(f"{STOCK} is not installed (Debian: mlir-22-tools)\n")
        return 2
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 5
    megabytes = int(sys.argv[3]) if len(sys.argv) > 3 else 100
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    print(f"| text of {megabytes} MB | tfrt_opt, s | mlir-opt, s | faster | tfrt_opt, MB | "
          "mlir-opt, MB |\n| --- | --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as folder:
        text, ours, theirs = (os.path.join(folder, name) for name in ("text", "ours", "theirs"))
        for name, function in TEXTS.items():
            write_text(text, function, megabytes * 1000000)
            own, other = [], []
            for _ in range(rounds):
                own.append(measure([sys.argv[1], *FLAGS, text], ours))
                other.append(measure([stock, "--mlir-disable-threading", *FLAGS, text], theirs))
            if not same_text(ours, theirs):
                sys.stderr.write(f"{name}: the tools printed different texts\n")
                return 1
            seconds = [statistics.median(run[0] for run in runs) for runs in (own, other)]
            memory = [max(run[1] for run in runs) for runs in (own, other)]
            print(f"| {name} | {seconds[0]:.2f} | {seconds[1]:.2f} | {seconds[1] / seconds[0]:.1f} "
                  f"| {memory[0]:.0f} | {memory[1]:.0f} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
