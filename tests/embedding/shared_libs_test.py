#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""--shared_libs of all tools: what a library brings, and one clear line for each mistake.

    shared_libs_test.py BIN_FOLDER

The libraries are compiled here, by the system's compiler, from library.c, providers.c and
newest_first_queue.c in tests/embedding.
"""

import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest

BIN = os.path.abspath(sys.argv[1])
SOURCE = os.path.abspath("tests/embedding/library.c")
PROVIDERS = os.path.abspath("tests/embedding/providers.c")
OWN_QUEUE = os.path.abspath("tests/embedding/newest_first_queue.c")

PROGRAM = """func.func @triples() -> i32 {
  %two = tfrt.constant.i32 2
  %six = sample.triple %two
  tfrt.return %six : i32
}

func.func @pairs() -> !sample.pair {
  %one = tfrt.constant.i32 1
  %two = tfrt.constant.i32 2
  %pair = sample.make_pair %one, %two
  tfrt.return %pair : !sample.pair
}
"""

# Tasks that wait for each other's values.
LATE = """func.func @late() -> i32 {
  %count = tfrt.constant.i32 1000
  %start = tfrt.constant.i32 0
  %sum = tfrt.repeat.i32 %count, %start : i32 {
    %one = "tfrt_test.async_constant.i32"() {value = 1 : i32} : () -> i32
    %next = "tfrt_test.async_add.i32"(%start, %one) : (i32, i32) -> i32
    tfrt.return %next : i32
  }
  tfrt.return %sum : i32
}
"""

# A tensor of a library's type, and what becomes of it.
RANGES = """func.func @ranges() -> !tfrt.chain {
  %c0 = tfrt.new.chain
  %start = tfrt.constant.i32 -1
  %length = tfrt.constant.i32 5
  %range = range.make %start, %length
  %c1 = tfrt_dht.print_tensor %range, %c0
  %type = tfrt_tensor.type %range
  %name = tfrt_tensor.type_name %type
  %c2 = "tfrt_test.print_string"(%name, %c1) : (!tfrt.string, !tfrt.chain) -> !tfrt.chain
  %dense = "tfrt_test.get_static_tensor_type"() {tensor_type = "DenseHost"} : () -> !tfrt.tensor_type
  %elements = tfrt_tensor.convert %range, %dense
  %c3 = tfrt_dht.print_tensor %elements, %c2
  tfrt.return %c3 : !tfrt.chain
}

func.func @no_way_back() -> !tfrt_tensor.tensor {
  %a = tfrt_tensor.constant dense<[0, 1]> : tensor<2xi32>
  %type = "tfrt_test.get_static_tensor_type"() {tensor_type = "RangeHost"} : () -> !tfrt.tensor_type
  // expected-error @+1 {{cannot find conversion function for [DenseHost]->[RangeHost]}}
  %range = tfrt_tensor.convert %a, %type
  tfrt.return %range : !tfrt_tensor.tensor
}

func.func @not_dense() -> !tfrt_tensor.tensor {
  %two = tfrt.constant.i32 2
  %range = range.make %two, %two
  // expected-error @+1 {{operand 0 must be a dense tensor, but is a foreign tensor of i32}}
  %sum = tfrt_tensor.add %range, %range
  tfrt.return %sum : !tfrt_tensor.tensor
}
"""

# The same program for `tfrt run`, over two hosts.
DISTRIBUTED = """func.func @main() -> i32 {
  %two = tfrt.constant.i32 2
  %six = tfrt.call @triple(%two) {host = 1 : i32} : (i32) -> (i32)
  tfrt.return %six : i32
}

func.func @triple(%a: i32) -> i32 {
  %b = sample.triple %a
  tfrt.return %b : i32
}
"""

# Both hosts meet, if both have the library.
MEETING = """func.func @meet(%ch: !tfrt.chain) -> i32 {
  %world = tfrt_dist.world
  %met = tfrt_dist.barrier %world, %ch
  %one = tfrt.constant.i32 1
  %three = sample.triple %one
  %r = "tfrt_test.identity"(%met, %three) : (!tfrt.chain, i32) -> i32
  tfrt.return %r : i32
}

func.func @main() -> i32 {
  %ch = tfrt.new.chain
  %l = tfrt_dist.call_all @meet(%ch) : (!tfrt.chain) -> (!tfrt_dist.list)
  %s = tfrt_dist.list.sum %l : i32
  tfrt.return %s : i32
}
"""


def run(tool, *arguments, data=b"", folder=None):
    """Runs a tool; returns exit code, standard output and standard error."""
    done = subprocess.run([os.path.join(BIN, tool), *arguments], input=data, capture_output=True,
                          timeout=60, cwd=folder, check=False)
    return done.returncode, done.stdout, done.stderr.decode()


class SharedLibsTest(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        cls.storage = tempfile.TemporaryDirectory()
        cls.folder = cls.storage.name
        cls.good = cls.compile("good")
        cls.text = os.path.join(cls.folder, "p.mlir")
        with open(cls.text, "w", encoding="utf-8") as file:
            file.write(PROGRAM)
        cls.bef = os.path.join(cls.folder, "p.bef")
        done = run("mlir_to_bef", "--shared_libs=" + cls.good, cls.text, "-o", cls.bef)
        assert done == (0, b"", ""), done

    @classmethod
    def tearDownClass(cls):
        cls.storage.cleanup()

    @classmethod
    def compile(cls, name, *options, source=SOURCE):
        """The path of a new library, compiled with `options`."""
        path = os.path.join(cls.folder, name + ".so")
        subprocess.run(["gcc", "-std=gnu11", "-Wall", "-Wextra", "-Werror", "-fPIC", "-shared",
                        "-I.", *options, source, "-o", path], check=True)
        return path

    def assert_refused(self, libraries, *parts, tools=("bef_executor", "mlir_to_bef")):
        """Both tools end with 1 and one line that holds all `parts`."""
        for tool in tools:
            code, _, errors = run(tool, "--shared_libs=" + libraries, "/dev/null",
                                  folder=self.folder)
            self.assertEqual(code, 1, errors)
            self.assertEqual(errors.count("\n"), 1, errors)
            self.assertTrue(errors.startswith(tool + ": "), errors)
            for part in parts:
                self.assertIn(part, errors)

    def test_kernels_and_types_of_a_library_run(self):
        for queue in ["s", "mstd:2"]:
            code, output, errors = run("bef_executor", "--shared_libs", self.good, "--check_types",
                                       "--work_queue_type=" + queue, self.bef)
            self.assertEqual((code, errors), (0, ""))
            self.assertIn(b"'triples' returned 6\n", output)
            self.assertIn(b"'pairs' returned <1, 2>\n", output)

    def test_a_library_brings_a_work_queue(self):
        library = self.compile("choices", "-DWITH_CHOICES")
        for queue, name in [("sample", b"single-threaded"),
                            ("sample:mstd:2", b"Multi-threaded C++ work queue (2 threads, 256 "
                                              b"blocking threads)")]:
            code, output, errors = run("bef_executor", "--shared_libs", library,
                                       "--work_queue_type=" + queue, self.bef)
            self.assertEqual((code, errors), (0, ""))
            self.assertIn(b"Choosing " + name + b" work queue.\n", output)
            self.assertIn(b"'triples' returned 6\n", output)
        code, _, errors = run("bef_executor", "--work_queue_type=sample", self.bef)
        self.assertEqual(code, 1)
        self.assertEqual(errors, "bef_executor: INVALID_ARGUMENT: --work_queue_type: there is no "
                                 "type of work queues 'sample'; there are s, "
                                 "mstd[:THREADS[,BLOCKING]]\n")

    def test_a_library_brings_a_work_queue_of_its_own_making(self):
        library = "--shared_libs=" + self.compile("newest", source=OWN_QUEUE)
        with open(os.path.join(self.folder, "late.mlir"), "w", encoding="utf-8") as file:
            file.write(LATE)
        bef = run("mlir_to_bef", "late.mlir", folder=self.folder)[1]
        code, output, errors = run("bef_executor", library, "--work_queue_type=newest", data=bef)
        self.assertEqual((code, errors), (0, ""))
        self.assertIn(b"Choosing newest-first work queue.\n", output)
        self.assertIn(b"'late' returned 1000\n", output)
        code, _, errors = run("bef_executor", library, "--work_queue_type=newest:1", data=bef)
        self.assertEqual(code, 1)
        self.assertIn("'newest:1' is not how a type of work queues is written: newest", errors)

    def test_a_library_brings_an_allocator(self):
        library = self.compile("choices", "-DWITH_CHOICES")
        code, output, errors = run("bef_executor", "--shared_libs", library,
                                   "--host_allocator_type=sample", self.bef)
        self.assertEqual((code, errors), (0, ""))
        self.assertTrue(output.startswith(b"Choosing sample.\n"), output)
        self.assertTrue(output.endswith(b"The sample is done.\n"), output)
        code, _, errors = run("bef_executor", "--host_allocator_type=sample", self.bef)
        self.assertEqual(code, 1)
        self.assertEqual(errors, "bef_executor: INVALID_ARGUMENT: --host_allocator_type: there is "
                                 "no allocator 'sample'; there are malloc, profiled_allocator, "
                                 "leak_check_allocator, test_fixed_size_1k\n")

    def test_a_library_brings_a_type_of_tensors_and_a_conversion(self):
        library = "--shared_libs=" + self.compile("providers", source=PROVIDERS)
        with open(os.path.join(self.folder, "ranges.mlir"), "w", encoding="utf-8") as file:
            file.write(RANGES)
        bef = run("mlir_to_bef", library, "ranges.mlir", folder=self.folder)[1]
        lines = (b"--- Running 'ranges':\n"
                 b"RangeHostTensor shape = [5], start = -1\n"
                 b"string = RangeHost\n"
                 b"DenseHostTensor dtype = i32, shape = [5], values = [-1, 0, 1, 2, 3]\n")
        for queue in ["s", "mstd:4"]:
            # The comments in the text say which errors there are.
            code, output, errors = run("bef_executor", library, "--work_queue_type=" + queue,
                                       data=bef, folder=self.folder)
            self.assertEqual((code, errors), (0, ""))
            self.assertIn(lines, output)
        _, _, errors = run("bef_executor", library, "--enable_tracing", "--tracing_level=debug",
                           data=bef, folder=self.folder)
        self.assertRegex(errors, r"thread 0: range 'a range' took \d+ ns")

    def test_a_library_brings_a_file_system(self):
        library = "--shared_libs=" + self.compile("providers", source=PROVIDERS)
        self.assertEqual(run("tfrt", "run", library, "greetings://main"), (0, b"", ""))
        code, _, errors = run("tfrt", "run", library, "greetings://")
        self.assertEqual((code, errors), (2, "tfrt: NOT_FOUND: there is nobody to greet\n"))
        code, _, errors = run("bef_executor", library, "greetings://main")
        self.assertEqual(code, 1)
        self.assertIn("greetings://main: bad BEF file", errors)
        code, _, errors = run("bef_executor", library, "--metrics_file=greetings://main", self.bef)
        self.assertIn("this file system is only read", errors)
        code, _, errors = run("tfrt", "run", "greetings://main")
        self.assertEqual(code, 2)
        self.assertIn("there is no file system 'greetings'; there are file://PATH", errors)

    def test_without_the_library_the_kernel_is_unknown(self):
        code, _, errors = run("bef_executor", self.bef)
        self.assertEqual(code, 1)
        self.assertIn("unknown kernel name 'sample.triple' (a kernel library that has it is "
                      "named with --shared_libs)", errors)

    def test_translators_know_the_entries_of_a_library(self):
        library = "--shared_libs=" + self.good
        with open(self.bef, "rb") as file:
            image = file.read()
        source = PROGRAM.encode()
        numbered = run("bef_to_mlir", library, self.bef)[1]
        self.assertIn(b"%1 = sample.triple %0\n", numbered)
        self.assertIn(b"%2 = sample.make_pair %0, %1\n", numbered)
        self.assertEqual(run("tfrt_translate", library, "--bef-to-mlir", self.bef)[1], numbered)
        self.assertEqual(run("tfrt_translate", library, "--mlir-to-bef", self.text)[:2],
                         (0, image))
        optimized = run("tfrt_opt", library, "--keep-value-names", self.text)[1]
        self.assertEqual(optimized, source.replace(b"\n\n", b"\n"))
        # Without them, the dialect is a stranger and its custom forms can't be read.
        self.assertIn("custom op 'sample.triple' is unknown; an op that is not in the op tables "
                      'is written "sample.triple"(...) : (...) -> ..., and a kernel library that '
                      "has it is named with --shared_libs\n", run("mlir_to_bef", self.text)[2])
        self.assertIn(b'"sample.triple"(', run("bef_to_mlir", self.bef)[1])

    def test_translators_check_operands_and_types(self):
        for bad, message in [("sample.triple %two, %two", "operand"),
                             ("sample.make_pair %two", "operand")]:
            text = PROGRAM.replace("sample.triple %two", bad).encode()
            code, _, errors = run("mlir_to_bef", "--shared_libs=" + self.good, data=text)
            self.assertEqual(code, 1)
            self.assertIn("<stdin>:3:", errors)
            self.assertIn(message, errors)

    def test_a_name_without_a_slash_is_a_file_here(self):
        code, output, errors = run("bef_executor", "--shared_libs=good.so", self.bef,
                                   folder=self.folder)
        self.assertEqual((code, errors), (0, ""))
        self.assertIn(b"'triples' returned 6\n", output)

    def test_several_libraries(self):
        other = self.compile("other", '-DTRIPLE="other.triple"')
        self.assert_refused(self.good + "," + other, other, "already", "dialect of its own")
        self.assert_refused(self.good + "," + self.good, "name it once")
        self.assert_refused(self.good + ",", "comma")
        self.assert_refused("", "--shared_libs names files")

    def test_files_that_are_no_kernel_libraries(self):
        self.assert_refused("missing.so", "there is no shared library 'missing.so'")
        self.assert_refused(self.text, "can't be loaded: it is no shared library (invalid ELF "
                                       "header)")
        empty = os.path.join(self.folder, "empty.so")
        with open(empty, "w", encoding="utf-8"):
            pass
        self.assert_refused(empty, "can't be loaded: it is no shared library (file too short)")
        self.assert_refused(self.folder, "can't be loaded")
        self.assert_refused(self.compile("silent", "-DNO_DESCRIPTION"), "is no library of kernels or devices",
                            "defines no 'tfrt_kernel_library'")

    def test_other_versions_and_second_runtimes(self):
        self.assert_refused(self.compile("newer", "-DVERSION=999"), "newer.so", "version 999",
                            "this runtime", "compile it against")
        self.assert_refused(self.compile("own", "-DOWN_RUNTIME"), "own.so", "second runtime",
                            "pkg-config --libs tfrt-kernels")
        hidden = self.compile("hidden", "-DOWN_RUNTIME", "-Wl,-Bsymbolic")
        self.assert_refused(hidden, "hidden.so", "second runtime")

    def test_calls_of_what_the_runtime_has_not(self):
        self.assert_refused(self.compile("unknown", "-DUNKNOWN_FUNCTION"), "unknown.so",
                            "undefined symbol: tfrt_function_that_nobody_has",
                            "<tfrt/kernel_library.h>")

    def test_libraries_that_contradict_themselves(self):
        both = ("bef_executor", "mlir_to_bef")
        self.assert_refused(self.compile("unsorted", "-DUNSORTED_ATTRIBUTES"), "unsorted.so",
                            "'sample.make_pair'", "order of their names", tools=both)
        self.assert_refused(self.compile("form", '-DFORM="%first"'), "form.so",
                            "'sample.make_pair'", "lacks operand 'second'",
                            tools=("bef_executor", "mlir_to_bef", "bef_to_mlir", "tfrt_opt"))
        executor = ("bef_executor",)
        self.assert_refused(self.compile("entry", "-DNO_ENTRY"), "entry.so",
                            "'sample.triple' has no entry", tools=executor)
        self.assert_refused(self.compile("kernel", "-DNO_KERNEL"), "kernel.so",
                            "'sample.triple' has no kernel", tools=executor)
        self.assert_refused(self.compile("setup", "-DFAILING_SET_UP"), "setup.so",
                            "there is no sample today", tools=executor)

    def test_types_that_nobody_registers(self):
        executor = ("bef_executor",)
        self.assert_refused(self.compile("forgotten", "-DNO_SET_UP"), "forgotten.so",
                            "kernel library 'sample'", "'sample.make_pair'", "result 'pair'",
                            "'!sample.pair'", "register it in set_up", tools=executor)
        misspelt = self.compile("misspelt", '-DPAIR_TYPE="!sample.pear"')
        self.assert_refused(misspelt, "misspelt.so", "'!sample.pear'", "not registered",
                            tools=executor)
        program = os.path.join(self.folder, "m.mlir")
        with open(program, "w", encoding="utf-8") as file:
            file.write(DISTRIBUTED)
        code, _, errors = run("tfrt", "run", "--shared_libs=" + misspelt, program)
        self.assertNotEqual(code, 0)
        self.assertEqual(errors.count("\n"), 1, errors)
        self.assertIn("'!sample.pear'", errors)

    def test_names_of_this_runtime_are_taken(self):
        clash = self.compile("clash", '-DTRIPLE="tfrt.add.i32"')
        self.assert_refused(clash, "clash.so", "tfrt.add.i32", "dialect of its own")

    def test_a_kernel_that_keeps_a_reference_is_found_out(self):
        library = self.compile("keeping", "-DKEEPING")
        code, output, errors = run("bef_executor", "--shared_libs", library, self.bef)
        self.assertEqual(code, 1)
        self.assertIn(b"'triples' returned 6\n", output)
        self.assertIn("function 'triples' changed the number of live AsyncValues by 1", errors)

    def test_a_broken_rule_of_values_ends_the_process_with_a_message(self):
        kept = "a kernel retains an argument that it returns"
        place = "kernel 'sample.triple' of function 'triples' at %s:3:10; " % self.text
        for mistake, options, text in [
                ("RETURNS_ARGUMENT", [], "a kernel returned its argument without a reference for "
                                         "the result, found in " + place + kept),
                ("RETURNS_ARGUMENT", ["-DNDEBUG"], "without a reference for the result, found in " +
                 place + kept),
                ("RELEASES_ARGUMENT", [], "more references were released than were taken, found "
                                          "in " + place + kept),
                ("RELEASES_ARGUMENT", ["-DNDEBUG"], "more references were released than were "
                                                    "taken, found in " + place + kept),
                ("RELEASES_RESULT", [], "more references were released than were taken, found "
                                        "in " + place + kept),
                ("RESOLVES_TWICE", [], "it was resolved twice, found in " + place),
                ("READS_ERROR", [], "its payload was read, but it is an error, found in " + place)]:
            library = self.compile(mistake.lower() + "_" + str(len(options)), "-D" + mistake,
                                   *options)
            for queue in ["s", "mstd:2"]:
                code, output, errors = run("bef_executor", "--shared_libs", library,
                                           "--work_queue_type=" + queue, self.bef)
                self.assertEqual(code, -signal.SIGABRT, (mistake, output, errors))
                self.assertIn("tfrt: mistake with an AsyncValue (", errors)
                self.assertIn(text, errors)
                self.assertEqual(errors.count("\n"), 1, errors)

    def test_a_kernel_that_reads_an_argument_as_another_type_is_found_out(self):
        library = self.compile("misread", "-DREADS_F32")
        for queue in ["s", "mstd:2"]:
            code, output, errors = run("bef_executor", "--shared_libs", library, "--check_types",
                                       "--work_queue_type=" + queue, self.bef)
            self.assertEqual(code, 1)
            self.assertIn(b"'triples' returned <<error: kernel 'sample.triple' read its argument 0, "
                          b"of type i32, as type f32: ", output)
            self.assertIn(self.text + ":3:10: error: ", errors)

    def test_a_function_that_never_ends_is_given_up_after_its_deadline(self):
        for name, queue, text in [
                ("NEVER", "s", "its result 0 is not there: a kernel never resolved its result"),
                ("NEVER", "mstd:2", "its result 0 is not there: a kernel never resolved its "
                                    "result"),
                ("BLOCKING", "s", "kernel 'sample.triple' is still running (" + self.text +
                                  ":3:10)")]:
            library = self.compile(name.lower(), "-D" + name)
            code, output, errors = run("bef_executor", "--shared_libs=" + library,
                                       "--deadline_ms=50", "--work_queue_type=" + queue, self.bef)
            self.assertEqual(code, 1)
            self.assertEqual(errors, "bef_executor: DEADLINE_EXCEEDED: function 'triples' has not "
                                     "ended 5 s after its deadline: " + text + "\n")
            self.assertTrue(output.endswith(b"--- Running 'triples':\n"), output)

    def test_a_kernel_that_sets_a_result_twice_is_found_out(self):
        library = self.compile("twice", "-DTWICE")
        code, output, errors = run("bef_executor", "--shared_libs", library, self.bef)
        self.assertEqual(code, 1)
        self.assertIn(b"'triples' returned <<error: kernel 'sample.triple' set its result 0 "
                      b"twice>>\n", output)
        self.assertIn(self.text + ":3:10: error: ", errors)

    def test_a_kernel_that_gives_a_result_of_another_type_is_found_out(self):
        program = os.path.join(self.folder, "wrong.mlir")
        with open(program, "w", encoding="utf-8") as file:
            file.write(DISTRIBUTED)
        for name, result, made in [
                ("chain", "tfrt_async_value_ready_chain()", "!tfrt.chain"),
                ("f64", "tfrt_async_value_create_f64(1)", "f64"),
                ("pair", "tfrt_async_value_create_unconstructed(sample_pair_type)",
                 "!sample.pair")]:
            library = "--shared_libs=" + self.compile(name, "-DWRONG_RESULT=" + result)
            message = ("kernel 'sample.triple' gave a %s as result 0, but its op table entry says "
                       "i32" % made)
            for queue in ["s", "mstd:2"]:
                code, output, errors = run("bef_executor", library, "--check_types",
                                           "--work_queue_type=" + queue, self.bef)
                self.assertEqual(code, 1)
                self.assertIn("'triples' returned <<error: %s>>\n" % message, output.decode())
                self.assertIn(self.text + ":3:10: error: ", errors)
            for cluster in [[], ["--in-process", "2"], ["--local", "2"]]:
                code, _, errors = run("tfrt", "run", library, "--check_types", *cluster, program)
                self.assertEqual(code, 1)
                self.assertIn(message, errors)
                self.assertIn("wrong.mlir:8:8", errors)

    def test_tfrt_run_and_its_workers(self):
        program = os.path.join(self.folder, "d.mlir")
        with open(program, "w", encoding="utf-8") as file:
            file.write(DISTRIBUTED)
        library = "--shared_libs=" + self.good
        for cluster in [[], ["--in-process", "2"], ["--local", "2"]]:
            code, output, errors = run("tfrt", "run", library, *cluster, program)
            self.assertEqual((code, errors), (0, ""), cluster)
            self.assertIn(b"6\n", output)

    def start_worker(self, name, *flags):
        """A worker, its address, and the file that it logs to."""
        log = os.path.join(self.folder, name + ".log")
        with open(log, "w", encoding="utf-8") as stream:
            worker = subprocess.Popen(
                [os.path.join(BIN, "tfrt_worker"), "--listen=127.0.0.1:0", *flags],
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=stream, text=True)
        self.addCleanup(worker.stdout.close)
        self.addCleanup(worker.wait)
        self.addCleanup(worker.kill)
        return worker, worker.stdout.readline().split()[-1], log

    def test_a_worker_whose_kernel_does_not_come_back_lives_and_says_so(self):
        program = os.path.join(self.folder, "stuck.mlir")
        with open(program, "w", encoding="utf-8") as file:
            file.write(DISTRIBUTED)
        library = "--shared_libs=" + self.compile("stuck", "-DBLOCKING")
        workers = [self.start_worker(name, library, "--threads=1") for name in ("zero", "one")]
        hosts = "--hosts=" + ",".join(worker[1] for worker in workers)
        client = subprocess.Popen(
            [os.path.join(BIN, "tfrt"), "run", library, hosts, program],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        self.addCleanup(client.stderr.close)
        self.addCleanup(client.wait)
        self.addCleanup(client.kill)
        place = "in kernel sample.triple of @triple at " + program + ":8:8"
        # Itself, and the host that has called it.
        for log, words in [(workers[1][2], "a thread is "), (workers[0][2], "lives, and is ")]:
            end = time.monotonic() + 60
            while True:
                with open(log, encoding="utf-8") as stream:
                    told = [line for line in stream if words + place in line]
                if told:
                    break
                self.assertLess(time.monotonic(), end, log)
                time.sleep(0.1)
            self.assertRegex(told[0], r" for \d+\.\d s: it is stuck, or slow")
        code, output, errors = run("tfrt", "dump", hosts)
        self.assertEqual((code, errors), (0, ""))
        first, second = output.decode().splitlines()[:2]
        self.assertTrue(first.startswith("2 of 2 calls wait for call "), output)
        self.assertIn(workers[1][1], first)
        self.assertRegex(second, "  " + place + r", for \d+\.\d s$")
        self.assertIsNone(client.poll())

    def test_a_worker_without_the_library_is_not_waited_for(self):
        program = os.path.join(self.folder, "meeting.mlir")
        with open(program, "w", encoding="utf-8") as file:
            file.write(MEETING)
        library = "--shared_libs=" + self.good
        zero, one, bare = [self.start_worker(*flags)[1] for flags in
                           (("zero", library), ("one", library), ("bare",))]
        code, output, errors = run("tfrt", "run", library, "--hosts=%s,%s" % (zero, one), program)
        self.assertEqual((code, output), (0, b"'main' returned 6\n"), errors)
        code, _, errors = run("tfrt", "run", library, "--hosts=%s,%s" % (zero, bare), program)
        self.assertEqual(code, 1)
        self.assertIn("unknown kernel name 'sample.triple'", errors)
        self.assertIn("meeting.mlir:", errors)

    def test_tfrt_and_its_worker_refuse_bad_libraries(self):
        for tool in [("tfrt", "run", "p.mlir"), ("tfrt_worker",)]:
            code, _, errors = run(*tool, "--shared_libs=missing.so", folder=self.folder)
            self.assertEqual(code, 2)
            self.assertIn("there is no shared library 'missing.so'", errors)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
