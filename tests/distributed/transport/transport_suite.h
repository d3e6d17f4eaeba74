// SPDX-License-Identifier: Apache-2.0
//
// The suite that every transport must pass (distributed/transport/transport.h), written once. A
// test program provides a *network* of two transports and adds the suite:
//
//   static const tfrt_transport_suite_network_vtable_t vtable = {...};
//   Suite* tfrt_test_suite(void) {
//     Suite* suite = suite_create("simulated transport");
//     tfrt_transport_suite_add(suite, &vtable);
//     return suite;
//   }
//
// Life of a test: a network is created; its first transport listens, its second one
// dials; run_until makes it go; everything is closed, drained and destroyed, so that a
// leak is found by the sanitizer.
//
// Thread rule: callbacks may come from any thread; what they note is guarded by a lock
// that the predicates take. Failure rule: ck_assert_*.
#ifndef TFRT_TESTS_DISTRIBUTED_TRANSPORT_TRANSPORT_SUITE_H_
#define TFRT_TESTS_DISTRIBUTED_TRANSPORT_TRANSPORT_SUITE_H_

#include <check.h>
#include <stdbool.h>

#include "distributed/transport/transport.h"

typedef bool (*tfrt_transport_suite_predicate_fn_t)(void* argument);

typedef struct tfrt_transport_suite_network_vtable_s {
  // Frees |network|, whose transports are drained and not held by the suite any more.
  void (*destroy)(void* network);
  // Makes a network of two transports that can reach each other.
  void* (*create)(void);
  // The transport (+0) number |index|, 0 or 1.
  tfrt_transport_t* (*transport)(void* network, int index);
  // An address with port 0 for a transport to listen on; one where nobody listens, and
  // whose machine says so; one that never answers, or NULL if there is no such thing.
  const char* (*listen_address)(void* network);
  const char* (*refusing_address)(void* network);
  const char* (*silent_address)(void* network);
  // Lets things happen until |predicate| is true: returns true; or, when that takes far too
  // long, returns false. With NULL: for a while, in which nothing is expected.
  bool (*run_until)(void* network, tfrt_transport_suite_predicate_fn_t predicate, void* argument);
} tfrt_transport_suite_network_vtable_t;

// Adds all tests to |suite|, over networks of |vtable|. Once per program.
// Thread-compatible.
void tfrt_transport_suite_add(Suite* suite, const tfrt_transport_suite_network_vtable_t* vtable);

#endif  // TFRT_TESTS_DISTRIBUTED_TRANSPORT_TRANSPORT_SUITE_H_
