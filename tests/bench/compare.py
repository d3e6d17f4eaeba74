#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Prints two results of the benchmarks side by side.

    bench -o json > before.json
    bench -o json > after.json
    tests/bench/compare.py before.json after.json

Each line: both medians, and after / before. Where the samples of the two do not overlap at all,
the line ends with a mark: + faster or smaller, - slower or greater. What is in one file only is
listed without a ratio.
"""

import json
import sys


def read(path):
    """The benchmarks of a file by name, in its order."""
    with open(path, encoding="utf-8") as stream:
        return {entry["name"]: entry for entry in json.load(stream)["benchmarks"]}


def mark(before, after):
    """Whether all samples of one are better than all of the other."""
    if after["greatest"] < before["least"]:
        return "+"
    if after["least"] > before["greatest"]:
        return "-"
    return ""


def compare(before, after):
    """The lines of the comparison."""
    lines = [f"{'benchmark':40} {'unit':5} {'before':>10} {'after':>10} {'ratio':>7}"]
    for name in list(before) + [name for name in after if name not in before]:
        old, new = before.get(name), after.get(name)
        unit = (old or new)["unit"]
        columns = [f"{entry['median']:10.4g}" if entry else " " * 10 for entry in (old, new)]
        line = f"{name:40} {unit:5} {columns[0]} {columns[1]}"
        if old and new:
            line += f" {new['median'] / old['median']:7.3f} {mark(old, new)}"
        lines.append(line.rstrip())
    return lines


def main():
    if len(sys.argv) != 3:
        print(__doc__, file=sys.stderr)
        return 2
    print("\n".join(compare(read(sys.argv[1]), read(sys.argv[2]))))
    return 0


if __name__ == "__main__":
    sys.exit(main())
