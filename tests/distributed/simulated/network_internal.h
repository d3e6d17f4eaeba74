// SPDX-License-Identifier: Apache-2.0
//
// Shared by network.c (time, books), faults.c (those that are made by hand), endpoint.c
// (transports), stream.c (their streams) and inbox.c (messages that arrived at an end of a stream).
//
//   stream = { end 0: the dialler's | end 1: the listener's }, reference counted by its
//   ends and by the events about it
//
//   event: happens at one end of a stream at a time; sent by one endpoint to another, or
//   by an endpoint to itself (completions), which no partition holds up
//
// Thread rule: thread-compatible. Failure rule: as in network.h.
#ifndef TFRT_TESTS_DISTRIBUTED_SIMULATED_NETWORK_INTERNAL_H_
#define TFRT_TESTS_DISTRIBUTED_SIMULATED_NETWORK_INTERNAL_H_

#include "host_runtime/base/list.h"
#include "host_runtime/base/string_builder.h"
#include "tests/distributed/simulated/network.h"

// The time that an operation of an end itself takes: it is never done inside of the call.
#define TFRT_SIMULATED_LOCAL_DELAY_NS TFRT_NANOSECONDS_PER_MICROSECOND

typedef struct tfrt_simulated_stream_s tfrt_simulated_stream_t;

typedef enum tfrt_simulated_event_kind_e {
  TFRT_SIMULATED_DIAL = 0,     // at the listener: somebody dialled
  TFRT_SIMULATED_ANSWER = 1,   // at the dialler: accepted, refused or rejected
  TFRT_SIMULATED_TIMEOUT = 2,  // at the dialler: the time for an answer is over
  TFRT_SIMULATED_MESSAGE = 3,  // arrives
  TFRT_SIMULATED_END = 4,      // the other side closed in order
  TFRT_SIMULATED_RESET = 5,    // the stream is broken
  TFRT_SIMULATED_WRITTEN = 6,  // the end's own write is done
  TFRT_SIMULATED_CLOSED = 7,   // the end's own close or abort is done, as far as it knows
  TFRT_SIMULATED_DELIVER = 8,  // messages wait and are asked for
} tfrt_simulated_event_kind_t;

typedef struct tfrt_simulated_event_s {
  tfrt_list_link_t link;  // in the queue by time, among the parked, or in an inbox
  int64_t time_ns;
  tfrt_simulated_event_kind_t kind;
  tfrt_simulated_stream_t* stream;  // retained
  int side;                         // of |stream|, where it happens
  tfrt_simulated_endpoint_t* from;
  tfrt_simulated_endpoint_t* to;
  uint64_t write_number;  // WRITTEN: which one
  bool was_copied;        // MESSAGE: by the duplicate fault
  size_t size;            // MESSAGE: its bytes follow the struct
} tfrt_simulated_event_t;

typedef struct tfrt_simulated_end_s {
  tfrt_transport_connection_t base;  // its references together hold one on the stream
  tfrt_simulated_stream_t* stream;
  tfrt_simulated_endpoint_t* endpoint;  // NULL: the listener's end before its accept
  int side;
  bool is_attached;              // somebody uses it; until then and after |is_told| nothing happens
  bool is_done;                  // no more messages in or out
  bool is_told;                  // on_closed was called
  bool is_delivering;            // on_message is on the stack
  bool has_peer_ended;           // END arrived, perhaps behind messages that nobody asked for
  bool is_forgotten;             // what it writes is answered by RESET
  bool is_mute;                  // what it sends arrives nowhere
  bool is_writer_blocked;        // the write in flight waits for the peer to receive
  bool is_write_refused;         // the write in flight came after the end
  bool closes_after_write;       // it was closed behind the write in flight
  tfrt_transport_end_t own_end;  // what CLOSED will tell
  uint64_t write_number;         // of the last write
  uint64_t credits;              // receive() calls not served yet
  tfrt_list_link_t inbox;        // messages that arrived
  size_t incoming_count;         // messages to here, under way or in the inbox
  uint64_t arrived_count;        // messages that arrived here
  tfrt_simulated_event_t* held;  // by the reorder fault
  int64_t last_arrival_ns;       // of what was sent to here: streams keep their order
} tfrt_simulated_end_t;

struct tfrt_simulated_stream_s {
  tfrt_list_link_t link;  // in the network's list
  tfrt_simulated_network_t* network;
  uint64_t number;  // for the trace
  uint32_t ref_count;
  tfrt_transport_kind_t kind;
  bool is_answered;
  tfrt_transport_end_t answer;  // ENDED: accepted
  tfrt_status_t rejection;      // of the acceptor
  char* address;
  tfrt_transport_metadata_t* metadata;  // one block with its texts
  size_t metadata_count;
  size_t metadata_size;  // of that block
  tfrt_simulated_end_t ends[2];
};

struct tfrt_simulated_endpoint_s {
  tfrt_transport_t transport;  // first: the transport is the endpoint
  tfrt_list_link_t link;
  tfrt_simulated_network_t* network;
  size_t index;
  char name[32];
  char address[TFRT_TRANSPORT_ADDRESS_SIZE];  // "" unless it listens or did
  tfrt_transport_acceptor_t* acceptor;        // NULL: does not listen
  bool is_closed;
  bool is_dead;
  bool is_frozen;
  tfrt_timer_queue_t timers;
  int64_t clock_offset_ns;  // of its own clock, which |timers| uses
  int64_t clock_drift_ppm;
  tfrt_simulated_hook_fn_t hook;
  void* hook_argument;
  // The bytes that were delivered here, by kind and by the index of the sender.
  uint64_t received_bytes[2][TFRT_SIMULATED_COUNTED_ENDPOINTS];
};

// One blocked direction between two endpoints.
typedef struct tfrt_simulated_partition_s {
  tfrt_list_link_t link;
  tfrt_simulated_endpoint_t* from;
  tfrt_simulated_endpoint_t* to;
} tfrt_simulated_partition_t;

struct tfrt_simulated_network_s {
  tfrt_simulated_options_t options;
  tfrt_allocator_t allocator;
  tfrt_random_t random;
  int64_t now_ns;
  tfrt_list_link_t endpoints;
  size_t endpoint_count;
  tfrt_list_link_t streams;
  uint64_t next_stream;
  uint32_t next_port;
  tfrt_list_link_t queue;   // events by time
  tfrt_list_link_t parked;  // events that a partition or a freeze holds up, in their order
  tfrt_list_link_t partitions;
  uint64_t message_counts[2];  // by kind
  tfrt_simulated_tap_fn_t tap;
  void* tap_argument;
  uint64_t trace_hash;
  tfrt_string_builder_t trace;
};

// Memory of the network; never NULL (out of memory ends the process).
void* tfrt_simulated_allocate(tfrt_simulated_network_t* network, size_t size);

// Adds a line to the trace.
void tfrt_simulated_trace(tfrt_simulated_network_t* network, const char* format, ...)
    TFRT_PRINTF(2, 3);

// A delay for one message, by the options and the seed.
int64_t tfrt_simulated_delay(tfrt_simulated_network_t* network);

// True with |chance|.
bool tfrt_simulated_happens(tfrt_simulated_network_t* network, tfrt_simulated_chance_t chance);

// Makes an event at |side| of |stream| with room for |size| bytes, in no list.
tfrt_simulated_event_t* tfrt_simulated_event_allocate(tfrt_simulated_stream_t* stream,
                                                      tfrt_simulated_event_kind_t kind, int side,
                                                      size_t size);
void tfrt_simulated_event_free(tfrt_simulated_event_t* event);

// Puts |event| (taken) into the queue for |time_ns|, behind all with the same time.
void tfrt_simulated_network_take_event(tfrt_simulated_network_t* network,
                                       tfrt_simulated_event_t* event, int64_t time_ns);

// stream.c: does what |event| (taken) says; its endpoint lives and is not frozen.
void tfrt_simulated_stream_take_event(tfrt_simulated_event_t* event);

// The partition that holds up messages from |from| to |to|, or NULL.
tfrt_simulated_partition_t* tfrt_simulated_find_partition(tfrt_simulated_network_t* network,
                                                          const tfrt_simulated_endpoint_t* from,
                                                          const tfrt_simulated_endpoint_t* to);

// stream.c: breaks |stream|: both ends will be told RESET, locally.
void tfrt_simulated_stream_break(tfrt_simulated_stream_t* stream);

// stream.c: breaks the stream of |end|, whose user will be told RESET, locally; that of the other
// end when it writes.
void tfrt_simulated_end_forget(tfrt_simulated_end_t* end);

// stream.c: a stream that |endpoint| dials to |listener|, which is NULL where nobody ever listened:
// its end, +1. |handler| gets the events of the stream.
tfrt_transport_connection_t* tfrt_simulated_stream_open(
    tfrt_simulated_endpoint_t* endpoint, tfrt_simulated_endpoint_t* listener,
    const tfrt_transport_dial_options_t* options, tfrt_transport_handler_t* handler);

// stream.c: tells who uses |end| that it ended as |how| says, for |reason|.
void tfrt_simulated_end_tell_error(tfrt_simulated_end_t* end, tfrt_transport_end_t how,
                                   const char* reason);

// stream.c: the same for one that was closed in order: by the peer, or here.
void tfrt_simulated_end_tell_ended(tfrt_simulated_end_t* end, bool by_peer);

// stream.c: makes |kind| happen at |end| after |delay_ns|, whatever the network does.
void tfrt_simulated_end_happen(tfrt_simulated_end_t* end, tfrt_simulated_event_kind_t kind,
                               int64_t delay_ns);

static inline tfrt_simulated_end_t* tfrt_simulated_end_other(tfrt_simulated_end_t* end) {
  return &end->stream->ends[1 - end->side];
}

// inbox.c: |event| (taken), a message, has arrived at |end|.
void tfrt_simulated_inbox_take_message(tfrt_simulated_end_t* end, tfrt_simulated_event_t* event);

// inbox.c: hands over what was asked for and has arrived.
void tfrt_simulated_inbox_deliver(tfrt_simulated_end_t* end);

// inbox.c: the message that the reorder fault holds, if any, has arrived.
void tfrt_simulated_inbox_release_held(tfrt_simulated_end_t* end);

// inbox.c: forgets what nobody asked for.
void tfrt_simulated_inbox_drop(tfrt_simulated_end_t* end);

// stream.c: |end| is over without an event to its user; the other end will get RESET.
void tfrt_simulated_end_reset(tfrt_simulated_end_t* end);

// endpoint.c: |endpoint| is gone: the other ends of its streams will be told.
void tfrt_simulated_endpoint_drop_streams(tfrt_simulated_endpoint_t* endpoint);

// endpoint.c: the operations of an endpoint as a transport.
extern const tfrt_transport_vtable_t tfrt_simulated_transport_vtable;

// The bytes of a MESSAGE.
static inline unsigned char* tfrt_simulated_event_bytes(tfrt_simulated_event_t* event) {
  return (unsigned char*)(event + 1);
}

#endif  // TFRT_TESTS_DISTRIBUTED_SIMULATED_NETWORK_INTERNAL_H_
