#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""A client of a worker, in Python, from the files in proto/ alone.

    client = Client("127.0.0.1:4001")
    client.open_job()
    start = client.start(image, function=0, arguments=[encode("i32", "40")])
    print([decode(result) for result in client.results(start)])
    client.close()

One session with one worker, one job on it, any number of starts. What it leaves out: a broken
control stream is not resumed (a bulk channel is opened again), the checksums of chunks are not
checked, and other hosts not called.

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
INLINE = 4096  # bytes of a payload that go in a message; others are lent
MAX_FORWARDS = 16
NOT_FOUND, ABORTED, UNIMPLEMENTED, INTERNAL = 5, 10, 12, 13
HEARTBEAT_MS = 1000  # a sign of life goes that often, or more often where the worker wants it
LEAST_HEARTBEAT_MS = 10  # the worker can't want more of them
SILENCE_MS = 5000  # without a batch, then the worker is dead; or sooner, as the worker says
ACK = object()  # in the queue of frames: a batch without any, for its `ack`

# The message in the body of each kind of frame that may come.
BODIES = {
    batch.FRAME_WELCOME: session.Welcome,
    batch.FRAME_REFUSE: session.Refuse,
    batch.FRAME_GOODBYE: session.Goodbye,
    batch.FRAME_JOB_ATTACH: job.JobAttach,
    batch.FRAME_JOB_GONE: job.JobGone,
    batch.FRAME_JOB_OPENED: job.JobOpened,
    batch.FRAME_JOB_END: job.JobEnd,
    batch.FRAME_JOB_CLOSE: job.JobClose,
    batch.FRAME_JOB_DETACH: job.JobDetach,
    batch.FRAME_INVOKE: call.Invoke,
    batch.FRAME_VOID: call.Void,
    batch.FRAME_CANCEL: call.Cancel,
    batch.FRAME_WANT: objects.Want,
    batch.FRAME_RESOLVE: objects.Resolve,
    batch.FRAME_UNWANT: objects.Unwant,
    batch.FRAME_RETAIN: objects.Retain,
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
    """What an inline Value is in Python: a number, a text, None for a chain, or its bytes.
    A string may be no UTF-8; what is none is shown as U+FFFD, and whoever wants the bytes has
    `item.body`."""
    if item.type in SCALARS:
        return struct.unpack(SCALARS[item.type], item.body)[0]
    if item.type == "!tfrt.string":
        return item.body.decode(errors="replace")
    return None if item.type == "!tfrt.chain" else item.body


class Export:
    """A value of ours that the worker may ask for. Who retains it holds it until the Release."""

    def __init__(self, item):
        self.item = item
        self.is_lent = True  # while the job or the start lives that it was named for
        self.holds = 0


class Sending:
    """A payload on its way to the worker, until its Unwant, or the Want that resumes it."""

    def __init__(self, name, item, offset, limit):
        self.name = name
        self.item = item
        self.offset = offset
        self.limit = limit
        self.has_begun = False  # a chunk was given to a bulk channel
        self.is_over = False  # no more of it under this number


class Payload:
    """A value that was asked for. Its bytes come in chunks, unless the answer has it."""

    def __init__(self, name):
        self.name = name
        self.want = 0  # the number of the Want, another one after each loss of the bulk channel
        self.answer = None  # an Item
        self.type = ""
        self.header = b""
        self.body = bytearray()
        self.size = None
        self.error = None
        self.is_complete = False

    def is_over(self):
        """All has come that will: chunks and the answer are not ordered."""
        if self.answer is None or not self.answer.HasField("on_bulk"):
            return self.answer is not None
        return self.is_complete or self.error is not None


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
        self.set_limits(session.Limits())  # then those in force
        self.outgoing = queue.Queue()  # frames; None: the end
        self.bulk_queue = queue.Queue()  # what goes up the newest bulk channel; None: its end
        self.bulk = None  # the same, while that is open
        self.bulk_connections = 0
        self.is_closed = False
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
        self.over = None  # why the worker has no part in the job any more
        self.ends = {}  # JobEnd by start
        self.exports = {}  # Export by number
        self.next_export = 1
        self.lent = {}  # numbers of exports by the start whose arguments they are
        self.sending = {}  # Sending by the worker's Want
        self.payloads = {}  # Payload by our Want
        self.next_start = 1
        self.next_want = 1
        self.programs = {}  # handle by SHA-256
        # A bulk channel has a connection of its own, so that no message waits behind a payload.
        # And no proxy of the environment stands between: workers are hosts of this network.
        options = [("grpc.use_local_subchannel_pool", 1), ("grpc.enable_http_proxy", 0)]
        self.channel = grpc.insecure_channel(address, options=options)
        self.bulk_channel = grpc.insecure_channel(address, options=options)
        self.threads = [threading.Thread(target=self.read_control, daemon=True)]
        self.threads[0].start()

    def set_limits(self, limits):
        """In force is the smaller of both sides' numbers, but not less than the protocol's least; 0
        is its default. Ours are these defaults, so that our Hello has none."""
        heartbeat_ms = min(HEARTBEAT_MS, limits.heartbeat_period_ms or HEARTBEAT_MS)
        heartbeat_ms = max(heartbeat_ms, LEAST_HEARTBEAT_MS)
        silence_ms = max(min(SILENCE_MS, limits.silence_ms or SILENCE_MS), 2 * heartbeat_ms)
        self.heartbeat_s = heartbeat_ms / 1000
        self.silence_s = silence_ms / 1000

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
        period. One frame a batch: simple, and slow."""
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
                frame = self.outgoing.get(timeout=self.heartbeat_s)
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
            self.set_limits(body.hello.limits)
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
        elif kind == batch.FRAME_JOB_DETACH or (
            kind == batch.FRAME_JOB_GONE and body.job_id == self.job_id
        ):
            self.over = body.error.message or "the worker at %s has left the job" % self.address
        elif kind == batch.FRAME_INVOKE:
            self.on_invoke(body)
        elif kind == batch.FRAME_VOID:
            self.calls_done += 1  # and no Result
        elif kind == batch.FRAME_WANT:
            self.on_want(body)
        elif kind == batch.FRAME_UNWANT:
            self.sending.pop(body.want, None)
        elif kind == batch.FRAME_RETAIN:
            self.on_retain(body)
        elif kind == batch.FRAME_RELEASE:
            self.on_release(body)
        elif kind == batch.FRAME_RESOLVE:
            self.on_resolve(body)

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
                item.error.code = UNIMPLEMENTED
                item.error.message = "a client in Python has no such function"
        if is_print and invoke.arguments[0].HasField("inline"):
            self.on_print(invoke.arguments[0].inline.body.decode(errors="replace"))
        self.calls_done += 1
        self.send(batch.FRAME_RESULT, result, 1)

    # --- What the worker wants of us ------------------------------------------------

    def export(self, item):
        """Makes the Value `item` one that the worker may ask for. Returns its Reference."""
        number, self.next_export = self.next_export, self.next_export + 1
        self.exports[number] = Export(item)
        return value.Reference(
            id=value.ObjectId(namer=self.incarnation, number=number),
            owner=self.incarnation,
            owner_rank=NO_RANK,
            namer_rank=NO_RANK,
        )

    def take_back(self, start):
        """The start is over, and its results are here: what it was lent goes, unless it is held."""
        for number in self.lent.pop(start, ()):
            self.exports[number].is_lent = False
            self.drop(number)

    def find_export(self, name):
        return self.exports.get(name.number) if name.namer == self.incarnation else None

    def drop(self, number):
        export = self.exports[number]
        if not export.is_lent and export.holds == 0:
            del self.exports[number]

    def on_want(self, want):
        """The worker asks for an export of ours, or for the chain of a line that was printed."""
        resolve = objects.Resolve(want=want.want)
        before = self.sending.get(want.resumes)
        if before and before.name == want.id:
            # The rest of a payload that a bulk channel lost goes on under the new number.
            del self.sending[want.resumes]
            self.resolve_on_bulk(resolve, want, before.item)
            return
        export = self.find_export(want.id)
        if want.id.namer == self.worker:
            resolve.item.available.type = "!tfrt.chain"
        elif export is None:
            resolve.item.error.code = NOT_FOUND
            resolve.item.error.message = "a client in Python has no such value"
        elif want.level != objects.WANT_VALUE:
            resolve.item.available.type = export.item.type
            resolve.item.available.size = len(export.item.body)
        elif len(export.item.body) <= INLINE:
            resolve.item.inline.CopyFrom(export.item)
        else:
            self.resolve_on_bulk(resolve, want, export.item)
            return
        self.wants_resolved += 1
        self.send(batch.FRAME_RESOLVE, resolve, 1)

    def resolve_on_bulk(self, resolve, want, item):
        """Answers `want` with the payload of `item`, from its offset on, on the bulk channel."""
        resolve.item.on_bulk.type = item.type
        resolve.item.on_bulk.header = item.header
        resolve.item.on_bulk.size = len(item.body)
        self.wants_resolved += 1
        self.send(batch.FRAME_RESOLVE, resolve, 1)
        self.sending[want.want] = Sending(want.id, item, want.offset, want.window)
        self.open_bulk()
        self.send_chunks(want.want)

    def on_retain(self, retain):
        """The worker holds what it was lent, until it releases it. A line that was printed is there
        for ever."""
        retained = objects.Retained()
        for name in retain.ids:
            item = retained.items.add(id=name).item
            export = self.find_export(name)
            if export or name.namer == self.worker:
                item.held.SetInParent()
            else:
                item.error.code = NOT_FOUND
                item.error.message = "a client in Python has no such value"
            if export:
                export.holds += 1
        self.send(batch.FRAME_RETAINED, retained, 1)

    def on_release(self, release):
        for names in release.ranges:
            if names.namer != self.incarnation or names.first_index > 0:
                continue
            for number in list(self.exports):
                export = self.exports[number]
                if names.first_number <= number < names.first_number + names.number_count:
                    export.holds = max(export.holds - 1, 0)
                    self.drop(number)

    # --- The bulk channel -----------------------------------------------------------

    def open_bulk(self):
        if len(self.threads) > 1:
            return
        self.threads.append(threading.Thread(target=self.run_bulk, daemon=True))
        self.threads[1].start()

    def run_bulk(self):
        """One bulk channel after the other, as long as the session lives."""
        while True:
            outgoing = queue.Queue()
            with self.changed:
                if self.failure or self.is_closed:
                    return
                self.bulk_queue = outgoing
            try:
                self.read_bulk(outgoing)
            except grpc.RpcError:
                pass  # lost, or refused: the session goes on
            except Exception as error:  # pylint: disable=broad-except
                self.fail("%s: %r" % (self.address, error))
            with self.changed:
                self.bulk = None
                outgoing.put(None)
                self.changed.wait_for(lambda: self.failure or self.is_closed, timeout=0.1)

    def read_bulk(self, outgoing):
        self.bulk_connections += 1
        hello = bulk.BulkHello(
            version=self.version,
            from_incarnation=self.incarnation,
            to_incarnation=self.worker,
            session=self.session,
            channel=0,
            connection=self.bulk_connections,
        )
        outgoing.put(bulk.BulkUp(hello=hello))
        stub = peer_pb2_grpc.PeerStub(self.bulk_channel)
        stream = stub.Bulk(iter(outgoing.get, None), metadata=self.metadata)
        for message in stream:
            with self.changed:
                self.on_bulk(message, outgoing)
                self.changed.notify_all()

    def on_bulk(self, message, outgoing):
        kind = message.WhichOneof("message")
        if kind == "welcome" and not message.welcome.HasField("error"):
            self.bulk = outgoing
            self.on_bulk_open()
        elif kind == "window" and message.window.want in self.sending:
            sending = self.sending[message.window.want]
            sending.limit = max(sending.limit, message.window.limit)
            self.send_chunks(message.window.want)
        elif kind == "abort" and message.abort.from_owner:
            self.on_abort(message.abort)
        elif kind == "abort" and message.abort.want in self.sending:
            self.sending[message.abort.want].is_over = True
        elif kind == "chunk":
            self.on_chunk(message.chunk)

    def on_bulk_open(self):
        """A new bulk channel: payloads that had begun are asked for again, others begin."""
        for want, sending in self.sending.items():
            if not sending.has_begun:
                self.send_chunks(want)
                continue
            sending.is_over = True
            abort = bulk.Abort(want=want, from_owner=True)
            abort.error.code = ABORTED
            abort.error.message = "the bulk channel was lost"
            self.bulk.put(bulk.BulkUp(abort=abort))

    def send_chunks(self, want):
        """Sends the payload that the worker's `want` asks for, as far as its window goes."""
        sending = self.sending[want]
        body = sending.item.body
        while self.bulk and not sending.is_over:
            size = min(CHUNK, sending.limit - sending.offset, len(body) - sending.offset)
            if size <= 0:
                return
            is_first, end = sending.offset == 0, sending.offset + size
            chunk = bulk.Chunk(
                want=want,
                offset=sending.offset,
                type=sending.item.type if is_first else "",
                header=sending.item.header if is_first else b"",
                total_size=len(body) if is_first else 0,
                last=end == len(body),
                payload=body[sending.offset : end],
            )
            self.bulk.put(bulk.BulkUp(chunk=chunk))
            sending.has_begun = True
            sending.offset = end

    # --- What we want of the worker -------------------------------------------------

    def want(self, payload, resumes=0):
        """Asks for what `payload` lacks, under a new number."""
        payload.want, self.next_want = self.next_want, self.next_want + 1
        payload.answer = None
        self.payloads[payload.want] = payload
        self.send(
            batch.FRAME_WANT,
            objects.Want(
                want=payload.want,
                id=payload.name,
                level=objects.WANT_VALUE,
                window=len(payload.body) + WINDOW,
                offset=len(payload.body),
                resumes=resumes,
            ),
            1,
        )

    def on_resolve(self, resolve):
        payload = self.payloads.get(resolve.want)
        if payload is None:
            return  # late
        payload.answer = resolve.item
        if not resolve.item.HasField("on_bulk"):
            del self.payloads[resolve.want]
            return
        on_bulk = resolve.item.on_bulk
        payload.type, payload.header, payload.size = on_bulk.type, on_bulk.header, on_bulk.size

    def on_abort(self, abort):
        """The worker sends no more under this number. ABORTED: a channel was lost, and what is missing
        comes when it is asked for; anything else is what the value is."""
        payload = self.payloads.get(abort.want)
        if payload is None or payload.is_complete:
            return  # late
        if abort.error.code == ABORTED:
            del self.payloads[abort.want]
            self.want(payload, resumes=abort.want)
        else:
            payload.error = abort.error

    def on_chunk(self, chunk):
        payload = self.payloads.get(chunk.want)
        if payload is None or payload.error or payload.is_complete:
            return  # late
        if chunk.offset == 0:
            payload.type, payload.header, payload.size = chunk.type, chunk.header, chunk.total_size
        end = chunk.offset + len(chunk.payload)
        if chunk.offset != len(payload.body) or chunk.last != (end == payload.size):
            self.refuse_chunk(payload, chunk)
            return
        payload.body += chunk.payload
        payload.is_complete = chunk.last
        if not chunk.last:
            window = bulk.Window(want=chunk.want, limit=end + WINDOW)
            self.bulk.put(bulk.BulkUp(window=window))

    def refuse_chunk(self, payload, chunk):
        abort = bulk.Abort(want=chunk.want)
        abort.error.code = INTERNAL
        abort.error.message = "a chunk at %d came behind %d of %s bytes" % (
            chunk.offset, len(payload.body), payload.size,
        )
        payload.error = abort.error
        self.bulk.put(bulk.BulkUp(abort=abort))

    # --- The job ------------------------------------------------------------------

    def wait(self, condition):
        """Waits until `condition()` holds; the end of the session, or silence, is Lost."""
        with self.changed:
            while not condition():
                if time.monotonic() - self.heard > self.silence_s:
                    self.failure = self.failure or "the worker at %s is silent" % self.address
                if self.failure or self.over:
                    raise Lost(self.failure or self.over)
                self.changed.wait(timeout=self.heartbeat_s)

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
            reference = self.export(value.Value(type="!tfrt.program", body=image))
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
        with self.changed:
            self.lent[start] = []
            for argument in arguments:
                item = message.arguments.add()
                if len(argument.body) <= INLINE:
                    item.inline.CopyFrom(argument)
                    continue
                item.reference.CopyFrom(self.export(argument))
                self.lent[start].append(item.reference.id.number)
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
        for _ in range(MAX_FORWARDS):
            export = self.find_export(reference.id)
            if export:
                return export.item  # an argument that is a result, too
            if reference.owner != self.worker:
                raise Lost("a value of another host, which is not asked")
            payload = Payload(reference.id)
            with self.changed:
                self.open_bulk()
                self.want(payload)
            self.wait(payload.is_over)
            answer = payload.answer
            if answer.HasField("on_bulk"):
                with self.changed:
                    self.send(batch.FRAME_UNWANT, objects.Unwant(want=payload.want), 1)
                    del self.payloads[payload.want]
                if payload.error:
                    raise TfrtError(payload.error)
                return value.Value(
                    type=payload.type, header=payload.header, body=bytes(payload.body)
                )
            if answer.HasField("error"):
                raise TfrtError(answer.error)
            if answer.HasField("available"):
                return value.Value(type=answer.available.type)
            if answer.HasField("inline"):
                return answer.inline
            reference = answer.reference
        raise Lost("a value that is handed on more than %d times" % MAX_FORWARDS)

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
        try:
            if end.HasField("error") and not end.results:
                raise TfrtError(end.error)
            return [self.result(item) for item in end.results]
        finally:
            with self.changed:
                self.take_back(start)

    def result(self, item):
        if item.HasField("inline"):
            return item.inline
        if item.HasField("available"):
            return value.Value(type=item.available.type)
        if item.HasField("error"):
            return TfrtError(item.error)
        fetched = self.fetch(item.reference)
        self.release(item.reference.id)
        return fetched

    def close(self):
        """Ends the job and the session."""
        if self.opened is not None and not self.failure:
            self.send(batch.FRAME_JOB_CLOSE, job.JobClose(), 1)
            self.send(batch.FRAME_JOB_DETACH, job.JobDetach(), 1)
            self.send(
                batch.FRAME_GOODBYE,
                session.Goodbye(reason=session.GOODBYE_SHUTDOWN, message="finished"),
            )
        with self.changed:
            self.is_closed = True
            self.bulk_queue.put(None)
            self.changed.notify_all()
        self.outgoing.put(None)
        for thread in self.threads:
            thread.join(timeout=SILENCE_MS / 1000)
        self.channel.close()
        self.bulk_channel.close()
