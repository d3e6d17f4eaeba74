#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""A client that knows nothing of this runtime but proto/: examples/python_client against real
workers. That it works says that the contract is written down whole.

Usage: python_client_test.py TFRT TFRT_WORKER MLIR_TO_BEF EXAMPLE_FOLDER PROTO_FILE...
"""

import contextlib
import os
import queue
import re
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time

from cluster import PATIENCE_S, ClusterTest, main

MLIR_TO_BEF, EXAMPLE = sys.argv[3:5]
PROTO_FILES = sys.argv[5:]
STUBS = tempfile.TemporaryDirectory()
COMPILE = [
    "protoc",
    "-I.",
    "--plugin=protoc-gen-grpc_python=/usr/bin/grpc_python_plugin",
    "--python_out=" + STUBS.name,
    "--grpc_python_out=" + STUBS.name,
]
subprocess.run(COMPILE + PROTO_FILES, check=True)
sys.path[:0] = [STUBS.name, EXAMPLE]

import fake_peer  # pylint: disable=wrong-import-position
import tfrt_client  # pylint: disable=wrong-import-position
from proto import batch_pb2 as batch  # pylint: disable=wrong-import-position
from proto import bulk_pb2 as bulk  # pylint: disable=wrong-import-position
from proto import call_pb2 as call  # pylint: disable=wrong-import-position
from proto import error_pb2 as errors  # pylint: disable=wrong-import-position
from proto import job_pb2 as job  # pylint: disable=wrong-import-position
from proto import object_pb2 as objects  # pylint: disable=wrong-import-position
from proto import value_pb2 as value  # pylint: disable=wrong-import-position

# In the README.
ADDRESS = "127.0.0.1:4001"

CANCELLED, DEADLINE_EXCEEDED, NOT_FOUND, RESOURCE_EXHAUSTED, ABORTED, INTERNAL = 1, 4, 5, 8, 10, 13

ONE = """func.func @main() -> i32 {
  %one = tfrt.constant.i32 1
  tfrt.return %one : i32
}
"""

# Two dimensions of a tensor of 6 MiB: more than a window.
SIDE = 1254

# The second function only makes the program too long for a message.
LARGE = (
    """func.func @main() -> (!tfrt_tensor.tensor, i32) {
  %ch = tfrt.new.chain
  %t = tfrt_dht.create_uninitialized_tensor.f32.2 [1254 : i64, 1254 : i64]
  %ch1 = tfrt_dht.fill_tensor_with_constant.f32 %t, %ch 2.5 : f32
  %one = tfrt.constant.i32 1
  tfrt.return %t, %one : !tfrt_tensor.tensor, i32
}
func.func @long(%v0: i32) -> i32 {
"""
    + "".join("  %%v%d = tfrt.add.i32 %%v%d, %%v0\n" % (i + 1, i) for i in range(300))
    + "  tfrt.return %v300 : i32\n}\n"
)

# A loop that runs until a client stops it.
ENDLESS = """func.func @again(%x: i32) -> (i32, i1) {
  %go = tfrt.constant.i1 true
  tfrt.return %x, %go : i32, i1
}
func.func @main(%n: i32) -> (i32) {
  %ch = tfrt.new.chain
  %printed = tfrt.print.i32 %n, %ch
  %go = tfrt.constant.i1 true
  %x = "tfrt_test.identity"(%printed, %n) : (!tfrt.chain, i32) -> i32
  %r = tfrt.while %go @again(%x) parallel_iterations(1) : (i32) -> (i32)
  tfrt.return %r : i32
}
"""


class PythonClientTest(ClusterTest):
    def setUp(self):
        super().setUp()
        self.lines = []
        self.printed = threading.Event()

    def on_print(self, line):
        self.lines.append(line)
        self.printed.set()

    def connect(self, worker, key=""):
        client = tfrt_client.Client(worker.address, key, self.on_print)
        self.addCleanup(client.close)
        return client

    def open(self, worker):
        client = self.connect(worker)
        client.open_job()
        return client

    def translate(self, text):
        path = self.write("program.mlir", text)
        return subprocess.run(
            [MLIR_TO_BEF, path], check=True, stdout=subprocess.PIPE
        ).stdout

    def example(self):
        with open(os.path.join(EXAMPLE, "sum.mlir"), encoding="utf-8") as stream:
            return self.translate(stream.read())

    def call(self, client, image, function=0, arguments=(), **options):
        values = [tfrt_client.encode(*argument) for argument in arguments]
        return client.results(client.start(image, function, values, **options))

    def test_hello_a_program_a_call_and_its_result(self):
        worker = self.start_worker()
        client = self.connect(worker)
        self.assertNotEqual(client.hello(), 0)
        client.open_job()
        results = self.call(client, self.example(), 0, [("i32", "40"), ("i32", "2")])
        self.assertEqual([tfrt_client.decode(result) for result in results], [42])
        self.assertEqual(self.lines, ["int32 = 42"])
        client.close()
        self.expect_idle([worker])

    def test_an_error_has_its_code_text_and_place(self):
        worker = self.start_worker()
        client = self.open(worker)
        results = self.call(client, self.example(), 1, [("i32", "7"), ("i32", "0")])
        for result in results:
            self.assertEqual(result.error.code, INTERNAL)
            self.assertEqual(result.error.message, "Divide by zero")
            self.assertEqual(result.error.origin.rank, 0)
            self.assertEqual(result.error.origin.incarnation, client.worker)
            self.assertEqual(result.error.origin.function, "divide")
            self.assertIn("program.mlir", result.error.origin.file)
            self.assertEqual(result.error.origin.line, 12)
            self.assertNotEqual(result.error.root_key, 0)
        # The job goes on.
        results = self.call(client, self.example(), 1, [("i32", "7"), ("i32", "2")])
        self.assertEqual([tfrt_client.decode(result) for result in results], [3, 1])

    def test_what_is_not_there_is_one_error(self):
        client = self.open(self.start_worker())
        with self.assertRaisesRegex(tfrt_client.TfrtError, "no function 9"):
            self.call(client, self.example(), 9)
        with self.assertRaisesRegex(tfrt_client.TfrtError, "argument"):
            self.call(client, self.example(), 0)
        with self.assertRaisesRegex(tfrt_client.TfrtError, "BEF"):
            self.call(client, b"no program at all")

    def test_a_program_and_a_result_that_are_too_large_for_a_message(self):
        worker = self.start_worker()
        client = self.open(worker)
        image = self.translate(LARGE)
        self.assertGreater(len(image), 4096)
        tensor, one = self.call(client, image)
        self.assertEqual(tfrt_client.decode(one), 1)
        self.assertEqual(tensor.type, "!tfrt_tensor.tensor")
        # dtype f32, rank 2, dense, not reversed; then the dimensions.
        self.assertEqual(tensor.header, struct.pack("<BBBB4xQQ", 10, 2, 0, 0, SIDE, SIDE))
        self.assertEqual(tensor.body, struct.pack("<f", 2.5) * (SIDE * SIDE))
        client.close()
        self.expect_idle([worker])

    def test_a_tensor_as_argument(self):
        client = self.open(self.start_worker())
        image = self.translate(
            """func.func @main(%t: !tfrt_tensor.tensor) -> !tfrt.chain {
  %ch = tfrt.new.chain
  %ch1 = tfrt_dht.print_tensor %t, %ch
  tfrt.return %ch1 : !tfrt.chain
}
"""
        )
        header = struct.pack("<BBBB4xQ", 8, 1, 0, 0, 3)
        tensor = tfrt_client.value.Value(
            type="!tfrt_tensor.tensor", header=header, body=struct.pack("<iii", 1, 2, 3)
        )
        results = client.results(client.start(image, 0, [tensor]))
        self.assertEqual([tfrt_client.decode(result) for result in results], [None])
        self.assertEqual(
            self.lines, ["DenseHostTensor dtype = i32, shape = [3], values = [1, 2, 3]"]
        )

    def test_a_tensor_that_is_too_large_for_a_message_as_argument(self):
        worker = self.start_worker()
        client = self.open(worker)
        image = self.translate(
            """func.func @main(%t: !tfrt_tensor.tensor) -> !tfrt_tensor.tensor {
  tfrt.return %t : !tfrt_tensor.tensor
}
"""
        )
        # More than a window, and not the same everywhere.
        count = 1500000
        body = struct.pack("<%di" % count, *range(count))
        tensor = value.Value(
            type="!tfrt_tensor.tensor", header=struct.pack("<BBBB4xQ", 8, 1, 0, 0, count), body=body
        )
        (result,) = client.results(client.start(image, 0, [tensor]))
        self.assertEqual((result.type, result.header), (tensor.type, tensor.header))
        self.assertTrue(result.body == body)
        # The program alone is still lent.
        self.assertEqual([e.item.type for e in client.exports.values()], ["!tfrt.program"])
        client.close()
        self.expect_idle([worker])

    def test_cancel_and_deadline_end_what_runs(self):
        worker = self.start_worker()
        client = self.open(worker)
        image = self.translate(ENDLESS)
        start = client.start(image, 1, [tfrt_client.encode("i32", "1")])
        self.assertTrue(self.printed.wait(PATIENCE_S))
        client.cancel(start)
        self.assertEqual(client.results(start)[0].error.code, CANCELLED)
        results = self.call(client, image, 1, [("i32", "1")], timeout_s=0.3)
        self.assertEqual(results[0].error.code, DEADLINE_EXCEEDED)
        client.close()
        self.expect_idle([worker])

    def test_a_worker_that_dies_and_a_client_that_dies(self):
        worker = self.start_worker()
        client = self.open(worker)
        image = self.translate(ENDLESS)
        start = client.start(image, 1, [tfrt_client.encode("i32", "1")])
        self.assertTrue(self.printed.wait(PATIENCE_S))
        worker.send_signal(signal.SIGKILL)
        with self.assertRaises(tfrt_client.Lost):
            client.results(start)
        worker = self.start_worker("--heartbeat-ms=100", "--silence-ms=500")
        process = self.start_cli(worker, self.write_image(image), "1", "i32:1")
        self.assertEqual(process.stdout.readline(), "int32 = 1\n")
        process.kill()
        self.expect_idle([worker])

    def await_objects(self, worker, count):
        end = time.monotonic() + PATIENCE_S
        while self.status([worker])[0]["objects"] != count:
            self.assertLess(time.monotonic(), end, "not %d objects" % count)

    def test_a_large_result_goes_when_the_client_has_released_it(self):
        worker = self.start_worker()
        client = self.open(worker)
        results = self.call(client, self.translate(LARGE))
        self.assertEqual(len(results[0].body), 4 * SIDE * SIDE)
        self.await_objects(worker, 0)

    def test_a_result_that_is_taken_inline_leaves_nothing(self):
        worker = self.start_worker()
        client = self.open(worker)
        program = client.ship(self.example())
        arguments = [tfrt_client.encode("i32", text) for text in ("7", "2")]
        results = []
        known = dict(tfrt_client.BODIES)
        self.addCleanup(setattr, tfrt_client, "BODIES", known)
        tfrt_client.BODIES = {**known, batch.FRAME_RESULT: call.Result}
        client.on_frame = lambda kind, body: (
            results.append(body) if kind == batch.FRAME_RESULT
            else tfrt_client.Client.on_frame(client, kind, body)
        )
        # The first call wants only its first result, and the second one does not take them.
        for number, wanted, taken in ((1, 1, True), (2, 3, False)):
            invoke = call.Invoke(
                call=number, program=program, function=1, result_count=2,
                results_wanted=wanted, take_inline=taken,
            )
            for argument in arguments:
                invoke.arguments.add().inline.CopyFrom(argument)
            client.send(batch.FRAME_INVOKE, invoke, 1)
            client.wait(lambda n=number: results and results[-1].call == n and results[-1].done)
            self.await_objects(worker, 2 * number - 1)
        for name in ((1, 1), (2, 0), (2, 1)):
            client.release(
                value.ObjectId(namer=client.incarnation, number=name[0], index=name[1])
            )
        self.await_objects(worker, 0)

    def test_a_wrong_key(self):
        key = self.write("key", "a secret of the cluster\n")
        os.chmod(key, 0o600)
        worker = self.start_worker("--cluster-key-file=" + key)
        for given in ("", "another"):
            with self.assertRaisesRegex(tfrt_client.Lost, "key"):
                self.connect(worker, given).hello()
        self.assertNotEqual(self.connect(worker, "a secret of the cluster").hello(), 0)

    def test_versions_are_negotiated(self):
        worker = self.start_worker()
        self.addCleanup(setattr, tfrt_client, "VERSIONS", tfrt_client.VERSIONS)
        # One that is a version ahead still speaks the worker's.
        tfrt_client.VERSIONS = 1, 2
        client = self.open(worker)
        self.assertEqual(client.version, 1)
        results = self.call(client, self.example(), 0, [("i32", "40"), ("i32", "2")])
        self.assertEqual([tfrt_client.decode(result) for result in results], [42])
        client.close()
        # Two ahead, and one that is behind: one line that names both ranges.
        for versions in ((2, 3), (7, 7), (0, 0)):
            tfrt_client.VERSIONS = versions
            with self.assertRaises(tfrt_client.Lost) as refused:
                self.connect(worker).hello()
            text = str(refused.exception)
            self.assertNotIn("\n", text)
            if versions[0] > 0:
                self.assertIn("you speak %d to %d, this host 1 to 1" % versions, text)
        self.expect_idle([worker])

    # --- What a worker may do, and seldom does ----------------------------------------

    def open_fake(self, **limits):
        """A worker that does what it is told, and a client with a job on it."""
        peer = fake_peer.FakePeer(PATIENCE_S, **limits)
        self.addCleanup(peer.stop)
        return peer, self.open(peer)

    def test_a_detached_run_that_is_not_started_says_why(self):
        peer = fake_peer.FakePeer(PATIENCE_S)
        self.addCleanup(peer.stop)
        process = self.start(self.write("one.mlir", ONE), "--hosts=" + peer.address, "--detach")
        start = peer.expect(batch.FRAME_JOB_START, job.JobStart()).start
        refusal = errors.Error(code=RESOURCE_EXHAUSTED, message="no room for a start")
        peer.send(batch.FRAME_JOB_END, job.JobEnd(start=start, error=refusal))

        def answer():
            # Answers each request for the state of the start.
            text = b"detached state=starting function= results=0 from=0 next=0 more=0 lost=0\n"
            item = value.Item(inline=value.Value(type="!tfrt.string", body=text))
            with contextlib.suppress(queue.Empty):
                while True:
                    asked = peer.expect(batch.FRAME_INVOKE, call.Invoke()).call
                    results = [call.ResultItem(index=0, item=item)]
                    peer.send(batch.FRAME_RESULT, call.Result(call=asked, results=results, done=True))

        threading.Thread(target=answer, daemon=True).start()
        code, out, err = self.finish(process)
        self.assertEqual((code, out), (1, ""), err)
        self.assertIn("no room for a start", err)

    def fetch(self, client):
        """Fetches a value of the fake worker on another thread: the value, or its error, once that
        has ended."""
        reference = value.Reference(
            id=value.ObjectId(namer=fake_peer.INCARNATION, number=5), owner=fake_peer.INCARNATION
        )
        found = []

        def fetch():
            try:
                found.append(client.fetch(reference))
            except (tfrt_client.Lost, tfrt_client.TfrtError) as error:
                found.append(error)

        thread = threading.Thread(target=fetch, daemon=True)
        thread.start()

        def finish():
            thread.join(timeout=PATIENCE_S)
            self.assertEqual(len(found), 1)
            return found[0]

        return finish

    def expect_want(self, peer, **fields):
        """The next Want is of the value that is fetched, with these fields."""
        want = peer.expect(batch.FRAME_WANT, objects.Want())
        name = value.ObjectId(namer=fake_peer.INCARNATION, number=5)
        window = fields.get("offset", 0) + tfrt_client.WINDOW
        expected = objects.Want(id=name, level=objects.WANT_VALUE, window=window, **fields)
        self.assertEqual(want, expected)
        return want.want

    def answer_on_bulk(self, peer, want, size):
        resolve = objects.Resolve(want=want)
        resolve.item.on_bulk.type = "!tfrt.string"
        resolve.item.on_bulk.size = size
        peer.send(batch.FRAME_RESOLVE, resolve)

    def abort(self, channel, want, code=ABORTED):
        abort = bulk.Abort(want=want, from_owner=True)
        abort.error.code = code
        abort.error.message = "of the worker"
        channel.say(abort=abort)

    def test_what_a_worker_retains_is_held_until_its_release(self):
        peer, client = self.open_fake()
        tensor = value.Value(type="!tfrt.string", body=b"x" * 5000)
        start = client.start(b"a program", 0, [tensor])
        program, lent = (value.ObjectId(namer=client.incarnation, number=n) for n in (1, 2))
        message = peer.expect(batch.FRAME_JOB_START, job.JobStart())
        self.assertEqual(message.arguments[0].reference.id, lent)
        printed = value.ObjectId(namer=fake_peer.INCARNATION, number=1)
        unknown = value.ObjectId(namer=client.incarnation, number=9)
        peer.send(batch.FRAME_RETAIN, objects.Retain(ids=[lent, unknown, program, lent, printed]))
        retained = peer.expect(batch.FRAME_RETAINED, objects.Retained())
        self.assertEqual([item.id for item in retained.items], [lent, unknown, program, lent, printed])
        forms = [item.item.WhichOneof("form") for item in retained.items]
        self.assertEqual(forms, ["held", "error", "held", "held", "held"])
        self.assertEqual(retained.items[1].item.error.code, NOT_FOUND)
        # The start is over, and both holds are still there; with the last one the value goes.
        peer.send(batch.FRAME_JOB_END, job.JobEnd(start=start, request=1))
        self.assertEqual(client.results(start), [])
        release = objects.Release()
        release.ranges.add(
            namer=client.incarnation, first_number=1, number_count=2, first_index=0, index_count=1
        )
        for number, form in enumerate(("available", "available", "error"), 1):
            want = objects.Want(want=number, id=lent, level=objects.WANT_AVAILABLE)
            peer.send(batch.FRAME_WANT, want)
            item = peer.expect(batch.FRAME_RESOLVE, objects.Resolve()).item
            self.assertEqual(item.WhichOneof("form"), form)
            peer.send(batch.FRAME_RELEASE, release)
        # The program lives as long as the job.
        peer.send(batch.FRAME_WANT, objects.Want(want=4, id=program, level=objects.WANT_VALUE))
        item = peer.expect(batch.FRAME_RESOLVE, objects.Resolve()).item
        self.assertEqual(item.inline.body, b"a program")

    def test_a_payload_goes_on_where_its_channel_was_lost(self):
        peer, client = self.open_fake()
        finish = self.fetch(client)
        want = self.expect_want(peer, want=1)
        channel = peer.next_channel().welcome()
        # The first chunk is there before the answer.
        channel.say(chunk=bulk.Chunk(want=want, type="!tfrt.string", total_size=9, payload=b"abc"))
        self.assertEqual(peer.next_up(channel).window.limit, 3 + tfrt_client.WINDOW)
        self.answer_on_bulk(peer, want, 9)
        for connection, have, more in ((2, 3, b"def"), (3, 6, b"ghi")):
            channel.end()
            channel = peer.next_channel().welcome()
            self.assertEqual(channel.hello.connection, connection)
            self.abort(channel, want)
            # The abort of a want that nobody waits for.
            self.abort(channel, 77)
            resumed = self.expect_want(peer, want=connection, offset=have, resumes=want)
            # Late: that number is over.
            channel.say(chunk=bulk.Chunk(want=want, offset=have, payload=b"xyz"))
            want = resumed
            self.answer_on_bulk(peer, want, 9)
            channel.say(chunk=bulk.Chunk(want=want, offset=have, last=have == 6, payload=more))
        result = finish()
        self.assertEqual((result.type, result.body), ("!tfrt.string", b"abcdefghi"))
        # For the others none is due.
        self.assertEqual(peer.expect(batch.FRAME_UNWANT, objects.Unwant()).want, 3)

    def test_a_payload_of_which_nothing_came_begins_again(self):
        peer, client = self.open_fake()
        finish = self.fetch(client)
        want = self.expect_want(peer, want=1)
        channel = peer.next_channel()
        # A bulk channel that is refused is no end of the session.
        refused = bulk.BulkWelcome(channel=0)
        refused.error.code = 10
        channel.say(welcome=refused)
        channel.end()
        channel = peer.next_channel().welcome()
        self.answer_on_bulk(peer, want, 3)
        self.abort(channel, want)
        want = self.expect_want(peer, want=2, resumes=1)
        # The worker may know nothing of it any more, and answer as it likes.
        resolve = objects.Resolve(want=want)
        resolve.item.inline.type = "!tfrt.string"
        resolve.item.inline.body = b"abc"
        peer.send(batch.FRAME_RESOLVE, resolve)
        self.assertEqual(finish().body, b"abc")

    def test_a_payload_that_does_not_come_is_its_error(self):
        peer, client = self.open_fake()
        finish = self.fetch(client)
        want = self.expect_want(peer, want=1)
        channel = peer.next_channel().welcome()
        self.answer_on_bulk(peer, want, 9)
        self.abort(channel, want, INTERNAL)
        self.assertEqual((finish().error.code, finish().error.message), (INTERNAL, "of the worker"))
        self.assertEqual(peer.expect(batch.FRAME_UNWANT, objects.Unwant()).want, want)
        # Chunks with a gap between them are no payload; the session goes on.
        finish = self.fetch(client)
        want = self.expect_want(peer, want=2)
        self.answer_on_bulk(peer, want, 9)
        channel.say(chunk=bulk.Chunk(want=want, type="!tfrt.string", total_size=9, payload=b"abc"))
        channel.say(chunk=bulk.Chunk(want=want, offset=4, payload=b"efg"))
        self.assertIn("a chunk at 4 came behind 3 of 9 bytes", str(finish()))
        self.assertEqual(peer.next_up(channel).WhichOneof("message"), "window")
        abort = peer.next_up(channel).abort
        self.assertEqual((abort.want, abort.from_owner), (want, False))
        self.assertEqual(peer.expect(batch.FRAME_UNWANT, objects.Unwant()).want, want)

    def test_what_a_worker_wants_goes_on_where_its_channel_was_lost(self):
        peer, client = self.open_fake()
        image = bytes(range(256)) * 40
        client.start(image)
        program = value.ObjectId(namer=client.incarnation, number=1)
        wanted = {"id": program, "level": objects.WANT_VALUE}
        peer.send(batch.FRAME_WANT, objects.Want(want=1, window=4000, **wanted))
        self.assertTrue(peer.expect(batch.FRAME_RESOLVE, objects.Resolve()).item.HasField("on_bulk"))
        channel = peer.next_channel().welcome()
        chunk = peer.next_up(channel).chunk
        self.assertEqual((chunk.want, chunk.offset, chunk.total_size), (1, 0, len(image)))
        self.assertEqual(chunk.payload, image[:4000])
        channel.end()
        channel = peer.next_channel().welcome()
        abort = peer.next_up(channel).abort
        self.assertEqual((abort.want, abort.from_owner, abort.error.code), (1, True, ABORTED))
        # A part of the sent bytes had come.
        resumes = {"resumes": 1, "offset": 3000, "window": 20000}
        peer.send(batch.FRAME_WANT, objects.Want(want=2, **resumes, **wanted))
        resolve = peer.expect(batch.FRAME_RESOLVE, objects.Resolve())
        self.assertEqual((resolve.want, resolve.item.on_bulk.size), (2, len(image)))
        chunk = peer.next_up(channel).chunk
        self.assertEqual((chunk.want, chunk.offset, chunk.last, chunk.type), (2, 3000, True, ""))
        self.assertEqual(chunk.payload, image[3000:])
        # All is sent, and nobody has said that it came.
        channel.end()
        channel = peer.next_channel().welcome()
        self.assertEqual(peer.next_up(channel).abort.want, 2)
        peer.send(batch.FRAME_UNWANT, objects.Unwant(want=2))
        self.assertTrue(client.exports)

    def test_a_call_that_was_never_sent_has_its_credit_back(self):
        peer, client = self.open_fake()
        peer.send(batch.FRAME_VOID, call.Void(call=1, result_count=1))
        peer.send(batch.FRAME_WANT, objects.Want(want=1, id=value.ObjectId(namer=1, number=1)))
        peer.expect(batch.FRAME_RESOLVE, objects.Resolve())
        self.assertEqual((client.calls_done, peer.call_limit), (1, 65))

    def test_a_worker_that_leaves_the_job_is_lost(self):
        for kind, body in (
            (batch.FRAME_JOB_DETACH, job.JobDetach()),
            (batch.FRAME_JOB_GONE, job.JobGone()),
        ):
            peer, client = self.open_fake()
            start = client.start(b"a program")
            if kind == batch.FRAME_JOB_GONE:
                # A frame of another job: ignored.
                peer.send(kind, job.JobGone(job_id=b"0" * 16), 0)
                body.job_id = client.job_id
                body.error.message = "lost another worker"
            peer.send(kind, body, 0 if kind == batch.FRAME_JOB_GONE else fake_peer.HANDLE)
            part = "lost another worker" if kind == batch.FRAME_JOB_GONE else "has left the job"
            with self.assertRaisesRegex(tfrt_client.Lost, part):
                client.results(start)

    def test_limits_in_force_are_the_smaller_ones(self):
        for heartbeat_ms, silence_ms, expected in (
            (0, 0, (1, 5)),
            (3000, 60000, (1, 5)),
            (200, 4000, (0.2, 4)),
            (200, 60000, (0.2, 5)),
            (200, 300, (0.2, 0.4)),
            (1, 1, (0.01, 0.02)),
        ):
            _, client = self.open_fake(heartbeat_period_ms=heartbeat_ms, silence_ms=silence_ms)
            self.assertEqual((client.heartbeat_s, client.silence_s), expected)
            client.close()

    def test_an_idle_client_beats_as_often_as_the_worker_wants_and_notices_its_silence(self):
        # Left to itself it would do neither in time.
        for name in ("HEARTBEAT_MS", "SILENCE_MS"):
            self.addCleanup(setattr, tfrt_client, name, getattr(tfrt_client, name))
            setattr(tfrt_client, name, 2000 * PATIENCE_S)
        peer, client = self.open_fake(heartbeat_period_ms=50)
        self.assertEqual([peer.beats.get(timeout=PATIENCE_S) for _ in range(3)], [1, 2, 3])
        client.close()
        begin = time.monotonic()
        with self.assertRaisesRegex(tfrt_client.Lost, "is silent"):
            _, client = self.open_fake(heartbeat_period_ms=50, silence_ms=200)
            client.wait(lambda: time.monotonic() - begin > PATIENCE_S)
            self.fail("not in time")

    # --- The example's own command line ---------------------------------------------

    def write_image(self, image):
        path = os.path.join(self.folder, "program.bef")
        with open(path, "wb") as stream:
            stream.write(image)
        return path

    def start_cli(self, worker, *arguments):
        process = subprocess.Popen(
            ["/usr/bin/python3", "-u", EXAMPLE + "/run_bef.py", worker.address, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=dict(self.environment, PYTHONPATH=STUBS.name),
            universal_newlines=True,
        )
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def test_the_commands_of_the_readme_print_what_it_says(self):
        with open(EXAMPLE + "/README.md", encoding="utf-8") as stream:
            found = re.findall(r"    \$ (.*run_bef.*)\n((?:    [^$].*\n)*)", stream.read())
        self.assertEqual(len(found), 2)
        with open(EXAMPLE + "/sum.mlir", encoding="utf-8") as stream:
            self.write("sum.mlir", stream.read())
        image = subprocess.run(
            [os.path.abspath(MLIR_TO_BEF), "sum.mlir"],
            check=True,
            stdout=subprocess.PIPE,
            cwd=self.folder,
        ).stdout
        path = self.write_image(image)
        worker = self.start_worker()
        for command, expected in found:
            words = command.split()
            self.assertEqual(words[1:4], ["examples/python_client/run_bef.py", ADDRESS, "sum.bef"])
            process = self.start_cli(worker, path, *words[4:])
            code, out, err = self.finish(process)
            self.assertEqual(out, expected.replace("    ", ""), err)
            self.assertEqual(code, 1 if "error" in expected else 0)

    def test_a_text_that_is_no_utf8_is_printed_and_returned(self):
        image = self.translate(
            """func.func @main() -> !tfrt.string {
  %ch = tfrt.new.chain
  %s = "tfrt_test.get_string"() {value = "a\\FFz"} : () -> !tfrt.string
  %ch1 = "tfrt_test.print_string"(%s, %ch) : (!tfrt.string, !tfrt.chain) -> !tfrt.chain
  %r = "tfrt_test.identity"(%ch1, %s) : (!tfrt.chain, !tfrt.string) -> !tfrt.string
  tfrt.return %r : !tfrt.string
}
"""
        )
        result = self.finish(self.start_cli(self.start_worker(), self.write_image(image)))
        said = "string = a\ufffdz\nresult 0: !tfrt.string a\ufffdz\n"
        self.assertEqual(result, (0, said, ""))

    def test_wrong_usage_is_one_line(self):
        worker = self.start_worker()
        path = self.write_image(self.example())
        no_index = "'%s' is no index of a function; the first is 0"
        no_value = "'%s' is no TYPE:VALUE, as i32:40"
        for wrong, said in (
            ([path, "x"], no_index % "x"),
            ([path, "-1"], no_index % "-1"),
            ([path, "0", "i32:abc", "i32:1"], no_value % "i32:abc"),
            ([path, "0", "i8:300", "i32:1"], no_value % "i8:300"),
            ([path, "0", "i32", "i32:1"], no_value % "i32"),
            ([path, "0", "x32:1", "i32:1"], no_value % "x32:1"),
            ([path + ".not"], "[Errno 2] No such file or directory: '%s.not'" % path),
        ):
            result = self.finish(self.start_cli(worker, *wrong))
            self.assertEqual(result, (2, "", "run_bef.py: %s\n" % said))

    def test_where_no_worker_is(self):
        worker = self.start_worker()
        worker.terminate()
        worker.wait()
        begin = time.monotonic()
        process = self.start_cli(worker, self.write_image(self.example()))
        code, _, err = self.finish(process)
        self.assertEqual(code, 3)
        self.assertIn(worker.address, err)
        self.assertLess(time.monotonic() - begin, PATIENCE_S)


if __name__ == "__main__":
    main()
