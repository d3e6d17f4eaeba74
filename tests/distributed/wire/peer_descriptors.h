// SPDX-License-Identifier: Apache-2.0
//
// The descriptors that protoc makes of proto/*.proto, by the names of the messages.
//
// Thread rule: constants. Failure rule: NULL for an unknown name.
#ifndef TFRT_TESTS_DISTRIBUTED_WIRE_PEER_DESCRIPTORS_H_
#define TFRT_TESTS_DISTRIBUTED_WIRE_PEER_DESCRIPTORS_H_

#include <protobuf-c/protobuf-c.h>

// The descriptor of the message |name|, e.g. "Invoke": of a frame's body, Batch, BulkUp or
// BulkDown. Thread-safe.
const ProtobufCMessageDescriptor* tfrt_peer_descriptor(const char* name);

// The descriptor of enum FrameKind. Thread-safe.
const ProtobufCEnumDescriptor* tfrt_peer_frame_kinds(void);

#endif  // TFRT_TESTS_DISTRIBUTED_WIRE_PEER_DESCRIPTORS_H_
