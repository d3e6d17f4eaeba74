#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Jobs that come and go while workers are killed, frozen and cut off, and strangers reset streams: at
the end memory, descriptors and threads of the workers that lived are what they were at the start.

Usage, by hand: soak.py TFRT TFRT_WORKER MINUTES [SEED]
"""

import os
import random
import signal
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../integration"))

import hostile  # pylint: disable=wrong-import-position
import lab  # pylint: disable=wrong-import-position
import matrix  # pylint: disable=wrong-import-position

FLAGS = ("--silence-ms=2000", "--heartbeat-ms=200")
LAST = matrix.VICTIM  # the one that faults strike; hosts 0 and 1 live throughout
DISTURBANCES = ("none", "none", "SIGSTOP", "connections reset", "cut off", "interrupt", "kill client",
                "rapid reset")


def disturb(place, kind, client):
    """What happens while a job runs; it is over when this returns."""
    victim = place.workers[LAST]
    if kind in matrix.FAULTS:
        matrix.FAULTS[kind][0](victim)
    elif kind == "interrupt":
        client.process.send_signal(signal.SIGINT)
    elif kind == "kill client":
        client.process.kill()
    elif kind == "rapid reset":
        # The tool of strangers, in the network of the client.
        lab.run(*place.client.inside(sys.executable, hostile.__file__, "rapid-reset",
                                     victim.address, str(lab.PORT), "0.5", "2"))
    code = client.finish()
    if kind in matrix.FAULTS:
        victim.heal()
        victim.process.send_signal(signal.SIGCONT)
    return code


def job(place, dice, codes):
    kind = dice.choice(DISTURBANCES)
    moves = dice.random() < 0.3
    if moves:
        client = lab.Client(place, place.write("move.mlir", matrix.MOVE), place.hosts())
    else:
        client = lab.Client(place, place.write("work.mlir", matrix.WORK), place.hosts(),
                            "--arg=before=0", "--arg=us=%d" % dice.randrange(100000))
        client.await_line("1111")
    code = disturb(place, kind, client)
    codes[(kind, code)] = codes.get((kind, code), 0) + 1
    if kind == "none" and code != 0:
        raise SystemExit("an undisturbed job ended with %s: %s" % (code, client.lines))


def show(place, when):
    figures = [worker.figures() for worker in place.workers]
    for index, figure in enumerate(figures):
        print("%s: host %d: %s" % (when, index, figure), flush=True)
    return figures


def main(tfrt, tfrt_worker, minutes, seed="1"):
    lab.enter()
    dice = random.Random(int(seed))
    codes = {}
    with lab.Lab(tfrt, tfrt_worker, 3, FLAGS) as place:
        begin = None
        count = 0
        end = time.monotonic() + 60 * float(minutes)
        while time.monotonic() < end:
            job(place, dice, codes)
            count += 1
            # The first jobs leave threads and caches. That is no growth.
            if count == 20:
                place.await_idle(place.workers)
                begin = show(place, "after 20 jobs")
        left, took = place.await_idle(place.workers)
        print("%d jobs; left after %.1f s: %s; codes: %s; threads here: %d" % (
            count, took, left, sorted(codes.items(), key=str), threading.active_count()))
        final = show(place, "at the end")
    grown = [(index, key, old[key], new[key])
             for index, (old, new) in enumerate(zip(begin or [], final))
             for key, room in (("rss", 16 << 10), ("descriptors", 8), ("threads", 8))
             if new[key] > old[key] + room]
    if left or grown or not begin:
        sys.exit("left: %s; grown: %s" % (left, grown))


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    main(*sys.argv[1:])
