// SPDX-License-Identifier: Apache-2.0
//
// A library with a kind of devices that no machine has, and, with -D, with each of the mistakes
// that a loader must tell.
#include "embedding/device_library.h"

#ifdef VERSION
#undef TFRT_API_VERSION
#define TFRT_API_VERSION VERSION
#endif

#ifndef KIND
#define KIND "sample"
#endif

static tfrt_status_t open_sample(const void* options, tfrt_allocator_t allocator,
                                 tfrt_work_queue_t* work_queue,
                                 tfrt_device_platform_t** out_platform) {
  (void)options, (void)allocator, (void)work_queue, (void)out_platform;
#ifdef UNKNOWN_FUNCTION
  extern void tfrt_device_function_that_nobody_has(void);
  tfrt_device_function_that_nobody_has();
#endif
#ifdef CRASHES
  __builtin_trap();
#endif
#ifdef GIVES_NOTHING
  return NULL;
#else
  return tfrt_status_create(TFRT_STATUS_UNAVAILABLE, "no sample is plugged in");
#endif
}

static tfrt_status_t set_up(void) {
#ifdef NO_KIND
  return NULL;
#else
  static const tfrt_device_kind_t kind = {.name = KIND, .open = open_sample};
  return tfrt_device_kind_register(&kind);
#endif
}

const tfrt_kernel_library_t tfrt_kernel_library = {
    TFRT_KERNEL_LIBRARY_HEADER("sample device"),
#ifndef NO_SET_UP
    .set_up = set_up,
#endif
};

#ifdef NO_SET_UP
// The compiler wants a user.
tfrt_status_t sample_set_up(void);
tfrt_status_t sample_set_up(void) { return set_up(); }
#endif
