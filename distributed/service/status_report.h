// SPDX-License-Identifier: Apache-2.0
//
// The built-in function by which any client asks a host how it is: () -> "!tfrt.string". The
// text has a line for each fact, a name and a number or text:
//
//    incarnation 1f2e3d4c5b6a7988
//    name demo-0
//    serving 1                         0: takes no more jobs
//    jobs 0                            without the one that asks, and so on
//    objects 0 ... transfers 0         as in tfrt_node_counts_t
//    frames_sent 123 ...               as in tfrt_session_counters_t
//    peer 8899aabbccddeeff OPEN 312 127.0.0.1:7001 NAME 12 9 3020 1120 0 1000000
//                                      state, round trip in us, address or -, name; and since the
//                                      session began: frames, bytes of messages, and bytes of
//                                      payloads on lanes, of each the sent and the received ones
//
// Later versions may add lines; a reader skips lines that it doesn't know.
//
// Thread rule: takes the node's lock. Failure rule: without memory the text is cut; see
// text_answer.h.
#ifndef TFRT_DISTRIBUTED_SERVICE_STATUS_REPORT_H_
#define TFRT_DISTRIBUTED_SERVICE_STATUS_REPORT_H_

#include "distributed/call/execution.h"

// Writes the text for the call that |execution| is. Thread-safe (the lock is not held).
tfrt_status_t tfrt_status_report_write(tfrt_execution_t* execution, tfrt_string_builder_t* out)
    TFRT_MUST_USE;

#endif  // TFRT_DISTRIBUTED_SERVICE_STATUS_REPORT_H_
