#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""How a cluster is named: --hosts, a hostfile, a YAML file, on real processes; and what is said when
a file is wrong.

Usage: starting_test.py TFRT TFRT_WORKER
"""

import ctypes
import errno
import json
import os
import resource
import socket
import struct
import subprocess
import time
import unittest

from cluster import PATIENCE_S, ClusterTest, hosts, main

IS_SANITIZED = "ASAN_OPTIONS" in os.environ or "TSAN_OPTIONS" in os.environ

RANKS = """func.func @rank() -> i32 {
  %r = tfrt_dist.rank
  tfrt.return %r : i32
}
func.func @main(%x: i32) -> (i32, i32) {
  %a = tfrt.call @rank() {host = 1 : i32} : () -> i32
  %n = tfrt_dist.num_hosts
  %s = tfrt.add.i32 %n, %x
  tfrt.return %a, %s : i32, i32
}
"""


def share(processors, rank, count):
    """The processors of one of `count` workers."""
    number = len(processors)
    if count > number:
        return [processors[rank % number]]
    return processors[rank * number // count : (rank + 1) * number // count]


# The constants of a filter of system calls: <linux/filter.h>, <linux/seccomp.h>, <sys/prctl.h>.
LOAD, JUMP_IF_EQUAL, RETURN = 0x20, 0x15, 0x06
ALLOW, REFUSE = 0x7FFF0000, 0x00050000
PR_SET_SECCOMP, PR_SET_NO_NEW_PRIVS, SECCOMP_MODE_FILTER = 22, 38, 2
SCHED_SETAFFINITY = {"x86_64": 203, "aarch64": 122}.get(os.uname().machine)


def refusal_to_bind():
    """What a child calls before it becomes a program to which, and to all that it starts, the
    system refuses sched_setaffinity()."""
    instructions = (
        (LOAD, 0, 0, 0),  # the number of the call
        (JUMP_IF_EQUAL, 0, 1, SCHED_SETAFFINITY),
        (RETURN, 0, 0, REFUSE | errno.EPERM),
        (RETURN, 0, 0, ALLOW),
    )
    code = ctypes.create_string_buffer(b"".join(struct.pack("=HBBI", *i) for i in instructions))
    filters = struct.pack("@HP", len(instructions), ctypes.addressof(code))
    prctl = ctypes.CDLL(None, use_errno=True).prctl
    prctl.argtypes = [ctypes.c_int, ctypes.c_ulong, ctypes.c_char_p, ctypes.c_ulong, ctypes.c_ulong]

    def refuse(_keep=code):
        if prctl(PR_SET_NO_NEW_PRIVS, 1, None, 0, 0) != 0:
            raise OSError(ctypes.get_errno(), "PR_SET_NO_NEW_PRIVS")
        if prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, filters, 0, 0) != 0:
            raise OSError(ctypes.get_errno(), "PR_SET_SECCOMP")

    return refuse


class StartingTest(ClusterTest):
    def setUp(self):
        super().setUp()
        self.program = self.write("ranks.mlir", RANKS)

    def test_a_hostfile(self):
        workers = self.start_workers(2)
        lines = "# two\n%s  # the root\n\n%s slots=1\n" % tuple(w.address for w in workers)
        path = self.write("hosts", lines)
        result = self.run_tfrt(self.program, "--hostfile", path, "--arg=x=5")
        self.expect(result, 0, "'main' returned 1,7\n", "")
        code, out, _ = self.ask("list", "hosts", "--hostfile", path, "-o=json")
        self.assertEqual(code, 0)
        self.assertEqual([h["host"] for h in json.loads(out)], [w.address for w in workers])

    def test_ready_files_make_a_hostfile(self):
        paths = [os.path.join(self.folder, name) for name in ("a", "b")]
        workers = [self.start_worker("--ready-file=" + path) for path in paths]
        text = ""
        for path in paths:
            with open(path, encoding="utf-8") as stream:
                text += stream.read()
        self.assertEqual(text.split(), [worker.address for worker in workers])
        path = self.write("hosts", text)
        result = self.run_tfrt(self.program, "--hostfile=" + path, "--arg=x=5")
        self.expect(result, 0, "'main' returned 1,7\n", "")

    def free_port(self):
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            return taken.getsockname()[1]

    def expect_workers_find(self, ports, flag, path):
        """Two workers that listen where `path` says, and a program on them."""
        for rank in range(2):
            process = subprocess.Popen(
                [self.tfrt_worker, flag, path, "--rank", str(rank), "--log-level=error"],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                env=self.environment,
                universal_newlines=True,
            )
            self.addCleanup(process.stdout.close)
            self.addCleanup(process.wait)
            self.addCleanup(process.kill)
            self.assertEqual(
                process.stdout.readline(),
                "tfrt_worker: listening on 127.0.0.1:%d\n" % ports[rank],
            )
        result = self.run_tfrt(self.program, flag, path, "--arg=x=5")
        self.expect(result, 0, "'main' returned 1,7\n", "")

    def test_workers_find_their_line(self):
        ports = [self.free_port(), self.free_port()]
        path = self.write("hosts", "".join("127.0.0.1:%d\n" % port for port in ports))
        self.expect_workers_find(ports, "--hostfile", path)

    def test_workers_find_their_entry(self):
        ports = [self.free_port(), self.free_port()]
        lines = ["hosts:"] + ["  - 127.0.0.1:%d" % port for port in ports]
        lines += ["silence-ms: 4000", "job-calls: 1", "threads: 1", "timeout: 60000"]
        path = self.write("cluster.yaml", "\n".join(lines) + "\n")
        self.expect_workers_find(ports, "--cluster", path)

    def test_what_is_wrong_with_workers_flags(self):
        path = self.write("hosts", "127.0.0.1:7000\n")
        cluster = self.write("cluster.yaml", "hosts:\n  - 127.0.0.1:7000\nthreads: 1\n")
        typo = self.write("typo.yaml", "hosts:\n  - 127.0.0.1:7000\nthreads: none\n")
        both = self.write("both.yaml", "hosts:\n  - 127.0.0.1:7000\nhostfile: hosts\n")
        silent = self.write(
            "several.yaml",
            "hosts:\n  - 127.0.0.1:7000\nshared_libs: /nowhere.so\nsilence-ms: 3\n",
        )
        far = self.write("far.yaml", "hosts:\n  - 10.0.0.1:7000\n")
        nobody = self.write("nobody.yaml", "threads: 1\n")
        file = self.write("file.yaml", "hostfile: /nowhere/hosts\n")
        level = self.write("level.yaml", "hosts:\n  - 127.0.0.1:7000\nlog-level: loud\n")
        for flags, part in (
            (["--cluster", cluster], "names workers 0 to 0: say which one this is, --rank"),
            (["--cluster", cluster, "--rank=1"], "names workers 0 to 0: say which one"),
            (["--cluster", typo, "--rank=0"], "typo.yaml:3: --threads wants a number"),
            (["--cluster", level, "--rank=0"], "level.yaml:3: --log-level wants debug"),
            (["--cluster", silent, "--rank=0"], "several.yaml:4: --silence-ms 3 is less"),
            (["--cluster", silent, "--rank=0", "--silence-ms=4"], "tfrt_worker: --silence-ms 4 is less"),
            (["--cluster", silent, "--rank=0", "--silence-ms=5000"], "several.yaml:3: "),
            (["--cluster", far, "--rank=0"], "far.yaml:2: --listen 10.0.0.1:7000: other machines"),
            (["--cluster", nobody, "--rank=0"], "nobody.yaml names no workers: write them"),
            (["--cluster", file, "--rank=0"], "file.yaml:1: --hostfile: "),
            (["--cluster", both, "--rank=0"], "both.yaml:3: hosts and hostfile both name"),
            (["--hostfile", path], "--hostfile and --rank go together"),
            (["--rank=0"], "--hostfile and --rank go together"),
            (["--hostfile", path, "--rank=1"], "names 1 worker, ranks 0 to 0"),
            (["--hostfile", path, "--rank=0", "--listen=127.0.0.1:0"], "give one of them"),
            (["--hostfile", path + "x", "--rank=0"], path + "x"),
            *(
                (["--%s=" % flag], "--%s wants a value, %s, and this one is empty" % (flag, value))
                for value, flags in (
                    ("FILE", ("hostfile", "cluster", "cluster-key-file", "pid-file", "ready-file")),
                    ("DIR", ("tls-dir", "data-directory")),
                )
                for flag in flags
            ),
        ):
            process = subprocess.run(
                [self.tfrt_worker, *flags],
                stdin=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                universal_newlines=True,
                timeout=PATIENCE_S,
                check=False,
            )
            self.assertEqual(process.returncode, 2, flags)
            self.assertIn(part, process.stderr)
            self.assertEqual(process.stderr.count("\n"), 1)

    def test_a_cluster_file(self):
        workers = self.start_workers(2)
        lines = ["hosts:"] + ["  - " + worker.address for worker in workers]
        lines += ["arg:", "  - x=5", "silence-ms: 4000", "o: json  # for programs"]
        path = self.write("cluster.yaml", "\n".join(lines) + "\n")
        code, out, err = self.run_tfrt(self.program, "--cluster", path)
        self.assertEqual(code, 0, err)
        values = [result["value"] for result in json.loads(out)["results"]]
        self.assertEqual(values, ["1", "7"])
        # The command line goes before the file; flags of other verbs are passed over.
        result = self.run_tfrt(self.program, "--cluster", path, "-o=text", "--local=3")
        self.expect(result, 0, "'main' returned 1,8\n", "")
        for argument in ("x=6", "0=6"):
            flags = ("-o=text", "--arg=" + argument)
            result = self.run_tfrt(self.program, "--cluster", path, *flags)
            self.expect(result, 0, "'main' returned 1,8\n", "")
        code, out, _ = self.ask("list", "hosts", "--cluster", path)
        self.assertEqual(code, 0)
        self.assertEqual([h["host"] for h in json.loads(out)], [w.address for w in workers])
        code, out, _ = self.ask("list", "hosts", "--cluster", path, hosts(workers[:1]), "-o=text")
        self.assertEqual([code, out.count("serving")], [0, 1])

    def test_a_cluster_file_that_starts_workers(self):
        path = self.write("cluster.yaml", "local: 2\nthreads: 1\n")
        result = self.run_tfrt(self.program, "--cluster", path, "--arg=x=5")
        self.expect(result, 0, "'main' returned 1,7\n", "")
        self.expect_nothing_left()

    def test_the_command_line_says_where_whatever_the_file_says_of_other_places(self):
        workers = self.start_workers(2)
        bound = self.write("bound.yaml", "local: 3\nbind: true\narg: [x=5]\n")
        other = "hosts: [%s]\ndetach: true\nkeep-ms: 1000\narg: [x=5]\n" % workers[0].address
        detached = self.write("detached.yaml", other)
        for file, flag, size in (
            (bound, hosts(workers), 2),
            (bound, "--in-process=4", 4),
            (bound, "--local=2", 2),
            (detached, "--in-process=4", 4),
            (detached, "--local=2", 2),
        ):
            result = self.run_tfrt(self.program, "--cluster", file, flag)
            self.expect(result, 0, "'main' returned 1,%d\n" % (5 + size), "")
        # The flags of the command line itself have to fit together.
        result = self.run_tfrt(self.program, "--cluster", bound, hosts(workers), "--bind")
        self.expect(result, 2, "", "--bind goes with --local")

    def test_workers_that_are_bound(self):
        """A worker's processors are asked for by a script that becomes the worker."""
        ask = "#!/bin/sh\ngrep Cpus_allowed: /proc/$$/status > '%s/'\"$4\"\nexec '%s' \"$@\"\n"
        script = self.write("worker", ask % (self.folder, self.tfrt_worker))
        os.chmod(script, 0o700)
        processors = sorted(os.sched_getaffinity(0))
        for count, flags in ((2, ["--bind"]), (3, ["--bind"]), (2, [])):
            arguments = (self.program, "--arg=x=5", "--worker", script, "--local=%d" % count)
            result = self.run_tfrt(*arguments, *flags)
            self.expect(result, 0, "'main' returned 1,%d\n" % (5 + count), "")
            for rank in range(count):
                with open(os.path.join(self.folder, "local-%d" % rank), encoding="utf-8") as stream:
                    bits = int(stream.read().split()[1].replace(",", ""), 16)
                bound = [i for i in range(bits.bit_length()) if bits >> i & 1]
                self.assertEqual(bound, share(processors, rank, count) if flags else processors)
        result = self.run_tfrt(self.program, "--arg=x=5", "--bind")
        self.assertEqual(result[:2], (2, ""))
        self.assertIn("--bind goes with --local", result[2])

    def run_where(self, prepare, *arguments):
        """`tfrt run` in a process that `prepare` has prepared: its exit code, output and errors."""
        process = subprocess.run(
            [self.tfrt, "run", self.program, "--arg=x=5", *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=self.environment,
            universal_newlines=True,
            timeout=PATIENCE_S,
            check=False,
            preexec_fn=prepare,
        )
        return process.returncode, process.stdout, process.stderr

    @unittest.skipIf(IS_SANITIZED, "a sanitizer wants descriptors of its own")
    def test_few_descriptors_for_workers_are_one_line(self):
        def limit():
            resource.setrlimit(resource.RLIMIT_NOFILE, (40, 40))

        code, out, err = self.run_where(limit, "--local=32")
        self.assertEqual((code, out), (3, ""), err)
        said = r"\Atfrt: UNAVAILABLE: worker \d+ can't be started from .*too many open files; the "
        self.assertRegex(err, said + r"limit is 40, raise it \(ulimit -n\)\n\Z")
        self.expect_nothing_left()

    @unittest.skipIf(IS_SANITIZED, "a sanitizer wants descriptors of its own")
    def test_few_descriptors_for_connections_are_one_line(self):
        workers = self.start_workers(6)
        words = []
        # From too few to start to enough for all connections.
        for count in range(17, 40):
            limit = lambda count=count: resource.setrlimit(resource.RLIMIT_NOFILE, (count, count))
            times = ("--heartbeat-ms=200", "--silence-ms=1000")
            code, out, err = self.run_where(limit, hosts(workers), *times)
            if code == 0:
                break
            self.assertIn(code, (2, 3), err)
            self.assertEqual(out, "")
            self.assertRegex(
                err,
                r"\Atfrt: RESOURCE_EXHAUSTED: .*the limit is %d, raise it \(ulimit -n\).*\n\Z" % count,
            )
            words.append("no descriptor is left for a connection to 127.0.0.1:" in err)
        self.assertEqual((code, any(words)), (0, True), err)

    def run_unbound(self, *arguments):
        return self.run_where(refusal_to_bind(), *arguments)

    @unittest.skipUnless(SCHED_SETAFFINITY, "the number of the system call is not known here")
    def test_a_system_that_refuses_to_bind(self):
        """One line says so, and what to do: what it says to do works there."""
        code, out, err = self.run_unbound("--local=2", "--bind")
        self.assertEqual((code, out), (3, ""), err)
        self.assertRegex(err, r"\Atfrt: UNAVAILABLE: --bind: .* worker 0 .*; without --bind .*\n\Z")
        self.expect_nothing_left()
        self.expect(self.run_unbound("--local=2"), 0, "'main' returned 1,7\n", "")

    def test_what_is_wrong_with_files(self):
        for flag, text, part in (
            ("--hostfile", "127.0.0.1:7000\n127.0.0.1\n", ":2: '127.0.0.1' is no HOST:PORT"),
            ("--hostfile", "", ": no worker is named"),
            ("--cluster", "hosts:\n  - a:1\nthreds: 2\n", ":3: "),
            ("--cluster", "threads: 1\nhosts: a:1\n", ":2: "),
            ("--cluster", "local: 1\nthreads: many\n", ":2: --threads wants a number"),
            ("--cluster", "local: |\n  2\n", ":1: --local wants a number from 1 to 1024, not '2\\n'"),
            ("--cluster", "local: \"\\e[2J\"\n", ", not '\\u001b[2J'"),
            ("--cluster", "a: [\n", ": "),
            ("--cluster", "", ":1: the file is empty"),
            ("--cluster", "hosts:\n  - 127.0.0.1:7000\n  - b\n", ":3: 'b' is no HOST:PORT"),
            ("--cluster", "local: 1\n---\nlocal: 2\n", ":2: a second document begins here"),
            ("--cluster", "local: 1\n\no: xml\n", ":3: -o xml: there are text, json and npy"),
            ("--cluster", "hosts:\n  - a:1\ntls-dir: /nowhere\n", ":3: --tls-dir"),
            ("--cluster", "hosts:\n  - a:1\ncluster-key-file: /nowhere\n", ":3: "),
            ("--cluster", "- a\n", ":1: "),
            ("--cluster", "local: 1\nsilence-ms: 100\n", ":2: --silence-ms must be at least two"),
            ("--cluster", "local: 1\nheartbeat-ms: 3000\n", ":2: --silence-ms must be at least two"),
            ("--cluster", "hosts:\n  - a:1\nlocal: 2\n", ":3: --local starts its own hosts"),
            ("--cluster", "local: 2\ndetach: true\n", ":2: --detach needs workers"),
            ("--cluster", "local: 2\nkeep-ms: 5\n", ":2: --keep-ms goes with --detach"),
            ("--cluster", "threads: 1\nbind: true\n", ":2: --bind goes with --local"),
            ("--cluster", "in-process: 2\nlocal: 2\n", ":1: --in-process is no cluster"),
            ("--cluster", "local: 1\ntrace: /nowhere/t\n", ":2: can't create a file beside /nowhere/t"),
            ("--cluster", "local: 1\nshared_libs: /nowhere.so\n", ":2: "),
            ("--cluster", "hosts:\n  - a:1\nhostfile: b\n", ":3: --hosts and --hostfile both"),
        ):
            path = self.write("bad", text)
            result = self.run_tfrt(self.program, flag, path, "--arg=x=5")
            self.assertEqual(result[:2], (2, ""), (text, result))
            self.assertIn(part, result[2])
            self.assertEqual(result[2].count("\n"), 1, result[2])
            self.assertIn(path, result[2])
        path = self.write("bad", "local: 1\nworker: /nowhere/tfrt_worker\n")
        result = self.run_tfrt(self.program, "--cluster", path, "--arg=x=5")
        self.expect(result, 3, "", path + ":2: worker 0 can't be started from /nowhere/tfrt_worker")
        result = self.run_tfrt(self.program, "--cluster=/nowhere/c.yaml", "--arg=x=5")
        self.expect(result, 2, "", "/nowhere/c.yaml")

    def test_a_worker_of_the_file_that_is_not_there_ends_soon(self):
        worker = self.start_worker()
        path = self.write("hosts", "%s\n127.0.0.1:%d\n" % (worker.address, self.free_port()))
        begin = time.monotonic()
        self.expect(self.run_tfrt(self.program, "--hostfile", path, "--arg=x=5"), 3)
        self.assertLess(time.monotonic() - begin, PATIENCE_S)
        self.expect_idle([worker])


if __name__ == "__main__":
    main()
