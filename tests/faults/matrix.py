# SPDX-License-Identifier: Apache-2.0
"""Faults, moments, and what each fault at each moment may lead to."""

import contextlib
import os
import resource
import signal
import time

import lab

VICTIM = 2  # of hosts 0 ... n - 1; calls go there from host 0, and payloads from there to host 1

# Host 2 works, between two lines; host 1 does something else, whatever becomes of host 2.
WORK = """func.func @work(%us: i32) -> i32 {
  %c0 = tfrt.new.chain
  %one = tfrt.constant.i32 1111
  %c1 = tfrt.print.i32 %one, %c0
  %t = "tfrt_test.identity"(%c1, %us) : (!tfrt.chain, i32) -> i32
  %c2 = "tfrt_test.blocking.usleep"(%t) : (i32) -> !tfrt.chain
  %two = tfrt.constant.i32 2222
  %c = tfrt.merge.chains %c1, %c2 : !tfrt.chain, !tfrt.chain
  %c3 = tfrt.print.i32 %two, %c
  %r = "tfrt_test.identity"(%c3, %us) : (!tfrt.chain, i32) -> i32
  tfrt.return %r : i32
}
func.func @other() -> i32 {
  %r = tfrt.constant.i32 42
  tfrt.return %r : i32
}
func.func @main(%before: i32, %us: i32) -> (i32, i32) {
  %c0 = tfrt.new.chain
  %zero = tfrt.constant.i32 3333
  %c1 = tfrt.print.i32 %zero, %c0
  %t = "tfrt_test.identity"(%c1, %before) : (!tfrt.chain, i32) -> i32
  %c2 = "tfrt_test.blocking.usleep"(%t) : (i32) -> !tfrt.chain
  %late = "tfrt_test.identity"(%c2, %us) : (!tfrt.chain, i32) -> i32
  %a = tfrt.call @work(%late) {host = 2 : i32} : (i32) -> i32
  %b = tfrt.call @other() {host = 1 : i32} : () -> i32
  tfrt.return %b, %a : i32, i32
}
"""

# 6 MB go from host 2 to host 1.
MOVE = """func.func @make() -> !tfrt_tensor.tensor {
  %ch = tfrt.new.chain
  %t = tfrt_dht.create_uninitialized_tensor.f32.1 [1500000 : i64]
  %c = tfrt_dht.fill_tensor_with_constant.f32 %t, %ch 1.0 : f32
  %r = "tfrt_test.identity"(%c, %t) : (!tfrt.chain, !tfrt_tensor.tensor) -> !tfrt_tensor.tensor
  tfrt.return %r : !tfrt_tensor.tensor
}
func.func @use(%t: !tfrt_tensor.tensor) -> !tfrt.chain {
  %ch = tfrt.new.chain
  %s = tfrt_tensor.sum %t axis 0
  %p = tfrt_dht.print_tensor %s, %ch
  tfrt.return %p : !tfrt.chain
}
func.func @other() -> i32 {
  %r = tfrt.constant.i32 42
  tfrt.return %r : i32
}
func.func @main() -> (i32, !tfrt.chain) {
  %t = tfrt.call @make() {host = 2 : i32} : () -> !tfrt_tensor.tensor
  %a = tfrt.call @use(%t) {host = 1 : i32} : (!tfrt_tensor.tensor) -> !tfrt.chain
  %b = tfrt.call @other() {host = 1 : i32} : () -> i32
  tfrt.return %b, %a : i32, !tfrt.chain
}
"""

# --- Faults --------------------------------------------------------------------


def kill(worker):
    worker.process.kill()
    worker.process.wait()


def freeze(worker):
    """It may stand still already."""
    with open("/proc/%d/stat" % worker.pid, encoding="ascii") as stat:
        if stat.read().rsplit(")", 1)[1].split()[0] == "T":
            return
    lab.stop(worker.process)


def reset(worker):
    """Every connection of the worker that says something in the next 1.5 s. New ones are let in, and
    then hear nothing: their resets are not let out."""
    for chain in ("input", "output"):
        worker.run("nft", "add table inet f; add chain inet f %s { type filter hook %s priority 0; };"
                   "add rule inet f %s tcp flags & syn == 0 reject with tcp reset" % (chain, chain, chain))
    worker.heal_after(1.5)


def cut(worker):
    worker.drop("input", "meta l4proto tcp")
    worker.drop("output", "meta l4proto tcp")


def mute(worker):
    worker.drop("output", "meta l4proto tcp")


def deafen(worker):
    worker.drop("input", "meta l4proto tcp")


def narrow(worker):
    worker.drop("output", "meta length > 1000")


def slow(worker):
    worker.slow("2mbit")


def fill_disk(worker):
    rest = os.open(os.path.join(worker.disk, "rest"), os.O_WRONLY | os.O_CREAT)
    with contextlib.suppress(OSError):
        while True:
            os.write(rest, b"x" * 512)
    os.close(rest)


def take_descriptors(worker):
    worker.limit(resource.RLIMIT_NOFILE, worker.figures()["descriptors"])


def take_memory(worker):
    worker.limit(resource.RLIMIT_AS, (worker.figures()["size"] + 1024) << 10)


# Name, what it does, the exit codes it may lead to, and whether the worker lives when it is over.
FAULTS = {
    "SIGKILL": (kill, {4}, False),
    "SIGSTOP": (freeze, {4}, True),
    "connections reset": (reset, {0}, True),
    "cut off": (cut, {4}, True),
    "cut off one way, mute": (mute, {4}, True),
    "cut off one way, deaf": (deafen, {4}, True),
    "path-MTU hole": (narrow, {0, 4}, True),
    "slow link": (slow, {0}, True),
    "full disk": (fill_disk, {0}, True),
    "no descriptors": (take_descriptors, {0}, True),
    "memory limit": (take_memory, {0, 1}, True),
}

MOMENTS = ("before send", "in flight", "running", "before reply", "mid-transfer", "in cancel",
           "in shutdown")


def allowed_codes(fault, moment):
    """A fault that changes nothing may come too late, or the cancel or the shutdown come first."""
    codes = set(FAULTS[fault][1])
    if moment == "before send" and (codes != {0} or fault == "no descriptors"):
        codes |= {3}
    if moment == "before reply":
        codes |= {0}
    if moment == "in cancel":
        codes |= {5}
    # Only payloads are lost: then that is an error of the program, and no host is lost.
    if fault == "path-MTU hole" and moment == "mid-transfer":
        codes = {1}
    return codes


class Outcome:
    """What one fault at one moment led to."""

    def __init__(self, fault, moment, count):
        self.fault, self.moment, self.count = fault, moment, count
        self.code = None
        self.first_s = None  # from the fault to the first line of an error, or to the end
        self.line = ""
        self.idle_s = None
        self.wrong = []


def begin(place, moment):
    """Starts the program, and waits for the moment; returns the client, or None if it comes next."""
    if moment == "before send":
        return None
    if moment == "mid-transfer":
        place.workers[VICTIM].slow("10mbit")
        client = lab.Client(place, place.write("move.mlir", MOVE), place.hosts())
        if not place.await_count(place.workers[VICTIM], "transfers"):
            raise RuntimeError("no transfer: %s" % client.lines)
        return client
    before, work = ("2000000", "0") if moment == "in flight" else ("0", "1500000")
    client = lab.Client(place, place.write("work.mlir", WORK), place.hosts(),
                        "--arg=before=" + before, "--arg=us=" + work)
    line = {"in flight": "3333", "before reply": "2222"}.get(moment, "1111")
    if not client.await_line(line):
        raise RuntimeError("it does not begin: %s" % client.lines)
    victim = place.workers[VICTIM]
    if moment == "in flight":
        # The call leaves, and nobody reads it.
        lab.stop(victim.process)
        if not place.await_count(place.workers[0], "outgoing_calls"):
            raise RuntimeError("no call: %s" % client.lines)
    elif moment == "in cancel":
        client.process.send_signal(signal.SIGINT)
    elif moment == "in shutdown":
        victim.process.send_signal(signal.SIGTERM)
    return client


def judge(outcome, client, place):
    outcome.code = client.finish()
    if outcome.code is None:
        outcome.wrong.append("hangs: %s" % client.lines)
        return
    allowed = allowed_codes(outcome.fault, outcome.moment)
    if outcome.code not in allowed:
        outcome.wrong.append("exit code %d, not of %s: %s" % (
            outcome.code, sorted(allowed), client.lines))
    if outcome.code in (3, 4):
        names = ("host %d" % VICTIM, place.workers[VICTIM].name)
        if not any(name in outcome.line for name in names):
            outcome.wrong.append("does not name the host: %s" % outcome.line)
    if outcome.code == 0 and not client.first("out", "42"):
        outcome.wrong.append("no result: %s" % client.lines)


def recover(outcome, place):
    """Ends the fault; then nothing may be left in any worker that lives."""
    victim = place.workers[VICTIM]
    living = list(place.workers)
    if not FAULTS[outcome.fault][2] or outcome.moment == "in shutdown":
        living.remove(victim)
    else:
        victim.heal()
        victim.process.send_signal(signal.SIGCONT)
        hard = resource.RLIM_INFINITY
        resource.prlimit(victim.pid, resource.RLIMIT_AS, (hard, hard))
        most = resource.prlimit(victim.pid, resource.RLIMIT_NOFILE)[1]
        resource.prlimit(victim.pid, resource.RLIMIT_NOFILE, (most, most))
        if victim.process.poll() is not None:
            outcome.wrong.append("the worker ended: %s" % victim.process.returncode)
            living.remove(victim)
    left, outcome.idle_s = place.await_idle(living)
    if left:
        outcome.wrong.append("left: %s" % "; ".join(left))


def try_one(tfrt, tfrt_worker, fault, moment, count, flags=()):
    """One fault at one moment, on `count` workers."""
    outcome = Outcome(fault, moment, count)
    with lab.Lab(tfrt, tfrt_worker, count, flags) as place:
        victim = place.workers[VICTIM]
        client = begin(place, moment)
        struck = time.monotonic()
        FAULTS[fault][0](victim)
        if moment == "in flight" and fault not in ("SIGKILL", "SIGSTOP"):
            victim.process.send_signal(signal.SIGCONT)
        if not client:
            client = lab.Client(place, place.write("work.mlir", WORK), place.hosts(),
                                "--arg=before=0", "--arg=us=0")
        code = client.finish()
        ended = time.monotonic()
        line = client.first("err")
        outcome.first_s = (line[0] if line else ended) - struck
        outcome.line = line[2] if line else ""
        if code is not None:
            judge(outcome, client, place)
        else:
            outcome.wrong.append("hangs: %s" % client.lines)
        recover(outcome, place)
    return outcome
