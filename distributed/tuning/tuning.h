// SPDX-License-Identifier: Apache-2.0
//
// The tuning constants of distributed/: numbers that are chosen, by measurement or by estimate, and
// could be others. Behind each stand its unit and the range in which it makes sense; above it, the
// reason. Limits of the protocol, which both ends must know, are in wire/limits.h. Sizes that
// follow from a format stand where that is.
//
// Thread rule: constants. Failure rule: none fails.
#ifndef TFRT_DISTRIBUTED_TUNING_TUNING_H_
#define TFRT_DISTRIBUTED_TUNING_TUNING_H_

#include <stddef.h>
#include <stdint.h>

#include "host_runtime/base/clock.h"

// --- Transport over gRPC -------------------------------------------------------------------------

// Frames and windows that take a message of the biggest size in few steps.
#define TFRT_TUNING_GRPC_FRAME_BYTES (1024 * 1024)       // bytes, 16 Ki to 16 Mi - 1
#define TFRT_TUNING_GRPC_WINDOW_BYTES (4 * 1024 * 1024)  // bytes, 64 Ki to 2^31 - 1

// The time for a stranger to send the preface of HTTP/2. Each takes a descriptor meanwhile; a
// dialler waits for longer, so that it is served when they have gone.
#define TFRT_TUNING_GRPC_HANDSHAKE_MS 3000  // ms, 100 to 20,000

// For a dialler that has said that, and then calls nothing: peers and probes of health that come
// again make a new connection.
#define TFRT_TUNING_GRPC_IDLE_MS 10000  // ms, 1,000 to 600,000

// The most threads of each kind.
#define TFRT_GRPC_MAX_THREADS 64  // threads, 1 to 1,024

// The streams of a control connection, which are used in turn: gRPC tells that messages were read
// in one packet for each turn. A stranger's calls (TFRT_TUNING_STRANGER_PEER_CALLS) leave room for
// as many. A chain over 8 hosts takes the same time with 8, within its spread.
#define TFRT_TUNING_GRPC_BUNDLE_STREAMS 4u  // streams, 1 to 16

// Requests that are open for each method on each of its queues.
#define TFRT_TUNING_GRPC_SLOTS_PER_QUEUE 4  // requests, 1 to 64

// Descriptors kept in reserve: for a dialled connection, a file or two, and those that gRPC opens
// to listen.
#define TFRT_GRPC_RESERVED_DESCRIPTORS 8  // descriptors, 4 to 64

// How often a port that is full looks for room.
#define TFRT_TUNING_PORT_LOOK_NS (100 * TFRT_NANOSECONDS_PER_MILLISECOND)  // ns, 10 ms to 1 s

// How long nothing is said about a port that is full again.
#define TFRT_TUNING_PORT_TELL_NS (10 * TFRT_NANOSECONDS_PER_SECOND)  // ns, 1 s to 1 h

// How long the thread polls for the next event before it sleeps: about the time it takes to wake a
// thread whose processor sleeps.
#define TFRT_TUNING_LINGER_NS ((int64_t)50000)  // ns, 0 to 1 ms

// The same where the last awaited event was near, and the time that counts as near. A thread that
// has slept handles a message with cold caches, for several times as long. So its peer falls
// asleep, too, and both would keep doing so.
#define TFRT_TUNING_NEAR_LINGER_NS ((int64_t)200000)  // ns, the one above to 1 ms
#define TFRT_TUNING_NEAR_NS ((int64_t)400000)         // ns, the linger to 10 ms

// A poll that lasts this long has read bytes: one that finds nothing takes 1 to 2 us.
#define TFRT_TUNING_READING_NS ((int64_t)5000)  // ns, 2 to 50 us

// Spans below this size, in bytes, are copied.
#define TFRT_GRPC_BORROW_SIZE ((size_t)4096)  // bytes, 256 to 64 Ki

// How often gRPC looks at the copies: they are in memory, and good.
#define TFRT_TUNING_COPY_RELOAD_S 1  // s, 1 to 60

// How often files are looked at for a change unless options say otherwise, in seconds.
#define TFRT_GRPC_CREDENTIALS_RELOAD_S 10  // s, 1 to 3,600

// For how long the last one to leave waits for gRPC's own stragglers.
#define TFRT_TUNING_GRPC_LEAVE_NS (20 * TFRT_NANOSECONDS_PER_MILLISECOND)  // ns, 0 to 5 s

// An attempt to connect lasts as long as the dial may, and so much longer: the dial's own clock is
// the first to strike. gRPC's own limit is the most.
#define TFRT_TUNING_GRPC_ATTEMPT_MORE_MS 100    // ms, 10 to 1,000
#define TFRT_TUNING_GRPC_ATTEMPT_MOST_MS 20000  // ms, 1,000 to 60,000

// A channel goes on connecting after its stream is over, for at most this long. A name may have
// several addresses, which are tried one after the other.
#define TFRT_TUNING_GRPC_ABANDONED_NS (30 * TFRT_NANOSECONDS_PER_SECOND)  // ns, 1 s to 5 min

// The same in builds with a sanitizer, which is slow, and takes what isn't freed yet for a leak.
#define TFRT_TUNING_GRPC_LEAVE_SANITIZED_NS \
  (200 * TFRT_NANOSECONDS_PER_MILLISECOND)  // ns, 0 to 5 s

// The memory of gRPC for all connections and calls of a process. Beyond it gRPC reads less from
// each, and in the end breaks some connections: these are dialled again, and their sessions go on.
// A payload needs some windows on its way.
#define TFRT_TUNING_GRPC_QUOTA_BYTES ((size_t)512 << 20)  // bytes, 64 Mi to 16 Gi

// The calls on one connection at a time: a peer has some, and so has a prober.
#define TFRT_TUNING_GRPC_STREAMS 512  // calls, 16 to 65,536

// The most calls open at a time, watchers and others: a caller needs no key, and a call takes 12
// KB.
#define TFRT_TUNING_HEALTH_CALLS 256  // calls, 16 to 65,536

// How long a request may take to come, behind the beginning of its call.
#define TFRT_TUNING_HEALTH_REQUEST_NS (5 * TFRT_NANOSECONDS_PER_SECOND)  // ns, 1 to 60 s

// --- Connections of strangers --------------------------------------------------------------------

// Strangers at a time; fewer where descriptors are few, as each takes two.
#define TFRT_TUNING_MAX_STRANGERS 256           // connections, 16 to 4,096
#define TFRT_TUNING_MIN_STRANGERS 4             // connections, 1 to 16
#define TFRT_TUNING_DESCRIPTORS_PER_STRANGER 8  // descriptors, 2 to 64

// A stranger's bytes: at once, and more with time, for health probes on one connection.
#define TFRT_TUNING_STRANGER_BYTES ((uint64_t)64 << 10)  // bytes, 8 Ki to 1 Mi
#define TFRT_TUNING_STRANGER_BYTES_PER_SECOND \
  ((uint64_t)16 << 10)  // bytes per second, 1 Ki to 1 Mi

// A stranger's bytes before it is accepted: a dialler sends a header and a Hello, and then waits.
#define TFRT_TUNING_STRANGER_FIRST_BYTES ((uint64_t)16 << 10)  // bytes, 4 Ki to 1 Mi

// The calls that a stranger may begin before it is admitted, health probes apart. A dialler begins
// one, and the other streams of its connection behind the first answer; gRPC takes some 10 KB for
// each until it is over.
#define TFRT_TUNING_STRANGER_PEER_CALLS 4u  // calls, 1 to 64

// A stranger's time until a call comes; and after which it makes room where others wait: a dialler
// sends the header of its call right behind the first bytes.
#define TFRT_TUNING_STRANGER_WAITING_NS \
  (5 * TFRT_NANOSECONDS_PER_SECOND)  // ns, the one below to 60 s
#define TFRT_TUNING_STRANGER_CROWDED_NS \
  (100 * TFRT_NANOSECONDS_PER_MILLISECOND)  // ns, 10 ms to 5 s

// How often strangers are looked at: gRPC reads some 50,000 headers a second.
#define TFRT_TUNING_STRANGER_LOOK_MS 20  // ms, 5 to 100

// How long nobody is accepted after a flood, or without descriptors.
#define TFRT_TUNING_FLOOD_PAUSE_NS (100 * TFRT_NANOSECONDS_PER_MILLISECOND)  // ns, 10 ms to 1 s

// The least time between two log lines.
#define TFRT_TUNING_FLOOD_TELL_NS (10 * TFRT_NANOSECONDS_PER_SECOND)  // ns, 1 s to 1 h

// Connections that are accepted between two looks.
#define TFRT_TUNING_FLOOD_ACCEPTED 64  // connections, 8 to 1,024

// The same for some time after a flood: each connection may bring gRPC work for some 100 ms before
// it is looked at.
#define TFRT_TUNING_FLOOD_CAREFULLY_ACCEPTED 8                    // connections, 1 to 64
#define TFRT_TUNING_FLOOD_CAREFUL_NS TFRT_NANOSECONDS_PER_SECOND  // ns, 100 ms to 60 s

// --- Certificates --------------------------------------------------------------------------------

// A certificate is worth a warning this many seconds before its end.
#define TFRT_CERTIFICATE_WARNING_S (30LL * 24 * 60 * 60)  // s, 1 to 365 days

// --- Threads -------------------------------------------------------------------------------------

// LOOK: the time between two looks of the deputy. MAX_LOOK: the most that it grows to; it doubles
// from look to look while no task takes half of it and no look sees one run. IDLE: the time without
// any task after which the deputy sleeps until there is one again.
#define TFRT_READER_PAIR_LOOK_NS ((int64_t)2 * TFRT_NANOSECONDS_PER_MILLISECOND)  // ns, 1 to 10 ms
#define TFRT_READER_PAIR_MAX_LOOK_NS \
  ((int64_t)16 * TFRT_NANOSECONDS_PER_MILLISECOND)  // ns, LOOK to 100 ms
#define TFRT_READER_PAIR_IDLE_NS \
  ((int64_t)100 * TFRT_NANOSECONDS_PER_MILLISECOND)  // ns, MAX_LOOK to 10 s

// SHORT: the time that a task of a turn may take on average, where others follow it. WAKE: the
// credit before any task was timed, about the cost of waking another thread. MAX_TAKEN: the most
// tasks of one turn that are taken.
#define TFRT_READER_PAIR_SHORT_NS \
  ((int64_t)10 * TFRT_NANOSECONDS_PER_MICROSECOND)  // ns, 1 to 100 us
#define TFRT_READER_PAIR_WAKE_NS \
  ((int64_t)50 * TFRT_NANOSECONDS_PER_MICROSECOND)  // ns, 10 to 500 us
#define TFRT_READER_PAIR_MAX_TAKEN 1024             // tasks, 16 to 65,536

// When all recent tasks were short, the pair reads the clock only after this many tasks: reading it
// takes some per cent of a short task's time.
#define TFRT_READER_PAIR_UNTIMED 4  // tasks, 1 to 16

// A thread that carries out at most this many actions copies them, so that the batch's memory stays
// with the queue. Most critical sections have fewer.
#define TFRT_ACTION_QUEUE_FEW 16  // actions, 1 to 64

// The actions that a new batch has room for: LEAST at first, then as many as the last large batch
// had, up to MOST. A batch with MOST actions doesn't grow: copying more would take longer than the
// lock may be held.
#define TFRT_ACTION_QUEUE_LEAST 16   // actions, 1 to MOST
#define TFRT_ACTION_QUEUE_MOST 1024  // actions, LEAST to 65,536

// The actions that a queue has room for ahead, for when memory is out: more than most critical
// sections have, in 3 KiB.
#define TFRT_ACTION_QUEUE_SPARE 64  // actions, 16 to 1,024

// More threads in a kernel are not looked at.
#define TFRT_PROGRESS_MAX_THREADS 256  // threads, 16 to 4,096

// --- Sessions ------------------------------------------------------------------------------------

// The most frames in one batch.
#define TFRT_SEND_QUEUE_BATCH_FRAMES 256  // frames, 1 to 4,096

// The most frames that wait for others to go with.
#define TFRT_SEND_QUEUE_MAX_WAITING 64  // frames, 1 to 256

// The decoding memory that a link keeps between two messages: enough for a batch of the size that
// senders choose.
#define TFRT_TUNING_LINK_ARENA_BYTES ((size_t)256 << 10)  // bytes, 64 Ki to 4 Mi

// The time between the first two dials after a session has lost its connection; it doubles from
// dial to dial, up to the option `redial_delay_ns`. The connections of a process that has just died
// end some microseconds before its port does: a dial in between is reset, too.
#define TFRT_TUNING_FIRST_REDIAL_NS \
  ((int64_t)5 * TFRT_NANOSECONDS_PER_MILLISECOND)  // ns, 1 to 100 ms

// The most times that a Hello is answered by another number.
#define TFRT_SESSION_MAX_RENUMBERS 8  // answers, 1 to 64

// --- Bulk channels -------------------------------------------------------------------------------

// Connections were aborted: their ends come at once.
#define TFRT_TUNING_BULK_DRAIN_NS (5 * TFRT_NANOSECONDS_PER_SECOND)  // ns, 1 to 60 s

// Aborts that wait for a peer to read: one that never does shall not fill our memory with them.
#define TFRT_TUNING_BULK_ABORTS 1024  // messages, 16 to 65,536

// How long chunks stay small after larger ones were lost on the way; then they double.
#define TFRT_TUNING_BULK_CHUNK_LIMIT_NS (60 * TFRT_NANOSECONDS_PER_SECOND)  // ns, 1 s to 1 h

// A bulk channel that was idle for so long may be lost on the other side. No relay forgets sooner.
#define TFRT_TUNING_BULK_DOUBT_NS (2 * TFRT_NANOSECONDS_PER_SECOND)  // ns, 100 ms to 10 s

// How long after a frame more frames are likely. Calls in a row that each wait for a chunk are
// closer to each other than that.
#define TFRT_TUNING_BULK_POLITE_NS \
  ((int64_t)5 * TFRT_NANOSECONDS_PER_MILLISECOND)  // ns, 1 to 100 ms

// Windows that are made ready ahead of what was received; a step of it is half a window.
#define TFRT_TUNING_BULK_ROOM_WINDOWS 16  // windows, 2 to 64

// Bytes of payloads on their way to a peer (bulk_pace.h). The queue that they make on the way may
// take as long as this: a link whose rate falls to a hundredth then delays signs of life by one
// second or two.
#define TFRT_TUNING_PACE_TARGET_NS \
  ((int64_t)10 * TFRT_NANOSECONDS_PER_MILLISECOND)  // ns, 5 to 200 ms

// Before anything is known of the network: half a second at 256 kbit/s.
#define TFRT_TUNING_PACE_FIRST ((uint64_t)16 << 10)  // bytes, 16 Ki to 1 Mi

// Two of the least chunks; a chunk takes a quarter of a second at 128 kbit/s.
#define TFRT_TUNING_PACE_LEAST ((uint64_t)8 << 10)        // bytes, 4 Ki to 64 Ki
#define TFRT_TUNING_PACE_LEAST_CHUNK ((uint64_t)4 << 10)  // bytes, 1 Ki to 16 Ki

// As much as a way of 50 ms takes at 10 Gbit/s.
#define TFRT_TUNING_PACE_MOST ((uint64_t)64 << 20)  // bytes, 4 Mi to 1 Gi

// How often the network's own delay is measured, and the pause after which it has to be.
#define TFRT_TUNING_PACE_PROBE_NS (10 * TFRT_NANOSECONDS_PER_SECOND)  // ns, 2 to 60 s
#define TFRT_TUNING_PACE_PAUSE_NS (2 * TFRT_NANOSECONDS_PER_SECOND)   // ns, 500 ms to 60 s

// A loan costs both ends some calls of the driver, 0.2 ms on an H100. This takes as long to send.
#define TFRT_TUNING_BULK_LEND_BYTES ((uint64_t)512 << 10)  // bytes, 0 to 64 MiB

// A borrower that has declined so often in a row, and taken none, is offered nothing more.
#define TFRT_TUNING_BULK_DECLINES 8  // offers, 1 to 1,000

// Pieces of a payload that is not in memory: one is sent, one is there, one is read. A device
// copies large pieces at its full rate, so a large payload is read in those, each of several
// chunks.
#define TFRT_BULK_READER_PIECES 3                                // pieces, 2 to 8
#define TFRT_TUNING_BULK_READER_PIECE_BYTES ((uint64_t)4 << 20)  // bytes, 64 Ki to 64 Mi
#define TFRT_TUNING_BULK_READER_LARGE ((uint64_t)16 << 20)       // bytes, four pieces or more

// --- Nodes, peers and jobs -----------------------------------------------------------------------

// Jobs that may be open on a node at once, unless its options say otherwise.
#define TFRT_NODE_DEFAULT_MAX_JOBS 256u  // jobs, 1 to 65,536

// The most bytes that the scratch arena of a node keeps between two uses.
#define TFRT_NODE_KEPT_ARENA_SIZE ((size_t)16 << 10)  // bytes, 4 Ki to 1 Mi

// The number of programs that stay though nobody uses them.
#define TFRT_PROGRAM_CACHE_SPARE 16  // programs, 0 to 1,024

// The bytes of a program from which on a thread of its own loads it. Their digest takes about a
// millisecond, the start of a thread much less.
#define TFRT_PROGRAM_CACHE_LARGE ((uint64_t)1 << 20)  // bytes, 4 Ki to 1 Gi

// Jobs that are over and are remembered: more than are cancelled on one host at once.
#define TFRT_ENDED_JOBS_CAPACITY 64  // jobs, 16 to 4,096

// The most handles that a peer may have bound at once to jobs that are over here, or unknown. A
// peer takes one for each of its jobs, and retires it when its own part in the job ends. Far fewer
// jobs go on anywhere at once.
#define TFRT_JOB_ATTACHMENT_MAX_GONE 65536u  // handles, 1,024 to 1 Mi

// The most calls, and the most wants, of one peer whose credit it gets back while they wait.
#define TFRT_PEER_MAX_WAITING ((size_t)1 << 20)  // calls, and wants, 1,024 to 16 Mi

// The most things of each kind that an inventory lists: with the lock held, some ten milliseconds.
#define TFRT_INVENTORY_MAX_PARTS 4096u  // parts, 256 to 16,384

// The number of calls, with their results, that end in one critical section: some two milliseconds.
#define TFRT_JOB_CLOSING_SLICE 1024u  // calls, 64 to 16,384

// The most jobs that only ask that one client may have open here at once. They don't count as other
// jobs do, because a host that can't take another job still tells a client why. In all there are at
// most this number for each session that this host takes.
#define TFRT_SERVER_MAX_ASKING_JOBS 64u  // jobs, 1 to 4,096

// The most spans of one traced job on one host; at 112 bytes each they may take 28 MiB.
#define TFRT_JOB_TRACE_LIMIT (256u << 10)  // spans, 1,024 to 16 Mi

// Bytes of printed lines that are kept of one detached job; older ones are dropped.
#define TFRT_DETACHED_JOB_MAX_LINE_BYTES (1u << 20)  // bytes, 4 Ki to 1 Gi

// How long the results of a detached job are kept, unless the start says otherwise, and at most;
// and the most such jobs.
#define TFRT_DETACHED_JOB_DEFAULT_KEEP_MS UINT64_C(600000)  // ms, 1,000 to MAX
#define TFRT_DETACHED_JOB_MAX_KEEP_MS UINT64_C(86400000)    // ms, DEFAULT to 2^31 - 1
#define TFRT_DETACHED_JOB_MAX_KEPT 64u                      // jobs, 1 to 4,096

// --- Values --------------------------------------------------------------------------------------

// The most bytes of all values and errors that go inline into one message: a quarter of what a
// message may have. The references to 4,096 others, of TFRT_VALUE_ITEM_REFERENCE_SIZE each, take as
// much again, and there is room for both.
#define TFRT_VALUE_ITEM_MAX_INLINE (256u << 10)  // bytes, 64 Ki to 256 Ki

// A thread receives few types, again and again: each name has its place.
#define TFRT_VALUE_ITEM_RECENT 8  // names, 1 to 64, a power of two

// The most bytes of all elements that go inline into one list, headers and types included.
#define TFRT_LIST_ITEM_MAX_INLINE (128u << 10)  // bytes, 4 Ki to 256 Ki

// The most failed calls of one job that are kept: more than a job has use for, in a few MiB.
#define TFRT_FAILED_CALL_MAX_KEPT 65536u  // calls, 1,024 to 1 Mi

// The most values that are on their way to one peer unasked. The peer asks for the others.
#define TFRT_INCOMING_WANT_MAX_PUSHES 1024u  // values, 16 to 65,536

// Credit comes back when a want is answered. A payload on a bulk channel goes on after the answer:
// at most this number of one peer's transfers give their credit back before they are over.
#define TFRT_INCOMING_WANT_FREE_TRANSFERS 256  // transfers, 16 to 4,096

// A Release is sent at the latest when it has this number of names.
#define TFRT_OUTGOING_HOLD_MAX_NAMES 64u  // names, 1 to 1,024

// The most calls that a result is pushed to; others ask for it.
#define TFRT_REMOTE_VALUE_MAX_PUSHED 4u  // calls, 1 to 16

// The memory for the record of a call, at its caller or its callee: 1.5 KB for a call with one
// result, and 0.7 KB when it is cancelled.
#define TFRT_JOB_BUDGET_CALL_BYTES 2304u  // bytes, 1,024 to 8,192

// How long loops wait for one of the calls that are made to end before they go on, as these may
// wait for what the loop does next.
#define TFRT_JOB_BUDGET_PATIENCE_NS (30 * TFRT_NANOSECONDS_PER_SECOND)  // ns, 1 s to 1 h

// --- Delivery ------------------------------------------------------------------------------------

// How long a Push is waited for.
#define TFRT_PUSH_INBOX_GRACE_MS 10  // ms, 1 to 100

// How long an early Push is kept, which nobody here expects yet. The most early and expected Pushes
// of one peer.
#define TFRT_PUSH_INBOX_KEPT_MS 100        // ms, GRACE to 10,000
#define TFRT_PUSH_INBOX_MAX_EARLY 64u      // Pushes, 1 to 4,096
#define TFRT_PUSH_INBOX_MAX_EXPECTED 256u  // Pushes, 1 to 65,536

// --- Calls ---------------------------------------------------------------------------------------

// The most bytes of a payload that is pushed; its type has a fixed size.
#define TFRT_OUTGOING_PUSH_MAX_SIZE 64u  // bytes, 8 to 4,096

// The most results of a call that are looked at: a caller with more gets many in one message
// anyway.
#define TFRT_OUTGOING_PUSH_MAX_RESULTS 16u  // results, 1 to 64

// The most calls that are looked at among those that are given a result.
#define TFRT_OUTGOING_PUSH_MAX_USERS 16u  // calls, 1 to 64

// The calls of a function whose results go to other hosts alone, and that have ended, from which on
// a loop is assumed: the Results of further ones wait for company. A chain over 9 hosts has as many
// in two turns.
#define TFRT_TUNING_LOOP_CALLS 16u  // calls, 2 to 1,024

// How many calls ahead the record of a call is prefetched, and then its argument and result.
#define TFRT_OUTGOING_CALL_RECORD_AHEAD 8  // calls, 2 to 32
#define TFRT_OUTGOING_CALL_RESULT_AHEAD 4  // calls, 1 to RECORD_AHEAD

// The most Program frames of one job for one peer.
#define TFRT_JOB_MAX_PROGRAMS 64u  // programs, 1 to 65,536

// --- Services ------------------------------------------------------------------------------------

// Bytes of lines of a detached job in one answer, more or less.
#define TFRT_FOLLOWING_MAX_ANSWER (256u << 10)  // bytes, 4 Ki to 64 Mi

// The most spans of one recorded job on one host; at 112 bytes each they may take 7 MiB.
#define TFRT_RECORDING_LIMIT (64u << 10)  // spans, 1,024 to 16 Mi

// The most recordings of ended jobs that wait to be read.
#define TFRT_RECORDING_MAX_KEPT 16  // recordings, 1 to 1,024

// The most recorded jobs that are read at once.
#define TFRT_RECORDING_MAX_ANSWER 256  // jobs, 16 to 65,536

#endif  // TFRT_DISTRIBUTED_TUNING_TUNING_H_
