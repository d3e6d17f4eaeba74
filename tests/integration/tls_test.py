#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Clusters of real processes that talk TLS: who is let in, and what those are told who are not.

Usage: tls_test.py TFRT TFRT_WORKER MNIST_FOLDER
"""

import json
import os
import shutil
import socket
import ssl
import stat
import subprocess
import sys
import time

from cluster import PATIENCE_S, ClusterTest, hosts, main

MNIST = sys.argv[3]
DIGITS = [
    os.path.join(MNIST, "mnist.mlir"),
    "--arg=images=" + os.path.join(MNIST, "data/test-images-idx3-ubyte.gz"),
    "--arg=labels=" + os.path.join(MNIST, "data/test-labels-idx1-ubyte.gz"),
]

SUM = """func.func @double(%x: i32) -> i32 {
  %y = tfrt.add.i32 %x, %x
  tfrt.return %y : i32
}
func.func @main() -> i32 {
  %a = tfrt.constant.i32 4
  %b = tfrt.call @double(%a) {host = 1 : i32} : (i32) -> i32
  tfrt.return %b : i32
}
"""


class TlsTest(ClusterTest):
    """A folder of certificates, for 127.0.0.1."""

    def setUp(self):
        super().setUp()
        self.certs = self.make_certs("certs")
        self.sum = self.write("sum.mlir", SUM)

    def run_certs(self, *arguments):
        result = subprocess.run(
            [self.tfrt, "certs", *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            universal_newlines=True,
            timeout=PATIENCE_S,
            check=False,
        )
        return result.returncode, result.stdout, result.stderr

    def make_certs(self, name, *flags):
        folder = os.path.join(self.folder, name)
        self.expect(self.run_certs("init", folder, *flags), 0, err="")
        return folder

    def join_certs(self, name, **sources):
        """A folder with the files of several: ca=FOLDER, client=FOLDER."""
        folder = os.path.join(self.folder, name)
        os.mkdir(folder)
        for noun, source in sources.items():
            for suffix in (".pem", ".key"):
                shutil.copy(os.path.join(source, noun + suffix), folder)
        return folder

    def start_tls_workers(self, count):
        return self.start_workers(count, "--tls-dir=" + self.certs)

    def expect_turned_away(self, workers, words, *flags):
        """With one clear line that names the host, and the exit code for it."""
        result = self.run_tfrt(self.sum, hosts(workers), *flags)
        self.expect(result, 8, out="", err=words)
        self.assertIn("UNAUTHENTICATED", result[2])
        self.assertEqual(result[2].count("\n"), 1, result)


class TestLetIn(TlsTest):
    def test_digits_on_three_workers(self):
        flag = "--tls-dir=" + self.certs
        workers = self.start_workers(3, flag, "--data-directory=" + MNIST)
        result = self.run_tfrt(*DIGITS, hosts(workers), flag)
        self.assertEqual(result[0], 0, result)
        plain = self.run_tfrt(*DIGITS, "--local=3")
        self.assertEqual(result[1], plain[1])

    def test_status(self):
        workers = self.start_tls_workers(2)
        for flags, code in (("--tls-dir=" + self.certs,), 0), ((), 8):
            process = subprocess.run(
                [self.tfrt, "status", hosts(workers), *flags],
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                timeout=PATIENCE_S,
                check=False,
            )
            self.assertEqual(process.returncode, code, process)

    def test_the_cluster_key_is_asked_for_too(self):
        key = self.write("key", "secret\n")
        workers = self.start_workers(2, "--tls-dir=" + self.certs, "--cluster-key-file=" + key)
        tls = "--tls-dir=" + self.certs
        self.expect_turned_away(workers, "wrong cluster key, or none", tls)
        self.expect(
            self.run_tfrt(self.sum, hosts(workers), tls, "--cluster-key-file=" + key),
            0,
            out="'main' returned 8\n",
        )

    def test_a_worker_listens_for_other_machines_with_certificates(self):
        certs = self.make_certs("every", "--host=0.0.0.0+127.0.0.1")
        workers = self.start_workers(2, "--listen=0.0.0.0:0", "--tls-dir=" + certs)
        for worker in workers:
            worker.address = worker.address.replace("0.0.0.0", "127.0.0.1")
        self.expect(
            self.run_tfrt(self.sum, hosts(workers), "--tls-dir=" + certs),
            0,
            out="'main' returned 8\n",
        )


class TestTurnedAway(TlsTest):
    def test_of_another_authority(self):
        workers = self.start_tls_workers(2)
        other = self.make_certs("other")
        self.expect_turned_away(workers, "is of another cluster's authority", "--tls-dir=" + other)

    def test_a_client_that_trusts_us_and_has_no_certificate_of_ours(self):
        workers = self.start_tls_workers(2)
        mixed = self.join_certs("mixed", ca=self.certs, client=self.make_certs("other"))
        # The client reports the error before it dials ...
        self.expect_turned_away(workers, "client.pem", "--tls-dir=" + mixed)
        # ... and the worker refuses one that dials anyway: with another's certificate, or none.
        for chain in (os.path.join(mixed, "client.pem"), os.path.join(mixed, "client.key")), None:
            self.assertNotEqual(self.shake_hands(workers[0], chain), b"")
        workers[0].kill()

    def start_logged_worker(self):
        flags = ("--tls-dir=" + self.certs, "--log-level=warning")
        return self.start_worker(*flags, stderr=subprocess.PIPE)

    def test_who_is_refused_leaves_a_line_in_the_log(self):
        own = tuple(os.path.join(self.certs, "client" + end) for end in (".pem", ".key"))
        other = self.make_certs("other")
        chain = tuple(os.path.join(other, "client" + end) for end in (".pem", ".key"))
        for shown, words in (
            (None, "it shows no certificate"),
            (chain, "its certificate is of another cluster's authority"),
            (own, None),
        ):
            with self.subTest(words):
                worker = self.start_logged_worker()
                self.shake_hands(worker, shown)
                # One who hangs up is nobody who was refused.
                with socket.create_connection(tuple(worker.address.split(":"))):
                    pass
                worker.terminate()
                _, err = worker.communicate(timeout=PATIENCE_S)
                refused = [line for line in err.splitlines() if "refused a connection" in line]
                self.assertEqual(len(refused), 1 if words else 0, err)
                if words:
                    self.assertIn("warning: refused a connection: " + words, refused[0])

    def test_who_speaks_no_tls_leaves_a_line_in_the_log(self):
        worker = self.start_logged_worker()
        self.assertEqual(self.run_tfrt(self.sum, hosts([worker]))[0], 8)
        worker.terminate()
        _, err = worker.communicate(timeout=PATIENCE_S)
        self.assertIn("warning: refused a connection: it does not speak TLS", err)

    def shake_hands(self, worker, chain, version=ssl.TLSVersion.TLSv1_3):
        """The error of a handshake with `worker`, or of the first thing said behind it."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.load_verify_locations(os.path.join(self.certs, "ca.pem"))
        context.minimum_version = context.maximum_version = version
        context.set_alpn_protocols(["h2"])
        if chain:
            context.load_cert_chain(*chain)
        host, port = worker.address.split(":")
        with socket.create_connection((host, int(port)), timeout=PATIENCE_S) as plain:
            try:
                with context.wrap_socket(plain, server_hostname=host) as stream:
                    stream.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0")
                    return b"" if stream.recv(1) else b"closed"
            except OSError as error:
                return str(error).encode()

    def test_only_tls_1_3(self):
        worker = self.start_tls_workers(1)[0]
        chain = tuple(os.path.join(self.certs, "client" + end) for end in (".pem", ".key"))
        self.assertEqual(self.shake_hands(worker, chain), b"")
        self.assertNotEqual(self.shake_hands(worker, chain, ssl.TLSVersion.TLSv1_2), b"")

    def test_expired(self):
        short = self.make_certs("short", "--valid=10s")
        begin = time.monotonic()
        long = self.join_certs("long", ca=short)
        self.expect(self.run_certs("add", long, "--host=client2"), 0)
        workers = self.start_workers(2, "--tls-dir=" + short)
        time.sleep(max(0, begin + 11 - time.monotonic()))
        # Our own has expired: that is known before anybody is dialled.
        self.expect_turned_away(workers, "certificate has expired", "--tls-dir=" + short)
        # The host's has expired.
        self.expect_turned_away(
            workers, "or has expired", "--tls-dir=" + long, "--tls-name=client2"
        )
        self.assertIn("EXPIRED", self.run_certs("show", short)[1])

    def test_a_host_of_another_name(self):
        self.expect(self.run_certs("add", self.certs, "--host=elsewhere"), 0)
        workers = self.start_workers(2, "--tls-dir=" + self.certs, "--tls-name=elsewhere")
        self.expect_turned_away(workers, "is for other names", "--tls-dir=" + self.certs)

    def test_ends_with_and_without_tls(self):
        tls = "--tls-dir=" + self.certs
        self.expect_turned_away(self.start_tls_workers(2), "give --tls-dir")
        self.expect_turned_away(self.start_workers(2), "does not speak TLS", tls)
        # One worker of each kind: the job does not form, whichever is the first.
        mixed = [self.start_worker(tls), self.start_worker()]
        self.expect_turned_away(mixed, "does not speak TLS", tls)
        self.expect_turned_away(mixed[::-1], "does not speak TLS", tls)


class TestFiles(TlsTest):
    def test_a_worker_takes_files_that_have_changed(self):
        self.expect(self.run_certs("add", self.certs, "--host=moving"), 0)
        workers = self.start_workers(2, "--tls-dir=" + self.certs, "--tls-name=moving")
        tls = "--tls-dir=" + self.certs
        self.expect_turned_away(workers, "is for other names", tls)
        for suffix in (".key", ".pem"):
            new = os.path.join(self.certs, "moving.new")
            shutil.copy(os.path.join(self.certs, "127.0.0.1" + suffix), new)
            os.rename(new, os.path.join(self.certs, "moving" + suffix))
        end = time.monotonic() + PATIENCE_S
        while self.run_tfrt(self.sum, hosts(workers), tls)[0] != 0:
            self.assertLess(time.monotonic(), end)

    def test_a_worker_goes_on_with_the_last_good_files(self):
        tls = "--tls-dir=" + self.certs
        worker = self.start_worker(tls, "--log-level=info", stderr=subprocess.PIPE)
        key = os.path.join(self.certs, "127.0.0.1.key")
        with open(key, encoding="ascii") as file:
            good = file.read()
        for content, words in (("garbage\n", "127.0.0.1.key holds no"), (good, "good again")):
            new = self.write("new.key", content)
            os.chmod(new, 0o600)
            os.rename(new, key)
            line = ""
            while words not in line:
                line = worker.stderr.readline()
                self.assertNotEqual(line, "", words)
            # With either key the worker admits a client that has a certificate.
            code, out, err = self.ask("list", "jobs", hosts([worker]), tls)
            self.assertEqual(code, 0, (out, err))
        worker.terminate()
        _, err = worker.communicate(timeout=PATIENCE_S)
        self.assertNotIn("the last good certificate stays", err)

    def test_files_are_private_and_never_replaced(self):
        for name in os.listdir(self.certs):
            mode = os.stat(os.path.join(self.certs, name)).st_mode
            self.assertEqual(stat.S_IMODE(mode), 0o600, name)
        self.expect(self.run_certs("init", self.certs), 2, out="", err="is not replaced")
        self.expect(
            self.run_certs("add", self.certs, "--host=127.0.0.1"), 2, out="", err="is not replaced"
        )

    def test_a_name_that_is_taken_has_nothing_made(self):
        before = sorted(os.listdir(self.certs))
        for name in ("127.0.0.1", "node2"):
            hosts_flag = "--host=node1,%s,%s" % (name, "127.0.0.1")
            self.expect(self.run_certs("add", self.certs, hosts_flag), 2, out="", err="127.0.0.1")
            self.assertEqual(sorted(os.listdir(self.certs)), before)
        # Whichever of the files that init makes is there, none of the others is made.
        for name in ("ca.pem", "ca.key", "client.pem", "client.key", "a.key", "b.pem"):
            folder = os.path.join(self.folder, "has_" + name)
            os.mkdir(folder)
            shutil.copy(os.path.join(self.certs, "ca.pem"), os.path.join(folder, name))
            result = self.run_certs("init", folder, "--host=a,b")
            self.expect(result, 2, out="", err=name + " exists already and is not replaced")
            self.assertEqual(os.listdir(folder), [name])

    def test_all_that_there_is_is_shown(self):
        names = ["c%d.pem" % i for i in range(1030)]
        for name in names:
            os.link(os.path.join(self.certs, "client.pem"), os.path.join(self.certs, name))
        code, out, err = self.run_certs("show", self.certs, "-o=json")
        self.assertEqual((code, err), (0, ""))
        there = sorted(names + ["127.0.0.1.pem", "ca.pem", "client.pem"])
        self.assertEqual([entry["file"] for entry in json.loads(out)], there)

    def test_what_there_is_is_shown_as_json(self):
        self.expect(self.run_certs("add", self.certs, "--host=node+10.0.0.1", "--valid=1d"), 0)
        code, out, err = self.run_certs("show", self.certs, "-o=json")
        self.assertEqual((code, err), (0, ""))
        shown = {entry.pop("file"): entry for entry in json.loads(out)}
        self.assertEqual(sorted(shown), ["127.0.0.1.pem", "ca.pem", "client.pem", "node.pem"])
        authority = shown["ca.pem"]["names"]
        self.assertEqual(shown["ca.pem"]["kind"], "authority")
        self.assertEqual(shown["client.pem"]["kind"], "client")
        self.assertEqual(shown["node.pem"]["kind"], "host")
        self.assertEqual(shown["node.pem"]["names"], ["node", "10.0.0.1"])
        self.assertEqual({entry["issuer"] for entry in shown.values()}, set(authority))
        text = self.run_certs("show", self.certs)[1]
        for entry in shown.values():
            self.assertIs(entry["expired"], False)
            until = time.strptime(entry["until"], "%Y-%m-%dT%H:%M:%SZ")
            self.assertIn(time.strftime("until %Y-%m-%d %H:%M:%S UTC", until), text)
        # One that can't be read is an entry, too.
        self.write("certs/bad.pem", "no certificate\n")
        code, out, err = self.run_certs("show", self.certs, "-o=json")
        self.assertEqual(code, 2)
        errors = [entry["error"] for entry in json.loads(out) if entry["file"] == "bad.pem"]
        self.assertEqual(len(errors), 1)
        self.assertIn(errors[0], err)
        # The command reports each of several errors.
        self.write("certs/worse.pem", "")
        code, out, err = self.run_certs("show", self.certs)
        self.assertEqual((code, len(out.splitlines())), (2, 4))
        self.assertEqual([line.count("bad.pem") for line in err.splitlines()], [1, 0], err)
        self.assertEqual([line.count("worse.pem") for line in err.splitlines()], [0, 1], err)
        code, out, err = self.run_certs("show", self.certs + "x", "-o=json")
        self.assertEqual((code, json.loads(out)["error"]["code"]), (2, "NOT_FOUND"))

    def test_wrong_use(self):
        other = os.path.join(self.folder, "none")
        for words, *arguments in (
            ("tfrt certs init|add|renew|show DIR",),
            ("tfrt certs init|add|renew|show DIR", "make", other),
            ("add wants --host", "add", self.certs),
            ("is no name of a host", "init", other, "--host=a:1"),
            ("can't be called 'ca'", "init", other, "--host=a,ca"),
            ("can't be called 'client'", "init", other, "--host=a,client"),
            ("--host: 'a' stands twice; name each host once", "init", other, "--host=a,b,a"),
            ("--host: 'a' stands twice", "init", other, "--host=a+x,a+y"),
            ("--valid 1y", "init", other, "--valid=1y"),
            ("--valid 0d", "init", other, "--valid=0d"),
            ("none: No such file", "show", other),
            ("INVALID_ARGUMENT: %s: Not a directory" % self.sum, "show", self.sum),
            ("INVALID_ARGUMENT: can't write %s/ca.key: Not a directory" % self.sum, "init", self.sum),
            ("ca.pem", "add", other, "--host=a"),
            ("-o xml: there are text and json", "show", other, "-o=xml"),
        ):
            self.expect(self.run_certs(*arguments), 2, out="", err=words)
        # Nothing was made on the way.
        self.assertFalse(os.path.exists(other))
        self.expect(self.run_tfrt(self.sum, "--local=2", "--tls-dir=" + self.certs), 2, out="",
                    err="--tls-dir goes with --hosts")
        self.expect(self.run_tfrt(self.sum, "--hosts=127.0.0.1:1", "--tls-dir=" + other), 2, out="",
                    err="none/ca.pem")

    def test_show(self):
        self.expect(self.run_certs("add", self.certs, "--host=a+10.0.0.1"), 0)
        code, out, _ = self.run_certs("show", self.certs)
        self.assertEqual(code, 0)
        lines = out.splitlines()
        self.assertEqual(len(lines), 4, out)
        self.assertTrue(lines[0].startswith("127.0.0.1.pem: host 127.0.0.1, localhost; of "), out)
        self.assertTrue(lines[1].startswith("a.pem: host a, 10.0.0.1; of "), out)
        self.assertTrue(lines[2].startswith("ca.pem: authority of "), out)
        self.assertTrue(lines[3].startswith("client.pem: client client; of "), out)


if __name__ == "__main__":
    main()
