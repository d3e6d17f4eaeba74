// SPDX-License-Identifier: Apache-2.0
//
// A network of processes inside of one: the transport interface over a clock, a scheduler
// and faults that all follow from a seed. A failure of a run happens again with the same seed, so
// that a developer can study it as often as needed.
//
//   endpoint 0 --- link(0,1) --- endpoint 1        each endpoint: a tfrt_transport_t, a
//        \                          /              timer queue over the network's clock
//         +---- link(0,2) ---- endpoint 2
//
//   step:  the earliest of { messages under way, ends, completions, due timers };
//          what is due at the same time: one of them, by the seed
//          clock := its time; deliver it; run the endpoint's hook
//
// Time passes only in steps, nothing sleeps, everything runs on the caller's thread.
//
// Life:
//  1. Created with a seed and the faults that happen by chance.
//  2. Endpoints are added; what runs "in" them uses their transport and timers.
//  3. Stepped. Between steps the caller may partition, heal, break, forget, freeze, thaw and kill.
//  4. The users of the transports close them and give back what they hold; then the
//     network is freed, with all endpoints.
//
// The meaning of the faults, as for processes that speak TCP:
//  - delay: each direction of each stream keeps its order; different streams overtake.
//  - break (by chance or by hand): both ends get RESET; messages under way are lost.
//  - forget: a relay between two has forgotten a stream that was idle. One end gets RESET at once,
//    the other one only when it writes next.
//  - partition, one way or both: messages wait, as TCP would repeat them, until it is healed; dials
//    find no answer. Resets and ends don't get through either.
//  - freeze: the process stands still: no timer runs, nothing is delivered to it; messages to it
//    wait. Thawed, it finds all of it, in order.
//  - kill: the other ends of all its streams get RESET, later dials to its address are REFUSED. A
//    restart is a new endpoint that listens on the same address.
//  - mute: a stream goes on, and brings nothing any more, in neither direction; no end hears of it.
//    New streams are as before.
//  - hole: a message of a BULK stream that is longer than what fits is lost with all behind it, as
//    where packets of full size are dropped. The stream breaks when its sender has waited for long.
//  - duplicate, reorder: a *broken stream*, which no transport promises: a message is
//    handed over twice, or after the one behind it. It tests the sequence rules above. The
//    first message of each direction is spared.
//
// Thread rule: thread-compatible: everything, also the transports, on one thread.
// Failure rule: running out of memory ends the process; this is for tests.
#ifndef TFRT_TESTS_DISTRIBUTED_SIMULATED_NETWORK_H_
#define TFRT_TESTS_DISTRIBUTED_SIMULATED_NETWORK_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "distributed/transport/transport.h"
#include "host_runtime/async/timer_queue.h"
#include "host_runtime/base/allocator.h"
#include "host_runtime/base/clock.h"
#include "host_runtime/base/random.h"
#include "host_runtime/base/string_view.h"

// The network counts the bytes between each two of this many endpoints.
#define TFRT_SIMULATED_COUNTED_ENDPOINTS 32

typedef struct tfrt_simulated_network_s tfrt_simulated_network_t;
typedef struct tfrt_simulated_endpoint_s tfrt_simulated_endpoint_t;

// A probability in parts per million.
typedef uint32_t tfrt_simulated_chance_t;

typedef struct tfrt_simulated_options_s {
  uint64_t seed;
  int64_t delay_ns;   // of each message, at least
  int64_t jitter_ns;  // added, evenly from 0 to this
  // The limit of messages on one direction of a stream, under way, or arrived and not asked for.
  // Above it the sender's writes stop to complete. At least 1: each completes when it was asked
  // for.
  uint32_t stream_depth;
  // How the clocks of processes differ: that of the one that was added as number n, from 0, is
  // n * |clock_offset_ns| ahead of the network's and runs n * |clock_drift_ppm| parts per
  // million faster. Fixed when a process is added. Clocks of real processes are never negative.
  int64_t clock_offset_ns;
  int32_t clock_drift_ppm;
  // For each message that arrives.
  tfrt_simulated_chance_t break_chance;      // the stream breaks instead
  tfrt_simulated_chance_t duplicate_chance;  // broken stream: handed over twice
  tfrt_simulated_chance_t reorder_chance;    // broken stream: after the next one
  size_t hole_bytes;                         // longer messages of BULK streams get lost; 0: none
  bool hole_is_for_all;                      // those of CONTROL streams, too
  int64_t hole_ns;                           // until such a stream breaks
  bool keeps_trace;                          // the text, too, not only its hash
} tfrt_simulated_options_t;

// Sets 100 us delay, 50 us jitter, streams of 16 messages, no faults, clocks that agree, seed 1.
// Thread-safe.
void tfrt_simulated_options_initialize(tfrt_simulated_options_t* out_options);

// Creates a network without endpoints (single owner). Thread-compatible.
tfrt_simulated_network_t* tfrt_simulated_network_allocate(const tfrt_simulated_options_t* options,
                                                          tfrt_allocator_t allocator);

// Frees |network| and its endpoints, whose transports nobody holds any more, and on whose
// timer queues nothing waits. NULL is allowed. Thread-compatible.
void tfrt_simulated_network_free(tfrt_simulated_network_t* network);

// Its clock, which begins at one second. Thread-compatible.
tfrt_clock_t tfrt_simulated_network_clock(tfrt_simulated_network_t* network);

// Its generator, for choices of the test that should follow from the same seed.
// Thread-compatible.
tfrt_random_t* tfrt_simulated_network_random(tfrt_simulated_network_t* network);

// Changes the faults by chance, delays and depths from now on; |seed| and |keeps_trace| are not
// looked at.
// Thread-compatible.
void tfrt_simulated_network_set_faults(tfrt_simulated_network_t* network,
                                       const tfrt_simulated_options_t* options);

// Adds a process. |name| (copied) is for the trace. It lives as long as the network.
// Thread-compatible.
tfrt_simulated_endpoint_t* tfrt_simulated_network_add_endpoint(tfrt_simulated_network_t* network,
                                                               const char* name);

// The endpoint's transport (+0, retained by each user that keeps it) and timer queue, whose clock
// is the process's own. Addresses are any text; "NAME:0" gives a free port. Thread-compatible.
tfrt_transport_t* tfrt_simulated_endpoint_transport(tfrt_simulated_endpoint_t* endpoint);
tfrt_timer_queue_t* tfrt_simulated_endpoint_timers(tfrt_simulated_endpoint_t* endpoint);

// Sets what runs after each step that touched |endpoint|: its own work, e.g. an inline
// work queue. NULL: nothing. Thread-compatible.
typedef void (*tfrt_simulated_hook_fn_t)(void* argument);
void tfrt_simulated_endpoint_set_hook(tfrt_simulated_endpoint_t* endpoint,
                                      tfrt_simulated_hook_fn_t hook, void* argument);

// --- Time --------------------------------------------------------------------

// Does the next thing and returns true, or returns false if there is none: then nothing
// will ever happen again without the caller. Thread-compatible.
bool tfrt_simulated_network_step(tfrt_simulated_network_t* network);

// Steps until |predicate| (with |argument|) is true: returns true; or until nothing is
// left or |limit_ns| have passed on the clock: returns false. A NULL predicate is never
// true. With a limit the clock ends at its end, unless the predicate was true.
// Thread-compatible.
typedef bool (*tfrt_simulated_predicate_fn_t)(void* argument);
bool tfrt_simulated_network_run_until(tfrt_simulated_network_t* network,
                                      tfrt_simulated_predicate_fn_t predicate, void* argument,
                                      int64_t limit_ns);

// --- Faults by hand ----------------------------------------------------------

// Lets nothing through from |from| to |to| (and back, if |both_ways|); undoes that.
// Thread-compatible.
void tfrt_simulated_network_partition(tfrt_simulated_network_t* network,
                                      tfrt_simulated_endpoint_t* from,
                                      tfrt_simulated_endpoint_t* to, bool both_ways);
void tfrt_simulated_network_heal(tfrt_simulated_network_t* network, tfrt_simulated_endpoint_t* from,
                                 tfrt_simulated_endpoint_t* to, bool both_ways);

// Breaks every stream between |a| and |b| at once. Thread-compatible.
void tfrt_simulated_network_break(tfrt_simulated_network_t* network, tfrt_simulated_endpoint_t* a,
                                  tfrt_simulated_endpoint_t* b);

// Breaks every stream of |kind| between |told| and |silent|; |silent| gets RESET when it writes.
// Thread-compatible.
void tfrt_simulated_network_forget(tfrt_simulated_network_t* network,
                                   tfrt_simulated_endpoint_t* told,
                                   tfrt_simulated_endpoint_t* silent, tfrt_transport_kind_t kind);

// Mutes every stream of |kind| between |a| and |b|. Thread-compatible.
void tfrt_simulated_network_mute(tfrt_simulated_network_t* network, tfrt_simulated_endpoint_t* a,
                                 tfrt_simulated_endpoint_t* b, tfrt_transport_kind_t kind);

// Stops the process, lets it go on. Idempotent. Thread-compatible.
void tfrt_simulated_endpoint_freeze(tfrt_simulated_endpoint_t* endpoint);
void tfrt_simulated_endpoint_thaw(tfrt_simulated_endpoint_t* endpoint);

// Ends the process: nothing runs in it any more. Its user then closes and drains the
// transport, which tells its handlers, so that their memory can be given back; nobody else
// notices. Thread-compatible.
void tfrt_simulated_endpoint_kill(tfrt_simulated_endpoint_t* endpoint);

// Returns true unless it was killed. Thread-compatible.
bool tfrt_simulated_endpoint_is_alive(const tfrt_simulated_endpoint_t* endpoint);

// --- Books -------------------------------------------------------------------

// One message on its way from |from| to |to|, each by its place among those that were added.
typedef struct tfrt_simulated_message_s {
  tfrt_transport_kind_t kind;
  size_t from;
  size_t to;
  bool is_from_dialler;      // of its stream
  tfrt_string_view_t bytes;  // borrowed
} tfrt_simulated_message_t;

// Has |tap| look at each message just before its handler gets it; NULL: nobody looks. It must
// not touch the network. Thread-compatible.
typedef void (*tfrt_simulated_tap_fn_t)(void* argument, const tfrt_simulated_message_t* message);
void tfrt_simulated_network_set_tap(tfrt_simulated_network_t* network, tfrt_simulated_tap_fn_t tap,
                                    void* argument);

// A hash of all that has happened, in order; and its text, one line each ("" without
// |keeps_trace|), which lives until the next step. Thread-compatible.
uint64_t tfrt_simulated_network_trace_hash(const tfrt_simulated_network_t* network);
const char* tfrt_simulated_network_trace(const tfrt_simulated_network_t* network);

// The number of streams that have not told both of their ends yet. Thread-compatible.
size_t tfrt_simulated_network_stream_count(const tfrt_simulated_network_t* network);

// The number of control messages given to handlers so far, and of bulk ones.
// Thread-compatible.
uint64_t tfrt_simulated_network_message_count(const tfrt_simulated_network_t* network,
                                              tfrt_transport_kind_t kind);

// The bytes of messages of |kind| from |from| that were given to handlers at |to| so far; both
// are among the first TFRT_SIMULATED_COUNTED_ENDPOINTS. Thread-compatible.
uint64_t tfrt_simulated_endpoint_received_bytes(const tfrt_simulated_endpoint_t* to,
                                                const tfrt_simulated_endpoint_t* from,
                                                tfrt_transport_kind_t kind);

#endif  // TFRT_TESTS_DISTRIBUTED_SIMULATED_NETWORK_H_
