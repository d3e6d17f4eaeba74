// SPDX-License-Identifier: Apache-2.0
//
// Programs in which the hosts of a world with devices (device_world.h) carry out a collective with
// tensors of i32, and what must come of it. Result i is what host i got.
//
// Thread rule: thread-compatible. Failure rule: what goes wrong fails the test.
#ifndef TFRT_TESTS_DISTRIBUTED_COLLECTIVE_DEVICE_EXCHANGE_H_
#define TFRT_TESTS_DISTRIBUTED_COLLECTIVE_DEVICE_EXCHANGE_H_

#include "tests/distributed/collective/device_world.h"

#define TFRT_DEVICE_EXCHANGE_HOSTS 3

typedef enum tfrt_device_exchange_kind_e {
  TFRT_DEVICE_EXCHANGE_ALL_REDUCE = 0,  // of sums
  TFRT_DEVICE_EXCHANGE_REDUCE,          // of the greatest, to host 1
  TFRT_DEVICE_EXCHANGE_REDUCE_SCATTER,  // of sums
  TFRT_DEVICE_EXCHANGE_ALL_GATHER,
  TFRT_DEVICE_EXCHANGE_BROADCAST,  // from host 2
  TFRT_DEVICE_EXCHANGE_ALL_TO_ALL,
  TFRT_DEVICE_EXCHANGE_KIND_COUNT,
} tfrt_device_exchange_kind_t;

// How many numbers each member has: few; one, so that parts are empty; enough for several messages,
// with no two parts alike; and enough for several messages in parts that are alike.
typedef enum tfrt_device_exchange_size_e {
  TFRT_DEVICE_EXCHANGE_FEW = 0,
  TFRT_DEVICE_EXCHANGE_ONE,
  TFRT_DEVICE_EXCHANGE_MANY,
  TFRT_DEVICE_EXCHANGE_EVEN,
} tfrt_device_exchange_size_t;

typedef struct tfrt_device_exchange_s {
  tfrt_device_exchange_size_t size;
  const char* op;              // of tfrt_dist
  const char* attributes;      // as the program has them behind it
  const char* const* devices;  // of each host; "": the host's own memory, without a device
  const char* options;         // more of the calls, as ", deadline_ms = 5 : i32"; NULL: none
  bool is_twice;               // each host has its result take part once more, in another call
} tfrt_device_exchange_t;

// The exchange |kind| on |devices|. Thread-safe.
tfrt_device_exchange_t tfrt_device_exchange_of(tfrt_device_exchange_kind_t kind,
                                               tfrt_device_exchange_size_t size,
                                               const char* const* devices);

// How many numbers |size| is, and functions of a program for that many (device_world.h).
int64_t tfrt_device_exchange_count(tfrt_device_exchange_size_t size);
const char* tfrt_device_exchange_functions(tfrt_device_exchange_size_t size);

// Starts |exchange|, or another program with such arguments, on |world|.
void tfrt_device_exchange_start(tfrt_node_world_t* world, const tfrt_device_exchange_t* exchange);
void tfrt_device_exchange_start_program(tfrt_node_world_t* world, tfrt_device_exchange_size_t size,
                                        const char* program);

// Number |index| of what |host| brings.
int32_t tfrt_device_exchange_number(uint32_t host, int64_t index);

// Checks that the results of |world| are those of |kind|.
void tfrt_device_exchange_expect(const tfrt_node_world_t* world, tfrt_device_exchange_kind_t kind,
                                 tfrt_device_exchange_size_t size);

// Checks that all results are errors of |code| that mention |part|.
void tfrt_device_exchange_expect_error(const tfrt_node_world_t* world, tfrt_status_code_t code,
                                       const char* part);

#endif  // TFRT_TESTS_DISTRIBUTED_COLLECTIVE_DEVICE_EXCHANGE_H_
