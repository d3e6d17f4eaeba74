// SPDX-License-Identifier: Apache-2.0
//
// Every number that bounds what a peer may send, in one place. The decoders refuse messages above a
// limit, and the encoders refuse to make them. So a host never sends a message that another one of
// its version would refuse.
//
// These are the limits of the protocol. The limits *in force* on a session may be
// smaller (tfrt_wire_limits_t in session.h); those the sender keeps, and no receiver checks.
//
// Thread rule: constants. Failure rule: none fails.
#ifndef TFRT_DISTRIBUTED_WIRE_LIMITS_H_
#define TFRT_DISTRIBUTED_WIRE_LIMITS_H_

#include <stdint.h>

// The versions of the protocol that this code speaks, both inclusive.
#define TFRT_WIRE_VERSION_MIN 1u
#define TFRT_WIRE_VERSION_MAX 1u

// The rank of a process without one: a client.
#define TFRT_WIRE_NO_RANK UINT32_MAX

// Names.
#define TFRT_WIRE_MAX_NUMBER ((UINT64_C(1) << 48) - 1)  // of a call or an exported value
#define TFRT_WIRE_MAX_INDEX UINT16_MAX                  // of a result
#define TFRT_WIRE_MAX_DEPTH UINT16_MAX                  // of nested remote calls
#define TFRT_WIRE_JOB_ID_SIZE 16                        // bytes
#define TFRT_WIRE_KEY_SIZE 32
#define TFRT_WIRE_PROOF_SIZE 32
#define TFRT_WIRE_SHA256_SIZE 32

// Sizes of messages, in bytes.
#define TFRT_WIRE_MAX_BATCH_SIZE (1u << 20)      // by rule
#define TFRT_WIRE_MIN_BATCH_SIZE (256u << 10)    // holds the largest value and program of a frame
#define TFRT_WIRE_BATCH_TARGET_SIZE (64u << 10)  // by choice: a sender stops here
#define TFRT_WIRE_MAX_CHUNK_PAYLOAD_SIZE (1u << 20)
#define TFRT_WIRE_MIN_CHUNK_PAYLOAD_SIZE (4u << 10)
#define TFRT_WIRE_MAX_CHUNK_PREFIX_SIZE 512u  // all of a BulkUp or BulkDown but its payload
#define TFRT_WIRE_MAX_BULK_SIZE (TFRT_WIRE_MAX_CHUNK_PAYLOAD_SIZE + 4096u)
#define TFRT_WIRE_MAX_INLINE_SIZE (64u << 10)  // body of a value in a control message
#define TFRT_WIRE_DEFAULT_INLINE_SIZE (4u << 10)
#define TFRT_WIRE_MAX_IMAGE_SIZE (64u << 10)      // of a program that a call carries
#define TFRT_WIRE_DEFAULT_REPLAY_SIZE (8u << 20)  // sent and not acknowledged
#define TFRT_WIRE_MIN_REPLAY_SIZE (64u << 10)
#define TFRT_WIRE_DEFAULT_WINDOW_SIZE (4u << 20)  // first window of a Want

// Sizes of fields, in bytes.
#define TFRT_WIRE_MAX_TYPE_NAME_SIZE 128u
#define TFRT_WIRE_MAX_VALUE_HEADER_SIZE 160u
#define TFRT_WIRE_MAX_PLACE_SIZE 128u
#define TFRT_WIRE_MAX_TICKET_SIZE 256u
#define TFRT_WIRE_MAX_DEVICE_SIZE 23u  // "cuda:0"
#define TFRT_WIRE_MAX_NAME_SIZE 256u   // hosts, jobs, functions, kernels, addresses
#define TFRT_WIRE_MAX_PATH_SIZE 512u   // files
#define TFRT_WIRE_MAX_KEY_SIZE 4096u   // of a message that was never sent
#define TFRT_WIRE_MAX_MESSAGE_SIZE 1024u
#define TFRT_WIRE_MAX_CAUSE_SIZE 256u
#define TFRT_WIRE_MAX_ERROR_SIZE 4096u  // an Error as a whole

// Counts.
#define TFRT_WIRE_MAX_FRAMES 4096u     // in a batch
#define TFRT_WIRE_MAX_ARGUMENTS 4096u  // of a call
#define TFRT_WIRE_MAX_RESULTS 4096u
#define TFRT_WIRE_MAX_PUSHES 64u       // that one Invoke asks for
#define TFRT_WIRE_MAX_MEMBERS 1024u    // of a view
#define TFRT_WIRE_MAX_ADDRESSES 8u     // of a member
#define TFRT_WIRE_MAX_ELEMENTS 1024u   // of a list
#define TFRT_WIRE_MAX_CAUSES 4u        // of an error
#define TFRT_WIRE_MAX_IDS 1024u        // in a Retain or Retained; ranges in a Release
#define TFRT_WIRE_MAX_RELEASED 65536u  // names in one Release, all ranges together
#define TFRT_WIRE_MAX_FORWARDS 16u     // steps that an asker follows
#define TFRT_WIRE_MAX_NEEDS 1024u      // values that a call waits for, as an answer has them

// Bounds that the layers above keep, here so that nobody looks for them elsewhere.
#define TFRT_WIRE_MAX_TOMBSTONES 4096u        // cancelled requests of a job that are remembered
#define TFRT_WIRE_DEFAULT_OBJECTS (1u << 20)  // reserved: nobody counts
#define TFRT_WIRE_DEFAULT_HEARTBEAT_PERIOD_MS 1000u
#define TFRT_WIRE_MIN_HEARTBEAT_PERIOD_MS 10u
#define TFRT_WIRE_DEFAULT_SUSPECT_MS 3000u
#define TFRT_WIRE_DEFAULT_SILENCE_MS 5000u         // then the peer is dead
#define TFRT_WIRE_MIN_SILENCE_PERIODS 2u           // of heartbeats
#define TFRT_WIRE_ACK_FRAMES 64u                   // acknowledge after this many frames
#define TFRT_WIRE_ACK_BYTES (1u << 20)             // or this many bytes, well below a full window
#define TFRT_WIRE_ACK_MS 100u                      // or after this time
#define TFRT_WIRE_COMPANY_MS 10u                   // for a frame that nobody waits for
#define TFRT_WIRE_SMALL_TRANSFER_SIZE (64u << 10)  // served first on a bulk channel

// The most bytes that decoding one message takes from its arena: the largest is an Invoke whose
// every argument is an error. A budget for callers that limit their arenas.
#define TFRT_WIRE_MAX_DECODED_SIZE (4u << 20)

// A part of an answer, and a question: the bytes of one, and the most that decoding takes.
#define TFRT_WIRE_MAX_PART_SIZE (64u << 10)
#define TFRT_WIRE_MAX_PART_DECODED_SIZE (512u << 10)
#define TFRT_WIRE_MAX_LINE_SIZE (32u << 10)  // of a printed line, in one part

#endif  // TFRT_DISTRIBUTED_WIRE_LIMITS_H_
