#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Jobs that come and go while workers are killed, frozen and cut off, and strangers attack: at the end
memory, descriptors and threads of the workers that lived are what they were at the start.

Usage, by hand, from the root of the tree: soak.py TFRT TFRT_WORKER MINUTES [SEED]

Hosts 0 and 1 live undisturbed but for attacks. Host 2 is struck by faults that it survives. Host 3 is
killed in jobs that it has in the place of host 2, and started again.
"""

import glob
import os
import random
import signal
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../integration"))

import hostile  # pylint: disable=wrong-import-position
import lab  # pylint: disable=wrong-import-position
import matrix  # pylint: disable=wrong-import-position

FLAGS = ("--silence-ms=5000", "--heartbeat-ms=500")
STRUCK = matrix.VICTIM
SHORT_LIVED = 3
FAULTS = ("SIGSTOP", "connections reset", "cut off")
STRANGERS = ("rapid-reset", "idle")
PEERS = ("never-acknowledge", "cycles", "references", "handshakes")
DISTURBANCES = ("none",) * 4 + ("SIGKILL", "interrupt", "kill client") + FAULTS + STRANGERS + PEERS

# The first jobs leave threads and caches. That is no growth.
FIRST_JOBS = 50
SHOW_S = 600

# A machine that lets this program wait for so long may let a worker seem dead.
STALL_S = 1.5


class Stalls(threading.Thread):
    """When the machine stood still, or had no time for this program."""

    def __init__(self):
        super().__init__(daemon=True)
        self.longest_s = 0
        self.start()

    def run(self):
        last = time.monotonic()
        while True:
            time.sleep(0.05)
            now = time.monotonic()
            self.longest_s = max(self.longest_s, now - last)
            last = now

    def take(self):
        """The longest since it was asked last."""
        longest_s, self.longest_s = self.longest_s, 0
        return longest_s


class Soak:
    def __init__(self, place, dice, stubs):
        self.place = place
        self.dice = dice
        self.stubs = stubs
        self.stalls = Stalls()
        self.codes = {}
        self.failed = []  # what ended undisturbed jobs

    def attack(self, kind):
        """One of the hosts that live is attacked for a while, from the machine of the client."""
        target = self.place.workers[self.dice.randrange(STRUCK + 1)]
        seconds = "%.1f" % self.dice.uniform(0.2, 2)
        if kind in STRANGERS:
            command = [hostile.__file__, kind, target.address, str(lab.PORT), seconds, "20"]
        else:
            command = ["tests/faults/hostile_peer.py", kind, target.name, seconds]
        lab.run("timeout", "60", *self.place.client.inside(
            "env", "PYTHONPATH=" + self.stubs, sys.executable, *command), check=False)

    def disturb(self, kind, client):
        """What happens while a job runs; it is over when this returns. Returns the job's code."""
        victim = self.place.workers[SHORT_LIVED if kind == "SIGKILL" else STRUCK]
        if kind in matrix.FAULTS:
            matrix.FAULTS[kind][0](victim)
        elif kind == "interrupt":
            client.process.send_signal(signal.SIGINT)
        elif kind == "kill client":
            client.process.kill()
        elif kind != "none":
            self.attack(kind)
        code = client.finish()
        if kind == "SIGKILL":
            victim.start()
        elif kind in matrix.FAULTS:
            victim.heal()
            victim.process.send_signal(signal.SIGCONT)
        return code

    def job(self):
        kind = self.dice.choice(DISTURBANCES)
        workers = self.place.workers[:3]
        if kind == "SIGKILL":
            workers[STRUCK] = self.place.workers[SHORT_LIVED]
        self.stalls.take()
        hosts = self.place.hosts(workers)
        if self.dice.random() < 0.3:
            client = lab.Client(self.place, self.place.write("move.mlir", matrix.MOVE), hosts)
        else:
            client = lab.Client(self.place, self.place.write("work.mlir", matrix.WORK), hosts,
                                "--arg=before=0", "--arg=us=%d" % self.dice.randrange(100000))
            client.await_line("1111")
        code = self.disturb(kind, client)
        if kind == "none" and code != 0:
            if self.stalls.take() > STALL_S:
                kind = "the machine stood still"
            else:
                self.failed.append(client.lines)
                print("an undisturbed job ended with %s: %s" % (code, client.lines), flush=True)
        self.codes[(kind, code)] = self.codes.get((kind, code), 0) + 1

    def show(self, when):
        figures = [worker.figures() for worker in self.place.workers[:3]]
        for index, figure in enumerate(figures):
            print("%s, %s: host %d: %s" % (time.strftime("%H:%M:%S"), when, index, figure),
                  flush=True)
        return figures

    def run(self, minutes):
        """Returns the figures after the first jobs and at the end, and what is left in the workers."""
        begin = None
        count = 0
        end = time.monotonic() + 60 * minutes
        next_show = time.monotonic() + SHOW_S
        while time.monotonic() < end or not begin:
            self.job()
            count += 1
            if count == FIRST_JOBS or time.monotonic() > next_show:
                self.place.await_idle(self.place.workers)
                figures = self.show("after %d jobs" % count)
                begin = begin or figures
                next_show = time.monotonic() + SHOW_S
        left, took = self.place.await_idle(self.place.workers)
        print("%d jobs; left after %.1f s: %s; threads here: %d" % (
            count, took, left, threading.active_count()))
        for kind, code in sorted(self.codes, key=str):
            print("  %s: code %s: %d" % (kind, code, self.codes[(kind, code)]))
        return begin, self.show("at the end"), left


def main(tfrt, tfrt_worker, minutes, seed="1"):
    lab.enter()
    with lab.Lab(tfrt, tfrt_worker, SHORT_LIVED + 1, FLAGS) as place:
        subprocess.run(["protoc", "-I.", "--python_out=" + place.folder, *glob.glob("proto/*.proto")],
                       check=True)
        soak = Soak(place, random.Random(int(seed)), place.folder)
        begin, final, left = soak.run(float(minutes))
    grown = [(index, key, old[key], new[key])
             for index, (old, new) in enumerate(zip(begin, final))
             for key, room in (("rss", 16 << 10), ("descriptors", 8), ("threads", 8))
             if new[key] > old[key] + room]
    if left or grown or soak.failed:
        sys.exit("left: %s; grown: %s; failed: %d" % (left, grown, len(soak.failed)))


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    main(*sys.argv[1:])
