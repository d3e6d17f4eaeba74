// SPDX-License-Identifier: Apache-2.0
//
// Shared by the tests of the conformance suite: a platform of the backend under test with a device,
// a stream, an allocator and the objects that most tests need. Helpers do common things and fail
// the test if they can't.
//
// Life: made by tfrt_conformance_set_up() before each test, and taken down after it, which
// checks that all memory came back.
//
// Thread rule: the test's thread. Failure rule: a check fails.
#ifndef TFRT_DEVICES_CONFORMANCE_CONFORMANCE_FIXTURE_H_
#define TFRT_DEVICES_CONFORMANCE_CONFORMANCE_FIXTURE_H_

#include "devices/conformance/conformance.h"
#include "devices/device_allocator.h"
#include "devices/device_stream.h"
#include "host_runtime/base/counting_allocator.h"

// The numbers, and the bytes, in the fixture's buffers.
#define TFRT_CONFORMANCE_COUNT 1000
#define TFRT_CONFORMANCE_SIZE (TFRT_CONFORMANCE_COUNT * sizeof(uint32_t))

typedef struct tfrt_conformance_s {
  const tfrt_conformance_backend_t* backend;
  tfrt_counting_allocator_t memory;
  tfrt_work_queue_t* work_queue;
  tfrt_device_platform_t* platform;
  tfrt_device_t* device;
  tfrt_device_t* peer;  // NULL: there is none
  tfrt_device_stream_t* stream;
  tfrt_device_allocator_t* allocator;       // of the device
  tfrt_device_allocator_t* host_allocator;  // of pinned memory
  tfrt_device_buffer_t* buffer;             // on the device, in the order of |stream|
  tfrt_device_buffer_t* host;               // pinned
  tfrt_device_function_t* increment;        // test_increment
} tfrt_conformance_t;

// The fixture of the running test.
extern tfrt_conformance_t tfrt_conformance;

void tfrt_conformance_set_up(void);
void tfrt_conformance_tear_down(void);

// Whether the backend under test has |feature|.
bool tfrt_conformance_has(tfrt_conformance_feature_t feature);

// Fails the test if |status| (consumed) is an error, or unless it is one of |code|.
void tfrt_conformance_expect_ok(tfrt_status_t status);
void tfrt_conformance_expect(tfrt_status_t status, tfrt_status_code_t code);

// Waits until |value| (consumed) is there; fails the test if it is an error.
void tfrt_conformance_await(tfrt_async_value_t* value);

// Waits until all that |stream| has is done.
void tfrt_conformance_finish(tfrt_device_stream_t* stream);

// New objects (+1).
tfrt_device_stream_t* tfrt_conformance_stream(tfrt_device_t* device);
tfrt_device_event_t* tfrt_conformance_event(tfrt_device_t* device);
tfrt_device_buffer_t* tfrt_conformance_allocate(tfrt_device_stream_t* stream, size_t size);
tfrt_device_buffer_t* tfrt_conformance_host(size_t size);
tfrt_device_dnn_t* tfrt_conformance_dnn(void);  // NULL: no library, and none is needed
tfrt_device_module_t* tfrt_conformance_module(tfrt_device_t* device);  // of the suite's kernels
tfrt_device_function_t* tfrt_conformance_function(tfrt_device_t* device, const char* name);

// Adds one to each of |count| numbers in |buffer|, as work of |stream|.
void tfrt_conformance_increment(tfrt_device_stream_t* stream, tfrt_device_buffer_t* buffer,
                                uint32_t count);

// The sum of |count| increments: 0 where kernels do no work.
uint32_t tfrt_conformance_increments(uint32_t count);

// Checks that all of |buffer|, as work of |stream| leaves it, are the number |expected|.
void tfrt_conformance_expect_all(tfrt_device_stream_t* stream, tfrt_device_buffer_t* buffer,
                                 uint32_t expected);

// The cases, by file.
TCase* tfrt_conformance_work_case(void);
TCase* tfrt_conformance_refusals_case(void);
TCase* tfrt_conformance_memory_case(void);
TCase* tfrt_conformance_graphs_case(void);
TCase* tfrt_conformance_blas_case(void);
TCase* tfrt_conformance_dnn_case(void);
TCase* tfrt_conformance_plans_case(void);
TCase* tfrt_conformance_ccl_case(void);
TCase* tfrt_conformance_peer_case(void);
TCase* tfrt_conformance_loss_case(void);

#endif  // TFRT_DEVICES_CONFORMANCE_CONFORMANCE_FIXTURE_H_
