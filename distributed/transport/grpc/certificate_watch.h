// SPDX-License-Identifier: Apache-2.0
//
// The files of a TLS credential. The watch looks at them for changes, and gives gRPC only files
// with which a handshake can be made.
//
//   ca.pem, NAME.pem, NAME.key --looked at--> well-formed? --yes--> copies in memory <-- gRPC
//                                                |no
//                                                v
//                                         one line in the log; the copies stay as they are
//
// gRPC's own watch takes any contents of a file, and then silently refuses every handshake. It is
// given paths of anonymous memory instead, so that no key is written to a disk twice.
//
// Life: created with readable files of any content; destroyed when no new connection needs them.
//
// Thread rule: thread-safe; it has a thread of its own. Failure rule: errors of
// file.h for a file that can't be read, RESOURCE_EXHAUSTED without memory, descriptors or threads.
#ifndef TFRT_DISTRIBUTED_TRANSPORT_GRPC_CERTIFICATE_WATCH_H_
#define TFRT_DISTRIBUTED_TRANSPORT_GRPC_CERTIFICATE_WATCH_H_

#include <stdint.h>

#include "distributed/security/certificate_check.h"
#include "host_runtime/base/macros.h"
#include "host_runtime/base/status.h"

typedef struct tfrt_certificate_watch_s tfrt_certificate_watch_t;

// Copies |files|, whose paths are copied too, and looks at them every |period_s| seconds from then
// on. Sets |*out_watch| (+1, for tfrt_certificate_watch_destroy()). Thread-safe.
tfrt_status_t tfrt_certificate_watch_create(const tfrt_certificate_files_t* files,
                                            uint32_t period_s, tfrt_certificate_watch_t** out_watch)
    TFRT_MUST_USE;

// The paths of the copies; they are |watch|'s. Thread-safe.
tfrt_certificate_files_t tfrt_certificate_watch_copies(const tfrt_certificate_watch_t* watch);

// The paths of the files that are watched; they are |watch|'s. Thread-safe.
tfrt_certificate_files_t tfrt_certificate_watch_files(const tfrt_certificate_watch_t* watch);

// Ends the thread and gives back the copies; NULL does nothing. Thread-compatible.
void tfrt_certificate_watch_destroy(tfrt_certificate_watch_t* watch);

#endif  // TFRT_DISTRIBUTED_TRANSPORT_GRPC_CERTIFICATE_WATCH_H_
