#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Random programs between tfrt_opt and stock mlir-opt, in all forms that the latter prints.

    mlir_exchange_random_test.py TFRT_OPT [--count=N] [--seed=N]

Many programs go through each process. Without a stock mlir-opt (Debian's mlir-22-tools) there is
nothing to compare with, and the test says so.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys

import program_generator

MLIR_OPT = shutil.which("mlir-opt-22")
GENERIC = "--mlir-print-op-generic"
LOCATIONS = "--mlir-print-debuginfo"
LOCAL = "--mlir-print-local-scope"
SEPARATOR = "// -----"
BATCH = 100


def run(program, flags, programs):
    """What `program` prints for each of `programs`."""
    text = ("\n" + SEPARATOR + "\n").join(programs)
    done = subprocess.run([program, "--allow-unregistered-dialect", "--split-input-file", *flags],
                          input=text, capture_output=True, text=True, timeout=600)
    if done.returncode:
        raise ValueError(f"{program} {' '.join(flags)}: {done.stderr[:2000]}")
    outputs = done.stdout.split(SEPARATOR + "\n")
    if len(outputs) != len(programs):
        raise ValueError(f"{program}: {len(outputs)} texts of {len(programs)} programs")
    return [output.strip("\n") for output in outputs]


def without_resources(text):
    """`text` without `{-# ... #-}`, which mlir-opt doesn't print with names of its own."""
    return text.partition("\n\n{-#")[0]


def without_argument_places(text):
    """`text` without the places of block arguments that mlir-opt makes up for a custom form."""
    return re.sub(r'(%\w+: [^\n]*?) loc\("<stdin>":\d+:\d+\)(?=[,)])', r"\1", text)


def resources(text):
    return text.partition("\n\n{-#")[2]


class Comparison:
    """The programs of one batch, through both tools."""

    def __init__(self, tfrt_opt, seeds):
        self.tfrt_opt = tfrt_opt
        self.seeds = seeds
        self.programs = [program_generator.program(seed) for seed in seeds]

    def compare(self, what, ours, theirs):
        for own, other in zip(ours, theirs):
            if own == other:
                continue
            lines = zip(own.split("\n"), other.split("\n"))
            first = next(((a, b) for a, b in lines if a != b), ("", "(more lines)"))
            raise ValueError(f"{what}:\n  tfrt_opt: {first[0]}\n"
                             f"  mlir-opt: {first[1]}")

    def check(self):
        wanted = run(MLIR_OPT, [GENERIC, LOCAL], self.programs)
        full = run(MLIR_OPT, [GENERIC], self.programs)
        located = run(MLIR_OPT, [GENERIC, LOCATIONS, LOCAL], self.programs)
        with_aliases = run(MLIR_OPT, [GENERIC, LOCATIONS], self.programs)
        custom = run(MLIR_OPT, [], self.programs)
        custom_located = run(MLIR_OPT, [LOCATIONS], self.programs)
        # Each text of theirs is read as the same program, which we print as they do.
        for name, texts in (("the program", self.programs), ("its generic form", full),
                            ("its generic form without aliases", wanted),
                            ("its generic form with locations", with_aliases),
                            ("its custom form", custom),
                            ("its custom form with locations", custom_located)):
            ours = run(self.tfrt_opt, [GENERIC], texts)
            self.compare(f"{name} in generic form", map(without_resources, ours), wanted)
            if texts is not wanted:
                self.compare(f"{name}'s resources", map(resources, ours), map(resources, full))
        ours = run(self.tfrt_opt, [GENERIC, LOCATIONS], with_aliases)
        self.compare("with locations", map(without_resources, ours), located)
        readable = [text for seed, text in zip(self.seeds, custom_located)
                    if not program_generator.has_location_attributes(seed)]
        if readable:
            ours = run(self.tfrt_opt, [GENERIC, LOCATIONS], readable)
            located = run(MLIR_OPT, [GENERIC, LOCATIONS, LOCAL], readable)
            self.compare("with locations, custom",
                         map(without_argument_places, map(without_resources, ours)),
                         map(without_argument_places, located))
        # They read each text of ours as the same program.
        for name, flags in (("our generic form", [GENERIC]), ("our custom form", []),
                            ("our custom form with locations", [LOCATIONS]),
                            ("our custom form with names", ["--keep-value-names"])):
            ours = run(self.tfrt_opt, flags, self.programs)
            self.compare(name, run(MLIR_OPT, [GENERIC, LOCAL], ours), wanted)

    def fails(self):
        try:
            self.check()
        except ValueError as error:
            return error
        return None


def find_failure(tfrt_opt, seeds):
    """The error of the first program among `seeds` that fails by itself, or None."""
    error = Comparison(tfrt_opt, seeds).fails()
    if not error or len(seeds) == 1:
        return error and ValueError(f"seed {seeds[0]}: {error}")
    half = len(seeds) // 2
    return (find_failure(tfrt_opt, seeds[:half]) or find_failure(tfrt_opt, seeds[half:]) or
            ValueError(f"{error} (only together)"))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tfrt_opt")
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--print", action="store_true", help="only print the program of --seed")
    arguments = parser.parse_args()
    if arguments.print:
        print(program_generator.program(arguments.seed), end="")
        return 0
    if not MLIR_OPT:
        print("mlir-opt-22 is not installed (Debian: mlir-22-tools): nothing to compare with")
        return 0
    end = arguments.seed + arguments.count
    for first in range(arguments.seed, end, BATCH):
        seeds = range(first, min(first + BATCH, end))
        error = find_failure(os.path.abspath(arguments.tfrt_opt), seeds)
        if error:
            print(f"error: {error}")
            return 1
    print(f"{arguments.count} programs: both tools read and print each of them as the same")
    return 0


if __name__ == "__main__":
    sys.exit(main())
