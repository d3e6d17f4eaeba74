// SPDX-License-Identifier: Apache-2.0
#include "tests/distributed/wire/peer_descriptors.h"

#include <string.h>

#include "proto/batch.pb-c.h"
#include "proto/bulk.pb-c.h"
#include "proto/call.pb-c.h"
#include "proto/job.pb-c.h"
#include "proto/object.pb-c.h"
#include "proto/service.pb-c.h"
#include "proto/session.pb-c.h"

static const ProtobufCMessageDescriptor* const descriptors[] = {
    &tfrt__peer__v1__batch__descriptor,       &tfrt__peer__v1__bulk_up__descriptor,
    &tfrt__peer__v1__bulk_down__descriptor,   &tfrt__peer__v1__hello__descriptor,
    &tfrt__peer__v1__welcome__descriptor,     &tfrt__peer__v1__refuse__descriptor,
    &tfrt__peer__v1__goodbye__descriptor,     &tfrt__peer__v1__job_attach__descriptor,
    &tfrt__peer__v1__job_open__descriptor,    &tfrt__peer__v1__job_opened__descriptor,
    &tfrt__peer__v1__job_start__descriptor,   &tfrt__peer__v1__job_end__descriptor,
    &tfrt__peer__v1__job_close__descriptor,   &tfrt__peer__v1__job_detach__descriptor,
    &tfrt__peer__v1__program__descriptor,     &tfrt__peer__v1__invoke__descriptor,
    &tfrt__peer__v1__void__descriptor,        &tfrt__peer__v1__result__descriptor,
    &tfrt__peer__v1__cancel__descriptor,      &tfrt__peer__v1__cancel_request__descriptor,
    &tfrt__peer__v1__end_request__descriptor, &tfrt__peer__v1__want__descriptor,
    &tfrt__peer__v1__resolve__descriptor,     &tfrt__peer__v1__unwant__descriptor,
    &tfrt__peer__v1__retain__descriptor,      &tfrt__peer__v1__retained__descriptor,
    &tfrt__peer__v1__release__descriptor,     &tfrt__peer__v1__lost__descriptor,
    &tfrt__peer__v1__replace__descriptor,     &tfrt__peer__v1__push__descriptor,
    &tfrt__peer__v1__job_gone__descriptor,    &tfrt__peer__v1__hurry__descriptor,
    &tfrt__peer__v1__question__descriptor,    &tfrt__peer__v1__answer_part__descriptor,
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
