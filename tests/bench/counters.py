#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""What it costs that each process always notes which kernel runs and counts calls and frames.

    tests/bench/counters.py [--pairs N]     prints JSON as `bench -o json` does

Builds the release twice, as it is and without the counters (TFRT_COUNTERS in
host_runtime/base/macros.h), and measures many calls from host to host with both, one run of each
after the other. Run it from the project's folder on a machine that does nothing else.
"""

import argparse
import json
import statistics
import subprocess
import sys

RELEASE = ["--config=release"]
WITHOUT = RELEASE + ["--copt=-DTFRT_COUNTERS=0", "--platform_suffix=-uncounted"]


def read_output(command):
    """What |command| prints; its errors go where ours go."""
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def build(options):
    """Builds the benchmarks with |options|; returns the path of their program."""
    subprocess.run(["bazel", "build", *options, "//tests/bench"], check=True, stdout=sys.stderr)
    return read_output(["bazel", "info", *options, "bazel-bin"]).strip() + "/tests/bench/bench"


def take(program):
    """The median of one run of |program|."""
    command = [program, "--filter", "=cluster/call_of_many", "--repeat", "5", "-o", "json"]
    return json.loads(read_output(command))["benchmarks"][0]["median"]


def entry(name, figures):
    """A line as `bench -o json` has it."""
    return {
        "name": f"cluster/{name}",
        "unit": "us",
        "median": statistics.median(figures),
        "least": min(figures),
        "greatest": max(figures),
    }


def measure(pairs):
    """Two lines: without the counters, and with them beside that.

    The second is compared by the median of the pairs' ratios: a machine's speed changes in the
    course of all runs by more than the counters cost, but seldom between the two of a pair.
    """
    programs = [build(WITHOUT), build(RELEASE)]
    figures = ([], [])
    for _ in range(pairs):
        for program, list_of in zip(programs, figures):
            list_of.append(take(program))
    without = entry("call_of_many_uncounted", figures[0])
    counted = entry("call_of_many_counted", figures[1])
    ratio = statistics.median(after / before for before, after in zip(*figures))
    return [without, {**counted, "limit": counted["median"] / ratio}]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=41, help="runs of each (41)")
    print(json.dumps({"benchmarks": measure(parser.parse_args().pairs)}, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
