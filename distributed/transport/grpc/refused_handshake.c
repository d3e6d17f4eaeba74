// SPDX-License-Identifier: Apache-2.0
#include "distributed/transport/grpc/refused_handshake.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "host_runtime/base/clock.h"
#include "host_runtime/base/log.h"
#include "host_runtime/base/macros.h"
#include "host_runtime/base/sync.h"

// The file of gRPC that logs it, how the line begins, and what stands before TLS's own words.
#define SERVER_FILE "chttp2_server.cc"
#define PREFIX "Handshaking failed: "
#define TLS_WORDS "Tls handshake failed: "

typedef struct reason_s {
  const char* words;
  const char* meaning;
} reason_t;

static const reason_t kReasons[] = {
    {"peer did not return a certificate",
     "it shows no certificate; one of this cluster's authority (`tfrt certs`) lets it in"},
    {"PEER_DID_NOT_RETURN_A_CERTIFICATE",
     "it shows no certificate; one of this cluster's authority (`tfrt certs`) lets it in"},
    {"certificate verify failed",
     "its certificate is of another cluster's authority, or has expired; `tfrt certs show` there "
     "and here tells which"},
    {"CERTIFICATE_VERIFY_FAILED",
     "its certificate is of another cluster's authority, or has expired; `tfrt certs show` there "
     "and here tells which"},
    {"wrong version number", "it does not speak TLS; with --tls-dir it does"},
    {"WRONG_VERSION_NUMBER", "it does not speak TLS; with --tls-dir it does"},
    {"http request", "it does not speak TLS; with --tls-dir it does"},
    {"HTTP_REQUEST", "it does not speak TLS; with --tls-dir it does"},
};

bool tfrt_grpc_refused_handshake_find(const char* file, const char* line, char* out, size_t size) {
  const char* slash = strrchr(file, '/');
  if (strcmp(slash ? slash + 1 : file, SERVER_FILE) != 0) return false;
  if (strncmp(line, PREFIX, strlen(PREFIX)) != 0) return false;
  const char* words = strstr(line, TLS_WORDS);
  if (!words) return false;
  words += strlen(TLS_WORDS);
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(kReasons); ++i) {
    if (!strstr(words, kReasons[i].words)) continue;
    snprintf(out, size, "%s", kReasons[i].meaning);
    return true;
  }
  // What is in braces is about gRPC.
  snprintf(out, size, "no TLS: %.*s", (int)strcspn(words, "{"), words);
  return true;
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
