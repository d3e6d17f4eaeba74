#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Compares tfrt_dist.all_reduce between four processes with Open MPI's over TCP.

    apt-get install openmpi-bin libopenmpi-dev
    tests/bench/open_mpi/all_reduce.py [--rounds N]

Builds the release, compiles all_reduce.c with mpicc, and runs both in turn, N times (5). Each line
has, of all samples, the median and the least of both, and their ratios: below 1 we are faster. Run
it from the project's folder on a machine that does nothing else.
"""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
import counters  # noqa: E402, found beside this folder

# The benchmark, its bytes, how many in a row a sample of it takes, and its samples in a round.
SIZES = [
    ("collective/all_reduce_64_b_of_4", 64, 1000, 5),
    ("collective/all_reduce_64_kib_of_4", 64 << 10, 500, 5),
    ("collective/all_reduce_1_mib_of_4", 1 << 20, 100, 5),
    ("collective/all_reduce_64_mib_of_4", 64 << 20, 10, 3),
]

# As root, more processes than processors, and over the loopback interface alone.
MPIRUN = ["mpirun", "-n", "4", "--oversubscribe", "--mca", "pml", "ob1", "--mca", "btl", "self,tcp"]
MPIRUN += ["--mca", "btl_tcp_if_include", "lo"]
AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def of_open_mpi(program, size, count, samples):
    """Microseconds, a figure per sample."""
    command = [*MPIRUN, program, str(size), str(count), str(samples)]
    environment = {**os.environ, **AS_ROOT}
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=environment)
    return [float(line) for line in done.stdout.split()]


def of_this(bench, name, samples):
    """The same: of the samples of a run, the least, the median and the greatest are known."""
    command = [bench, "--filter", "=" + name, "--repeat", str(samples), "-o", "json"]
    entry = json.loads(counters.read_output(command))["benchmarks"][0]
    return [entry["least"], entry["median"], entry["greatest"]]


def measure(bench, program, rounds):
    """Prints a line for each size."""
    print(f"{'':36} {'ours, us':>20} {'Open MPI, us':>20} {'ratio':>14}")
    print(f"{'benchmark':36} {'median':>10} {'least':>9} {'median':>10} {'least':>9}"
          f" {'median':>7} {'least':>6}")
    for name, size, count, samples in SIZES:
        ours, theirs = [], []
        for _ in range(rounds):
            theirs += of_open_mpi(program, size, count, samples)
            ours += of_this(bench, name, samples)
        figures = [statistics.median(ours), min(ours), statistics.median(theirs), min(theirs)]
        print("{:36} {:10.1f} {:9.1f} {:10.1f} {:9.1f} {:7.2f} {:6.2f}".format(
            name, *figures, figures[0] / figures[2], figures[1] / figures[3]), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5, help="how often both run in turn (5)")
    rounds = parser.parse_args().rounds
    if not shutil.which("mpicc") or not shutil.which("mpirun"):
        print("all_reduce.py: there is no mpicc or mpirun; install openmpi-bin and libopenmpi-dev",
              file=sys.stderr)
        return 1
    bench = counters.build(counters.RELEASE)
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "all_reduce")
        source = os.path.join(HERE, "all_reduce.c")
        subprocess.run(["mpicc", "-O3", "-o", program, source], check=True)
        measure(bench, program, rounds)
    return 0


if __name__ == "__main__":
    sys.exit(main())
