// SPDX-License-Identifier: Apache-2.0
//
// Where a call stands, for errors and for people. Mostly it is the kernel that makes the call: its
// place in the text is looked up when it is needed, which is hardly ever. Else it is a place that
// the caller gave.
//
// Thread rule: thread-compatible; a thread that may read the surrounding record may read its site.
// Failure rule: none fails.
#ifndef TFRT_DISTRIBUTED_DOMAIN_CALL_SITE_H_
#define TFRT_DISTRIBUTED_DOMAIN_CALL_SITE_H_

#include "host_runtime/base/status.h"
#include "host_runtime/executor/kernel/kernel_frame.h"

typedef struct tfrt_call_site_s {
  const tfrt_kernel_site_t* kernel;  // +0, as long as the job; NULL: |origin| says it
  // Its texts live as long as the job, or as its owner says. No function and no file: not known.
  tfrt_status_origin_t origin;
} tfrt_call_site_t;

// Makes |site|, all zero, that of |kernel|, or else |origin| (copied; NULL: not known).
// Thread-compatible.
static inline void tfrt_call_site_set(tfrt_call_site_t* site, const tfrt_kernel_site_t* kernel,
                                      const tfrt_status_origin_t* origin) {
  site->kernel = kernel;
  site->origin.rank = TFRT_STATUS_NO_RANK;
  if (!kernel && origin) site->origin = *origin;
}

// Returns true if something is known of |site|. Thread-compatible.
static inline bool tfrt_call_site_is_known(const tfrt_call_site_t* site) {
  return site->kernel || site->origin.function || site->origin.file;
}

// The function, kernel and location of |site|. Thread-compatible.
static inline tfrt_status_origin_t tfrt_call_site_origin(const tfrt_call_site_t* site) {
  tfrt_status_origin_t origin = site->origin;
  if (site->kernel) tfrt_kernel_site_origin(site->kernel, &origin);
  return origin;
}

// |status| with the place |site|, if that is known and |status| has none: a new status, or a
// reference to it (+1 either way). Thread-compatible.
static inline tfrt_status_t tfrt_call_site_locate(const tfrt_call_site_t* site,
                                                  tfrt_status_t status) {
  tfrt_status_origin_t origin = tfrt_call_site_origin(site);
  return tfrt_status_with_origin(status, &origin);
}

#endif  // TFRT_DISTRIBUTED_DOMAIN_CALL_SITE_H_
