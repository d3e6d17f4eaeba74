// SPDX-License-Identifier: Apache-2.0
#include "distributed/transport/grpc/credentials.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "distributed/transport/grpc/grpc_functions.h"
#include "distributed/tuning/tuning.h"
#include "host_runtime/base/allocator.h"
#include "host_runtime/base/clock.h"
#include "host_runtime/base/file.h"
#include "host_runtime/base/log.h"
#include "host_runtime/base/number_text.h"
#include "host_runtime/base/sync.h"

// --- The watch -------------------------------------------------------------------

// The files of a TLS credential. The watch looks at them for changes, and gives gRPC only files
// with which a handshake can be made.
//
//   ca.pem, NAME.pem, NAME.key --looked at--> well-formed? --yes--> copies in memory <-- gRPC
//                                                |no
//                                                v
//                                         one line in the log; the copies stay as they are
//
// gRPC's own watch takes any contents of a file, and then silently refuses every handshake. It is
// given paths of anonymous memory instead, so that no key is written to a disk twice.

// Hundreds of certificates.
#define MAX_SIZE ((size_t)1024 * 1024)

// Descriptors are given out from the lowest on: one from here is free for long once it is closed.
#define RARE_DESCRIPTOR 800

// Which file, in the order in which they are read.
enum { AUTHORITIES, CERTIFICATE, KEY, FILE_COUNT };

struct tfrt_certificate_watch_s {
  char paths[FILE_COUNT][PATH_MAX];
  char copy_paths[FILE_COUNT][32];
  int copies[FILE_COUNT];                     // -1: none
  tfrt_file_contents_t contents[FILE_COUNT];  // of the copies; the thread's alone
  tfrt_status_t told;                         // what is wrong with the files; the thread's alone
  int64_t warned_end_s;                       // of the certificate's end; the thread's alone
  int64_t period_ns;
  bool has_thread;
  tfrt_thread_t thread;
  tfrt_mutex_t mutex;
  tfrt_condition_t stopped;
  bool is_stopped;  // guarded by |mutex|
};

// --- The watch: contents ------------------------------------------------------

// A key is not left in memory that others may get.
static void forget_contents(tfrt_file_contents_t contents[FILE_COUNT]) {
  for (int i = 0; i < FILE_COUNT; ++i) {
    if (contents[i].data) explicit_bzero(contents[i].data, contents[i].size);
    tfrt_file_contents_deinitialize(&contents[i]);
  }
}

// |out_contents| is empty after an error.
static tfrt_status_t read_files(const tfrt_certificate_watch_t* watch,
                                tfrt_file_contents_t out_contents[FILE_COUNT]) {
  tfrt_status_t status = NULL;
  memset(out_contents, 0, FILE_COUNT * sizeof(*out_contents));
  for (int i = 0; !status && i < FILE_COUNT; ++i) {
    status = tfrt_file_read_at_most(watch->paths[i], MAX_SIZE, tfrt_allocator_system(),
                                    &out_contents[i]);
  }
  if (status) forget_contents(out_contents);
  return status;
}

static bool is_same(const tfrt_file_contents_t a[FILE_COUNT],
                    const tfrt_file_contents_t b[FILE_COUNT]) {
  for (int i = 0; i < FILE_COUNT; ++i) {
    if (a[i].size != b[i].size || memcmp(a[i].data, b[i].data, a[i].size) != 0) return false;
  }
  return true;
}

// --- The watch: copies --------------------------------------------------------

// Anonymous memory with a number that nobody is given soon again, or -1: gRPC may look_at_files at
// the path a moment after it has been closed.
static int create_copy(void) {
  int low = memfd_create("tfrt_certificate", MFD_CLOEXEC);
  if (low < 0) return -1;
  int high = fcntl(low, F_DUPFD_CLOEXEC, RARE_DESCRIPTOR);
  if (high < 0) return low;
  close(low);
  return high;
}

static tfrt_status_t create_copies(tfrt_certificate_watch_t* watch) {
  for (int i = 0; i < FILE_COUNT; ++i) {
    watch->copies[i] = create_copy();
    snprintf(watch->copy_paths[i], sizeof(watch->copy_paths[i]), "/proc/self/fd/%d",
             watch->copies[i]);
    if (watch->copies[i] < 0 || access(watch->copy_paths[i], R_OK) != 0) {
      return tfrt_status_create(TFRT_STATUS_RESOURCE_EXHAUSTED,
                                "can't copy %s to memory (which wants /proc and a descriptor): %s",
                                watch->paths[i], strerrordesc_np(errno));
    }
  }
  return NULL;
}

static bool write_copy(int copy, const tfrt_file_contents_t* contents) {
  size_t written = 0;
  while (written < contents->size) {
    ssize_t size = pwrite(copy, contents->data + written, contents->size - written, (off_t)written);
    if (size < 0 && errno != EINTR) return false;
    if (size > 0) written += (size_t)size;
  }
  return ftruncate(copy, (off_t)contents->size) == 0;
}

// Hands |contents|, which is taken, to gRPC. gRPC reads a pair again if the pair changed while it
// read.
static tfrt_status_t take_contents(tfrt_certificate_watch_t* watch,
                                   tfrt_file_contents_t contents[FILE_COUNT]) {
  tfrt_status_t status = NULL;
  for (int i = 0; !status && i < FILE_COUNT; ++i) {
    if (write_copy(watch->copies[i], &contents[i])) continue;
    status = tfrt_status_create(TFRT_STATUS_RESOURCE_EXHAUSTED, "can't copy %s to memory: %s",
                                watch->paths[i], strerrordesc_np(errno));
  }
  forget_contents(watch->contents);
  memcpy(watch->contents, contents, sizeof(watch->contents));
  memset(contents, 0, sizeof(watch->contents));
  return status;
}

// --- The watch: looking -------------------------------------------------------

static tfrt_certificate_files_t files_of(const tfrt_certificate_watch_t* watch) {
  return (tfrt_certificate_files_t){.authorities = watch->paths[AUTHORITIES],
                                    .certificate = watch->paths[CERTIFICATE],
                                    .key = watch->paths[KEY]};
}

// Takes the files if they are good. Files that change meanwhile wait for the next look_at_files,
// because gRPC would get other contents than those that were checked.
static tfrt_status_t look_at_files(tfrt_certificate_watch_t* watch) {
  tfrt_file_contents_t before[FILE_COUNT], after[FILE_COUNT];
  TFRT_RETURN_IF_ERROR(read_files(watch, before));
  tfrt_status_t status = NULL;
  if (!is_same(before, watch->contents)) {
    tfrt_certificate_files_t files = files_of(watch);
    status = tfrt_certificate_check_form(&files);
    if (!status) status = read_files(watch, after);
    if (!status) {
      if (is_same(before, after)) status = take_contents(watch, after);
      forget_contents(after);
    }
  }
  forget_contents(before);
  return status;
}

// Logs |status| (+1), an error of the files, once while it stays the same, and logs when it is
// over.
static void tell_take(tfrt_certificate_watch_t* watch, tfrt_status_t status) {
  bool is_news = (status != NULL) != (watch->told != NULL);
  if (status && watch->told) {
    is_news = strcmp(tfrt_status_message(status), tfrt_status_message(watch->told)) != 0;
  }
  if (is_news && status) {
    tfrt_log(TFRT_LOG_WARNING, NULL, "the last good certificate stays in use: %s",
             tfrt_status_message(status));
  } else if (is_news) {
    tfrt_log(TFRT_LOG_INFO, NULL, "%s, its key and the authorities are good again",
             watch->paths[CERTIFICATE]);
  }
  tfrt_status_release(watch->told);
  watch->told = status;
}

// Warns once of the end of the certificate that is in use, if that is near or over.
static void warn_of_end(tfrt_certificate_watch_t* watch) {
  const int64_t now_s = tfrt_wall_time_ns() / TFRT_NANOSECONDS_PER_SECOND;
  tfrt_certificate_description_t description;
  tfrt_status_t status =
      tfrt_certificate_description_read(watch->paths[CERTIFICATE], now_s, &description);
  if (status) {
    // tell_take() has said so.
    tfrt_status_release(status);
    return;
  }
  bool is_near = description.ends_s - now_s < TFRT_CERTIFICATE_WARNING_S;
  if (is_near && description.ends_s != watch->warned_end_s) {
    char text[TFRT_NUMBER_TEXT_DATE_SIZE];
    watch->warned_end_s = description.ends_s;
    tfrt_log(TFRT_LOG_WARNING, NULL, "%s %s %s UTC; `tfrt certs renew` renews it",
             watch->paths[CERTIFICATE], description.is_over ? "has expired:" : "ends soon:",
             tfrt_number_text_date(description.ends_s, ' ', text));
  }
  tfrt_certificate_description_deinitialize(&description);
}

static void run_watch(void* argument) {
  tfrt_certificate_watch_t* watch = argument;
  warn_of_end(watch);
  tfrt_clock_t clock = tfrt_clock_system();
  tfrt_mutex_lock(&watch->mutex);
  while (!watch->is_stopped) {
    int64_t deadline_ns = tfrt_deadline_after(tfrt_clock_now_ns(clock), watch->period_ns);
    bool is_signalled = true;
    while (!watch->is_stopped && is_signalled) {
      is_signalled = tfrt_condition_wait_until(&watch->stopped, &watch->mutex, deadline_ns);
    }
    if (watch->is_stopped) break;
    tfrt_mutex_unlock(&watch->mutex);
    tell_take(watch, look_at_files(watch));
    warn_of_end(watch);
    tfrt_mutex_lock(&watch->mutex);
  }
  tfrt_mutex_unlock(&watch->mutex);
}

// --- The watch: life ----------------------------------------------------------

static tfrt_status_t copy_paths(tfrt_certificate_watch_t* watch,
                                const tfrt_certificate_files_t* files) {
  const char* const paths[FILE_COUNT] = {files->authorities, files->certificate, files->key};
  for (int i = 0; i < FILE_COUNT; ++i) {
    if (strlen(paths[i]) >= PATH_MAX) {
      return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "%s is too long for a path",
                                paths[i]);
    }
    strcpy(watch->paths[i], paths[i]);
  }
  return NULL;
}

// Takes the first contents unchecked: the caller has checked the files, or handshakes fail.
static tfrt_status_t start_watch(tfrt_certificate_watch_t* watch) {
  tfrt_file_contents_t contents[FILE_COUNT];
  TFRT_RETURN_IF_ERROR(create_copies(watch));
  TFRT_RETURN_IF_ERROR(read_files(watch, contents));
  TFRT_RETURN_IF_ERROR(take_contents(watch, contents));
  TFRT_RETURN_IF_ERROR(tfrt_thread_create("tfrt_certs", run_watch, watch, &watch->thread));
  watch->has_thread = true;
  return NULL;
}

static void destroy_watch(tfrt_certificate_watch_t* watch) {
  if (!watch) return;
  tfrt_mutex_lock(&watch->mutex);
  watch->is_stopped = true;
  tfrt_condition_signal(&watch->stopped);
  tfrt_mutex_unlock(&watch->mutex);
  if (watch->has_thread) tfrt_thread_join(&watch->thread);
  for (int i = 0; i < FILE_COUNT; ++i) {
    if (watch->copies[i] >= 0) close(watch->copies[i]);
  }
  forget_contents(watch->contents);
  tfrt_status_release(watch->told);
  tfrt_condition_deinitialize(&watch->stopped);
  tfrt_mutex_deinitialize(&watch->mutex);
  tfrt_allocator_free(tfrt_allocator_system(), watch, sizeof(*watch));
}

static tfrt_status_t create_watch(const tfrt_certificate_files_t* files, uint32_t period_s,
                                  tfrt_certificate_watch_t** out_watch) {
  *out_watch = NULL;
  tfrt_certificate_watch_t* watch =
      tfrt_allocator_allocate_zeroed(tfrt_allocator_system(), sizeof(*watch));
  if (!watch) return tfrt_status_out_of_memory();
  for (int i = 0; i < FILE_COUNT; ++i) watch->copies[i] = -1;
  watch->period_ns = period_s * TFRT_NANOSECONDS_PER_SECOND;
  tfrt_mutex_initialize(&watch->mutex);
  tfrt_condition_initialize(&watch->stopped);
  tfrt_status_t status = copy_paths(watch, files);
  if (!status) status = start_watch(watch);
  if (status) {
    destroy_watch(watch);
    return status;
  }
  *out_watch = watch;
  return NULL;
}

static tfrt_certificate_files_t copies_of(const tfrt_certificate_watch_t* watch) {
  return (tfrt_certificate_files_t){.authorities = watch->copy_paths[AUTHORITIES],
                                    .certificate = watch->copy_paths[CERTIFICATE],
                                    .key = watch->copy_paths[KEY]};
}

// --- The set ------------------------------------------------------------------

// A cipher suite of TLS 1.2 that can't be used unless both sides have a shared secret.
#define UNUSABLE_CIPHER_SUITE "PSK-AES256-GCM-SHA384"

// A provider that reads the files that |watch| has found good, on a thread of gRPC's (+1).
static grpc_tls_certificate_provider* create_provider(const tfrt_certificate_watch_t* watch) {
  tfrt_certificate_files_t copies = copies_of(watch);
  return grpc_tls_certificate_provider_file_watcher_create(
      copies.key, copies.certificate, copies.authorities, TFRT_TUNING_COPY_RELOAD_S);
}

// The options that both sides share (+1, taken over by the credentials made of them).
static grpc_tls_credentials_options* create_options(grpc_tls_certificate_provider* provider) {
  grpc_tls_credentials_options* options = grpc_tls_credentials_options_create();
  grpc_tls_credentials_options_set_certificate_provider(options, provider);
  grpc_tls_credentials_options_watch_root_certs(options);
  grpc_tls_credentials_options_watch_identity_key_cert_pairs(options);
  return options;
}

// The dialler compares the name in the certificate; gRPC does so without being asked, but this
// is not left to what it does without being asked.
static grpc_channel_credentials* create_channel_credentials(
    grpc_tls_certificate_provider* provider) {
  grpc_tls_credentials_options* options = create_options(provider);
  grpc_tls_certificate_verifier* verifier = grpc_tls_certificate_verifier_host_name_create();
  grpc_tls_credentials_options_set_certificate_verifier(options, verifier);
  grpc_tls_certificate_verifier_release(verifier);
  grpc_tls_credentials_options_set_verify_server_cert(options, 1);
  return grpc_tls_credentials_create(options);
}

static grpc_server_credentials* create_server_credentials(grpc_tls_certificate_provider* provider) {
  grpc_tls_credentials_options* options = create_options(provider);
  grpc_tls_credentials_options_set_cert_request_type(
      options, GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY);
  return grpc_tls_server_credentials_create(options);
}

tfrt_status_t tfrt_grpc_credential_set_initialize(tfrt_grpc_credential_set_t* set,
                                                  const tfrt_grpc_credentials_t* credentials) {
  memset(set, 0, sizeof(*set));
  if (credentials->kind == TFRT_GRPC_CREDENTIALS_PLAIN_TEXT) {
    set->channel = grpc_insecure_credentials_create();
    set->server = grpc_insecure_server_credentials_create();
    return NULL;
  }
  const tfrt_certificate_files_t* files = &credentials->files;
  bool is_whole = files->authorities && files->certificate && files->key;
  if (credentials->kind != TFRT_GRPC_CREDENTIALS_TLS || !is_whole) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "credentials are plain text, or TLS with three files; these are of "
                              "kind %d",
                              (int)credentials->kind);
  }
  setenv("GRPC_SSL_CIPHER_SUITES", UNUSABLE_CIPHER_SUITE, 1);
  uint32_t reload_s =
      credentials->reload_s ? credentials->reload_s : (uint32_t)TFRT_GRPC_CREDENTIALS_RELOAD_S;
  TFRT_RETURN_IF_ERROR(create_watch(files, reload_s, &set->watch));
  set->files = files_of(set->watch);
  grpc_tls_certificate_provider* provider = create_provider(set->watch);
  set->channel = create_channel_credentials(provider);
  set->server = create_server_credentials(provider);
  grpc_tls_certificate_provider_release(provider);
  set->is_encrypted = true;
  if (set->channel && set->server) return NULL;
  tfrt_grpc_credential_set_deinitialize(set);
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "gRPC does not take %s, %s and %s",
                            files->authorities, files->certificate, files->key);
}

void tfrt_grpc_credential_set_deinitialize(tfrt_grpc_credential_set_t* set) {
  if (set->channel) grpc_channel_credentials_release(set->channel);
  if (set->server) grpc_server_credentials_release(set->server);
  // gRPC's thread may look_at_files once more; paths that are gone change nothing of what it has.
  destroy_watch(set->watch);
  memset(set, 0, sizeof(*set));
}
