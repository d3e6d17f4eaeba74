#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Each fault at each moment, on real workers in network namespaces: the program ends soon, with the
exit code that fits and a first line that names the host, and nothing is left on those that live.

Usage: faults_test.py TFRT TFRT_WORKER PAGE          a few, and whether the page has all
       faults_test.py TFRT TFRT_WORKER PAGE --write  all, on three and on eight workers: makes the page
       faults_test.py TFRT TFRT_WORKER PAGE --only FAULT MOMENT COUNT
       faults_test.py TFRT TFRT_WORKER PAGE --page LOG...  makes the page of what such runs printed: what
                                                      a later one says of a case is what counts
"""

import concurrent.futures
import re
import sys

import lab
import matrix

# For every test of the tree: of each kind one.
SLICE = [
    ("SIGKILL", "running", 3),
    ("SIGKILL", "mid-transfer", 3),
    ("connections reset", "in flight", 3),
    ("cut off", "running", 3),
    ("cut off one way, mute", "before reply", 3),
    ("SIGSTOP", "in cancel", 3),
    ("full disk", "running", 3),
    ("no descriptors", "before reply", 3),
]

COUNTS = (3, 8)

# Sanitizers aside, three times the silence that means death, which a payload gets, or what a slow link
# takes, and time for a busy machine.
BOUND_S = 35

HEAD = """<!-- SPDX-License-Identifier: Apache-2.0 -->
# Faults, and what a user sees of them

`tests/faults/faults_test.py --write` makes this page: real workers, each in a network namespace of its own, and
one fault of host 2 at one moment. The program calls host 2, and has host 1 do something that does not depend on
host 2. In *mid-transfer* host 1 fetches 6 MB from host 2, over 10 Mbit/s. All flags have their defaults, so
silence of 5 s means death. Six of these clusters ran at a time, on two processors.

*First line*: seconds from the fault to the first line of an error, or to the end of the program; the longest of
the runs on 3 and on 8 workers. *Code*: the exit codes of `tfrt run` in these runs. After each run, and the end of
its fault, nothing was left on the workers that live (`tfrt status`: no jobs, calls, values or transfers); *empty
after* says how long that took at most. A program that still runs after 90 s is ended by the test.

"""


def show(outcome):
    print("%-22s %-13s %d hosts: code %s, first line after %.2f s, empty after %.2f s: %s%s" % (
        outcome.fault, outcome.moment, outcome.count, outcome.code, outcome.first_s or -1,
        outcome.idle_s or -1, outcome.line, "".join("\n    WRONG " + w for w in outcome.wrong)),
        flush=True)


SHOWN = re.compile(r"(.{22}) (.{13}) (\d+) hosts: code (\S+), first line after (\S+) s, empty after "
                   r"(\S+) s: (.*)\n")


def read_outcomes(paths):
    """What show() has printed."""
    outcomes = {}
    for path in paths:
        with open(path, encoding="utf-8") as stream:
            for found in filter(None, map(SHOWN.fullmatch, stream)):
                fault, moment, count, code, first_s, idle_s, line = found.groups()
                outcome = matrix.Outcome(fault.strip(), moment.strip(), int(count))
                outcome.code = None if code == "None" else int(code)
                outcome.first_s, outcome.idle_s, outcome.line = float(first_s), float(idle_s), line
                outcomes[(outcome.fault, outcome.moment, outcome.count)] = outcome
    return list(outcomes.values())


def write_page(page, outcomes):
    with open(page, "w", encoding="utf-8") as stream:
        stream.write(page_of(outcomes))


def try_all(tfrt, tfrt_worker, cases, at_once):
    def one(case):
        try:
            return matrix.try_one(tfrt, tfrt_worker, *case)
        except Exception as error:  # pylint: disable=broad-except
            outcome = matrix.Outcome(*case)
            outcome.wrong.append("%s: %s" % (type(error).__name__, error))
            return outcome

    outcomes = []
    with concurrent.futures.ThreadPoolExecutor(at_once) as pool:
        for outcome in pool.map(one, cases):
            show(outcome)
            outcomes.append(outcome)
    return outcomes


def row_names():
    return [(fault, moment) for fault in matrix.FAULTS for moment in matrix.MOMENTS]


def plain(line):
    """A line without the addresses of one run."""
    line = re.sub(r"10\.\d+\.0\.(\d+):\d+", r"10.0.0.\1:7000", line)
    line = re.sub(r"/\S*/(work|move)\.mlir", r"\1.mlir", line)
    return line.replace("|", "/")


def page_of(outcomes):
    lines = [HEAD + "| fault of host 2 | moment | first line, s | code | empty after, s | first line |",
             "| --- | --- | --- | --- | --- | --- |"]
    for fault, moment in row_names():
        found = [o for o in outcomes if (o.fault, o.moment) == (fault, moment)]
        worst = max(found, key=lambda o: o.first_s)
        if worst.code is None:
            lines.append("| %s | %s | over %d | | %.1f | (still runs) |" % (
                fault, moment, lab.PATIENCE_S, worst.idle_s))
            continue
        lines.append("| %s | %s | %.1f | %s | %.1f | %s |" % (
            fault, moment, worst.first_s, ", ".join(sorted({str(o.code) for o in found})),
            max(o.idle_s for o in found), "`%s`" % plain(worst.line) if worst.line else "(no error)"))
    return "\n".join(lines) + "\n"


def rows_of_page(path):
    with open(path, encoding="utf-8") as stream:
        rows = [line.split(" | ") for line in stream if line.startswith("| ")]
    return [(row[0][2:], row[1]) for row in rows[1:] if row[0] != "| ---"]


def main(tfrt, tfrt_worker, page, *options):
    if options[:1] == ("--page",):
        write_page(page, read_outcomes(options[1:]))
        return
    if options[:1] == ("--write",):
        cases = [(fault, moment, count) for fault, moment in row_names() for count in COUNTS]
    elif options[:1] == ("--only",):
        cases = [(options[1], options[2], int(options[3]))]
    else:
        cases = SLICE
        if rows_of_page(page) != row_names():
            sys.exit("%s has other rows than the test: write it anew with --write" % page)
    lab.enter()
    outcomes = try_all(tfrt, tfrt_worker, cases, 6 if options else len(cases))
    wrong = [o for o in outcomes if o.wrong or o.first_s is None or o.first_s > BOUND_S]
    if options[:1] == ("--write",) and not any(o.first_s is None for o in outcomes):
        write_page(page, outcomes)
    if wrong:
        sys.exit("%d of %d went wrong" % (len(wrong), len(outcomes)))


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    main(*sys.argv[1:])
