#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Runs a function of a BEF file on a worker.

Usage: run_bef.py ADDRESS PROGRAM.bef [FUNCTION [TYPE:VALUE...]]

FUNCTION is the index of the function in the program (0, the first, if it is left out); the
arguments are numbers and strings, as i32:40 or !tfrt.string:hello. Prints what the program prints,
then the results. Ends with 1 if one of them is an error, with 2 for wrong usage, with 3 if the
worker can't be reached, goes away, or refuses the job or the call.

Where the worker wants a key, the environment's TFRT_CLUSTER_KEY has it.
"""

import os
import struct
import sys

from tfrt_client import Client, Lost, TfrtError, decode, encode


def print_results(results):
    """Prints a line for each. Returns the exit code."""
    for index, result in enumerate(results):
        if isinstance(result, TfrtError):
            origin = result.error.origin
            place = "%s:%d:%d" % (os.path.basename(origin.file), origin.line, origin.column)
            print("result %d: error %d: %s [%s]" % (index, result.error.code, result, place))
        else:
            print("result %d: %s %s" % (index, result.type, decode(result)))
    return 1 if any(isinstance(result, TfrtError) for result in results) else 0


def read_index(text):
    """The index of a function. ValueError."""
    if not text.isdecimal():
        raise ValueError("'%s' is no index of a function; the first is 0" % text)
    return int(text)


def read_value(argument):
    """The Value that TYPE:VALUE stands for. ValueError."""
    type_name, _, text = argument.partition(":")
    try:
        return encode(type_name, text)
    except (KeyError, ValueError, struct.error):
        raise ValueError("'%s' is no TYPE:VALUE, as i32:40" % argument) from None


def main(arguments):
    if len(arguments) < 2:
        print(__doc__, file=sys.stderr)
        return 2
    address, path = arguments[:2]
    try:
        function = read_index(arguments[2]) if len(arguments) > 2 else 0
        values = [read_value(argument) for argument in arguments[3:]]
        with open(path, "rb") as stream:
            image = stream.read()
    except (OSError, ValueError) as error:
        print("run_bef.py: %s" % error, file=sys.stderr)
        return 2
    client = Client(address, os.environ.get("TFRT_CLUSTER_KEY", ""))
    try:
        client.open_job()
        return print_results(client.results(client.start(image, function, values)))
    except (Lost, TfrtError) as error:
        print("run_bef.py: %s" % error, file=sys.stderr)
        return 3
    finally:
        client.close()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
