// SPDX-License-Identifier: Apache-2.0
#include "distributed/transport/grpc/refused_handshake.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "host_runtime/base/clock.h"
#include "host_runtime/base/log.h"
#include "host_runtime/base/sync.h"

void tfrt_grpc_refused_handshake_describe(tfrt_grpc_log_text_t text, tfrt_string_view_t words,
                                          char* out, size_t size) {
  switch (text) {
    case TFRT_GRPC_LOG_TEXT_NO_CERTIFICATE:
      snprintf(
          out, size,
          "it shows no certificate; one of this cluster's authority (`tfrt certs`) lets it in");
      break;
    case TFRT_GRPC_LOG_TEXT_UNTRUSTED:
      snprintf(out, size,
               "its certificate is of another cluster's authority, or has expired; `tfrt certs "
               "show` there and here tells which, and `tfrt certs renew` renews it");
      break;
    case TFRT_GRPC_LOG_TEXT_PLAIN_TEXT:
      snprintf(out, size, "it does not speak TLS; with --tls-dir it does");
      break;
    case TFRT_GRPC_LOG_TEXT_OLD_TLS:
      snprintf(out, size, "it speaks an older version of TLS; TLS 1.3 is needed");
      break;
    default:
      snprintf(out, size, "no TLS: %.*s", TFRT_STRING_VIEW_ARGUMENTS(words));
      break;
  }
}

void tfrt_grpc_refused_handshake_log(const char* reason) {
  static tfrt_mutex_t mutex = TFRT_MUTEX_INITIALIZER;
  static int64_t told_ns;  // guarded by |mutex|
  static bool is_told;     // guarded by |mutex|: |told_ns| is set
  static uint64_t untold;  // guarded by |mutex|
  int64_t now_ns = tfrt_clock_now_ns(tfrt_clock_system());
  tfrt_mutex_lock(&mutex);
  bool is_due = !is_told || now_ns - told_ns >= TFRT_NANOSECONDS_PER_SECOND;
  uint64_t others = untold;
  untold = is_due ? 0 : untold + 1;
  if (is_due) told_ns = now_ns;
  is_told = true;
  tfrt_mutex_unlock(&mutex);
  if (!is_due) return;
  if (others == 0) {
    tfrt_log(TFRT_LOG_WARNING, NULL, "refused who dialled: %s", reason);
  } else {
    tfrt_log(TFRT_LOG_WARNING, NULL, "refused who dialled, after %" PRIu64 " others: %s", others,
             reason);
  }
}
