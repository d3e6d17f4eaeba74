#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Models of the ONNX format beside onnxruntime, in turn, on one thread and on two. By hand:

    bazel build --config=release //tests/bench:model_peer //tests/bench:resnet_loop \
        //tools:tfrt //tools:tfrt_worker //examples/magika
    tests/bench/models.py BIN [--work DIR] [--runs N] [--threads 1,2] [--model NAME ...]

BIN is the folder that `bazel info --config=release bazel-bin` prints. The packages `onnx` and
`onnxruntime` come from the package index, into DIR (default: a temporary folder); where there is
no index, and this Python doesn't have them, the script says so and skips.

Each line: the median milliseconds of one inference by the clock and of the processor, ours and
theirs, ours / theirs of both, the peak memory of both processes in MiB, and the greatest
difference of a result, relative to the greatest element. Ours and theirs run in turn, each in a
process of its own. Further lines compare ours with other programs than onnxruntime:

    loop       theirs is ResNet-50 as a loop over primitives of the maths library, and nothing else
    magika     from the start of a process to the answers for three files; `magika C` is
               examples/magika, which is no `tfrt`
    pipeline   ms for each of many images of ResNet-50 in two stages on two hosts; theirs is two
               processes that have nothing to do with each other, with one thread each

`--model smollm2` is a step of SmolLM2 behind 64 tokens; it takes 2 GB of disk.
"""

import argparse
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
PACKAGES = ["numpy", "onnx", "onnxruntime"]


# --- Packages ----------------------------------------------------------------------

def has_packages(python):
    command = [python, "-c", "import " + ", ".join(PACKAGES)]
    return subprocess.run(command, check=False, stderr=subprocess.DEVNULL).returncode == 0


def python_with_packages(folder):
    """A Python that has the packages, or None."""
    if has_packages(sys.executable):
        return sys.executable
    python = os.path.join(folder, "venv", "bin", "python")
    if not os.path.exists(python):
        subprocess.run([sys.executable, "-m", "venv", os.path.join(folder, "venv")], check=True)
    if not has_packages(python):
        install = [python, "-m", "pip", "install", "--quiet", "--retries", "0", *PACKAGES]
        subprocess.run(install, check=False)
    return python if has_packages(python) else None


# --- Peers -------------------------------------------------------------------------
#
# A peer loads a model, prints "ready", and then for each line "run" that it reads a line with the
# nanoseconds by the clock and of the processor. "write FILE" writes the last result 0; at the end
# of its input it prints the KiB of its peak memory.

class Peer:
    def __init__(self, command):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True)
        self.answer("ready")

    def answer(self, wanted=None):
        line = self.process.stdout.readline().strip()
        if not line or (wanted and line != wanted):
            raise RuntimeError(f"{self.process.args[0]}: {line or 'it ended'}")
        return line

    def ask(self, line):
        print(line, file=self.process.stdin, flush=True)
        return self.answer()

    def run(self):
        """Milliseconds by the clock, and of the processor."""
        return [int(number) / 1e6 for number in self.ask("run").split()]

    def end(self):
        """The peak memory in MiB."""
        self.process.stdin.close()
        peak = int(self.answer()) / 1024
        self.process.wait()
        return peak


def be_onnxruntime(model, threads, inputs):
    """The peer that runs onnxruntime."""
    # pylint: disable=import-outside-toplevel
    import numpy
    import onnxruntime
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    pairs = [argument.split("=", 1) for argument in inputs]
    values = {name: numpy.load(path) for name, path in pairs}
    print("ready", flush=True)
    for line in sys.stdin:
        words = line.split()
        if words[0] == "run":
            clock, processor = time.monotonic_ns(), time.process_time_ns()
            results = session.run(None, values)
            print(time.monotonic_ns() - clock, time.process_time_ns() - processor, flush=True)
        else:
            numpy.save(words[1], results[0])
            print("written", flush=True)
    with open("/proc/self/status", encoding="utf-8") as file:
        print(re.search(r"VmHWM:\s+(\d+)", file.read()).group(1), flush=True)


# --- Figures -----------------------------------------------------------------------

HEAD = (f"{'model':10} {'threads':>7} {'ours ms':>9} {'cpu':>8} {'theirs ms':>9} {'cpu':>8}"
        f" {'ratio':>6} {'cpu':>6} {'MiB':>5} {'theirs':>6} {'difference':>10}")


def line_of(name, threads, ours, theirs, memory, difference):
    """The line of the table: |ours| and |theirs| are lists of pairs; |memory| may be None."""
    columns = [f"{peak:{width}.0f}" if memory else " " * (width - 1) + "-"
               for peak, width in zip(memory or (0, 0), (5, 6))]
    medians = [statistics.median(pair[i] for pair in samples)
               for samples in (ours, theirs) for i in range(2)]
    return (f"{name:10} {threads:7} {medians[0]:9.1f} {medians[1]:8.1f} {medians[2]:9.1f}"
            f" {medians[3]:8.1f} {medians[0] / medians[2]:6.2f} {medians[1] / medians[3]:6.2f}"
            f" {columns[0]} {columns[1]} {difference:10.1e}")


def take_in_turn(peers, runs, warm_up):
    """The samples of each of |peers|, in turn, after some that don't count."""
    samples = [[] for _ in peers]
    for number in range(warm_up + runs):
        for peer, taken in zip(peers, samples):
            pair = peer.run()
            if number >= warm_up:
                taken.append(pair)
    return samples


def import_model(binaries, model, folder):
    """The path of the program that |model| becomes."""
    program = os.path.join(folder, os.path.basename(model).replace(".onnx", ".bef"))
    command = [os.path.join(binaries, "tools/tfrt"), "import", model, "-o", program]
    subprocess.run(command, check=True, capture_output=True)
    return program


def compare(name, binaries, model, inputs, threads, runs, folder):
    """Runs both on |model| and returns the line of the table."""
    # pylint: disable=import-outside-toplevel
    import numpy
    tail = [str(threads), *(f"{key}={path}" for key, path in inputs.items())]
    peer = os.path.join(binaries, "tests/bench/model_peer")
    this = [sys.executable, os.path.abspath(__file__), "--be-onnxruntime"]
    peers = [Peer([peer, import_model(binaries, model, folder), *tail]),
             Peer([*this, model, *tail])]
    ours, theirs = take_in_turn(peers, runs, 3)
    results = [os.path.join(folder, f"result_{i}.npy") for i in range(2)]
    for peer, path in zip(peers, results):
        peer.ask("write " + path)
    memory = [peer.end() for peer in peers]
    one, other = (numpy.load(path) for path in results)
    difference = abs(one - other).max() / abs(other).max()
    return line_of(name, threads, ours, theirs, memory, difference)


# --- From the start of a process to its answer ----------------------------------------

SESSION = """
import sys, numpy, onnxruntime
session = onnxruntime.InferenceSession(sys.argv[1], providers=["CPUExecutionProvider"])
print(session.run(None, {"bytes": numpy.load(sys.argv[2])})[0].argmax(1))
"""


def run_process(command):
    """Milliseconds of a whole process by the clock, and of the processor."""
    clock = time.monotonic()
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    if status != 0:
        raise RuntimeError(f"{command[0]} failed")
    taken = (usage.ru_utime + usage.ru_stime) * 1e3
    return [(time.monotonic() - clock) * 1e3, taken]


def in_turn(commands, runs):
    """What each of |commands| takes, in turn."""
    samples = [[] for _ in commands]
    for _ in range(runs):
        for taken, command in zip(samples, commands):
            taken.append(run_process(command))
    return samples


def compare_magika(binaries, runs, folder):
    """Two lines: by `tfrt run`, and by the program in C."""
    # pylint: disable=import-outside-toplevel
    import numpy
    example = os.path.join(ROOT, "examples/magika")
    model = os.path.join(example, "model.onnx")
    program = import_model(binaries, model, folder)
    argument = os.path.join(folder, "bytes.npy")
    # Three files of zeros, digits and letters: 1,024 bytes of the begin and of the end.
    rows = [[48 + step * (i % 10) for i in range(2048)] for step in (0, 1, 3)]
    numpy.save(argument, numpy.array(rows, numpy.int32))
    files = []
    for number, row in enumerate(rows):
        files.append(os.path.join(folder, f"{number}.txt"))
        with open(files[-1], "wb") as file:
            file.write(bytes(row))
    samples = in_turn([[os.path.join(binaries, "tools/tfrt"), "run", program, "--threads", "1",
                        "--arg", "bytes=@" + argument, "-o", "npy", os.path.join(folder, "out")],
                       [os.path.join(binaries, "examples/magika/magika"), program,
                        os.path.join(example, "labels.txt"), *files],
                       [sys.executable, "-c", SESSION, model, argument]], runs)
    return [line_of("magika", 1, samples[0], samples[2], None, 0),
            line_of("magika C", 1, samples[1], samples[2], None, 0)]


# --- A loop of the maths library -------------------------------------------------------

def compare_with_loop(binaries, model, inputs, runs, folder):
    tail = [f"{key}={path}" for key, path in inputs.items()]
    peers = [Peer([os.path.join(binaries, "tests/bench/model_peer"),
                   import_model(binaries, model, folder), "1", *tail]),
             Peer(["env", "OMP_NUM_THREADS=1",
                   os.path.join(binaries, "tests/bench/resnet_loop")])]
    ours, theirs = take_in_turn(peers, runs, 3)
    return line_of("loop", 1, ours, theirs, [peer.end() for peer in peers], 0)


# --- Many images ------------------------------------------------------------------------

TENSOR = "!tfrt_tensor.tensor"


def loop_over_images(count):
    """A program that calls the model for |count| images, none of which waits for another."""
    calls = "".join(f"  %{i} = tfrt.call @model(%x) : ({TENSOR}) -> ({TENSOR})\n"
                    for i in range(count))
    results, types = ", ".join(f"%{i}" for i in range(count)), ", ".join([TENSOR] * count)
    return (f"func.func @main(%x: {TENSOR}) -> ({types}) {{\n{calls}"
            f"  tfrt.return {results} : {types}\n}}\n")


def import_pipeline(binaries, model, count, folder):
    around = os.path.join(folder, f"around_{count}.mlir")
    program = os.path.join(folder, f"pipeline_{count}.bef")
    with open(around, "w", encoding="utf-8") as file:
        file.write(loop_over_images(count))
    subprocess.run([os.path.join(binaries, "tools/tfrt"), "import", model, "--around", around,
                    "--split=pipeline", "--host-count", "2", "-o", program],
                   check=True, capture_output=True)
    return program


def run_side_by_side(peers, count):
    """Milliseconds of |count| inferences by each of |peers|, which run at the same time, by the
    clock and of the processor."""
    clock = time.monotonic()
    for peer in peers:
        print("run\n" * count, end="", file=peer.process.stdin, flush=True)
    taken = sum(float(peer.answer().split()[1]) / 1e6 for peer in peers for _ in range(count))
    return [(time.monotonic() - clock) * 1e3, taken]


def compare_pipeline(binaries, model, inputs, runs, folder):
    """The start of the hosts doesn't count: it is in the runs of few images and of many."""
    few, many = 8, 40
    tail = [f"{key}={path}" for key, path in inputs.items()]
    commands = [[os.path.join(binaries, "tools/tfrt"), "run",
                 import_pipeline(binaries, model, count, folder), "--local", "2", "--threads", "1",
                 *(word for argument in inputs.items() for word in
                   ("--arg", "=@".join(argument))),
                 "-o", "npy", os.path.join(folder, "out")] for count in (few, many)]
    peers = [Peer([os.path.join(binaries, "tests/bench/model_peer"),
                   import_model(binaries, model, folder), "1", *tail]) for _ in range(2)]
    run_side_by_side(peers, 3)
    ours, theirs = [], []
    for _ in range(runs):
        short, long = (run_process(command) for command in commands)
        ours.append([(b - a) / (many - few) for a, b in zip(short, long)])
        count = (many - few) // 2
        theirs.append([taken / (2 * count) for taken in run_side_by_side(peers, count)])
    for peer in peers:
        peer.end()
    return line_of("pipeline", 1, ours, theirs, None, 0)


# --- Main ----------------------------------------------------------------------------

def measure(options, folder):
    # pylint: disable=import-outside-toplevel
    import numpy
    import model_makers
    print(HEAD, flush=True)
    for name, make in model_makers.MAKERS.items():
        if name not in options.model:
            continue
        model = os.path.join(folder, name + ".onnx")
        inputs = {}
        for key, value in make(model).items():
            inputs[key] = os.path.join(folder, f"{name}_{key}.npy")
            numpy.save(inputs[key], value)
        for threads in options.threads.split(","):
            print(compare(name, options.binaries, model, inputs, int(threads), options.runs,
                          folder), flush=True)
        if name == "resnet50" and "loop" in options.model:
            print(compare_with_loop(options.binaries, model, inputs, options.runs, folder),
                  flush=True)
        if name == "resnet50" and "pipeline" in options.model:
            print(compare_pipeline(options.binaries, model, inputs, min(options.runs, 5), folder),
                  flush=True)
    if "magika" in options.model:
        print(*compare_magika(options.binaries, options.runs, folder), sep="\n", flush=True)


def main():
    if sys.argv[1:2] == ["--be-onnxruntime"]:
        return be_onnxruntime(sys.argv[2], int(sys.argv[3]), sys.argv[4:])
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("binaries")
    parser.add_argument("--work")
    parser.add_argument("--runs", type=int, default=15)
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--model", nargs="+", default=["resnet50", "loop", "pipeline", "minilm", "magika"])
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.work or temporary
        os.makedirs(folder, exist_ok=True)
        python = python_with_packages(folder)
        if not python:
            print("skipped: no package index gives " + ", ".join(PACKAGES))
        elif python != sys.executable:
            command = [python, os.path.abspath(__file__), *sys.argv[1:]]
            return subprocess.run(command, check=False).returncode
        else:
            measure(options, folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
