# SPDX-License-Identifier: Apache-2.0
"""A peer that speaks the protocol well enough to be let in, and then does as it likes.

Usage, by hand: hostile_peer.py ATTACK ADDRESS SECONDS

The folder that `protoc` filled from proto/ must be on sys.path.
"""

import queue
import secrets
import sys
import threading
import time

import grpc

from proto import batch_pb2 as batch
from proto import call_pb2 as call
from proto import job_pb2 as job
from proto import session_pb2 as session
from proto import value_pb2 as value

NO_RANK = 2**32 - 1
NO_LIMIT = 1 << 40
STATUS, COPY = 4, 5  # built-in functions
OPTIONS = [
    ("grpc.use_local_subchannel_pool", 1),
    ("grpc.max_send_message_length", -1),
    ("grpc.max_receive_message_length", -1),
]


class Peer:
    """One session. What it sends is what the test says; it reads what comes."""

    def __init__(self, address, incarnation=None, hello=None, acknowledges=True):
        self.incarnation = incarnation or secrets.randbits(63) | 1
        self.acknowledges = acknowledges
        self.worker = 0
        self.sent = 0
        self.received = 0
        self.credit = 0
        self.job_key = secrets.token_bytes(32)
        self.address = address
        self.ending = None  # why the session ended, as far as is known
        self.answered = threading.Event()
        self.over = threading.Event()
        self.outbox = queue.Queue(maxsize=256)
        self.channel = grpc.insecure_channel(address, options=OPTIONS)
        stream = self.channel.stream_stream(
            "/tfrt.peer.v1.Peer/Control",
            request_serializer=lambda m: m if isinstance(m, bytes) else m.SerializeToString(),
            response_deserializer=batch.Batch.FromString,
        )
        self.stream = stream(iter(self.outbox.get, None))
        threading.Thread(target=self.read, daemon=True).start()
        fields = dict(version_min=1, version_max=1, incarnation=self.incarnation, session=1,
                      connection=1, next_call=1, rank_hint=NO_RANK, name="hostile", features=15)
        fields.update(hello or {})
        body = session.Hello(**fields).SerializeToString()
        self.put([batch.Frame(kind=batch.FRAME_HELLO, body=body)], first_seq=0)
        self.answered.wait(10)

    def read(self):
        try:
            for message in self.stream:
                self.take(message)
        except grpc.RpcError as error:
            self.ending = self.ending or error.details()
        self.over.set()
        self.answered.set()

    def take(self, message):
        self.credit = max(self.credit, message.call_limit)
        if message.first_seq:
            self.received = max(self.received, message.first_seq + len(message.frames) - 1)
        for frame in message.frames:
            if frame.kind == batch.FRAME_WELCOME:
                self.worker = message.from_incarnation
                self.answered.set()
            elif frame.kind in (batch.FRAME_GOODBYE, batch.FRAME_REFUSE):
                kind = session.Goodbye if frame.kind == batch.FRAME_GOODBYE else session.Refuse
                self.ending = kind.FromString(frame.body).message
                self.answered.set()

    def header(self, **fields):
        header = dict(version=1, from_incarnation=self.incarnation, to_incarnation=self.worker,
                      session=1, ack=self.received if self.acknowledges else 0,
                      call_limit=NO_LIMIT, want_limit=NO_LIMIT)
        header.update(fields)
        return header

    def put(self, frames, **fields):
        """Sends a batch; False if the session is over, or the worker has not read for long."""
        if "first_seq" not in fields:
            fields["first_seq"] = self.sent + 1
            self.sent += len(frames)
        message = batch.Batch(frames=frames, **self.header(**fields))
        while not self.over.is_set():
            try:
                self.outbox.put(message, timeout=0.2)
                return True
            except queue.Full:
                continue
        return False

    def send(self, kind, body, handle=1):
        frame = batch.Frame(kind=kind, job=handle, epoch=1 if handle else 0,
                            body=body if isinstance(body, bytes) else body.SerializeToString())
        return self.put([frame])

    def beat(self, number):
        message = batch.Batch(**self.header(first_seq=0))
        message.heartbeat.number = number
        self.outbox.put(message)

    def open_job(self, handle=1, **fields):
        member = job.Member(rank=0, incarnation=self.worker, addresses=[self.address])
        opening = job.JobOpen(job_id=secrets.token_bytes(16), key=self.job_key, root=0,
                              view=job.View(epoch=1, members=[member]), name="hostile")
        for name, content in fields.items():
            setattr(opening, name, content)
        return self.send(batch.FRAME_JOB_OPEN, opening, handle)

    def invoke(self, number, function, handle=1, arguments=(), **fields):
        return self.send(batch.FRAME_INVOKE, call.Invoke(
            call=number, program=0, function=function, arguments=arguments, result_count=1,
            results_wanted=1, **fields), handle)

    def reference(self, number, **fields):
        """A name that this peer has given to a result of its own call."""
        name = value.ObjectId(namer=self.incarnation, number=number, index=0)
        return value.Item(reference=value.Reference(
            id=name, owner=self.worker, owner_rank=0, namer_rank=NO_RANK, **fields))

    def leave(self):
        """Hangs up, without a word."""
        try:
            self.outbox.put_nowait(None)
        except queue.Full:
            pass
        self.channel.close()

    def await_end(self, seconds):
        end = time.monotonic() + seconds
        return self.over.wait(max(0, end - time.monotonic()))


# --- Attacks, each by one peer until a time ------------------------------------------


def never_acknowledge(address, end):
    """Asks without end, reads the answers, and acknowledges none. Returns how many calls it made."""
    peer = Peer(address, acknowledges=False)
    peer.open_job()
    number, beats = 1, 1
    next_beat = time.monotonic()
    while time.monotonic() < end and not peer.over.is_set():
        if time.monotonic() >= next_beat:
            peer.beat(beats)
            beats += 1
            next_beat += 0.2
        if number <= peer.credit:
            if not peer.invoke(number, STATUS, take_inline=True):
                break
            number += 1
    peer.leave()
    return number - 1


def make_cycles(peer, jobs, closes):
    """Two calls of each other's results, in each of many jobs."""
    number = 1
    for handle in range(1, jobs + 1):
        peer.open_job(handle)
        for own, other in ((number, number + 1), (number + 1, number)):
            peer.invoke(own, COPY, handle, [peer.reference(other)])
        number += 2
        if closes:
            peer.send(batch.FRAME_JOB_CLOSE, job.JobClose(), handle)
            peer.send(batch.FRAME_JOB_DETACH, job.JobDetach(), handle)


def cycles(address, end):
    """Jobs that can't end, none of which is closed, by one peer after another."""
    count = 0
    while count == 0 or time.monotonic() < end:
        peer = Peer(address)
        make_cycles(peer, 100, False)
        peer.leave()
        count += 1
    return count


def make_references(peer):
    """References of every kind, to what is its own, nothing or at the end of the numbers."""
    peer.open_job()
    number = 1
    for flags in range(8):
        kinds = {"is_chain": bool(flags & 1), "is_mutable": bool(flags & 2),
                 "is_recoverable": bool(flags & 4)}
        known = value.Reference.DESCRIPTOR.fields_by_name
        kinds = {name: state for name, state in kinds.items() if name in known}
        for other in (number + 2000, 0, 2**48 - 1):
            peer.invoke(number, COPY, arguments=[peer.reference(other, **kinds)])
            number += 1


def references(address, end):
    count = 0
    while count == 0 or time.monotonic() < end:
        peer = Peer(address)
        make_references(peer)
        peer.leave()
        count += 1
    return count


def replay_handshakes(address, end):
    """The same Hello again and again, and resumes of what never was. Returns how many."""
    count = 0
    while time.monotonic() < end:
        for hello in ({}, {"connection": 2**31}, {"resume": True, "connection": 5},
                      {"resume": True, "connection": 6, "received_seq": 2**60},
                      {"session": 2**32 - 1}, {"next_call": 2**48 - 1}):
            Peer(address, incarnation=0x77, hello=hello).leave()
            count += 1
    return count


ATTACKS = {
    "never-acknowledge": never_acknowledge,
    "cycles": cycles,
    "references": references,
    "handshakes": replay_handshakes,
}

if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    print(ATTACKS[sys.argv[1]](sys.argv[2], time.monotonic() + float(sys.argv[3])))
