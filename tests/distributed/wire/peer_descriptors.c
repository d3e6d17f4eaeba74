// SPDX-License-Identifier: Apache-2.0
#include "tests/distributed/wire/peer_descriptors.h"

#include <string.h>

#include "distributed/wire/batch.h"
#include "proto/batch.pb-c.h"
#include "proto/bulk.pb-c.h"
#include "proto/call.pb-c.h"
#include "proto/job.pb-c.h"
#include "proto/object.pb-c.h"
#include "proto/service.pb-c.h"
#include "proto/session.pb-c.h"

// "void" is a word of C.
#define tfrt__peer__v1__void_call__descriptor tfrt__peer__v1__void__descriptor

static const ProtobufCMessageDescriptor* const descriptors[] = {
    &tfrt__peer__v1__batch__descriptor,       &tfrt__peer__v1__bulk_up__descriptor,
    &tfrt__peer__v1__bulk_down__descriptor,   &tfrt__peer__v1__question__descriptor,
    &tfrt__peer__v1__answer_part__descriptor,
#define TFRT_FRAME_DESCRIPTOR(kind, number, message, ...) &tfrt__peer__v1__##message##__descriptor,
    TFRT_WIRE_FRAMES(TFRT_FRAME_DESCRIPTOR)
#undef TFRT_FRAME_DESCRIPTOR
};

const ProtobufCMessageDescriptor* tfrt_peer_descriptor(const char* name) {
  for (size_t i = 0; i < sizeof(descriptors) / sizeof(descriptors[0]); ++i) {
    if (strcmp(descriptors[i]->short_name, name) == 0) return descriptors[i];
  }
  return NULL;
}

const ProtobufCEnumDescriptor* tfrt_peer_frame_kinds(void) {
  return &tfrt__peer__v1__frame_kind__descriptor;
}
