# SPDX-License-Identifier: Apache-2.0
"""A worker that says what a test tells it to: the service Peer of proto/, with nothing behind it.

The stubs of proto/ are on the path by the time that this is imported.
"""

import concurrent.futures
import contextlib
import hashlib
import hmac
import queue
import struct
import threading

import grpc

from proto import batch_pb2 as batch
from proto import bulk_pb2 as bulk
from proto import job_pb2 as job
from proto import peer_pb2_grpc
from proto import session_pb2 as session

INCARNATION = 0xB2
HANDLE = 1  # of its one job


def read_aside(function, messages, outgoing):
    """Has another thread read what the client says, and ends what it is told when it has ended."""

    def read():
        with contextlib.suppress(Exception):  # whatever gRPC calls a stream that broke
            function(messages)
        outgoing.put(None)

    threading.Thread(target=read, daemon=True).start()


class BulkChannel:
    """One bulk channel: what came up, and what is to go down; None ends it."""

    def __init__(self, hello):
        self.hello = hello
        self.up = queue.Queue()
        self.down = queue.Queue()

    def read(self, messages):
        for message in messages:
            self.up.put(message)

    def say(self, **message):
        self.down.put(bulk.BulkDown(**message))

    def welcome(self):
        self.say(welcome=bulk.BulkWelcome(channel=0))
        return self

    def end(self):
        self.down.put(None)


class FakePeer(peer_pb2_grpc.PeerServicer):
    """Takes one session with one job. Frames that come are in `frames`, bulk channels in
    `channels`, the numbers of heartbeats in `beats`."""

    def __init__(self, patience_s, **limits):
        self.patience_s = patience_s
        self.limits = session.Limits(**limits)
        self.frames = queue.Queue()
        self.beats = queue.Queue()
        self.channels = queue.Queue()
        self.outgoing = queue.Queue()
        self.client = 0
        self.received = 0
        self.sent = 0
        self.call_limit = 0
        self.server = grpc.server(concurrent.futures.ThreadPoolExecutor(8))
        peer_pb2_grpc.add_PeerServicer_to_server(self, self.server)
        self.address = "127.0.0.1:%d" % self.server.add_insecure_port("127.0.0.1:0")
        self.server.start()

    def stop(self):
        self.outgoing.put(None)
        self.server.stop(0).wait()

    # --- The control stream ---------------------------------------------------------

    def send(self, kind, body, handle=HANDLE):
        frame = batch.Frame(
            kind=kind, job=handle, epoch=1 if handle else 0, body=body.SerializeToString()
        )
        self.sent += 1
        self.outgoing.put(self.make_batch([frame], self.sent))

    def make_batch(self, frames, first_seq):
        return batch.Batch(
            version=1,
            from_incarnation=INCARNATION,
            to_incarnation=self.client,
            session=1,
            first_seq=first_seq,
            ack=self.received,
            call_limit=64,
            want_limit=64,
            frames=frames,
        )

    def expect(self, kind, message):
        """The body of the next frame of that kind; others are passed over."""
        while True:
            frame = self.frames.get(timeout=self.patience_s)
            if frame.kind == kind:
                message.ParseFromString(frame.body)
                return message

    def on_frame(self, frame):
        if frame.kind == batch.FRAME_HELLO:
            hello = session.Hello.FromString(frame.body)
            self.client = hello.incarnation
            welcome = session.Welcome(hello=hello)
            welcome.hello.incarnation = INCARNATION
            welcome.hello.limits.CopyFrom(self.limits)
            body = batch.Frame(kind=batch.FRAME_WELCOME, body=welcome.SerializeToString())
            self.outgoing.put(self.make_batch([body], 0))
        elif frame.kind == batch.FRAME_JOB_OPEN:
            self.open_job(job.JobOpen.FromString(frame.body))
        self.frames.put(frame)

    def open_job(self, opened):
        names = struct.pack("<QQI", INCARNATION, self.client, 1) + opened.job_id
        proof = hmac.new(opened.key, names, hashlib.sha256).digest()
        attach = job.JobAttach(handle=HANDLE, job_id=opened.job_id, proof=proof)
        self.send(batch.FRAME_JOB_ATTACH, attach, 0)
        self.send(batch.FRAME_JOB_OPENED, job.JobOpened())

    def read_control(self, batches):
        for message in batches:
            self.call_limit = max(self.call_limit, message.call_limit)
            if message.HasField("heartbeat"):
                self.beats.put(message.heartbeat.number)
            for index, frame in enumerate(message.frames):
                if message.first_seq:
                    self.received = message.first_seq + index
                self.on_frame(frame)

    def Control(self, request_iterator, context):  # pylint: disable=invalid-name
        read_aside(self.read_control, request_iterator, self.outgoing)
        yield from iter(self.outgoing.get, None)

    # --- Bulk channels ----------------------------------------------------------------

    def Bulk(self, request_iterator, context):  # pylint: disable=invalid-name
        channel = BulkChannel(next(request_iterator).hello)
        read_aside(channel.read, request_iterator, channel.down)
        self.channels.put(channel)
        yield from iter(channel.down.get, None)

    def next_channel(self):
        return self.channels.get(timeout=self.patience_s)

    def next_up(self, channel):
        return channel.up.get(timeout=self.patience_s)
