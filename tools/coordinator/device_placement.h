// SPDX-License-Identifier: Apache-2.0
//
// The devices that a program's calls are placed on: `{host = 1, device = "cuda:0"}`. A launcher
// checks them before it starts the program. So it reports a missing device at once, with the place
// of the call.
//
//   program --each call with a device--> (host, device) --ask--> OK, or why not
//
// A call without a host runs where its caller runs, which only the run shows; one on all hosts asks
// each of them.
//
// Thread rule: main thread only.
// Failure rule: the error of the first host that lacks a device; its message names both first.
#ifndef TFRT_TOOLS_COORDINATOR_DEVICE_PLACEMENT_H_
#define TFRT_TOOLS_COORDINATOR_DEVICE_PLACEMENT_H_

#include "host_runtime/bef/bef_file.h"

// Whether host |rank| has |device|.
typedef tfrt_status_t (*tfrt_device_placement_ask_fn_t)(void* self, uint32_t rank,
                                                        const char* device);

// Asks |ask| with |self| about each device that calls of |file| are placed on, on |host_count|
// hosts; once for each call. Thread-compatible.
tfrt_status_t tfrt_device_placement_check(const tfrt_bef_file_t* file, uint32_t host_count,
                                          tfrt_device_placement_ask_fn_t ask, void* self)
    TFRT_MUST_USE;

// Whether calls of |file| are placed on devices. Thread-safe.
bool tfrt_device_placement_is_needed(const tfrt_bef_file_t* file);

#endif  // TFRT_TOOLS_COORDINATOR_DEVICE_PLACEMENT_H_
