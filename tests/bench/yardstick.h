// SPDX-License-Identifier: Apache-2.0
//
// How much longer this machine takes for things that any program does than the machine took on
// which TFRT was measured. TFRT's figures times that are what a benchmark is compared with: the
// machines differ by more than the programs do, so figures of two days are no ratio by themselves.
//
// A yardstick is one that was measured in the same minutes as TFRT. It is read in the same minutes
// as the benchmark, before its samples and after them, since a machine's speed changes by the
// minute.
//
// Thread rule: on the main thread.
#ifndef TFRT_TESTS_BENCH_YARDSTICK_H_
#define TFRT_TESTS_BENCH_YARDSTICK_H_

#include "host_runtime/base/status.h"

// Makes and frees blocks of 64 bytes, with malloc and with posix_memalign, for a millisecond or
// two, and sets |*out_scale|: this machine's time over that of TFRT's machine, for the one of the
// two that has slowed down less. The time to start a process or to wake a thread may differ by
// more.
tfrt_status_t tfrt_bench_yardstick_read(double* out_scale) TFRT_MUST_USE;

#endif  // TFRT_TESTS_BENCH_YARDSTICK_H_
