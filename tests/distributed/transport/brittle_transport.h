// SPDX-License-Identifier: Apache-2.0
//
// A transport whose connections a test can break: passes everything on to another one and
// keeps the connections that were dialled last.
//
// Life: initialised over another transport, used, closed and drained like that, released.
//
// Thread rule: thread-safe after initialisation. Failure rule: as the other transport's.
#ifndef TFRT_TESTS_DISTRIBUTED_TRANSPORT_BRITTLE_TRANSPORT_H_
#define TFRT_TESTS_DISTRIBUTED_TRANSPORT_BRITTLE_TRANSPORT_H_

#include "distributed/transport/transport.h"
#include "host_runtime/base/sync.h"

#define TFRT_BRITTLE_TRANSPORT_KEPT 8

typedef struct tfrt_brittle_transport_s {
  tfrt_transport_t base;
  tfrt_transport_t* inner;  // +1
  tfrt_mutex_t mutex;       // guards all below
  size_t next;
  tfrt_transport_connection_t* kept[TFRT_BRITTLE_TRANSPORT_KEPT];  // +1 each, or NULL
} tfrt_brittle_transport_t;

// Makes |brittle|, in the caller's storage, one over |inner| (consumed). It is done with when
// its last reference is released. Thread-compatible.
void tfrt_brittle_transport_initialize(tfrt_brittle_transport_t* brittle, tfrt_transport_t* inner);

// Breaks the connections that were dialled last and not broken yet. Thread-safe.
void tfrt_brittle_transport_break(tfrt_brittle_transport_t* brittle);

#endif  // TFRT_TESTS_DISTRIBUTED_TRANSPORT_BRITTLE_TRANSPORT_H_
