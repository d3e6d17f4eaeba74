#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Takes the table of docs/performance.md anew.

    tests/bench/take_table.py                    builds the release, measures, writes the table
    tests/bench/take_table.py --json FILE...     the same from what `bench -o json > FILE` has given
    tests/bench/take_table.py --print [...]      prints the table instead of writing it

What the counters cost is a build and a measurement of its own (counters.py), which is part of this.
Run it from the project's folder on a machine that does nothing else: it takes some twenty minutes. It
measures all several times over; each line has the median of what came out, and of the ratios.
Each line has the median and the least of the samples, TFRT's figure and by how much longer this
machine takes for a yardstick than TFRT's did, the ratio to both, or to the benchmark that is the least
that the machine can do, and what the ratio may be. A ratio that is more than that is marked.
A chain of calls has a second line, beside the same messages on bare streams.
"""

import argparse
import json
import statistics
import sys

import counters

# How often everything is measured, and samples of each benchmark at a time.
ROUNDS = 3
SAMPLES = 5

# Runs of each of the two builds that counters.py compares.
PAIRS = 41

PAGE = "docs/performance.md"
BEGIN = "<!-- The table: written by tests/bench/take_table.py. -->\n"
END = "<!-- The end of the table. -->\n"

# The limit of each figure, as a part of TFRT's.
OF_TFRT = {
    "async_value/create_i32_drop": 0.6,
    "async_value/create_wait_fulfil_drop": 0.45,
    "work_queue/outside": 0.5,
    "work_queue/outside_2_threads": 0.2,
    "executor/chain_100k": 0.4,
    "executor/wide_100k": 0.3,
    "executor/async_chain_100k": 0.5,
    "executor/async_chain_100k_2_threads": 0.3,
    "executor/call_chain_100k": 0.3,
    "executor/fib_25": 0.25,
    "executor/repeat_1m": 0.25,
    "executor/while_1m": 0.25,
    "process/run_trivial": 0.7,
    "process/translate_chain_10k": 0.1,
    "process/translate_chain_100k": 0.1,
}

# The same as a multiple of the benchmark that is the least the machine can do.
OF_LIMIT = {
    "work_queue/enqueue_and_block_2_threads": 1.3,
    "digits/network_one_by_one": 1.03,
    "digits/network_by_50": 1.03,
    "cluster/call_64": 1.25,
    "cluster/call_64_tls": 1.25,
    "cluster/call_of_many": 0.2,
    "cluster/result_of_many": 1,
    "cluster/chain_over_2": 1.3,
    "cluster/chain_over_4": 1.3,
    "cluster/chain_over_8": 1.3,
    "cluster/chain_over_2_bound": 1.3,
    "cluster/chain_over_4_bound": 1.3,
    "cluster/chain_over_8_bound": 1.3,
    "cluster/call_p99_beside_4_gib": 1.5,
    "cluster/call_of_many_counted": 1.02,
    "cluster/payload_1_mib": 1.25,
    "cluster/payload_64_mib": 1.11,
}

# The absolute limit of a figure. Memory: the value, one window, and the worker.
AT_MOST = {
    "cluster/memory_of_payload_64_mib": 88,
    "cluster/worker_start": 50,
    "cluster/worker_memory": 20,
    "cluster/first_result_of_2": 100,
    "cluster/first_result_of_8": 300,
    "cluster/first_result_of_64": 1500,
}


# A second line for each of these, beside what the same takes here with nothing behind it: as many
# processes that send each other the same messages.
FLOORS = {
    "cluster/chain_over_2": "transport/chain_over_2",
    "cluster/chain_over_4": "transport/chain_over_4",
    "cluster/chain_over_8": "transport/chain_over_8",
    "cluster/chain_over_2_bound": "transport/chain_over_2_bound",
    "cluster/chain_over_4_bound": "transport/chain_over_4_bound",
    "cluster/chain_over_8_bound": "transport/chain_over_8_bound",
}


def measure():
    """What a release build of the benchmarks gives, and what its counters cost."""
    command = [counters.build(counters.RELEASE), "--repeat", str(SAMPLES), "-o", "json"]
    runs = [json.loads(counters.read_output(command))["benchmarks"] for _ in range(ROUNDS)]
    return together(runs) + counters.measure(PAIRS)


def read(path):
    """What `bench -o json` has written to a file."""
    with open(path, encoding="utf-8") as stream:
        return json.load(stream)["benchmarks"]


def merged(entries):
    """What several runs have of one benchmark as one entry: medians of the medians and of the ratios.

    A machine's speed changes from run to run more than within one: each ratio is that of a run.
    """
    median = statistics.median(entry["median"] for entry in entries)
    result = {
        **entries[0],
        "median": median,
        "least": min(entry["least"] for entry in entries),
        "greatest": max(entry["greatest"] for entry in entries),
    }
    for base in ("limit", "scale"):
        if all(base in entry for entry in entries):
            result[base] = median / statistics.median(e["median"] / e[base] for e in entries)
    return result


def together(runs):
    """Several runs as one."""
    by_name = {}
    for run in runs:
        for entry in run:
            by_name.setdefault(entry["name"], []).append(entry)
    return [merged(entries) for entries in by_name.values()]


def ratio_of(entry):
    """The ratio of a line, to what it is, and what it may be; None where there is nothing."""
    name, figure = entry["name"], entry["median"]
    if name in AT_MOST:
        return figure / AT_MOST[name], "target", 1
    if name in OF_LIMIT and "limit" in entry:
        return figure / entry["limit"], "limit", OF_LIMIT[name]
    if "tfrt" in entry:
        return figure / (entry["tfrt"] * entry["scale"]), "TFRT", OF_TFRT.get(name)
    if "limit" in entry:
        return figure / entry["limit"], "limit", None
    return None, "", None


def beside(entry, base):
    """What a line is compared with."""
    if base == "TFRT" and entry["scale"] != 1:
        return f"{entry['tfrt']:.4g} x {entry['scale']:.2f} (TFRT)"
    figures = {"TFRT": "tfrt", "limit": "limit"}
    figure = AT_MOST[entry["name"]] if base == "target" else entry.get(figures.get(base))
    return "" if figure is None else f"{figure:.4g} ({base})"


def floor_row(entry, entries):
    """The second line of a benchmark; none where there is no floor, or it was not measured."""
    floor = next((e for e in entries if e["name"] == FLOORS.get(entry["name"])), None)
    if not floor:
        return ""
    base = floor["median"]
    return f"| | | | | {base:.4g} ({floor['name']}) | {entry['median'] / base:.3f} | | |\n"


def row(entry):
    """A line of the table."""
    ratio, base, target = ratio_of(entry)
    cells = [entry["name"], entry["unit"], f"{entry['median']:.4g}", f"{entry['least']:.4g}"]
    cells.append(beside(entry, base))
    cells.append("" if ratio is None else f"{ratio:.3f}")
    cells.append("" if target is None else f"{target:g}")
    missed = target is not None and ratio > target
    cells.append("missed" if missed else "")
    return "| " + " | ".join(cells) + " |\n"


def table(entries):
    """The table as Markdown."""
    head = "| benchmark | unit | median | least | beside | ratio | at most | |\n"
    return head + "| --- " * 8 + "|\n" + "".join(
        row(entry) + floor_row(entry, entries) for entry in entries
    )


def write(text):
    """Puts the table into its place on the page."""
    with open(PAGE, encoding="utf-8") as stream:
        page = stream.read()
    if page.count(BEGIN) != 1 or page.count(END) != 1:
        sys.exit(f"{PAGE}: there must be one line {BEGIN.strip()} and one {END.strip()}")
    before, rest = page.split(BEGIN)
    after = rest.split(END)[1]
    with open(PAGE, "w", encoding="utf-8") as stream:
        stream.write(f"{before}{BEGIN}{text}{END}{after}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--json", metavar="FILE", nargs="+", help="what was measured, instead of measuring"
    )
    parser.add_argument("--print", action="store_true", help="print the table, write nothing")
    flags = parser.parse_args()
    entries = together([read(path) for path in flags.json]) if flags.json else measure()
    if flags.print:
        print(table(entries), end="")
    else:
        write(table(entries))
    return 0


if __name__ == "__main__":
    sys.exit(main())
