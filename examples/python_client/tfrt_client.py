#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""A client of a worker, in Python, from the files in proto/ alone.

    client = Client("127.0.0.1:4001")
    client.open_job()
    start = client.start(image, function=0, arguments=[encode("i32", "40")])
    print([decode(result) for result in client.results(start)])
    client.close()

One session with one worker, one job on it, any number of starts. What it leaves out: broken
connections are not resumed, the checksums of chunks not checked, and other hosts not called.

The folder that `protoc` was told to fill (README.md says how) must be on PYTHONPATH: it holds a
package `proto`.
"""

import hashlib
import hmac
import queue
import secrets
import struct
import threading
import time

import grpc

from proto import batch_pb2 as batch
from proto import bulk_pb2 as bulk
from proto import call_pb2 as call
from proto import job_pb2 as job
from proto import object_pb2 as objects
from proto import peer_pb2_grpc
from proto import session_pb2 as session
from proto import value_pb2 as value

VERSIONS = 1, 1  # the lowest and the highest that this speaks
NO_RANK = 2**32 - 1
WINDOW = 4 << 20  # bytes of a payload that may be under way to us
CHUNK = 1 << 20
SILENCE_S = 5  # without a batch, then the worker is dead
ACK = object()  # in the queue of frames: a batch without any, for its `ack`

# The message in the body of each kind of frame that may come.
BODIES = {
    batch.FRAME_WELCOME: session.Welcome,
    batch.FRAME_REFUSE: session.Refuse,
    batch.FRAME_GOODBYE: session.Goodbye,
    batch.FRAME_JOB_ATTACH: job.JobAttach,
    batch.FRAME_JOB_OPENED: job.JobOpened,
    batch.FRAME_JOB_END: job.JobEnd,
    batch.FRAME_JOB_CLOSE: job.JobClose,
    batch.FRAME_JOB_DETACH: job.JobDetach,
    batch.FRAME_INVOKE: call.Invoke,
    batch.FRAME_CANCEL: call.Cancel,
    batch.FRAME_WANT: objects.Want,
    batch.FRAME_RESOLVE: objects.Resolve,
    batch.FRAME_UNWANT: objects.Unwant,
    batch.FRAME_RELEASE: objects.Release,
}

# Scalars: how struct(3) writes the body of a Value.
SCALARS = {
    "i1": "<?", "i8": "<b", "i16": "<h", "i32": "<i", "i64": "<q",
    "ui8": "<B", "ui16": "<H", "ui32": "<I", "ui64": "<Q", "f32": "<f", "f64": "<d",
}


class TfrtError(Exception):
    """An Error of the protocol; `.error` is the message."""

    def __init__(self, error):
        super().__init__(error.message)
        self.error = error


class Lost(Exception):
    """There is no worker, it went away, or it does not want us."""


def encode(type_name, text):
    """The Value of `text`, as a command line has it."""
    if type_name == "!tfrt.string":
        return value.Value(type=type_name, body=text.encode())
    layout = SCALARS[type_name]
    number = float(text) if type_name[0] == "f" else int(text)
    return value.Value(type=type_name, body=struct.pack(layout, number))


def decode(item):
    """What an inline Value is in Python: a number, a text, None for a chain, or its bytes."""
    if item.type in SCALARS:
        return struct.unpack(SCALARS[item.type], item.body)[0]
    if item.type == "!tfrt.string":
        return item.body.decode()
    return None if item.type == "!tfrt.chain" else item.body


class Payload:
    """A value that comes in chunks."""

    def __init__(self):
        self.type = None
        self.header = b""
        self.body = bytearray()
        self.error = None
        self.is_complete = threading.Event()


class Client:
    """One session with one worker, and one job on it. Its methods are for one thread; what the
    worker says is handled on two others, one per stream."""

    def __init__(self, address, key="", on_print=print):
        self.address = address
        self.metadata = [("tfrt-cluster-key", key)] if key else []
        self.on_print = on_print
        self.incarnation = secrets.randbits(64) | 1
        self.worker = 0  # its incarnation, once Welcome has said it
        self.version = VERSIONS[1]  # then the one in force
        self.session = 1
        self.outgoing = queue.Queue()  # frames; None: the end
        self.bulk_outgoing = queue.Queue()
        self.changed = threading.Condition()
        self.failure = None  # why the session is over
        self.heard = time.monotonic()  # when the worker last said something
        self.received = 0  # the highest sequence number that was handled
        self.calls_done = 0
        self.wants_resolved = 0
        self.beat_seen = 0  # the worker's newest heartbeat
        self.job_id = secrets.token_bytes(16)
        self.job_key = secrets.token_bytes(32)
        self.is_attached = False
        self.opened = None
        self.ends = {}  # JobEnd by start
        self.exports = {}  # what the worker may Want of us: Value by number
        self.sending = {}  # payloads on their way: (Value, offset) by the worker's Want
        self.resolved = {}  # Item by our Want
        self.payloads = {}  # Payload by our Want
        self.next_start = 1
        self.next_want = 1
        self.programs = {}  # handle by SHA-256
        # A lane has a connection of its own, so that no message waits behind a payload.
        options = [("grpc.use_local_subchannel_pool", 1)]
        self.channel = grpc.insecure_channel(address, options=options)
        self.lane_channel = grpc.insecure_channel(address, options=options)
        self.threads = [threading.Thread(target=self.read_control, daemon=True)]
        self.threads[0].start()

    # --- What we send -------------------------------------------------------------

    def send(self, kind, body, job_handle=0, **header):
        """One sequenced frame. Frames of a job have its handle and the epoch of its view."""
        self.outgoing.put(
            batch.Frame(
                kind=kind,
                job=job_handle,
                epoch=1 if job_handle else 0,
                body=body.SerializeToString(),
                **header,
            )
        )

    def make_batch(self, frames, first_seq):
        return batch.Batch(
            version=self.version,
            from_incarnation=self.incarnation,
            to_incarnation=self.worker,
            session=self.session,
            first_seq=first_seq,
            ack=self.received,
            call_limit=64 + self.calls_done,
            want_limit=64 + self.wants_resolved,
            frames=frames,
        )

    def write_control(self):
        """The batches of the control stream: Hello, then what is sent, and a sign of life each
        second. One frame a batch: simple, and slow."""
        hello = session.Hello(
            version_min=VERSIONS[0],
            version_max=VERSIONS[1],
            incarnation=self.incarnation,
            rank_hint=NO_RANK,
            name="python",
            session=self.session,
            connection=1,
            next_call=1,
        )
        yield self.make_batch(
            [batch.Frame(kind=batch.FRAME_HELLO, body=hello.SerializeToString())], 0
        )
        with self.changed:
            self.changed.wait_for(lambda: self.worker or self.failure)
        next_seq = 1
        beats = 0
        while not self.failure:
            try:
                frame = self.outgoing.get(timeout=1)
            except queue.Empty:
                beats += 1
                message = self.make_batch([], 0)
                message.heartbeat.number = beats
                message.heartbeat.echo = self.beat_seen
                yield message
                continue
            if frame is None:
                return
            if frame is ACK:
                yield self.make_batch([], 0)
                continue
            yield self.make_batch([frame], next_seq)
            next_seq += 1

    # --- What comes ---------------------------------------------------------------

    def read_control(self):
        try:
            stub = peer_pb2_grpc.PeerStub(self.channel)
            for message in stub.Control(self.write_control(), metadata=self.metadata):
                self.on_batch(message)
            self.fail("the worker at %s ended the session" % self.address)
        except grpc.RpcError as error:
            self.fail("%s: %s" % (self.address, error.details()))
        except Exception as error:  # pylint: disable=broad-except
            self.fail("%s: %r" % (self.address, error))

    def fail(self, reason):
        with self.changed:
            self.failure = self.failure or reason
            self.changed.notify_all()

    def on_batch(self, message):
        self.heard = time.monotonic()
        self.version = message.version
        if message.HasField("heartbeat"):
            self.beat_seen = max(self.beat_seen, message.heartbeat.number)
        for index, frame in enumerate(message.frames):
            body = BODIES.get(frame.kind, bytes)()
            if frame.kind in BODIES:
                body.ParseFromString(frame.body)
            elif frame.kind % 2 == 0:
                raise Lost("a frame of the mandatory kind %d" % frame.kind)
            if message.first_seq:
                seq = message.first_seq + index
                if seq <= self.received:
                    continue  # a duplicate
                if seq > self.received + 1:
                    raise Lost("frame %d came behind %d" % (seq, self.received))
                self.received = seq
            with self.changed:
                self.on_frame(frame.kind, body)
                self.changed.notify_all()
        if message.frames and message.first_seq:
            self.outgoing.put(ACK)

    def on_frame(self, kind, body):
        if kind == batch.FRAME_WELCOME:
            self.worker = body.hello.incarnation
        elif kind == batch.FRAME_REFUSE:
            self.failure = "the worker at %s refuses: %s" % (self.address, body.message)
        elif kind == batch.FRAME_GOODBYE and body.reason != session.GOODBYE_DRAIN:
            self.failure = "the worker at %s says goodbye: %s" % (self.address, body.message)
        elif kind == batch.FRAME_JOB_ATTACH:
            self.on_attach(body)
        elif kind == batch.FRAME_JOB_OPENED:
            self.opened = body
        elif kind == batch.FRAME_JOB_END:
            self.ends[body.start] = body
        elif kind == batch.FRAME_INVOKE:
            self.on_invoke(body)
        elif kind == batch.FRAME_WANT:
            self.on_want(body)
        elif kind == batch.FRAME_UNWANT:
            self.sending.pop(body.want, None)
        elif kind == batch.FRAME_RESOLVE:
            self.resolved[body.want] = body.item

    def on_attach(self, attach):
        """Only who knows the job's key may name it."""
        names = struct.pack("<QQI", self.worker, self.incarnation, self.session) + self.job_id
        proof = hmac.new(self.job_key, names, hashlib.sha256).digest()
        if not hmac.compare_digest(proof, attach.proof):
            raise Lost("a JobAttach with a wrong proof")
        self.is_attached = True

    def on_invoke(self, invoke):
        """A program prints by a call of a built-in function on the job's client."""
        result = call.Result(call=invoke.call, done=True)
        is_print = invoke.program == 0 and invoke.function == call.BUILTIN_PRINT
        for index in range(invoke.result_count):
            item = result.results.add(index=index).item
            if is_print:
                item.available.type = "!tfrt.chain"
            else:
                item.error.code = 12
                item.error.message = "a client in Python has no such function"
        if is_print and invoke.arguments[0].HasField("inline"):
            self.on_print(invoke.arguments[0].inline.body.decode())
        self.calls_done += 1
        self.send(batch.FRAME_RESULT, result, 1)

    def on_want(self, want):
        """The worker asks for an export of ours, or for the chain of a line that was printed."""
        resolve = objects.Resolve(want=want.want)
        export = self.exports.get(want.id.number) if want.id.namer == self.incarnation else None
        if want.id.namer == self.worker:
            resolve.item.available.type = "!tfrt.chain"
        elif export is None:
            resolve.item.error.code = 5
            resolve.item.error.message = "a client in Python has no such value"
        elif want.level != objects.WANT_VALUE:
            resolve.item.available.type = export.type
            resolve.item.available.size = len(export.body)
        elif len(export.body) <= 4096:
            resolve.item.inline.CopyFrom(export)
        else:
            resolve.item.on_bulk.type = export.type
            resolve.item.on_bulk.header = export.header
            resolve.item.on_bulk.size = len(export.body)
            self.sending[want.want] = (export, 0)
        self.wants_resolved += 1
        self.send(batch.FRAME_RESOLVE, resolve, 1)
        if want.want in self.sending:
            self.open_lane()
            self.send_chunks(want.want, want.window)

    # --- Payloads -----------------------------------------------------------------

    def open_lane(self):
        if len(self.threads) > 1:
            return
        hello = bulk.LaneHello(
            version=self.version,
            from_incarnation=self.incarnation,
            to_incarnation=self.worker,
            session=self.session,
            lane=0,
            connection=1,
        )
        self.bulk_outgoing.put(bulk.BulkUp(hello=hello))
        self.threads.append(threading.Thread(target=self.read_lane, daemon=True))
        self.threads[1].start()

    def read_lane(self):
        try:
            stub = peer_pb2_grpc.PeerStub(self.lane_channel)
            stream = stub.Bulk(iter(self.bulk_outgoing.get, None), metadata=self.metadata)
            for message in stream:
                with self.changed:
                    self.on_bulk(message)
                    self.changed.notify_all()
        except grpc.RpcError as error:
            self.fail("%s: %s" % (self.address, error.details()))

    def on_bulk(self, message):
        kind = message.WhichOneof("message")
        if kind == "welcome" and message.welcome.HasField("error"):
            self.failure = message.welcome.error.message
        elif kind == "window":
            self.send_chunks(message.window.want, message.window.limit)
        elif kind == "abort" and message.abort.from_owner:
            self.payloads[message.abort.want].error = message.abort.error
            self.payloads[message.abort.want].is_complete.set()
        elif kind == "abort":
            self.sending.pop(message.abort.want, None)
        elif kind == "chunk":
            self.on_chunk(message.chunk)

    def send_chunks(self, want, limit):
        """Sends the payload that the worker's `want` asks for, as far as its window goes."""
        while want in self.sending:
            export, offset = self.sending[want]
            size = min(CHUNK, limit - offset, len(export.body) - offset)
            if size <= 0:
                return
            is_first, end = offset == 0, offset + size
            chunk = bulk.Chunk(
                want=want,
                offset=offset,
                type=export.type if is_first else "",
                header=export.header if is_first else b"",
                total_size=len(export.body) if is_first else 0,
                last=end == len(export.body),
                payload=export.body[offset:end],
            )
            self.bulk_outgoing.put(bulk.BulkUp(chunk=chunk))
            self.sending[want] = (export, end)
            if chunk.last:
                self.sending.pop(want)

    def on_chunk(self, chunk):
        payload = self.payloads.get(chunk.want)
        if payload is None:
            return  # late
        if chunk.offset == 0:
            payload.type, payload.header = chunk.type, chunk.header
        if chunk.offset != len(payload.body):
            raise Lost("a chunk at %d came behind %d" % (chunk.offset, len(payload.body)))
        payload.body += chunk.payload
        if chunk.last:
            payload.is_complete.set()
            return
        window = bulk.Window(want=chunk.want, limit=len(payload.body) + WINDOW)
        self.bulk_outgoing.put(bulk.BulkUp(window=window))

    # --- The job ------------------------------------------------------------------

    def wait(self, condition):
        """Waits until `condition()` holds; the end of the session, or silence, is Lost."""
        with self.changed:
            while not condition():
                if time.monotonic() - self.heard > SILENCE_S:
                    self.failure = self.failure or "the worker at %s is silent" % self.address
                if self.failure:
                    raise Lost(self.failure)
                self.changed.wait(timeout=1)

    def hello(self):
        """Waits for the Welcome. Returns the worker's incarnation."""
        self.wait(lambda: self.worker)
        return self.worker

    def open_job(self):
        """Opens a job of one host, which is its root."""
        self.hello()
        member = job.Member(rank=0, incarnation=self.worker, addresses=[self.address])
        self.send(
            batch.FRAME_JOB_OPEN,
            job.JobOpen(
                job_id=self.job_id,
                key=self.job_key,
                view=job.View(epoch=1, members=[member]),
                root=0,
                name="python",
            ),
            1,
        )
        self.wait(lambda: self.opened is not None)
        if self.opened.HasField("error"):
            raise TfrtError(self.opened.error)

    def ship(self, image):
        """Names the BEF file `image` and offers its bytes. Returns its handle."""
        digest = hashlib.sha256(image).digest()
        if digest in self.programs:
            return self.programs[digest]
        handle = self.programs[digest] = len(self.programs) + 1
        with self.changed:
            number = len(self.exports) + 1
            self.exports[number] = value.Value(type="!tfrt.program", body=image)
        reference = value.Reference(
            id=value.ObjectId(namer=self.incarnation, number=number),
            owner=self.incarnation,
            owner_rank=NO_RANK,
            namer_rank=NO_RANK,
        )
        self.send(
            batch.FRAME_PROGRAM,
            call.Program(handle=handle, sha256=digest, size=len(image), reference=reference),
            1,
        )
        return handle

    def start(self, image, function=0, arguments=(), timeout_s=None):
        """Starts `function` of `image` with `arguments`, Values. Returns the start's number."""
        start, self.next_start = self.next_start, self.next_start + 1
        message = job.JobStart(start=start, program=self.ship(image), function=function)
        for argument in arguments:
            message.arguments.add().inline.CopyFrom(argument)
        header = {}
        if timeout_s is not None:
            header = {"has_budget": True, "budget_us": int(timeout_s * 1e6)}
        self.send(batch.FRAME_JOB_START, message, 1, **header)
        return start

    def cancel(self, start):
        """Asks the root to end it: its results come nevertheless, as errors."""
        self.send(batch.FRAME_CANCEL_REQUEST, call.CancelRequest(start=start), 1)

    def fetch(self, reference):
        """The Value behind a reference of the worker."""
        with self.changed:
            want, self.next_want = self.next_want, self.next_want + 1
            payload = self.payloads[want] = Payload()
        self.open_lane()
        self.send(
            batch.FRAME_WANT,
            objects.Want(want=want, id=reference.id, level=objects.WANT_VALUE, window=WINDOW),
            1,
        )
        self.wait(lambda: want in self.resolved)
        item = self.resolved.pop(want)
        if item.HasField("on_bulk"):
            self.wait(payload.is_complete.is_set)
            self.send(batch.FRAME_UNWANT, objects.Unwant(want=want), 1)
        self.payloads.pop(want)
        if item.HasField("error") or payload.error:
            raise TfrtError(item.error if item.HasField("error") else payload.error)
        if item.HasField("inline"):
            return item.inline
        return value.Value(type=payload.type, header=payload.header, body=bytes(payload.body))

    def release(self, name):
        """Gives back the hold on what the worker keeps by the ObjectId `name` for us."""
        given_back = objects.Release()
        given_back.ranges.add(
            namer=name.namer,
            first_number=name.number,
            number_count=1,
            first_index=name.index,
            index_count=1,
        )
        self.send(batch.FRAME_RELEASE, given_back, 1)

    def results(self, start):
        """Waits for the end of `start`. Returns a Value, or a TfrtError, for each result."""
        self.wait(lambda: start in self.ends)
        end = self.ends.pop(start)
        if end.HasField("error") and not end.results:
            raise TfrtError(end.error)
        results = []
        for item in end.results:
            if item.HasField("inline"):
                results.append(item.inline)
            elif item.HasField("available"):
                results.append(value.Value(type=item.available.type))
            elif item.HasField("error"):
                results.append(TfrtError(item.error))
            else:
                results.append(self.fetch(item.reference))
                self.release(item.reference.id)
        return results

    def close(self):
        """Ends the job and the session."""
        if self.opened is not None and not self.failure:
            self.send(batch.FRAME_JOB_CLOSE, job.JobClose(), 1)
            self.send(batch.FRAME_JOB_DETACH, job.JobDetach(), 1)
            self.send(
                batch.FRAME_GOODBYE,
                session.Goodbye(reason=session.GOODBYE_SHUTDOWN, message="finished"),
            )
        self.outgoing.put(None)
        self.bulk_outgoing.put(None)
        for thread in self.threads:
            thread.join(timeout=SILENCE_S)
        self.channel.close()
        self.lane_channel.close()
