// SPDX-License-Identifier: Apache-2.0
#include "distributed/transport/grpc/admission.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "distributed/transport/grpc/grpc_functions.h"
#include "distributed/tuning/tuning.h"
#include "host_runtime/base/clock.h"
#include "host_runtime/base/log.h"
#include "host_runtime/base/number_text.h"
#include "host_runtime/base/ref_count.h"
#include "host_runtime/base/sync.h"

// Descriptors that connections don't get.
#define RESERVED_DESCRIPTORS 8

// A state of TCP, as struct tcp_info has it.
#define STATE_ESTABLISHED 1

typedef enum state_e { WAITING, CALLING } state_t;

typedef struct stranger_s {
  state_t state;
  uint64_t number;          // from 1, never again
  int descriptor;           // gRPC's: calls say where they come from by it
  int copy;                 // ours
  struct in6_addr address;  // of IPv4 in the mapped form
  uint32_t peer_calls;      // that have come
  int64_t accepted_ns;
} stranger_t;

// The life of the threads: the one that hands connections to gRPC ends first, as the other one may
// have to break the connection that it is busy with.
typedef enum stage_e { ACCEPTING, CLOSING, STOPPED } stage_t;

struct tfrt_grpc_admission_s {
  tfrt_ref_count_t ref_count;
  tfrt_allocator_t allocator;
  tfrt_grpc_channel_settings_t settings;
  char address[TFRT_TRANSPORT_ADDRESS_SIZE];
  int listener;
  int wake;
  grpc_server* server;
  tfrt_thread_t thread;
  tfrt_thread_t handing_thread;
  bool is_running;
  // Belong to |thread|.
  int64_t paused_until_ns;
  int64_t careful_until_ns;
  int64_t silent_until_ns;
  tfrt_mutex_t mutex;
  tfrt_condition_t changed;  // there is something to hand over, or |stage| is another
  // All below is guarded by |mutex|.
  stage_t stage;
  size_t handed_count;
  int handed[TFRT_TUNING_MAX_STRANGERS];  // descriptors that are due to gRPC, the oldest first
  uint64_t last_number;
  uint32_t flood_count;  // connections that were reset for their calls since the last look
  size_t count;
  stranger_t strangers[TFRT_TUNING_MAX_STRANGERS];  // the oldest first
};

// --- Strangers -----------------------------------------------------------------

// With the lock held.
static void forget(tfrt_grpc_admission_t* admission, size_t index) {
  stranger_t* stranger = &admission->strangers[index];
  close(stranger->copy);
  --admission->count;
  memmove(stranger, stranger + 1, (admission->count - index) * sizeof(*stranger));
}

// Breaks a connection at once and drops its unread bytes: connecting a socket to nobody resets it.
static void reset(int descriptor) {
  const struct sockaddr nobody = {.sa_family = AF_UNSPEC};
  (void)connect(descriptor, &nobody, sizeof(nobody));
}

// Notes a call of stranger |index|; returns the number of its connection, or 0 if that is reset.
// With the lock held.
static uint64_t note_call_of(tfrt_grpc_admission_t* admission, size_t index, bool is_probe) {
  stranger_t* stranger = &admission->strangers[index];
  stranger->state = CALLING;
  if (!is_probe && ++stranger->peer_calls > TFRT_TUNING_STRANGER_PEER_CALLS) {
    ++admission->flood_count;
    reset(stranger->copy);
    forget(admission, index);
    return 0;
  }
  return stranger->number;
}

uint64_t tfrt_grpc_admission_note_call(tfrt_grpc_admission_t* admission, grpc_call* call,
                                       bool is_probe) {
  // "fd:" and a number: gRPC's name of a socket that it was handed.
  char* peer = grpc_call_get_peer(call);
  uint64_t digits = 0;
  const bool is_socket = strncmp(peer, "fd:", 3) == 0 &&
                         tfrt_number_text_parse_u64(tfrt_string_view_of(peer + 3), &digits);
  const int descriptor = is_socket ? (int)digits : -1;
  gpr_free(peer);
  uint64_t number = 0;
  tfrt_mutex_lock(&admission->mutex);
  // From the newest on: an older one with this descriptor is gone, which the thread will see.
  for (size_t i = admission->count; i > 0; --i) {
    if (admission->strangers[i - 1].descriptor != descriptor) continue;
    number = note_call_of(admission, i - 1, is_probe);
    break;
  }
  tfrt_mutex_unlock(&admission->mutex);
  return number;
}

void tfrt_grpc_admission_admit(tfrt_grpc_admission_t* admission, uint64_t number) {
  if (number == 0) return;
  tfrt_mutex_lock(&admission->mutex);
  for (size_t i = 0; i < admission->count; ++i) {
    if (admission->strangers[i].number != number) continue;
    forget(admission, i);
    break;
  }
  tfrt_mutex_unlock(&admission->mutex);
}

// --- Looking -------------------------------------------------------------------

typedef enum verdict_e { STAYS, IS_GONE, IS_LATE, IS_FLOODING } verdict_t;

static verdict_t judge(const stranger_t* stranger, int64_t now_ns) {
  struct tcp_info info = {0};
  socklen_t size = sizeof(info);
  if (getsockopt(stranger->copy, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return IS_GONE;
  if (info.tcpi_state != STATE_ESTABLISHED) return IS_GONE;
  const int64_t age_ns = now_ns - stranger->accepted_ns;
  const uint64_t age_s = (uint64_t)(age_ns / TFRT_NANOSECONDS_PER_SECOND);
  if (info.tcpi_bytes_received >
      TFRT_TUNING_STRANGER_BYTES + age_s * TFRT_TUNING_STRANGER_BYTES_PER_SECOND) {
    return IS_FLOODING;
  }
  return stranger->state == WAITING && age_ns > TFRT_TUNING_STRANGER_WAITING_NS ? IS_LATE : STAYS;
}

// At most one line in a while.
static bool may_tell(tfrt_grpc_admission_t* admission, int64_t now_ns) {
  if (now_ns < admission->silent_until_ns) return false;
  admission->silent_until_ns = now_ns + TFRT_TUNING_FLOOD_TELL_NS;
  return true;
}

static void look_at_all(tfrt_grpc_admission_t* admission, int64_t now_ns) {
  tfrt_mutex_lock(&admission->mutex);
  size_t flooding = admission->flood_count;
  admission->flood_count = 0;
  for (size_t i = 0; i < admission->count;) {
    const verdict_t verdict = judge(&admission->strangers[i], now_ns);
    if (verdict == IS_LATE || verdict == IS_FLOODING) reset(admission->strangers[i].copy);
    if (verdict == IS_FLOODING) ++flooding;
    if (verdict == STAYS) {
      ++i;
    } else {
      forget(admission, i);
    }
  }
  tfrt_mutex_unlock(&admission->mutex);
  if (flooding == 0) return;
  admission->paused_until_ns = now_ns + TFRT_TUNING_FLOOD_PAUSE_NS;
  admission->careful_until_ns = now_ns + TFRT_TUNING_FLOOD_CAREFUL_NS;
  if (!may_tell(admission, now_ns)) return;
  tfrt_log(TFRT_LOG_WARNING, NULL,
           "reset a connection to %s: it sent more than %" PRIu64
           " bytes, or began more than %u calls, and sent no message",
           admission->address, TFRT_TUNING_STRANGER_BYTES, TFRT_TUNING_STRANGER_PEER_CALLS);
}

// --- Room ----------------------------------------------------------------------

static rlim_t descriptor_limit(void) {
  struct rlimit limit = {.rlim_cur = 1024};
  getrlimit(RLIMIT_NOFILE, &limit);
  return limit.rlim_cur;
}

static size_t max_strangers(void) {
  const rlim_t fit = descriptor_limit() / TFRT_TUNING_DESCRIPTORS_PER_STRANGER;
  if (fit < TFRT_TUNING_MIN_STRANGERS) return TFRT_TUNING_MIN_STRANGERS;
  return fit < TFRT_TUNING_MAX_STRANGERS ? (size_t)fit : TFRT_TUNING_MAX_STRANGERS;
}

// How many strangers come from the address of |stranger|. With the lock held.
static size_t count_of_address(const tfrt_grpc_admission_t* admission, const stranger_t* stranger) {
  size_t count = 0;
  for (size_t i = 0; i < admission->count; ++i) {
    count += memcmp(&admission->strangers[i].address, &stranger->address,
                    sizeof(stranger->address)) == 0;
  }
  return count;
}

// Resets the oldest stranger of the address that has most; false if none has had its time, which is
// longer for those that call. With the lock held.
static bool make_room(tfrt_grpc_admission_t* admission, int64_t now_ns) {
  size_t found = admission->count;
  size_t most = 0;
  for (size_t i = 0; i < admission->count; ++i) {
    const stranger_t* stranger = &admission->strangers[i];
    const int64_t time_ns = stranger->state == WAITING ? TFRT_TUNING_STRANGER_CROWDED_NS
                                                       : TFRT_TUNING_STRANGER_WAITING_NS;
    if (now_ns - stranger->accepted_ns < time_ns) continue;
    const size_t count = count_of_address(admission, stranger);
    if (count > most) found = i;
    if (count > most) most = count;
  }
  if (found == admission->count) return false;
  reset(admission->strangers[found].copy);
  forget(admission, found);
  return true;
}

static bool has_room(tfrt_grpc_admission_t* admission, int64_t now_ns) {
  tfrt_mutex_lock(&admission->mutex);
  const bool has_some = admission->handed_count < TFRT_TUNING_MAX_STRANGERS &&
                        (admission->count < max_strangers() || make_room(admission, now_ns));
  tfrt_mutex_unlock(&admission->mutex);
  return has_some;
}

// --- Accepting -----------------------------------------------------------------

// Descriptors are out, or nearly.
static void pause_for_descriptors(tfrt_grpc_admission_t* admission, int64_t now_ns) {
  admission->paused_until_ns = now_ns + TFRT_TUNING_FLOOD_PAUSE_NS;
  if (!may_tell(admission, now_ns)) return;
  tfrt_grpc_library_log_no_descriptor(admission->address);
}

static struct in6_addr address_of(const struct sockaddr_in6* name) {
  if (name->sin6_family == AF_INET6) return name->sin6_addr;
  struct in6_addr mapped = {.s6_addr = {[10] = 0xff, [11] = 0xff}};
  memcpy(&mapped.s6_addr[12], &((const struct sockaddr_in*)name)->sin_addr, 4);
  return mapped;
}

// Sets the options that gRPC sets where it listens itself.
static void prepare_socket(const tfrt_grpc_admission_t* admission, int descriptor) {
  const int on = 1;
  const unsigned stall_ms = (unsigned)admission->settings.stall_limit_ms;
  (void)setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  (void)setsockopt(descriptor, IPPROTO_TCP, TCP_USER_TIMEOUT, &stall_ms, sizeof(stall_ms));
}

static void add_stranger(tfrt_grpc_admission_t* admission, int descriptor, int copy,
                         const struct sockaddr_in6* name, int64_t now_ns) {
  tfrt_mutex_lock(&admission->mutex);
  admission->strangers[admission->count++] = (stranger_t){.number = ++admission->last_number,
                                                          .descriptor = descriptor,
                                                          .copy = copy,
                                                          .address = address_of(name),
                                                          .accepted_ns = now_ns};
  admission->handed[admission->handed_count++] = descriptor;
  tfrt_condition_broadcast(&admission->changed);
  tfrt_mutex_unlock(&admission->mutex);
}

// True if so much has come on |descriptor| before it was accepted that gRPC shall read none of it.
static bool brings_flood(int descriptor) {
  struct tcp_info info = {0};
  socklen_t size = sizeof(info);
  return getsockopt(descriptor, IPPROTO_TCP, TCP_INFO, &info, &size) == 0 &&
         info.tcpi_bytes_received > TFRT_TUNING_STRANGER_FIRST_BYTES;
}

// Resets |descriptor|, which nobody else has, at once.
static void refuse(int descriptor) {
  reset(descriptor);
  close(descriptor);
}

// Accepts one connection; false if there is none, or nobody is to be accepted now.
static bool accept_one(tfrt_grpc_admission_t* admission, int64_t now_ns) {
  if (!has_room(admission, now_ns)) return false;
  struct sockaddr_in6 name;  // holds one of IPv4, too
  socklen_t size = sizeof(name);
  const int descriptor =
      accept4(admission->listener, (struct sockaddr*)&name, &size, SOCK_NONBLOCK | SOCK_CLOEXEC);
  if (descriptor < 0) {
    if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
      pause_for_descriptors(admission, now_ns);
    }
    return errno == EINTR || errno == ECONNABORTED;
  }
  if (brings_flood(descriptor)) {
    refuse(descriptor);
    tfrt_mutex_lock(&admission->mutex);
    ++admission->flood_count;
    tfrt_mutex_unlock(&admission->mutex);
    return true;
  }
  // The system gives the lowest number that is free.
  const bool is_fit = (rlim_t)descriptor + RESERVED_DESCRIPTORS < descriptor_limit();
  const int copy = is_fit ? fcntl(descriptor, F_DUPFD_CLOEXEC, 0) : -1;
  if (copy < 0) {
    refuse(descriptor);
    pause_for_descriptors(admission, now_ns);
    return false;
  }
  prepare_socket(admission, descriptor);
  add_stranger(admission, descriptor, copy, &name, now_ns);
  return true;
}

// --- The threads ---------------------------------------------------------------

// Takes the next descriptor that is due to gRPC; -1 when there will be none any more.
static int take_handed(tfrt_grpc_admission_t* admission) {
  int descriptor = -1;
  tfrt_mutex_lock(&admission->mutex);
  while (admission->stage == ACCEPTING && admission->handed_count == 0) {
    tfrt_condition_wait(&admission->changed, &admission->mutex);
  }
  if (admission->stage == ACCEPTING) {
    descriptor = admission->handed[0];
    --admission->handed_count;
    memmove(admission->handed, admission->handed + 1,
            admission->handed_count * sizeof(admission->handed[0]));
  }
  tfrt_mutex_unlock(&admission->mutex);
  return descriptor;
}

// Hands connections to gRPC, which may read from one as long as there is something to read: so this
// thread does nothing else.
static void hand_over(void* argument) {
  tfrt_grpc_admission_t* admission = argument;
  for (int descriptor; (descriptor = take_handed(admission)) >= 0;) {
    grpc_server_add_channel_from_fd(admission->server, descriptor,
                                    admission->settings.credentials->server);
  }
}

static void set_stage(tfrt_grpc_admission_t* admission, stage_t stage) {
  tfrt_mutex_lock(&admission->mutex);
  admission->stage = stage;
  tfrt_condition_broadcast(&admission->changed);
  tfrt_mutex_unlock(&admission->mutex);
}

static bool has_strangers(tfrt_grpc_admission_t* admission) {
  tfrt_mutex_lock(&admission->mutex);
  const bool has_some = admission->count > 0;
  tfrt_mutex_unlock(&admission->mutex);
  return has_some;
}

static stage_t stage_of(tfrt_grpc_admission_t* admission) {
  tfrt_mutex_lock(&admission->mutex);
  const stage_t stage = admission->stage;
  tfrt_mutex_unlock(&admission->mutex);
  return stage;
}

static void run(void* argument) {
  tfrt_grpc_admission_t* admission = argument;
  const tfrt_clock_t clock = tfrt_clock_system();
  bool is_full = false;
  for (stage_t stage; (stage = stage_of(admission)) != STOPPED;) {
    int64_t now_ns = tfrt_clock_now_ns(clock);
    const bool is_paused = is_full || stage == CLOSING || now_ns < admission->paused_until_ns;
    struct pollfd files[] = {{.fd = admission->wake, .events = POLLIN},
                             {.fd = is_paused ? -1 : admission->listener, .events = POLLIN}};
    (void)poll(files, 2, is_paused || has_strangers(admission) ? TFRT_TUNING_STRANGER_LOOK_MS : -1);
    now_ns = tfrt_clock_now_ns(clock);
    look_at_all(admission, now_ns);
    is_full = false;
    if (stage == CLOSING || now_ns < admission->paused_until_ns) continue;
    const int most = now_ns < admission->careful_until_ns ? TFRT_TUNING_FLOOD_CAREFULLY_ACCEPTED
                                                          : TFRT_TUNING_FLOOD_ACCEPTED;
    int accepted = 0;
    while (accepted < most && accept_one(admission, now_ns)) ++accepted;
    is_full = !has_room(admission, now_ns);
  }
}

// --- Life ----------------------------------------------------------------------

static int open_listener(const char* address, int* out_port) {
  struct sockaddr_in6 name;
  socklen_t size = tfrt_grpc_address_to_socket(address, &name);
  const int descriptor = socket(name.sin6_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (descriptor < 0) return -1;
  const int on = 1;
  const int off = 0;
  (void)setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  // As gRPC does: the wildcard of IPv6 is that of IPv4, too.
  if (name.sin6_family == AF_INET6) {
    (void)setsockopt(descriptor, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
  }
  const bool is_open = bind(descriptor, (struct sockaddr*)&name, size) == 0 &&
                       listen(descriptor, SOMAXCONN) == 0 &&
                       getsockname(descriptor, (struct sockaddr*)&name, &size) == 0;
  if (is_open) {
    *out_port = ntohs(name.sin6_port);  // an IPv4 one has its port in the same place
    return descriptor;
  }
  close(descriptor);
  return -1;
}

static void destroy(tfrt_grpc_admission_t* admission) {
  while (admission->count > 0) forget(admission, admission->count - 1);
  for (size_t i = 0; i < admission->handed_count; ++i) close(admission->handed[i]);
  if (admission->listener >= 0) close(admission->listener);
  if (admission->wake >= 0) close(admission->wake);
  tfrt_condition_deinitialize(&admission->changed);
  tfrt_mutex_deinitialize(&admission->mutex);
  tfrt_allocator_free(admission->allocator, admission, sizeof(*admission));
}

tfrt_status_t tfrt_grpc_admission_create(const char* address,
                                         const tfrt_grpc_channel_settings_t* settings,
                                         tfrt_allocator_t allocator, int* out_port,
                                         tfrt_grpc_admission_t** out_admission) {
  *out_admission = NULL;
  *out_port = 0;
  tfrt_grpc_admission_t* admission = tfrt_allocator_allocate_zeroed(allocator, sizeof(*admission));
  if (!admission) return tfrt_status_out_of_memory();
  tfrt_ref_count_initialize(&admission->ref_count);
  admission->allocator = allocator;
  admission->settings = *settings;
  tfrt_mutex_initialize(&admission->mutex);
  tfrt_condition_initialize(&admission->changed);
  admission->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  admission->listener = open_listener(address, out_port);
  if (admission->listener >= 0 && admission->wake >= 0) {
    tfrt_grpc_address_with_port(address, *out_port, admission->address);
    *out_admission = admission;
    return NULL;
  }
  destroy(admission);
  *out_port = 0;
  return tfrt_status_create(TFRT_STATUS_ABORTED, "%s can't be listened on", address);
}

tfrt_status_t tfrt_grpc_admission_start(tfrt_grpc_admission_t* admission, grpc_server* server) {
  admission->server = server;
  TFRT_RETURN_IF_ERROR(tfrt_thread_create("admission", run, admission, &admission->thread));
  tfrt_status_t status =
      tfrt_thread_create("admission-gives", hand_over, admission, &admission->handing_thread);
  if (status) {
    set_stage(admission, STOPPED);
    (void)eventfd_write(admission->wake, 1);
    tfrt_thread_join(&admission->thread);
    return status;
  }
  admission->is_running = true;
  return NULL;
}

void tfrt_grpc_admission_stop(tfrt_grpc_admission_t* admission) {
  if (!admission->is_running) return;
  set_stage(admission, CLOSING);
  tfrt_thread_join(&admission->handing_thread);
  set_stage(admission, STOPPED);
  (void)eventfd_write(admission->wake, 1);
  tfrt_thread_join(&admission->thread);
  admission->is_running = false;
  close(admission->listener);
  admission->listener = -1;
}

tfrt_grpc_admission_t* tfrt_grpc_admission_retain(tfrt_grpc_admission_t* admission) {
  tfrt_ref_count_increment(&admission->ref_count);
  return admission;
}

void tfrt_grpc_admission_release(tfrt_grpc_admission_t* admission) {
  if (admission && tfrt_ref_count_decrement(&admission->ref_count)) destroy(admission);
}
