// SPDX-License-Identifier: Apache-2.0
#include "distributed/transport/grpc/grpc_library.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

#include "distributed/transport/grpc/grpc_functions.h"
#include "distributed/transport/transport.h"
#include "distributed/tuning/tuning.h"
#include "host_runtime/base/allocator.h"
#include "host_runtime/base/clock.h"
#include "host_runtime/base/log.h"
#include "host_runtime/base/macros.h"
#include "host_runtime/base/sync.h"

// --- Texts ------------------------------------------------------------------

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
    {ETIMEDOUT, TFRT_GRPC_DIAL_TEXT_NO_WAY},     {EMFILE, TFRT_GRPC_DIAL_TEXT_NO_DESCRIPTOR},
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
    tfrt_log(TFRT_LOG_WARNING, NULL, "refused a connection: %s", reason);
  } else {
    tfrt_log(TFRT_LOG_WARNING, NULL, "refused a connection, after %" PRIu64 " others: %s", others,
             reason);
  }
}

// --- Start and end ----------------------------------------------------------

// Descriptors and threads that gRPC needs to start, and a little more. The descriptors wake its
// threads. Four threads run closures and timers, two are for more timers, and its event engine has
// one per processor within bounds. Source: gRPC 1.51, lib/iomgr/{executor, timer_manager}.cc and
// lib/event_engine/thread_pool.h.
#define NEEDED_DESCRIPTORS 8
#define NEEDED_OTHER_THREADS 6
#define MIN_ENGINE_THREADS 2
#define MAX_ENGINE_THREADS 32
#define MAX_NEEDED_THREADS (NEEDED_OTHER_THREADS + MAX_ENGINE_THREADS)

#ifdef __SANITIZE_THREAD__
// A thread of gRPC's timers that has ended is joined by the next one, or by nobody.
__attribute__((visibility("default"))) const char* __tsan_default_suppressions(void);
const char* __tsan_default_suppressions(void) { return "thread:grpc_core::Thread::Thread\n"; }
#endif

static tfrt_mutex_t users_mutex = TFRT_MUTEX_INITIALIZER;
static uint32_t users;    // guarded by |users_mutex|
static bool is_prepared;  // guarded by |users_mutex|
static bool is_shared;    // guarded by |users_mutex|: somebody else in this process uses gRPC

static tfrt_mutex_t watch_mutex = TFRT_MUTEX_INITIALIZER;
static tfrt_list_link_t watches = {&watches, &watches};  // guarded by |watch_mutex|

void tfrt_grpc_process_watch_accepting(tfrt_grpc_accept_watch_t* watch,
                                       tfrt_grpc_accept_watch_fn_t on_no_descriptor) {
  tfrt_mutex_lock(&watch_mutex);
  if (watch->on_no_descriptor) tfrt_list_remove(&watch->link);
  watch->on_no_descriptor = on_no_descriptor;
  if (on_no_descriptor) tfrt_list_push_back(&watches, &watch->link);
  tfrt_mutex_unlock(&watch_mutex);
}

static void tell_watches(void) {
  tfrt_mutex_lock(&watch_mutex);
  for (tfrt_list_link_t* link = watches.next; link != &watches; link = link->next) {
    tfrt_grpc_accept_watch_t* watch = TFRT_CONTAINER_OF(link, tfrt_grpc_accept_watch_t, link);
    watch->on_no_descriptor(watch);
  }
  tfrt_mutex_unlock(&watch_mutex);
}

static void look_at_log(const gpr_log_func_args* line) {
  char reason[256];
  tfrt_string_view_t words;
  tfrt_grpc_log_text_t text = tfrt_grpc_library_text_of_log(line->file, line->message, &words);
  if (text == TFRT_GRPC_LOG_TEXT_DEAF) {
    tell_watches();
  } else if (text != TFRT_GRPC_LOG_TEXT_OTHER) {
    tfrt_grpc_refused_handshake_describe(text, words, reason, sizeof(reason));
    tfrt_grpc_refused_handshake_log(reason);
  }
}

// At gRPC's level DEBUG there is nothing for each message, and that a handshake was refused.
static void forward_log(gpr_log_func_args* line) {
  look_at_log(line);
  if (line->severity == GPR_LOG_SEVERITY_DEBUG) return;
  tfrt_log(TFRT_LOG_DEBUG, NULL, "gRPC: %s (%s:%d)", line->message, line->file, line->line);
}

static void print_log(gpr_log_func_args* line) {
  look_at_log(line);
  fprintf(stderr, "gRPC: %s: %s (%s:%d)\n", gpr_log_severity_string(line->severity), line->message,
          line->file, line->line);
}

// --- Room to start ----------------------------------------------------------

// gRPC ends the process if it gets no descriptor, and if it gets no thread it waits for ever, as
// it shuts down, for one that never ran. So this checks, before gRPC starts, that the system has
// enough of both.

static unsigned long long descriptor_limit(void) {
  struct rlimit limit = {0};
  getrlimit(RLIMIT_NOFILE, &limit);
  return limit.rlim_cur;
}

tfrt_status_t tfrt_grpc_library_no_descriptor(const char* address) {
  return tfrt_status_create(TFRT_STATUS_RESOURCE_EXHAUSTED,
                            "no descriptor is left for a connection to %s; the limit is %llu, "
                            "raise it (ulimit -n)",
                            address, descriptor_limit());
}

void tfrt_grpc_library_log_no_descriptor(const char* address) {
  tfrt_log(TFRT_LOG_WARNING, NULL,
           "no descriptor is left for another connection to %s: it waits until one is; the limit "
           "is %llu, raise it (ulimit -Hn)",
           address, descriptor_limit());
}

static tfrt_status_t check_descriptors(void) {
  int files[NEEDED_DESCRIPTORS];
  int count = 0;
  while (count < NEEDED_DESCRIPTORS && (files[count] = eventfd(0, EFD_CLOEXEC)) >= 0) ++count;
  const int error = errno;
  for (int i = 0; i < count; ++i) close(files[i]);
  if (count == NEEDED_DESCRIPTORS) return NULL;
  return tfrt_status_create(TFRT_STATUS_RESOURCE_EXHAUSTED,
                            "gRPC needs %d file descriptors to start, and the system gives %d: %s; "
                            "the limit is %llu, raise it (ulimit -n)",
                            NEEDED_DESCRIPTORS, count, strerror(error), descriptor_limit());
}

// Takes as much of the address space as a thread of gRPC's does: a heap of its own besides the
// stack. Lives until |gate| is open.
static void run_probe(void* gate) {
  tfrt_allocator_t allocator = tfrt_allocator_system();
  tfrt_allocator_free(allocator, tfrt_allocator_allocate(allocator, 1), 1);
  tfrt_mutex_lock(gate);
  tfrt_mutex_unlock(gate);
}

static unsigned needed_threads(void) {
  const unsigned processors = gpr_cpu_num_cores();
  if (processors < MIN_ENGINE_THREADS) return NEEDED_OTHER_THREADS + MIN_ENGINE_THREADS;
  if (processors > MAX_ENGINE_THREADS) return NEEDED_OTHER_THREADS + MAX_ENGINE_THREADS;
  return NEEDED_OTHER_THREADS + processors;
}

static tfrt_status_t check_threads(void) {
  tfrt_mutex_t gate = TFRT_MUTEX_INITIALIZER;
  tfrt_thread_t threads[MAX_NEEDED_THREADS];
  const unsigned needed = needed_threads();
  unsigned count = 0;
  tfrt_status_t error = NULL;
  tfrt_mutex_lock(&gate);
  while (count < needed && !error) {
    error = tfrt_thread_create("grpc-probe", run_probe, &gate, &threads[count]);
    if (!error) ++count;
  }
  tfrt_mutex_unlock(&gate);
  for (unsigned i = 0; i < count; ++i) tfrt_thread_join(&threads[i]);
  if (!error) return NULL;
  tfrt_status_t status = tfrt_status_create(
      TFRT_STATUS_RESOURCE_EXHAUSTED, "gRPC needs %u threads to start, and the system gives %u: %s",
      needed, count, tfrt_status_message(error));
  tfrt_status_release(error);
  return status;
}

static tfrt_status_t check_room(void) {
  TFRT_RETURN_IF_ERROR(check_descriptors());
  return check_threads();
}

// --- Users ------------------------------------------------------------------

// A quota that payloads of a few peers use up makes gRPC break the connections of healthy ones.
_Static_assert(TFRT_TUNING_GRPC_QUOTA_BYTES >= (size_t)64 << 20, "see its range");

// The memory for the channels and servers of this process; NULL while there is no user.
static grpc_resource_quota* shared_quota;

// With the lock held.
static void start(void) {
  // A user who asks gRPC to talk gets its own words, on standard error.
  const bool is_talkative = getenv("GRPC_VERBOSITY") != NULL;
  if (!is_prepared) gpr_set_log_function(is_talkative ? print_log : forward_log);
  if (!is_prepared && !is_talkative) gpr_set_log_verbosity(GPR_LOG_SEVERITY_DEBUG);
  // By default gRPC asks the DNS server by itself, also for names that the system's files have, and
  // waits for it where that is dead. The system's own look-up is the one of --listen.
  if (!is_prepared) setenv("GRPC_DNS_RESOLVER", "native", 0);
  is_prepared = true;
  is_shared = grpc_is_initialized() != 0;
}

tfrt_status_t tfrt_grpc_process_enter(void) {
  tfrt_mutex_lock(&users_mutex);
  tfrt_status_t status = users > 0 ? NULL : tfrt_grpc_functions_open();
  if (!status && users == 0) status = check_room();
  if (!status) {
    const bool is_first = users == 0;
    if (is_first) start();
    grpc_init();
    ++users;
    if (is_first) {
      shared_quota = grpc_resource_quota_create("tfrt");
      grpc_resource_quota_resize(shared_quota, TFRT_TUNING_GRPC_QUOTA_BYTES);
    }
  }
  tfrt_mutex_unlock(&users_mutex);
  return status;
}

void tfrt_grpc_process_leave(void) {
  tfrt_mutex_lock(&users_mutex);
  --users;
  if (users == 0) {
    grpc_resource_quota_unref(shared_quota);
    shared_quota = NULL;
  }
  grpc_shutdown_blocking();
  // A thread of gRPC's may free the last pieces of a channel a moment later. gRPC shuts down only
  // after that, and tells nobody. It never frees those of a channel that was destroyed while it
  // connected: the wait is short, and takes no processor.
  if (users == 0 && !is_shared) {
    tfrt_clock_t clock = tfrt_clock_system();
    int64_t deadline_ns = tfrt_deadline_after(tfrt_clock_now_ns(clock), tfrt_grpc_leave_ns());
    for (int pause_ms = 1; grpc_is_initialized() && tfrt_clock_now_ns(clock) < deadline_ns;
         pause_ms *= 2) {
      poll(NULL, 0, pause_ms);
    }
  }
  tfrt_mutex_unlock(&users_mutex);
}

// --- Settings ---------------------------------------------------------------

// No pings: heartbeats tell the living from the dead. But any time, however long, that is
// not "never" is what makes gRPC set the time limit (TCP_USER_TIMEOUT) at the socket.
#define NO_KEEPALIVE_MS (INT_MAX - 1)

#define MAX_ARGUMENTS 24

typedef struct arguments_s {
  grpc_arg values[MAX_ARGUMENTS];
  grpc_channel_args args;
} arguments_t;

static void add_argument(arguments_t* arguments, const char* key, int value) {
  grpc_arg* arg = &arguments->values[arguments->args.num_args++];
  arg->type = GRPC_ARG_INTEGER;
  arg->key = (char*)key;
  arg->value.integer = value;
}

static void add_quota(arguments_t* arguments) {
  grpc_arg* arg = &arguments->values[arguments->args.num_args++];
  arg->type = GRPC_ARG_POINTER;
  arg->key = (char*)GRPC_ARG_RESOURCE_QUOTA;
  arg->value.pointer.p = shared_quota;
  arg->value.pointer.vtable = grpc_resource_quota_arg_vtable();
}

static void add_common_arguments(arguments_t* arguments,
                                 const tfrt_grpc_channel_settings_t* settings) {
  arguments->args.num_args = 0;
  arguments->args.args = arguments->values;
  // Our own side keeps the limit when it writes; the other side may be anybody.
  add_argument(arguments, GRPC_ARG_MAX_SEND_MESSAGE_LENGTH, -1);
  add_argument(arguments, GRPC_ARG_MAX_RECEIVE_MESSAGE_LENGTH,
               (int)TFRT_TRANSPORT_MAX_MESSAGE_SIZE);
  add_argument(arguments, GRPC_ARG_HTTP2_MAX_FRAME_SIZE, TFRT_TUNING_GRPC_FRAME_BYTES);
  add_argument(arguments, GRPC_ARG_HTTP2_STREAM_LOOKAHEAD_BYTES, TFRT_TUNING_GRPC_WINDOW_BYTES);
  add_argument(arguments, GRPC_ARG_HTTP2_BDP_PROBE, 0);
  add_argument(arguments, GRPC_ARG_KEEPALIVE_TIME_MS, NO_KEEPALIVE_MS);
  add_argument(arguments, GRPC_ARG_KEEPALIVE_TIMEOUT_MS, settings->stall_limit_ms);
  add_argument(arguments, GRPC_ARG_ENABLE_CHANNELZ, 0);
  add_quota(arguments);
}

// For how long an attempt to connect may last.
static int attempt_limit_ms(int64_t timeout_ns) {
  const int64_t limit_ms =
      timeout_ns / TFRT_NANOSECONDS_PER_MILLISECOND + TFRT_TUNING_GRPC_ATTEMPT_MORE_MS;
  return limit_ms < TFRT_TUNING_GRPC_ATTEMPT_MOST_MS ? (int)limit_ms
                                                     : TFRT_TUNING_GRPC_ATTEMPT_MOST_MS;
}

static void add_client_arguments(arguments_t* arguments, int64_t timeout_ns) {
  // It bounds an attempt, in spite of its name. The dial's own clock is the first to strike.
  add_argument(arguments, GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, attempt_limit_ms(timeout_ns));
  add_argument(arguments, GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  add_argument(arguments, GRPC_ARG_ENABLE_RETRIES, 0);
  add_argument(arguments, GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  add_argument(arguments, GRPC_ARG_SERVICE_CONFIG_DISABLE_RESOLUTION, 1);
  add_argument(arguments, GRPC_ARG_INHIBIT_HEALTH_CHECKING, 1);
}

grpc_channel* tfrt_grpc_channel_open(const char* target,
                                     const tfrt_grpc_channel_settings_t* settings,
                                     int64_t timeout_ns) {
  arguments_t arguments;
  add_common_arguments(&arguments, settings);
  add_client_arguments(&arguments, timeout_ns);
  return grpc_channel_create(target, settings->credentials->channel, &arguments.args);
}

grpc_server* tfrt_grpc_server_open(const tfrt_grpc_channel_settings_t* settings) {
  arguments_t arguments;
  add_common_arguments(&arguments, settings);
  // A port that is taken has to be an error and not a port that two processes share.
  add_argument(&arguments, GRPC_ARG_ALLOW_REUSEPORT, 0);
  add_argument(&arguments, GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS, TFRT_TUNING_GRPC_HANDSHAKE_MS);
  add_argument(&arguments, GRPC_ARG_MAX_CONNECTION_IDLE_MS, TFRT_TUNING_GRPC_IDLE_MS);
  add_argument(&arguments, GRPC_ARG_MAX_CONCURRENT_STREAMS, TFRT_TUNING_GRPC_STREAMS);
  return grpc_server_create(&arguments.args, NULL);
}
