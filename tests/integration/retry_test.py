#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Pure calls with retries, and workers that end by SIGKILL.

Usage: retry_test.py TFRT TFRT_WORKER
"""


from cluster import PATIENCE_S, ClusterTest, hosts, main

# @work gives 40 and the rank of its host, and never ends on a host below FIRST. Host 2 has the
# result for an argument before it is there.
WORK = """func.func @work(%first: i32, %ch: !tfrt.chain) -> i32 {
  %me = tfrt_dist.rank
  %printed = tfrt.print.i32 %me, %ch
  %x = tfrt.constant.i32 40
  %ends = "tfrt.lessequal.i32"(%first, %me) : (i32, i32) -> i1
  %r = tfrt.if %ends, %x, %me, %ch : (i32, i32, !tfrt.chain) -> (i32) {
    %y = tfrt.add.i32 %x, %me
    tfrt.return %y : i32
  } else {
    %h = tfrt_dist.host %me
    %key = tfrt_dist.key "never"
    %v, %ch1 = tfrt_dist.recv %h, %key, %ch : i32
    tfrt.return %v : i32
  }
  tfrt.return %r : i32
}
func.func @twice(%x: i32) -> i32 {
  %y = tfrt.add.i32 %x, %x
  tfrt.return %y : i32
}
func.func @main() -> i32 {
  %ch = tfrt.new.chain
  %first = tfrt.constant.i32 FIRST
  %y = tfrt.call @work(%first, %ch) {host = 1 : i32, pure, retries = 1 : i32}
      : (i32, !tfrt.chain) -> i32
  %z = tfrt.call @twice(%y) {host = USER : i32} : (i32) -> i32
  tfrt.return %z : i32
}
"""

# The result of @back is one of host 0, which it has called back for that; it ends for hosts from 2 on.
BACK = """func.func @work_for(%who: i32, %ch: !tfrt.chain) -> i32 {
  %printed = tfrt.print.i32 %who, %ch
  %two = tfrt.constant.i32 2
  %ends = "tfrt.lessequal.i32"(%two, %who) : (i32, i32) -> i1
  %r = tfrt.if %ends, %who, %ch : (i32, !tfrt.chain) -> (i32) {
    %y = tfrt.add.i32 %who, %who
    tfrt.return %y : i32
  } else {
    %h = tfrt_dist.host %who
    %key = tfrt_dist.key "never"
    %v, %ch1 = tfrt_dist.recv %h, %key, %ch : i32
    tfrt.return %v : i32
  }
  tfrt.return %r : i32
}
func.func @back(%ch: !tfrt.chain) -> i32 {
  %me = tfrt_dist.rank
  %y = tfrt.call @work_for(%me, %ch) {host = 0 : i32} : (i32, !tfrt.chain) -> i32
  tfrt.return %y : i32
}
func.func @main() -> i32 {
  %ch = tfrt.new.chain
  %y = tfrt.call @back(%ch) {host = 1 : i32, pure, retries = 1 : i32} : (!tfrt.chain) -> i32
  tfrt.return %y : i32
}
"""


def printed(rank):
    return "[%d] int32 = %d\n" % (rank, rank)


class RetryTest(ClusterTest):
    def begin(self, first, user):
        """Starts three workers and the program; returns them when @work runs on host 1."""
        workers = self.start_workers(3)
        text = WORK.replace("FIRST", str(first)).replace("USER", str(user))
        process = self.start(self.write("work.mlir", text), hosts(workers))
        self.assertEqual(process.stdout.readline(), printed(1))
        return workers, process

    def end(self, workers):
        self.expect_idle(workers)
        for worker in workers:
            worker.terminate()
            self.assertEqual(worker.wait(PATIENCE_S), 0)
        self.expect_nothing_left()

    def test_a_pure_call_runs_again_on_the_next_host(self):
        for user in (0, 2):
            workers, process = self.begin(2, user)
            workers[1].kill()
            self.assertEqual(process.stdout.readline(), printed(2))
            # Both lines may come at once, into the buffer of this stream.
            self.assertEqual(process.stdout.readline(), "'main' returned 84\n")
            self.expect(self.finish(process), 0)
            self.end([workers[0], workers[2]])

    def test_a_pure_call_whose_result_is_made_by_its_caller_runs_again(self):
        workers = self.start_workers(3)
        process = self.start(self.write("back.mlir", BACK), hosts(workers))
        self.assertEqual(process.stdout.readline(), "int32 = 1\n")
        workers[1].kill()
        self.assertEqual(process.stdout.readline(), "int32 = 2\n")
        self.assertEqual(process.stdout.readline(), "'main' returned 4\n")
        self.expect(self.finish(process), 0)
        self.end([workers[0], workers[2]])

    def test_without_retries_left_both_losses_are_named(self):
        workers, process = self.begin(3, 0)
        workers[1].kill()
        self.assertEqual(process.stdout.readline(), printed(2))
        workers[2].kill()
        result = self.finish(process)
        self.expect(result, 4, None, "lost host 2 ")
        # A line about host 1 alone may have come when that was lost.
        error = next(line for line in result[2].splitlines() if "lost host 2 " in line)
        for text in ("while it ran @work", "run 2", "lost host 1 ", *(w.address for w in workers[1:])):
            self.assertIn(text, error)
        self.end([workers[0]])


if __name__ == "__main__":
    main()
