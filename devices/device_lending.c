// SPDX-License-Identifier: Apache-2.0
#include "devices/device_lending.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "devices/device_lending_impl.h"
#include "host_runtime/base/clock.h"
#include "host_runtime/base/random.h"

#define TFRT_LENDING_PATIENCE_NS (2 * TFRT_NANOSECONDS_PER_SECOND)

// The waker, the listener and the most connections, both kinds together.
#define TFRT_LENDING_MAX_WATCHED ((size_t)1024)

// How long guests wait when the process has no descriptor for them.
#define TFRT_LENDING_PAUSE_MS 100

typedef enum tfrt_device_loan_state_e {
  TFRT_DEVICE_LOAN_OFFERED = 0,
  TFRT_DEVICE_LOAN_TAKEN,
  TFRT_DEVICE_LOAN_ORPHANED,  // taken, and the owner has ended it
  TFRT_DEVICE_LOAN_RETURNED,
} tfrt_device_loan_state_t;

typedef struct tfrt_device_guest_s {
  tfrt_list_link_t link;
  int socket;
} tfrt_device_guest_t;

struct tfrt_device_loan_s {
  tfrt_list_link_t link;
  tfrt_device_lending_t* lending;  // +1
  tfrt_device_buffer_t* buffer;    // +1
  uint64_t number;
  uint64_t offset;
  uint8_t secret[TFRT_LENDING_SECRET_SIZE];
  tfrt_device_loan_state_t state;
  const tfrt_device_guest_t* guest;  // that has taken it
};

// --- Life ----------------------------------------------------------------------------

tfrt_status_t tfrt_device_lending_create(tfrt_allocator_t allocator, tfrt_work_queue_t* work_queue,
                                         tfrt_device_lending_t** out_lending) {
  tfrt_device_lending_t* lending = tfrt_allocator_allocate_zeroed(allocator, sizeof(*lending));
  *out_lending = lending;
  if (!lending) return tfrt_status_out_of_memory();
  tfrt_ref_count_initialize(&lending->ref_count);
  lending->allocator = allocator;
  lending->work_queue = tfrt_work_queue_retain(work_queue);
  lending->user = geteuid();
  tfrt_mutex_initialize(&lending->mutex);
  tfrt_condition_initialize(&lending->came_back);
  lending->listener = -1;
  lending->waker = -1;
  tfrt_list_initialize(&lending->loans);
  tfrt_list_initialize(&lending->guests);
  tfrt_list_initialize(&lending->lenders);
  return NULL;
}

tfrt_device_lending_t* tfrt_device_lending_retain(tfrt_device_lending_t* lending) {
  tfrt_ref_count_increment(&lending->ref_count);
  return lending;
}

void tfrt_device_lending_release(tfrt_device_lending_t* lending) {
  if (!lending || !tfrt_ref_count_decrement(&lending->ref_count)) return;
  tfrt_status_release(lending->failure);
  tfrt_condition_deinitialize(&lending->came_back);
  tfrt_mutex_deinitialize(&lending->mutex);
  tfrt_work_queue_release(lending->work_queue);
  tfrt_allocator_free(lending->allocator, lending, sizeof(*lending));
}

tfrt_device_lending_counts_t tfrt_device_lending_counts(tfrt_device_lending_t* lending) {
  tfrt_mutex_lock(&lending->mutex);
  tfrt_device_lending_counts_t counts = lending->counts;
  tfrt_mutex_unlock(&lending->mutex);
  return counts;
}

// --- Loans ---------------------------------------------------------------------------

static void device_loan_free(tfrt_device_loan_t* loan) {
  tfrt_device_lending_t* lending = loan->lending;
  tfrt_device_buffer_release(loan->buffer);
  tfrt_allocator_free(lending->allocator, loan, sizeof(*loan));
  tfrt_device_lending_release(lending);
}

// Takes |loan| out of the list. With the mutex held.
static void device_loan_remove(tfrt_device_loan_t* loan) {
  tfrt_list_remove(&loan->link);
  --loan->lending->counts.loans;
}

// The borrower of |loan|, which is taken, has closed it, or is lost. Returns true if the caller
// frees it now. With the mutex held.
static bool device_loan_return(tfrt_device_loan_t* loan) {
  bool is_over = loan->state == TFRT_DEVICE_LOAN_ORPHANED;
  loan->state = TFRT_DEVICE_LOAN_RETURNED;
  loan->guest = NULL;
  --loan->lending->counts.taken;
  tfrt_condition_broadcast(&loan->lending->came_back);
  if (is_over) device_loan_remove(loan);
  return is_over;
}

void tfrt_device_loan_end(tfrt_device_loan_t* loan) {
  if (!loan) return;
  tfrt_mutex_t* mutex = &loan->lending->mutex;
  tfrt_mutex_lock(mutex);
  bool is_taken = loan->state == TFRT_DEVICE_LOAN_TAKEN;
  if (is_taken) {
    loan->state = TFRT_DEVICE_LOAN_ORPHANED;
  } else {
    device_loan_remove(loan);
  }
  tfrt_mutex_unlock(mutex);
  if (!is_taken) device_loan_free(loan);
}

// Adds |loan| to the list, under a number of its own.
static tfrt_status_t device_loan_add(tfrt_device_loan_t* loan) {
  tfrt_device_lending_t* lending = loan->lending;
  TFRT_RETURN_IF_ERROR(tfrt_device_lending_serve(lending));
  tfrt_mutex_lock(&lending->mutex);
  loan->number = ++lending->last_number;
  ++lending->counts.loans;
  tfrt_list_push_back(&lending->loans, &loan->link);
  tfrt_mutex_unlock(&lending->mutex);
  return NULL;
}

tfrt_status_t tfrt_device_lending_lend(tfrt_device_lending_t* lending, tfrt_device_buffer_t* buffer,
                                       tfrt_device_loan_t** out_loan,
                                       tfrt_device_ticket_t* out_ticket) {
  *out_loan = NULL;
  tfrt_device_t* device = buffer->device;
  const tfrt_device_buffer_t* root = buffer->parent ? buffer->parent : buffer;
  if (!device->sharing || buffer->space != TFRT_DEVICE_SPACE_DEVICE || buffer->size == 0) {
    return tfrt_status_create(TFRT_STATUS_FAILED_PRECONDITION,
                              "%s: this memory can't be lent to other processes", device->name);
  }
  if (root->size > device->sharing->max_block_size) {
    return tfrt_status_create(
        TFRT_STATUS_FAILED_PRECONDITION,
        "%s: blocks of more than %llu bytes can't be lent, and this one has %zu", device->name,
        (unsigned long long)device->sharing->max_block_size, root->size);
  }
  tfrt_lending_ticket_t ticket = {
      .magic = TFRT_LENDING_MAGIC, .offset = buffer->address - root->address, .size = buffer->size};
  TFRT_RETURN_IF_ERROR(device->sharing->identify(device, ticket.identity));
  TFRT_RETURN_IF_ERROR(device->sharing->export_block(device, root->address, ticket.block));
  tfrt_device_loan_t* loan = tfrt_allocator_allocate_zeroed(lending->allocator, sizeof(*loan));
  if (!loan) return tfrt_status_out_of_memory();
  loan->lending = tfrt_device_lending_retain(lending);
  loan->buffer = tfrt_device_buffer_retain(buffer);
  loan->offset = ticket.offset;
  tfrt_random_entropy(loan->secret, sizeof(loan->secret));
  tfrt_status_t status = device_loan_add(loan);
  if (status) {
    device_loan_free(loan);
    return status;
  }
  ticket.number = loan->number;
  memcpy(ticket.secret, loan->secret, sizeof(ticket.secret));
  memcpy(ticket.name, lending->name, sizeof(ticket.name));
  memcpy(out_ticket->bytes, &ticket, sizeof(ticket));
  *out_loan = loan;
  return NULL;
}

// --- The socket ----------------------------------------------------------------------

void tfrt_device_lending_address(const uint8_t name[TFRT_LENDING_NAME_SIZE],
                                 struct sockaddr_un* out_address, unsigned* out_size) {
  *out_address = (struct sockaddr_un){.sun_family = AF_UNIX};
  // The first byte is 0: a name that is in no file system, and goes with the socket.
  char* text = out_address->sun_path + 1;
  int used = snprintf(text, sizeof(out_address->sun_path) - 1, "tfrt-lending-");
  for (size_t i = 0; i < TFRT_LENDING_NAME_SIZE; ++i) {
    used +=
        snprintf(text + used, sizeof(out_address->sun_path) - 1 - (size_t)used, "%02x", name[i]);
  }
  *out_size = (unsigned)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)used);
}

tfrt_status_t tfrt_device_lending_check_user(const tfrt_device_lending_t* lending, int socket) {
  struct ucred other = {0};
  socklen_t size = sizeof(other);
  if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &other, &size) == 0 &&
      other.uid == lending->user) {
    return NULL;
  }
  return tfrt_status_create(TFRT_STATUS_PERMISSION_DENIED,
                            "memory of devices is lent to processes of the same user only: that is "
                            "%u here, and %u there",
                            (unsigned)lending->user, (unsigned)other.uid);
}

static tfrt_status_t device_lending_listen(tfrt_device_lending_t* lending) {
  tfrt_random_entropy(lending->name, sizeof(lending->name));
  struct sockaddr_un address;
  unsigned size;
  tfrt_device_lending_address(lending->name, &address, &size);
  lending->waker = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  lending->listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  const size_t most = TFRT_LENDING_MAX_WATCHED;
  tfrt_lending_watch_t* watch = &lending->watch;
  watch->polls = tfrt_allocator_allocate_array(lending->allocator, most, sizeof(*watch->polls));
  watch->guests = tfrt_allocator_allocate_array(lending->allocator, most, sizeof(*watch->guests));
  watch->lenders = tfrt_allocator_allocate_array(lending->allocator, most, sizeof(*watch->lenders));
  if (!watch->polls || !watch->guests || !watch->lenders) return tfrt_status_out_of_memory();
  bool is_good = lending->waker >= 0 && lending->listener >= 0 &&
                 bind(lending->listener, (struct sockaddr*)&address, size) == 0 &&
                 listen(lending->listener, SOMAXCONN) == 0;
  if (is_good) return NULL;
  return tfrt_status_create(TFRT_STATUS_UNAVAILABLE,
                            "no local socket to lend memory of devices by: %s", strerror(errno));
}

static void device_lending_run(void* argument);

static void device_lending_close_sockets(tfrt_device_lending_t* lending) {
  const size_t most = TFRT_LENDING_MAX_WATCHED;
  tfrt_lending_watch_t* watch = &lending->watch;
  tfrt_allocator_free(lending->allocator, watch->polls, most * sizeof(*watch->polls));
  tfrt_allocator_free(lending->allocator, watch->guests, most * sizeof(*watch->guests));
  tfrt_allocator_free(lending->allocator, watch->lenders, most * sizeof(*watch->lenders));
  *watch = (tfrt_lending_watch_t){0};
  if (lending->listener >= 0) close(lending->listener);
  if (lending->waker >= 0) close(lending->waker);
  lending->listener = -1;
  lending->waker = -1;
}

tfrt_status_t tfrt_device_lending_serve(tfrt_device_lending_t* lending) {
  tfrt_mutex_lock(&lending->mutex);
  tfrt_status_t status = NULL;
  if (lending->is_closed) {
    status = tfrt_status_create(TFRT_STATUS_UNAVAILABLE, "memory of devices is lent no more");
  } else if (!lending->is_serving && !lending->failure) {
    lending->failure = device_lending_listen(lending);
    if (!lending->failure) {
      lending->failure =
          tfrt_thread_create("tfrt-lending", device_lending_run, lending, &lending->thread);
    }
    lending->is_serving = !lending->failure;
    if (lending->failure) device_lending_close_sockets(lending);
  }
  if (!status) status = tfrt_status_retain(lending->failure);
  tfrt_mutex_unlock(&lending->mutex);
  return status;
}

void tfrt_device_lending_wake(tfrt_device_lending_t* lending) {
  const uint64_t one = 1;
  // A full counter has woken the thread already.
  ssize_t written = write(lending->waker, &one, sizeof(one));
  (void)written;
}

void tfrt_device_lending_close(tfrt_device_lending_t* lending) {
  tfrt_mutex_lock(&lending->mutex);
  bool is_first = !lending->is_closed;
  lending->is_closed = true;
  int64_t deadline_ns =
      tfrt_deadline_after(tfrt_clock_now_ns(tfrt_clock_system()), TFRT_LENDING_PATIENCE_NS);
  bool is_in_time = true;
  while (is_first && is_in_time && lending->counts.taken > 0) {
    is_in_time = tfrt_condition_wait_until(&lending->came_back, &lending->mutex, deadline_ns);
  }
  bool must_join = is_first && lending->is_serving;
  lending->is_serving = lending->is_serving && !must_join;
  tfrt_mutex_unlock(&lending->mutex);
  if (!must_join) return;
  tfrt_device_lending_wake(lending);
  tfrt_thread_join(&lending->thread);
  device_lending_close_sockets(lending);
}

// --- Guests --------------------------------------------------------------------------
//
// Only the thread touches them.

static void device_guest_drop(tfrt_device_lending_t* lending, tfrt_device_guest_t* guest) {
  tfrt_list_link_t over;
  tfrt_list_initialize(&over);
  tfrt_mutex_lock(&lending->mutex);
  tfrt_list_remove(&guest->link);
  --lending->counts.guests;
  for (tfrt_list_link_t* l = lending->loans.next; l != &lending->loans;) {
    tfrt_device_loan_t* loan = TFRT_CONTAINER_OF(l, tfrt_device_loan_t, link);
    l = l->next;
    if (loan->guest != guest) continue;
    if (device_loan_return(loan)) tfrt_list_push_back(&over, &loan->link);
  }
  tfrt_mutex_unlock(&lending->mutex);
  for (tfrt_list_link_t* l; (l = tfrt_list_pop_front(&over));) {
    device_loan_free(TFRT_CONTAINER_OF(l, tfrt_device_loan_t, link));
  }
  close(guest->socket);
  tfrt_allocator_free(lending->allocator, guest, sizeof(*guest));
}

static void device_lending_accept(tfrt_device_lending_t* lending) {
  int socket = accept4(lending->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
  lending->watch.is_out_of_files = socket < 0 && (errno == EMFILE || errno == ENFILE);
  if (socket < 0) return;
  tfrt_status_t status = tfrt_device_lending_check_user(lending, socket);
  tfrt_device_guest_t* guest =
      status ? NULL : tfrt_allocator_allocate_zeroed(lending->allocator, sizeof(*guest));
  tfrt_status_release(status);
  if (!guest) {
    close(socket);
    return;
  }
  guest->socket = socket;
  tfrt_mutex_lock(&lending->mutex);
  tfrt_list_push_back(&lending->guests, &guest->link);
  ++lending->counts.guests;
  tfrt_mutex_unlock(&lending->mutex);
}

// Whether the secrets are equal; takes the same time for all that are not.
static bool device_secret_is_equal(const uint8_t* a, const uint8_t* b) {
  unsigned different = 0;
  for (size_t i = 0; i < TFRT_LENDING_SECRET_SIZE; ++i) different |= (unsigned)(a[i] ^ b[i]);
  return different == 0;
}

static tfrt_device_loan_t* device_lending_find(tfrt_device_lending_t* lending, uint64_t number) {
  for (tfrt_list_link_t* l = lending->loans.next; l != &lending->loans; l = l->next) {
    tfrt_device_loan_t* loan = TFRT_CONTAINER_OF(l, tfrt_device_loan_t, link);
    if (loan->number == number) return loan;
  }
  return NULL;
}

// Lets |guest| have the loan that |message| names, if it is offered: fills |answer| in, and returns
// its device (+1), or NULL.
static tfrt_device_t* device_guest_take(tfrt_device_lending_t* lending,
                                        const tfrt_device_guest_t* guest,
                                        const tfrt_lending_message_t* message,
                                        tfrt_lending_message_t* answer) {
  tfrt_device_t* device = NULL;
  tfrt_mutex_lock(&lending->mutex);
  tfrt_device_loan_t* loan = device_lending_find(lending, message->number);
  if (loan && loan->state == TFRT_DEVICE_LOAN_OFFERED && !lending->is_closed &&
      device_secret_is_equal(loan->secret, message->secret)) {
    loan->state = TFRT_DEVICE_LOAN_TAKEN;
    loan->guest = guest;
    ++lending->counts.taken;
    answer->kind = TFRT_LENDING_OPENED;
    answer->offset = loan->offset;
    answer->size = loan->buffer->size;
    device = tfrt_device_retain(loan->buffer->device);
  }
  tfrt_mutex_unlock(&lending->mutex);
  return device;
}

// Takes back the loan |number|, if |guest| has it.
static void device_guest_return(tfrt_device_lending_t* lending, const tfrt_device_guest_t* guest,
                                uint64_t number) {
  tfrt_mutex_lock(&lending->mutex);
  tfrt_device_loan_t* loan = device_lending_find(lending, number);
  bool is_over = loan && loan->guest == guest && device_loan_return(loan);
  tfrt_mutex_unlock(&lending->mutex);
  if (is_over) device_loan_free(loan);
}

// Sends |answer|, with |descriptor| unless that is -1. Returns false if |guest| doesn't read.
static bool device_guest_answer(const tfrt_device_guest_t* guest, tfrt_lending_message_t* answer,
                                int descriptor) {
  union {
    char room[CMSG_SPACE(sizeof(int))];
    struct cmsghdr align;
  } control = {{0}};
  struct iovec bytes = {answer, sizeof(*answer)};
  struct msghdr header = {.msg_iov = &bytes, .msg_iovlen = 1};
  if (descriptor >= 0) {
    header.msg_control = control.room;
    header.msg_controllen = sizeof(control.room);
    struct cmsghdr* part = CMSG_FIRSTHDR(&header);
    part->cmsg_level = SOL_SOCKET;
    part->cmsg_type = SCM_RIGHTS;
    part->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(part), &descriptor, sizeof(int));
  }
  return sendmsg(guest->socket, &header, MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)sizeof(*answer);
}

static bool device_guest_open(tfrt_device_lending_t* lending, tfrt_device_guest_t* guest,
                              const tfrt_lending_message_t* message) {
  tfrt_lending_message_t answer = {
      .magic = TFRT_LENDING_MAGIC, .kind = TFRT_LENDING_REFUSED, .number = message->number};
  int descriptor = -1;
  tfrt_device_t* device = device_guest_take(lending, guest, message, &answer);
  if (device && message->kind == TFRT_LENDING_OPEN_WITH_POOL) {
    tfrt_status_t status = device->sharing->export_pool(device, &descriptor);
    if (status) {
      device_guest_return(lending, guest, message->number);
      answer.kind = TFRT_LENDING_REFUSED;
    }
    tfrt_status_release(status);
  }
  tfrt_device_release(device);
  bool is_sent = device_guest_answer(guest, &answer, descriptor);
  if (descriptor >= 0) close(descriptor);
  return is_sent;
}

// Serves one message of |guest|. Returns false if that is over, or breaks the rules.
static bool device_guest_serve(tfrt_device_lending_t* lending, tfrt_device_guest_t* guest) {
  tfrt_lending_message_t message;
  ssize_t size = recv(guest->socket, &message, sizeof(message), MSG_DONTWAIT | MSG_TRUNC);
  if (size < 0) return errno == EAGAIN || errno == EINTR;
  if (size != (ssize_t)sizeof(message) || message.magic != TFRT_LENDING_MAGIC) return false;
  switch (message.kind) {
    case TFRT_LENDING_OPEN:
    case TFRT_LENDING_OPEN_WITH_POOL:
      return device_guest_open(lending, guest, &message);
    case TFRT_LENDING_CLOSE:
      device_guest_return(lending, guest, message.number);
      return true;
    default:
      return false;
  }
}

// --- The thread ----------------------------------------------------------------------

// Writes down what is to be watched. Returns false when it is time to end.
static bool lending_watch_fill(tfrt_device_lending_t* lending) {
  tfrt_lending_watch_t* watch = &lending->watch;
  tfrt_mutex_lock(&lending->mutex);
  bool goes_on = lending->is_serving;
  size_t count = 0;
  watch->polls[count++] = (struct pollfd){.fd = lending->waker, .events = POLLIN};
  watch->polls[count++] = (struct pollfd){.fd = lending->listener, .events = POLLIN};
  const size_t most = TFRT_LENDING_MAX_WATCHED;
  for (tfrt_list_link_t* l = lending->guests.next; l != &lending->guests && count < most;
       l = l->next) {
    tfrt_device_guest_t* guest = TFRT_CONTAINER_OF(l, tfrt_device_guest_t, link);
    watch->guests[count] = guest;
    watch->polls[count++] = (struct pollfd){.fd = guest->socket, .events = POLLIN};
  }
  for (tfrt_list_link_t* l = lending->lenders.next; l != &lending->lenders && count < most;
       l = l->next) {
    tfrt_device_lender_t* lender = TFRT_CONTAINER_OF(l, tfrt_device_lender_t, link);
    tfrt_ref_count_increment(&lender->ref_count);
    watch->guests[count] = NULL;
    watch->lenders[count] = lender;
    // Answers are the fetch's to read.
    watch->polls[count++] = (struct pollfd){.fd = lender->socket, .events = POLLRDHUP};
  }
  watch->count = count;
  // Without room for one more, guests wait.
  if (count == most || watch->is_out_of_files) watch->polls[1].events = 0;
  tfrt_mutex_unlock(&lending->mutex);
  return goes_on;
}

// The process behind |lender| is gone.
static void device_lending_lose(tfrt_device_lending_t* lending, tfrt_device_lender_t* lender) {
  tfrt_mutex_lock(&lending->mutex);
  bool was_there = tfrt_list_is_linked(&lender->link);
  if (was_there) {
    tfrt_list_remove(&lender->link);
    --lending->counts.lenders;
  }
  tfrt_mutex_unlock(&lending->mutex);
  if (was_there) tfrt_device_lender_release(lender);
}

// Serves what the system has found.
static void lending_watch_serve(tfrt_device_lending_t* lending) {
  tfrt_lending_watch_t* watch = &lending->watch;
  uint64_t count;
  watch->is_out_of_files = false;
  while (read(lending->waker, &count, sizeof(count)) > 0) continue;
  if (watch->polls[1].revents) device_lending_accept(lending);
  for (size_t i = 2; i < watch->count; ++i) {
    if (watch->guests[i]) {
      bool is_due = watch->polls[i].revents != 0;
      if (is_due && !device_guest_serve(lending, watch->guests[i])) {
        device_guest_drop(lending, watch->guests[i]);
      }
      continue;
    }
    if (watch->polls[i].revents) device_lending_lose(lending, watch->lenders[i]);
    tfrt_device_lender_release(watch->lenders[i]);
  }
}

static void device_lending_run(void* argument) {
  tfrt_device_lending_t* lending = argument;
  tfrt_lending_watch_t* watch = &lending->watch;
  while (lending_watch_fill(lending)) {
    int patience_ms = watch->is_out_of_files ? TFRT_LENDING_PAUSE_MS : -1;
    // An error leaves all as it is: what is due is seen the next time.
    if (poll(watch->polls, watch->count, patience_ms) < 0) {
      for (size_t i = 0; i < watch->count; ++i) watch->polls[i].revents = 0;
    }
    lending_watch_serve(lending);
  }
  for (size_t i = 2; i < watch->count; ++i) {
    if (!watch->guests[i]) tfrt_device_lender_release(watch->lenders[i]);
  }
  while (!tfrt_list_is_empty(&lending->guests)) {
    device_guest_drop(lending, TFRT_CONTAINER_OF(lending->guests.next, tfrt_device_guest_t, link));
  }
  for (;;) {
    tfrt_mutex_lock(&lending->mutex);
    tfrt_list_link_t* link = tfrt_list_is_empty(&lending->lenders) ? NULL : lending->lenders.next;
    tfrt_mutex_unlock(&lending->mutex);
    if (!link) break;
    device_lending_lose(lending, TFRT_CONTAINER_OF(link, tfrt_device_lender_t, link));
  }
}
