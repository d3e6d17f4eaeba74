// SPDX-License-Identifier: Apache-2.0
//
// Answers to AskFollow (proto/service.proto) as text: what versions before FEATURE_FOLLOW send in
// the built-in function FOLLOW. proto/call.proto describes the text:
//
//   detached state=running function=main results=0 from=0 next=2 more=0 lost=0
//   0 5
//   hello
//   1 0
//
//
// Thread rule: thread-compatible.
// Failure rule: INVALID_ARGUMENT for what is no such answer; RESOURCE_EXHAUSTED.
#ifndef TFRT_DISTRIBUTED_SERVICE_PLAIN_FOLLOWING_H_
#define TFRT_DISTRIBUTED_SERVICE_PLAIN_FOLLOWING_H_

#include "distributed/service/plain_form.h"

// Appends |answer|, of FollowPart and LineParts, to |out| as text.
tfrt_status_t tfrt_plain_following_write(tfrt_string_view_t answer, tfrt_string_builder_t* out)
    TFRT_MUST_USE;

// Appends the parts that |text| says to |out|.
tfrt_status_t tfrt_plain_following_read(tfrt_string_view_t text, tfrt_string_builder_t* out)
    TFRT_MUST_USE;

#endif  // TFRT_DISTRIBUTED_SERVICE_PLAIN_FOLLOWING_H_
