// SPDX-License-Identifier: Apache-2.0
//
// The standard streams of a program, as its starter leaves them.
//
// A program may be started without one of them (`tfrt run FILE >&-`). Then the next file that it
// opens would get the number of that stream, and what is printed would go there. So a main opens
// all three before it opens anything else, and asks at its end whether what it has printed went
// anywhere.
//
// The reader of the output may leave (`tfrt status | true`); then SIGPIPE ends the process when it
// prints. A main that needs an orderly end delays SIGPIPE until then:
//
//   hold_cut --> prints; is_cut: there is nothing more to say --> all is closed --> pass_on_cut
//
// Thread rule: main thread only. Failure rule: a stream that is not there, and can't be stood
// in for, fails when it is used.
#ifndef TFRT_TOOLS_PROCESS_STANDARD_STREAMS_H_
#define TFRT_TOOLS_PROCESS_STANDARD_STREAMS_H_

#include <stdbool.h>

#include "host_runtime/base/status.h"

// Makes sure that descriptors 0, 1 and 2 are taken. A stream that is not there is stood in for by
// one that can't be used: reading the input fails, and so does writing the others. A process that
// exits although its standard output could not be written, and has not asked
// tfrt_standard_streams_flush(), prints that on the standard error and exits with code 1. Main
// thread only, before anything is printed.
void tfrt_standard_streams_open(void);

// Writes what the standard output has buffered. DATA_LOSS if that, or anything printed before,
// could not be written; OK if that is for tfrt_standard_streams_pass_on_cut() to tell. Main thread
// only.
tfrt_status_t tfrt_standard_streams_flush(void) TFRT_MUST_USE;

// Why the standard output could not be written, or "". Main thread only.
const char* tfrt_standard_streams_cause(void);

// From now on the process goes on when it prints after the reader of the output has left. If the
// process was started with SIGPIPE ignored, that is an error, as for any output that can't be
// written, and the functions below do nothing. Main thread only, before there are others.
void tfrt_standard_streams_hold_cut(void);

// True if something could not be printed, as the reader of the output has left. Main thread only.
bool tfrt_standard_streams_is_cut(void);

// Ends the process by SIGPIPE if that is so. Main thread only, last of all.
void tfrt_standard_streams_pass_on_cut(void);

#endif  // TFRT_TOOLS_PROCESS_STANDARD_STREAMS_H_
