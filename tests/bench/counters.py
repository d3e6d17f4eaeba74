#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""What it costs that each process always notes which kernel runs and counts calls and frames.

    tests/bench/counters.py [--pairs N]     prints JSON as `bench -o json` does

Builds the release twice, as it is and without the counters (TFRT_COUNTERS in
host_runtime/base/macros.h), and measures many calls from host to host with both, one run of each
after the other, and the other way round the next time. The ratio is that of the processor time of
all processes, start included: how long calls take depends on who is woken when, and spreads by 22 %
from pair to pair where processor time spreads by 10. Run it from the project's folder on a machine
that does nothing else.
"""

import argparse
import json
import resource
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


def children_s():
    """The processor time of all processes that have been waited for, in seconds."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def take(program):
    """The median of one run of |program|, in microseconds a call, and the processor time of the run."""
    before_s = children_s()
    command = [program, "--filter", "=cluster/call_of_many", "--repeat", "5", "-o", "json"]
    median_us = json.loads(read_output(command))["benchmarks"][0]["median"]
    return median_us, children_s() - before_s


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

    The second is compared by the median of the pairs' ratios of processor time: a machine's speed
    changes in the course of all runs by more than the counters cost, but seldom between the two of
    a pair.
    """
    programs = [build(WITHOUT), build(RELEASE)]
    medians_us, ratios = ([], []), []
    for pair in range(pairs):
        times_s = [0, 0]
        for which in (0, 1) if pair % 2 == 0 else (1, 0):
            median_us, times_s[which] = take(programs[which])
            medians_us[which].append(median_us)
        ratios.append(times_s[1] / times_s[0])
    without = entry("call_of_many_uncounted", medians_us[0])
    counted = entry("call_of_many_counted", medians_us[1])
    ratio = statistics.median(ratios)
    return [without, {**counted, "limit": counted["median"] / ratio}]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=41, help="runs of each (41)")
    print(json.dumps({"benchmarks": measure(parser.parse_args().pairs)}, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
