// SPDX-License-Identifier: Apache-2.0
#include "distributed/transport/grpc/library_text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "host_runtime/base/clock.h"
#include "host_runtime/base/log.h"
#include "host_runtime/base/macros.h"
#include "host_runtime/base/sync.h"

// Words of a library, and what they mean. The first text of a table that fits counts.
typedef struct text_s {
  const char* words;
  int meaning;
} text_t;

// An error of the system, whose words gRPC puts into its own.
typedef struct system_text_s {
  int error;
  tfrt_grpc_dial_text_t meaning;
} system_text_t;

static const system_text_t kSystemTexts[] = {
    {ECONNREFUSED, TFRT_GRPC_DIAL_TEXT_REFUSED}, {ENOENT, TFRT_GRPC_DIAL_TEXT_REFUSED},
    {EHOSTUNREACH, TFRT_GRPC_DIAL_TEXT_NO_WAY},  {ENETUNREACH, TFRT_GRPC_DIAL_TEXT_NO_WAY},
    {ETIMEDOUT, TFRT_GRPC_DIAL_TEXT_NO_WAY},
};

// The last ones fit more than they mean. In capitals: as BoringSSL writes it.
static const text_t kDialTexts[] = {
    {"DNS resolution failed", TFRT_GRPC_DIAL_TEXT_NO_WAY},
    {"Domain name not found", TFRT_GRPC_DIAL_TEXT_NO_WAY},
    {"certificate verify failed", TFRT_GRPC_DIAL_TEXT_UNTRUSTED},
    {"CERTIFICATE_VERIFY_FAILED", TFRT_GRPC_DIAL_TEXT_UNTRUSTED},
    {"Hostname Verification Check failed", TFRT_GRPC_DIAL_TEXT_WRONG_NAME},
    {"wrong version number", TFRT_GRPC_DIAL_TEXT_PLAIN_TEXT},
    {"WRONG_VERSION_NUMBER", TFRT_GRPC_DIAL_TEXT_PLAIN_TEXT},
    {"Tls handshake failed", TFRT_GRPC_DIAL_TEXT_NO_TLS},
    {"Custom verification check failed", TFRT_GRPC_DIAL_TEXT_NO_TLS},
    {"Socket closed", TFRT_GRPC_DIAL_TEXT_TURNED_AWAY},
};

static const text_t kHandshakeTexts[] = {
    {"peer did not return a certificate", TFRT_GRPC_LOG_TEXT_NO_CERTIFICATE},
    {"PEER_DID_NOT_RETURN_A_CERTIFICATE", TFRT_GRPC_LOG_TEXT_NO_CERTIFICATE},
    {"certificate verify failed", TFRT_GRPC_LOG_TEXT_UNTRUSTED},
    {"CERTIFICATE_VERIFY_FAILED", TFRT_GRPC_LOG_TEXT_UNTRUSTED},
    {"wrong version number", TFRT_GRPC_LOG_TEXT_PLAIN_TEXT},
    {"WRONG_VERSION_NUMBER", TFRT_GRPC_LOG_TEXT_PLAIN_TEXT},
    {"http request", TFRT_GRPC_LOG_TEXT_PLAIN_TEXT},
    {"HTTP_REQUEST", TFRT_GRPC_LOG_TEXT_PLAIN_TEXT},
    {"no shared cipher", TFRT_GRPC_LOG_TEXT_OLD_TLS},
    {"NO_SHARED_CIPHER", TFRT_GRPC_LOG_TEXT_OLD_TLS},
    {"unsupported protocol", TFRT_GRPC_LOG_TEXT_OLD_TLS},
    {"UNSUPPORTED_PROTOCOL", TFRT_GRPC_LOG_TEXT_OLD_TLS},
};

static bool contains(tfrt_string_view_t text, const char* words) {
  return text.size > 0 && memmem(text.data, text.size, words, strlen(words)) != NULL;
}

// The meaning of the first of |texts| that |text| contains, or 0.
static int find(const text_t* texts, size_t count, tfrt_string_view_t text) {
  for (size_t i = 0; i < count; ++i) {
    if (contains(text, texts[i].words)) return texts[i].meaning;
  }
  return 0;
}

tfrt_grpc_dial_text_t tfrt_grpc_library_text_of_dial(tfrt_string_view_t details) {
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(kSystemTexts); ++i) {
    if (contains(details, strerrordesc_np(kSystemTexts[i].error))) return kSystemTexts[i].meaning;
  }
  return (tfrt_grpc_dial_text_t)find(kDialTexts, TFRT_ARRAY_SIZE(kDialTexts), details);
}

static const char* name_of(const char* file) {
  const char* slash = strrchr(file, '/');
  return slash ? slash + 1 : file;
}

// Returns the rest of |line| behind |prefix|, or NULL.
static const char* behind(const char* line, const char* prefix) {
  return strncmp(line, prefix, strlen(prefix)) == 0 ? line + strlen(prefix) : NULL;
}

tfrt_grpc_log_text_t tfrt_grpc_library_text_of_log(const char* file, const char* line,
                                                   tfrt_string_view_t* out_words) {
  *out_words = tfrt_string_view_of("");
  if (strcmp(name_of(file), "tcp_server_posix.cc") == 0) {
    const char* words = behind(line, "Failed accept4: ");
    if (words) *out_words = tfrt_string_view_of(words);
    return words ? TFRT_GRPC_LOG_TEXT_DEAF : TFRT_GRPC_LOG_TEXT_OTHER;
  }
  const bool is_of_server = strcmp(name_of(file), "chttp2_server.cc") == 0;
  const char* reason = is_of_server ? behind(line, "Handshaking failed: ") : NULL;
  const char* tls = reason ? strstr(reason, "Tls handshake failed: ") : NULL;
  if (!tls) return TFRT_GRPC_LOG_TEXT_OTHER;
  tls += strlen("Tls handshake failed: ");
  // Braces hold details about gRPC.
  *out_words = tfrt_string_view_make(tls, strcspn(tls, "{"));
  const int meaning =
      find(kHandshakeTexts, TFRT_ARRAY_SIZE(kHandshakeTexts), tfrt_string_view_of(tls));
  return meaning ? (tfrt_grpc_log_text_t)meaning : TFRT_GRPC_LOG_TEXT_NO_TLS;
}

// --- Refused diallers ------------------------------------------------------

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
