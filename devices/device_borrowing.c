// SPDX-License-Identifier: Apache-2.0
//
// The borrower's side of devices/device_lending.h.
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "devices/device_lending_impl.h"
#include "host_runtime/base/sync.h"

// How long a lender may take to answer.
#define TFRT_LENDING_ANSWER_S 2

// A pool of a lender, opened here.
typedef struct tfrt_lending_pool_s {
  struct tfrt_lending_pool_s* next;
  tfrt_device_t* device;  // +1
  void* pool;
} tfrt_lending_pool_t;

// --- Lenders -------------------------------------------------------------------------

void tfrt_device_lender_release(tfrt_device_lender_t* lender) {
  if (!lender || !tfrt_ref_count_decrement(&lender->ref_count)) return;
  for (tfrt_lending_pool_t* pool = lender->pools; pool;) {
    tfrt_lending_pool_t* next = pool->next;
    pool->device->sharing->close_pool(pool->device, pool->pool);
    tfrt_device_release(pool->device);
    tfrt_allocator_free(lender->allocator, pool, sizeof(*pool));
    pool = next;
  }
  close(lender->socket);
  tfrt_mutex_deinitialize(&lender->mutex);
  tfrt_allocator_free(lender->allocator, lender, sizeof(*lender));
}

static tfrt_status_t device_lender_connect(const tfrt_device_lending_t* lending,
                                           const uint8_t name[TFRT_LENDING_NAME_SIZE],
                                           int* out_socket) {
  struct sockaddr_un address;
  unsigned size;
  tfrt_device_lending_address(name, &address, &size);
  *out_socket = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  const struct timeval patience = {.tv_sec = TFRT_LENDING_ANSWER_S};
  bool is_good =
      *out_socket >= 0 &&
      setsockopt(*out_socket, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)) == 0 &&
      setsockopt(*out_socket, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience)) == 0 &&
      connect(*out_socket, (struct sockaddr*)&address, size) == 0;
  tfrt_status_t status = NULL;
  if (!is_good) {
    status =
        tfrt_status_create(TFRT_STATUS_UNAVAILABLE,
                           "the lender's socket can't be reached from here: %s", strerror(errno));
  } else {
    status = tfrt_device_lending_check_user(lending, *out_socket);
  }
  if (status && *out_socket >= 0) close(*out_socket);
  return status;
}

// The lender |name| (+1), or NULL. With the mutex held.
static tfrt_device_lender_t* device_lending_find_lender(
    tfrt_device_lending_t* lending, const uint8_t name[TFRT_LENDING_NAME_SIZE]) {
  for (tfrt_list_link_t* l = lending->lenders.next; l != &lending->lenders; l = l->next) {
    tfrt_device_lender_t* lender = TFRT_CONTAINER_OF(l, tfrt_device_lender_t, link);
    if (memcmp(lender->name, name, TFRT_LENDING_NAME_SIZE) != 0) continue;
    tfrt_ref_count_increment(&lender->ref_count);
    return lender;
  }
  return NULL;
}

// Sets |*out_lender| (+1) to the connection to the lender |name|. If two threads connect, the
// connection of the first one stays.
static tfrt_status_t device_lending_reach(tfrt_device_lending_t* lending,
                                          const uint8_t name[TFRT_LENDING_NAME_SIZE],
                                          tfrt_device_lender_t** out_lender) {
  tfrt_mutex_lock(&lending->mutex);
  *out_lender = device_lending_find_lender(lending, name);
  tfrt_mutex_unlock(&lending->mutex);
  if (*out_lender) return NULL;
  int socket = -1;
  TFRT_RETURN_IF_ERROR(device_lender_connect(lending, name, &socket));
  tfrt_device_lender_t* lender =
      tfrt_allocator_allocate_zeroed(lending->allocator, sizeof(*lender));
  if (!lender) {
    close(socket);
    return tfrt_status_out_of_memory();
  }
  tfrt_ref_count_initialize(&lender->ref_count);
  lender->allocator = lending->allocator;
  memcpy(lender->name, name, TFRT_LENDING_NAME_SIZE);
  lender->socket = socket;
  tfrt_mutex_initialize(&lender->mutex);
  tfrt_list_initialize(&lender->link);
  tfrt_mutex_lock(&lending->mutex);
  *out_lender = device_lending_find_lender(lending, name);
  bool is_new = !*out_lender && lending->is_serving;
  if (is_new) {
    tfrt_ref_count_increment(&lender->ref_count);
    tfrt_list_push_back(&lending->lenders, &lender->link);
    ++lending->counts.lenders;
    *out_lender = lender;
    tfrt_device_lending_wake(lending);
  }
  tfrt_mutex_unlock(&lending->mutex);
  tfrt_status_t status = NULL;
  if (!*out_lender) {
    status = tfrt_status_create(TFRT_STATUS_UNAVAILABLE, "memory of devices is borrowed no more");
  }
  if (!is_new) tfrt_device_lender_release(lender);
  return status;
}

static tfrt_lending_pool_t* device_lender_find_pool(const tfrt_device_lender_t* lender,
                                                    const tfrt_device_t* device) {
  tfrt_lending_pool_t* pool = lender->pools;
  while (pool && pool->device != device) pool = pool->next;
  return pool;
}

// Opens the pool that |descriptor| stands for. With the lender's mutex held.
static tfrt_status_t device_lender_add_pool(tfrt_device_lender_t* lender, tfrt_device_t* device,
                                            int descriptor, tfrt_lending_pool_t** out_pool) {
  *out_pool = tfrt_allocator_allocate_zeroed(lender->allocator, sizeof(**out_pool));
  if (!*out_pool) return tfrt_status_out_of_memory();
  tfrt_status_t status = device->sharing->open_pool(device, descriptor, &(*out_pool)->pool);
  if (status) {
    tfrt_allocator_free(lender->allocator, *out_pool, sizeof(**out_pool));
    *out_pool = NULL;
    return status;
  }
  (*out_pool)->device = tfrt_device_retain(device);
  (*out_pool)->next = lender->pools;
  lender->pools = *out_pool;
  return NULL;
}

// Receives one message, with at most one descriptor, which is -1 if there is none.
static bool device_lender_receive(const tfrt_device_lender_t* lender,
                                  tfrt_lending_message_t* out_answer, int* out_descriptor) {
  union {
    char room[CMSG_SPACE(sizeof(int))];
    struct cmsghdr align;
  } control = {{0}};
  *out_descriptor = -1;
  struct iovec bytes = {out_answer, sizeof(*out_answer)};
  struct msghdr header = {.msg_iov = &bytes,
                          .msg_iovlen = 1,
                          .msg_control = control.room,
                          .msg_controllen = sizeof(control.room)};
  ssize_t size = -1;
  do {
    size = recvmsg(lender->socket, &header, MSG_CMSG_CLOEXEC);
  } while (size < 0 && errno == EINTR);
  if (size < 0) return false;
  const struct cmsghdr* part = CMSG_FIRSTHDR(&header);
  if (part && part->cmsg_level == SOL_SOCKET && part->cmsg_type == SCM_RIGHTS &&
      part->cmsg_len == CMSG_LEN(sizeof(int))) {
    memcpy(out_descriptor, CMSG_DATA(part), sizeof(int));
  }
  return size == (ssize_t)sizeof(*out_answer) && out_answer->magic == TFRT_LENDING_MAGIC;
}

static bool device_lender_send(const tfrt_device_lender_t* lender, tfrt_lending_kind_t kind,
                               const tfrt_lending_ticket_t* ticket) {
  tfrt_lending_message_t message = {
      .magic = TFRT_LENDING_MAGIC, .kind = kind, .number = ticket->number};
  memcpy(message.secret, ticket->secret, sizeof(message.secret));
  return send(lender->socket, &message, sizeof(message), MSG_NOSIGNAL) == (ssize_t)sizeof(message);
}

static tfrt_status_t device_lender_answer_error(const tfrt_lending_ticket_t* ticket,
                                                const tfrt_lending_message_t* answer) {
  if (answer->kind == TFRT_LENDING_REFUSED) {
    return tfrt_status_create(TFRT_STATUS_NOT_FOUND, "the lender no longer offers this loan");
  }
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                            "the lender says %llu bytes from byte %llu, its ticket %llu from %llu",
                            (unsigned long long)answer->size, (unsigned long long)answer->offset,
                            (unsigned long long)ticket->size, (unsigned long long)ticket->offset);
}

// Takes the loan of |ticket|; sets |*out_is_taken| if CLOSE is due, and |*out_pool| to the pool
// that it is from.
static tfrt_status_t device_lender_open(tfrt_device_lender_t* lender, tfrt_device_t* device,
                                        const tfrt_lending_ticket_t* ticket, bool* out_is_taken,
                                        void** out_pool) {
  tfrt_lending_message_t answer = {0};
  int descriptor = -1;
  tfrt_mutex_lock(&lender->mutex);
  tfrt_lending_pool_t* pool = device_lender_find_pool(lender, device);
  tfrt_lending_kind_t kind = pool ? TFRT_LENDING_OPEN : TFRT_LENDING_OPEN_WITH_POOL;
  bool is_good = !lender->is_broken && device_lender_send(lender, kind, ticket) &&
                 device_lender_receive(lender, &answer, &descriptor) &&
                 answer.number == ticket->number;
  tfrt_status_t status = NULL;
  if (!is_good) {
    // An answer that comes later would be taken for that to another question.
    lender->is_broken = true;
    shutdown(lender->socket, SHUT_RDWR);
    status = tfrt_status_create(TFRT_STATUS_UNAVAILABLE, "the lender doesn't answer");
  } else {
    *out_is_taken = answer.kind == TFRT_LENDING_OPENED;
    if (!*out_is_taken || answer.offset != ticket->offset || answer.size != ticket->size) {
      status = device_lender_answer_error(ticket, &answer);
    }
  }
  if (!status && !pool && descriptor < 0) {
    status = tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "the lender sends no pool");
  }
  if (!status && !pool) status = device_lender_add_pool(lender, device, descriptor, &pool);
  if (!status) *out_pool = pool->pool;
  tfrt_mutex_unlock(&lender->mutex);
  if (descriptor >= 0) close(descriptor);
  return status;
}

static void device_lender_close(tfrt_device_lender_t* lender, const tfrt_lending_ticket_t* ticket) {
  tfrt_mutex_lock(&lender->mutex);
  if (!lender->is_broken && !device_lender_send(lender, TFRT_LENDING_CLOSE, ticket)) {
    // The end of the connection says the same.
    lender->is_broken = true;
    shutdown(lender->socket, SHUT_RDWR);
  }
  tfrt_mutex_unlock(&lender->mutex);
}

// --- Fetches -------------------------------------------------------------------------

typedef struct tfrt_device_fetch_s {
  tfrt_task_t task;
  tfrt_device_lending_t* lending;  // +1
  tfrt_device_port_t* port;        // +1
  tfrt_device_buffer_t* target;    // +1
  tfrt_lending_ticket_t ticket;
  tfrt_device_lender_t* lender;    // +1; NULL: not reached
  tfrt_device_t* device;           // +1, that has the block; NULL: not found
  bool is_taken;                   // the lender waits for CLOSE
  tfrt_device_address_t address;   // of the block; 0: not open
  tfrt_async_value_t* copied;      // +1; NULL: nothing was copied
  tfrt_indirect_value_t* promise;  // +1
} tfrt_device_fetch_t;

static void device_fetch_free(tfrt_device_fetch_t* fetch) {
  tfrt_device_lending_t* lending = fetch->lending;
  tfrt_device_lender_release(fetch->lender);
  tfrt_device_release(fetch->device);
  if (fetch->copied) tfrt_async_value_release(fetch->copied);
  tfrt_device_buffer_release(fetch->target);
  tfrt_device_port_release(fetch->port);
  tfrt_allocator_free(lending->allocator, fetch, sizeof(*fetch));
  tfrt_mutex_lock(&lending->mutex);
  --lending->counts.fetches;
  tfrt_mutex_unlock(&lending->mutex);
  tfrt_device_lending_release(lending);
}

// Ends |fetch| with |status| (consumed): closes what is open, then says so.
static void device_fetch_end(tfrt_device_fetch_t* fetch, tfrt_status_t status) {
  if (fetch->address != 0) {
    tfrt_status_t closed = fetch->device->sharing->close_block(fetch->device, fetch->address);
    tfrt_device_report_kept(fetch->device, (size_t)fetch->ticket.size, closed);
  }
  if (fetch->is_taken) device_lender_close(fetch->lender, &fetch->ticket);
  tfrt_indirect_value_t* promise = fetch->promise;
  device_fetch_free(fetch);
  tfrt_indirect_value_forward_take(promise, status ? tfrt_async_value_create_error_take(status)
                                                   : tfrt_async_value_ready_chain());
  tfrt_async_value_release(&promise->base);
}

// Finds the device that has the block, here.
static tfrt_status_t device_fetch_find(tfrt_device_fetch_t* fetch) {
  tfrt_device_t* target = fetch->port->device;
  const tfrt_lending_ticket_t* ticket = &fetch->ticket;
  if (!target->sharing) {
    return tfrt_status_create(TFRT_STATUS_FAILED_PRECONDITION,
                              "%s: other processes' memory can't be used", target->name);
  }
  if (memcmp(ticket->name, fetch->lending->name, sizeof(ticket->name)) == 0) {
    return tfrt_status_create(TFRT_STATUS_FAILED_PRECONDITION, "%s: that is this process's memory",
                              target->name);
  }
  uint32_t ordinal = 0;
  if (ticket->offset + ticket->size > target->sharing->max_block_size) {
    return tfrt_status_create(TFRT_STATUS_FAILED_PRECONDITION,
                              "%s: blocks of more than %llu bytes can't be borrowed", target->name,
                              (unsigned long long)target->sharing->max_block_size);
  }
  TFRT_RETURN_IF_ERROR(target->sharing->find(target, ticket->identity, &ordinal));
  return tfrt_device_platform_device(target->platform, ordinal, &fetch->device);
}

static void device_fetch_ignore(void* context) { (void)context; }

// Begins the copy from the block, which is open.
static tfrt_status_t device_fetch_copy(tfrt_device_fetch_t* fetch) {
  const tfrt_lending_ticket_t* ticket = &fetch->ticket;
  tfrt_device_buffer_t* source;
  TFRT_RETURN_IF_ERROR(tfrt_device_buffer_create_external(
      fetch->device, TFRT_DEVICE_SPACE_DEVICE, fetch->address + ticket->offset,
      (size_t)ticket->size, device_fetch_ignore, NULL, &source));
  tfrt_status_t status =
      tfrt_device_stream_copy(fetch->port->in, fetch->target, 0, source, 0, (size_t)ticket->size);
  // Awaited in any case: no work touches either end when the fetch is over.
  fetch->copied = tfrt_device_port_await_writes(fetch->port);
  tfrt_device_buffer_release(source);
  return status;
}

static tfrt_status_t device_fetch_begin(tfrt_device_fetch_t* fetch) {
  const tfrt_lending_ticket_t* ticket = &fetch->ticket;
  TFRT_RETURN_IF_ERROR(tfrt_device_lending_serve(fetch->lending));
  TFRT_RETURN_IF_ERROR(device_fetch_find(fetch));
  TFRT_RETURN_IF_ERROR(device_lending_reach(fetch->lending, ticket->name, &fetch->lender));
  void* pool = NULL;
  TFRT_RETURN_IF_ERROR(
      device_lender_open(fetch->lender, fetch->device, ticket, &fetch->is_taken, &pool));
  TFRT_RETURN_IF_ERROR(
      fetch->device->sharing->open_block(fetch->device, pool, fetch->port->device, ticket->block,
                                         (size_t)(ticket->offset + ticket->size), &fetch->address));
  return device_fetch_copy(fetch);
}

static void device_fetch_finish(tfrt_task_t* task) {
  tfrt_device_fetch_t* fetch = TFRT_CONTAINER_OF(task, tfrt_device_fetch_t, task);
  tfrt_status_t status = NULL;
  if (tfrt_async_value_is_error(fetch->copied)) {
    status = tfrt_status_retain(tfrt_async_value_error(fetch->copied));
  }
  device_fetch_end(fetch, status);
}

static void device_fetch_run(tfrt_task_t* task) {
  tfrt_device_fetch_t* fetch = TFRT_CONTAINER_OF(task, tfrt_device_fetch_t, task);
  tfrt_status_t status = device_fetch_begin(fetch);
  if (status) {
    device_fetch_end(fetch, status);
    return;
  }
  tfrt_task_initialize(&fetch->task, device_fetch_finish);
  tfrt_async_value_and_then(fetch->copied, &fetch->task);
}

// Checks the untrusted |ticket| of |size| bytes as far as that goes here.
static tfrt_status_t device_fetch_check(const void* ticket, size_t size, size_t target_size,
                                        tfrt_lending_ticket_t* out_ticket) {
  const char* mistake = NULL;
  if (size != sizeof(*out_ticket)) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "a ticket for memory of a device has %zu bytes, not %zu",
                              sizeof(*out_ticket), size);
  }
  memcpy(out_ticket, ticket, sizeof(*out_ticket));
  if (out_ticket->magic != TFRT_LENDING_MAGIC) mistake = "it is of another kind";
  if (out_ticket->size != target_size) mistake = "it is for another size";
  if (out_ticket->offset > UINT64_MAX - out_ticket->size) mistake = "its offset is too large";
  if (!memchr(out_ticket->identity, 0, sizeof(out_ticket->identity))) {
    mistake = "its device's name does not end";
  }
  if (!mistake) return NULL;
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "a ticket for memory of a device: %s",
                            mistake);
}

tfrt_async_value_t* tfrt_device_lending_fetch(tfrt_device_lending_t* lending, const void* ticket,
                                              size_t size, tfrt_device_port_t* port,
                                              tfrt_device_buffer_t* target) {
  tfrt_device_fetch_t* fetch = tfrt_allocator_allocate_zeroed(lending->allocator, sizeof(*fetch));
  if (!fetch) return tfrt_async_value_out_of_memory();
  tfrt_status_t status = device_fetch_check(ticket, size, target->size, &fetch->ticket);
  fetch->promise = status ? NULL : tfrt_indirect_value_create();
  if (!status && !fetch->promise) status = tfrt_status_out_of_memory();
  if (status) {
    tfrt_allocator_free(lending->allocator, fetch, sizeof(*fetch));
    return tfrt_async_value_create_error_take(status);
  }
  fetch->lending = tfrt_device_lending_retain(lending);
  fetch->port = tfrt_device_port_retain(port);
  fetch->target = tfrt_device_buffer_retain(target);
  tfrt_mutex_lock(&lending->mutex);
  ++lending->counts.fetches;
  tfrt_mutex_unlock(&lending->mutex);
  tfrt_async_value_t* done = tfrt_async_value_retain(&fetch->promise->base);
  tfrt_task_initialize(&fetch->task, device_fetch_run);
  if (!tfrt_work_queue_add_blocking_task(lending->work_queue, &fetch->task, true)) {
    device_fetch_end(fetch, tfrt_status_create(TFRT_STATUS_RESOURCE_EXHAUSTED,
                                               "no thread to borrow memory of devices by"));
  }
  return done;
}
