// SPDX-License-Identifier: Apache-2.0
//
// Memory of devices between real processes, over the fake driver: the test lends, and a process
// that it has forked borrows. The fake driver finds what the real one forbids, such as memory that
// is freed while another process has it open.
#include "devices/device_lending.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "devices/cuda/cuda_platform.h"
#include "devices/device_lending_impl.h"
#include "host_runtime/async/thread_pool_work_queue.h"
#include "host_runtime/base/clock.h"
#include "tests/devices/awaiting.h"
#include "tests/fakes/cuda/fake_cuda.h"
#include "tests/support/test_main.h"

#define SIZE ((size_t)300000)

// With a GPU (tests/gpu/run.sh), nobody looks behind the driver's back, and copies can't be held.
#ifdef TFRT_TEST_REAL_DRIVER
#define LIBRARY NULL
static int defects(char* text, size_t size) {
  (void)text;
  (void)size;
  return 0;
}
static int live(void) { return 0; }
static void hold_copies(int ordinal) { (void)ordinal; }
#else
#define LIBRARY TFRT_FAKE_CUDA_PATH
static int defects(char* text, size_t size) {
  return tfrt_fake_cuda_control()->defects(text, size);
}
static int live(void) { return tfrt_fake_cuda_control()->live(); }
static void hold_copies(int ordinal) { tfrt_fake_cuda_control()->hold_copies(ordinal); }
#endif

// --- One process -----------------------------------------------------------------------

// The objects of each of the two.
typedef struct process_s {
  tfrt_work_queue_t* work_queue;
  tfrt_device_platform_t* platform;
  tfrt_device_t* devices[2];
  tfrt_device_port_t* ports[2];
  tfrt_device_lending_t* lending;
} process_t;

static void process_begin(process_t* process) {
  tfrt_thread_pool_options_t options = {.thread_count = 2};
  ck_assert(
      !tfrt_thread_pool_work_queue_create(&options, tfrt_allocator_system(), &process->work_queue));
  tfrt_cuda_platform_options_t cuda = {.library_for_testing = LIBRARY};
  ck_assert(!tfrt_cuda_platform_create(&cuda, tfrt_allocator_system(), process->work_queue,
                                       &process->platform));
  for (int i = 0; i < 2; ++i) {
    // One GPU takes the place of two.
    int ordinal = i < (int)process->platform->device_count ? i : 0;
    ck_assert(!tfrt_device_platform_device(process->platform, ordinal, &process->devices[i]));
    ck_assert(!tfrt_device_port_create(process->devices[i], &process->ports[i]));
  }
  ck_assert(
      !tfrt_device_lending_create(tfrt_allocator_system(), process->work_queue, &process->lending));
}

static void expect_no_defect(void) {
  char text[4096];
  int count = defects(text, sizeof(text));
  ck_assert_msg(count == 0, "%s", text);
}

static void process_end(process_t* process) {
  tfrt_device_lending_close(process->lending);
  tfrt_device_lending_release(process->lending);
  for (int i = 0; i < 2; ++i) tfrt_device_port_release(process->ports[i]);
  tfrt_work_queue_quiesce(process->work_queue);
  for (int i = 0; i < 2; ++i) tfrt_device_release(process->devices[i]);
  // Its last work may still be under way.
  while (!tfrt_ref_count_is_one(&process->platform->ref_count)) {
    tfrt_work_queue_quiesce(process->work_queue);
    tfrt_thread_yield();
  }
  tfrt_device_platform_release(process->platform);
  tfrt_work_queue_quiesce(process->work_queue);
  tfrt_work_queue_release(process->work_queue);
  expect_no_defect();
  ck_assert_int_eq(live(), 0);
}

static int descriptor_count(void) {
  int count = 0;
  DIR* folder = opendir("/proc/self/fd");
  while (folder && readdir(folder)) ++count;
  if (folder) closedir(folder);
  return count;
}

// --- The borrower ----------------------------------------------------------------------

typedef enum order_kind_e {
  FETCH,
  BEGIN_FETCH,
  END_FETCH,
  HOLD,
  FREE_COPIES,
  COUNT,
  BECOME,
  QUIT
} order_kind_t;

typedef struct order_s {
  order_kind_t kind;
  int device;
  size_t ticket_size;
  size_t size;
  uint8_t seed;  // of the bytes that are expected
  tfrt_device_ticket_t ticket;
} order_t;

typedef struct answer_s {
  int code;  // of the status
  bool is_equal;
  int live;
  int descriptors;
  tfrt_device_lending_counts_t counts;
  char message[256];
} answer_t;

static uint8_t byte_at(size_t i, uint8_t seed) { return (uint8_t)(i * 7 + i / 251 + seed); }

// The bytes of |buffer| are those of |seed|.
static bool has_bytes(process_t* process, int device, tfrt_device_buffer_t* buffer, uint8_t seed) {
  tfrt_device_port_t* port = process->ports[device];
  tfrt_device_buffer_t* staging;
  tfrt_async_value_t* ready;
  ck_assert(!tfrt_device_port_follow(port, buffer));
  ck_assert(!tfrt_device_port_read(port, buffer, 0, buffer->size, &staging, &ready));
  ck_assert(!tfrt_test_await(ready));
  const uint8_t* bytes = tfrt_device_buffer_host_data(staging);
  bool is_equal = true;
  for (size_t i = 0; i < buffer->size; ++i) is_equal &= bytes[i] == byte_at(i, seed);
  tfrt_device_buffer_release(staging);
  return is_equal;
}

// Follows orders until the one to quit.
static void borrower_run(int socket) {
  process_t process;
  process_begin(&process);
  tfrt_device_buffer_t* target = NULL;
  tfrt_async_value_t* fetched = NULL;
  order_t order;
  while (recv(socket, &order, sizeof(order), 0) == (ssize_t)sizeof(order) && order.kind != QUIT) {
    answer_t answer = {.code = 0};
    if (order.kind == FETCH || order.kind == BEGIN_FETCH) {
      ck_assert(!tfrt_device_port_allocate(process.ports[order.device], order.size, &target));
      fetched = tfrt_device_lending_fetch(process.lending, order.ticket.bytes, order.ticket_size,
                                          process.ports[order.device], target);
    }
    if (order.kind == FETCH || order.kind == END_FETCH) {
      tfrt_status_t status = tfrt_test_await(fetched);
      answer.code = (int)tfrt_status_code(status);
      snprintf(answer.message, sizeof(answer.message), "%s", tfrt_status_message(status));
      answer.is_equal = !status && has_bytes(&process, order.device, target, order.seed);
      tfrt_status_release(status);
      tfrt_device_buffer_release(target);
    }
    if (order.kind == HOLD) hold_copies(order.device);
    if (order.kind == FREE_COPIES) hold_copies(-1);
    if (order.kind == BECOME) process.lending->user = (uid_t)order.device;
    answer.live = live();
    answer.descriptors = descriptor_count();
    answer.counts = tfrt_device_lending_counts(process.lending);
    if (send(socket, &answer, sizeof(answer), MSG_NOSIGNAL) < 0) break;
  }
  process_end(&process);
}

typedef struct borrower_s {
  pid_t pid;
  int socket;
} borrower_t;

// Before there is a thread in this process.
static borrower_t borrower_start(void) {
  int sockets[2];
  ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets), 0);
  pid_t pid = fork();
  ck_assert_int_ge(pid, 0);
  if (pid == 0) {
    close(sockets[0]);
    borrower_run(sockets[1]);
    _exit(0);
  }
  close(sockets[1]);
  return (borrower_t){pid, sockets[0]};
}

static answer_t ask(const borrower_t* borrower, const order_t* order) {
  answer_t answer;
  ck_assert_int_eq(send(borrower->socket, order, sizeof(*order), MSG_NOSIGNAL), sizeof(*order));
  ck_assert_int_eq(recv(borrower->socket, &answer, sizeof(answer), 0), sizeof(answer));
  return answer;
}

static answer_t tell(const borrower_t* borrower, order_kind_t kind, int device) {
  const order_t order = {.kind = kind, .device = device};
  return ask(borrower, &order);
}

// It has found nothing wrong, and nothing of it is left.
static void borrower_stop(const borrower_t* borrower) {
  const order_t order = {.kind = QUIT};
  ck_assert_int_eq(send(borrower->socket, &order, sizeof(order), MSG_NOSIGNAL), sizeof(order));
  int status = -1;
  ck_assert_int_eq(waitpid(borrower->pid, &status, 0), borrower->pid);
  ck_assert_int_eq(status, 0);
  close(borrower->socket);
}

static void borrower_kill(const borrower_t* borrower) {
  ck_assert_int_eq(kill(borrower->pid, SIGKILL), 0);
  ck_assert_int_eq(waitpid(borrower->pid, NULL, 0), borrower->pid);
  close(borrower->socket);
}

// --- The lender ------------------------------------------------------------------------

static process_t lender;

// A buffer (+1) of |device| with the bytes of |seed|, which are there.
static tfrt_device_buffer_t* make(int device, size_t size, uint8_t seed) {
  tfrt_device_port_t* port = lender.ports[device];
  tfrt_device_buffer_t* buffer;
  tfrt_device_buffer_t* staging;
  ck_assert(!tfrt_device_port_allocate(port, size, &buffer));
  ck_assert(!tfrt_device_port_stage(port, size, &staging));
  uint8_t* bytes = tfrt_device_buffer_host_data(staging);
  for (size_t i = 0; i < size; ++i) bytes[i] = byte_at(i, seed);
  ck_assert(!tfrt_device_port_write(port, buffer, 0, staging, size));
  tfrt_device_buffer_release(staging);
  ck_assert(!tfrt_test_await(tfrt_device_port_await_writes(port)));
  return buffer;
}

// Lends a new buffer of |size| bytes of |device| with the bytes of |seed|: the order to fetch it
// to |to|.
static order_t lend_bytes(size_t size, int device, int to, uint8_t seed,
                          tfrt_device_loan_t** out_loan) {
  order_t order = {.kind = FETCH,
                   .device = to,
                   .size = size,
                   .ticket_size = TFRT_DEVICE_TICKET_SIZE,
                   .seed = seed};
  tfrt_device_buffer_t* buffer = make(device, size, seed);
  ck_assert(!tfrt_device_lending_lend(lender.lending, buffer, out_loan, &order.ticket));
  tfrt_device_buffer_release(buffer);
  return order;
}

static order_t lend(int device, int to, uint8_t seed, tfrt_device_loan_t** out_loan) {
  return lend_bytes(SIZE, device, to, seed, out_loan);
}

// Waits until |loans| loans are left, as many of them taken, and |guests| guests.
static void await_counts(size_t loans, size_t taken, size_t guests) {
  int64_t end_ns = tfrt_clock_now_ns(tfrt_clock_system()) + 20 * TFRT_NANOSECONDS_PER_SECOND;
  tfrt_device_lending_counts_t counts;
  do {
    tfrt_thread_yield();
    counts = tfrt_device_lending_counts(lender.lending);
  } while ((counts.loans != loans || counts.taken != taken || counts.guests != guests) &&
           tfrt_clock_now_ns(tfrt_clock_system()) < end_ns);
  ck_assert_uint_eq(counts.loans, loans);
  ck_assert_uint_eq(counts.taken, taken);
  ck_assert_uint_eq(counts.guests, guests);
}

static void expect_equal(const answer_t* answer) {
  ck_assert_msg(answer->code == 0, "%s", answer->message);
  ck_assert(answer->is_equal);
}

static void expect_refusal(const answer_t* answer, tfrt_status_code_t code, const char* part) {
  ck_assert_msg(answer->code == (int)code && strstr(answer->message, part), "%d: %s", answer->code,
                answer->message);
}

// --- Ways ------------------------------------------------------------------------------

START_TEST(memory_goes_from_process_to_process_on_one_device_or_two) {
  borrower_t borrower = borrower_start();
  process_begin(&lender);
  for (int way = 0; way < 4; ++way) {
    tfrt_device_loan_t* loan;
    const order_t order = lend(way / 2, way % 2, (uint8_t)(way + 1), &loan);
    const answer_t answer = ask(&borrower, &order);
    expect_equal(&answer);
    tfrt_device_loan_end(loan);
  }
  await_counts(0, 0, 1);
  borrower_stop(&borrower);
  await_counts(0, 0, 0);
  process_end(&lender);
}
END_TEST

START_TEST(a_part_of_a_buffer_is_lent_as_a_part) {
  borrower_t borrower = borrower_start();
  process_begin(&lender);
  tfrt_device_buffer_t* whole = make(0, SIZE, 0);
  tfrt_device_buffer_t* part;
  // The formula of the bytes repeats after 251 * 256 of them.
  ck_assert(!tfrt_device_buffer_create_view(whole, 251 * 256, 5000, &part));
  tfrt_device_loan_t* loan;
  order_t order = {.kind = FETCH, .size = 5000, .ticket_size = TFRT_DEVICE_TICKET_SIZE};
  ck_assert(!tfrt_device_lending_lend(lender.lending, part, &loan, &order.ticket));
  tfrt_device_buffer_release(part);
  tfrt_device_buffer_release(whole);
  const answer_t answer = ask(&borrower, &order);
  expect_equal(&answer);
  tfrt_device_loan_end(loan);
  borrower_stop(&borrower);
  process_end(&lender);
}
END_TEST

START_TEST(a_thousand_loans_leave_nothing) {
  borrower_t borrower = borrower_start();
  process_begin(&lender);
  int descriptors = 0;
  answer_t first = {0};
  for (int i = 0; i < 1000; ++i) {
    tfrt_device_loan_t* loan;
    // Few bytes: the time goes to loans, not to the bytes' formula.
    const order_t order = lend_bytes(3000, 0, 0, (uint8_t)i, &loan);
    const answer_t answer = ask(&borrower, &order);
    expect_equal(&answer);
    tfrt_device_loan_end(loan);
    if (i == 9) first = tell(&borrower, COUNT, 0);
    if (i == 9) descriptors = descriptor_count();
  }
  await_counts(0, 0, 1);
  const answer_t last = tell(&borrower, COUNT, 0);
  ck_assert_int_eq(last.descriptors, first.descriptors);
  ck_assert_int_eq(descriptor_count(), descriptors);
  ck_assert_int_le(last.live, first.live + 2);
  ck_assert_uint_eq(last.counts.lenders, 1);
  ck_assert_uint_eq(last.counts.fetches, 0);
  borrower_stop(&borrower);
  process_end(&lender);
}
END_TEST

// --- The life of a loan ----------------------------------------------------------------

START_TEST(a_loan_that_has_ended_is_refused) {
  borrower_t borrower = borrower_start();
  process_begin(&lender);
  tfrt_device_loan_t* loan;
  order_t order = lend(0, 0, 1, &loan);
  tfrt_device_loan_end(loan);
  answer_t answer = ask(&borrower, &order);
  expect_refusal(&answer, TFRT_STATUS_NOT_FOUND, "no longer offers");
  // One that was taken once is not taken again.
  order = lend(0, 0, 2, &loan);
  answer = ask(&borrower, &order);
  expect_equal(&answer);
  await_counts(1, 0, 1);
  answer = ask(&borrower, &order);
  expect_refusal(&answer, TFRT_STATUS_NOT_FOUND, "no longer offers");
  tfrt_device_loan_end(loan);
  borrower_stop(&borrower);
  process_end(&lender);
}
END_TEST

#ifndef TFRT_TEST_REAL_DRIVER
// The fake driver finds it if the memory is freed earlier.
START_TEST(memory_that_is_taken_outlives_its_loan) {
  borrower_t borrower = borrower_start();
  process_begin(&lender);
  tell(&borrower, HOLD, 0);
  tfrt_device_loan_t* loan;
  order_t order = lend(0, 0, 5, &loan);
  order.kind = BEGIN_FETCH;
  ask(&borrower, &order);
  await_counts(1, 1, 1);
  tfrt_device_loan_end(loan);
  await_counts(1, 1, 1);
  tell(&borrower, FREE_COPIES, 0);
  order.kind = END_FETCH;
  const answer_t answer = ask(&borrower, &order);
  expect_equal(&answer);
  await_counts(0, 0, 1);
  borrower_stop(&borrower);
  process_end(&lender);
}
END_TEST
#endif  // TFRT_TEST_REAL_DRIVER

START_TEST(a_borrower_that_is_killed_gives_its_loan_back) {
  for (int ends_first = 0; ends_first < 2; ++ends_first) {
    borrower_t borrower = borrower_start();
    process_begin(&lender);
    tell(&borrower, HOLD, 0);
    tfrt_device_loan_t* loan;
    order_t order = lend(0, 0, 5, &loan);
    order.kind = BEGIN_FETCH;
    ask(&borrower, &order);
#ifndef TFRT_TEST_REAL_DRIVER
    await_counts(1, 1, 1);
#endif
    if (ends_first) tfrt_device_loan_end(loan);
    borrower_kill(&borrower);
    await_counts(ends_first ? 0 : 1, 0, 0);
    if (!ends_first) tfrt_device_loan_end(loan);
    process_end(&lender);
  }
}
END_TEST

#ifndef TFRT_TEST_REAL_DRIVER
// The lender is the child of a process between, which this test kills; the borrower is this one.
START_TEST(a_lender_that_is_killed_leaves_the_borrower_whole) {
  int sockets[2];
  ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets), 0);
  pid_t pid = fork();
  ck_assert_int_ge(pid, 0);
  if (pid == 0) {
    close(sockets[0]);
    process_begin(&lender);
    tfrt_device_loan_t* loan;
    const order_t order = lend(0, 0, 9, &loan);
    send(sockets[1], &order, sizeof(order), MSG_NOSIGNAL);
    char byte;
    // Until it is killed.
    while (recv(sockets[1], &byte, 1, 0) > 0) continue;
    _exit(0);
  }
  close(sockets[1]);
  order_t order;
  ck_assert_int_eq(recv(sockets[0], &order, sizeof(order), 0), sizeof(order));
  process_begin(&lender);
  tfrt_fake_cuda_control()->hold_copies(0);
  tfrt_device_buffer_t* target;
  ck_assert(!tfrt_device_port_allocate(lender.ports[0], SIZE, &target));
  tfrt_async_value_t* fetched = tfrt_device_lending_fetch(
      lender.lending, order.ticket.bytes, TFRT_DEVICE_TICKET_SIZE, lender.ports[0], target);
  while (tfrt_fake_cuda_control()->held_size() == 0) tfrt_thread_yield();
  ck_assert_int_eq(kill(pid, SIGKILL), 0);
  ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
  close(sockets[0]);
  tfrt_fake_cuda_control()->hold_copies(-1);
  // The memory was here already.
  ck_assert(!tfrt_test_await(fetched));
  ck_assert(has_bytes(&lender, 0, target, 9));
  // Nothing of the dead process is kept; its socket is gone.
  while (tfrt_device_lending_counts(lender.lending).lenders > 0) tfrt_thread_yield();
  fetched = tfrt_device_lending_fetch(lender.lending, order.ticket.bytes, TFRT_DEVICE_TICKET_SIZE,
                                      lender.ports[0], target);
  tfrt_status_t status = tfrt_test_await(fetched);
  ck_assert_int_eq(tfrt_status_code(status), TFRT_STATUS_UNAVAILABLE);
  tfrt_status_release(status);
  tfrt_device_buffer_release(target);
  process_end(&lender);
}
END_TEST
#endif  // TFRT_TEST_REAL_DRIVER

// --- Refusals --------------------------------------------------------------------------

// Where the parts of a ticket are.
#define TICKET_NUMBER 8
#define TICKET_OFFSET 16
#define TICKET_TOTAL 24
#define TICKET_NAME 32
#define TICKET_SECRET 48
#define TICKET_IDENTITY 64
#define TICKET_BLOCK 128

START_TEST(a_ticket_that_is_changed_is_refused_and_harms_nobody) {
  static const struct {
    size_t at;
    const char* part;
  } changes[] = {
      {0, "another kind"},
      {TICKET_NUMBER, "no longer offers"},
      {TICKET_OFFSET, "the lender says"},
      {TICKET_TOTAL, "another size"},
      {TICKET_NAME, "can't be reached"},
      {TICKET_SECRET, "no longer offers"},
      {TICKET_IDENTITY + 6, "no device with this driver"},
#ifndef TFRT_TEST_REAL_DRIVER
      // The driver alone knows how it describes a block.
      {TICKET_BLOCK + 1, "cuMemPoolImportPointer"},
      {TICKET_BLOCK + 8, "cuMemPoolImportPointer"},
      {TICKET_BLOCK + 17, "cuMemPoolImportPointer"},
      {TICKET_BLOCK + 24, "cuMemPoolImportPointer"},
#endif
  };
  borrower_t borrower = borrower_start();
  process_begin(&lender);
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(changes); ++i) {
    tfrt_device_loan_t* loan;
    order_t order = lend(0, 0, 1, &loan);
    order.ticket.bytes[changes[i].at] ^= 1;
    const answer_t answer = ask(&borrower, &order);
    ck_assert_msg(answer.code != 0 && strstr(answer.message, changes[i].part), "%zu: %d %s", i,
                  answer.code, answer.message);
    tfrt_device_loan_end(loan);
    await_counts(0, 0, tfrt_device_lending_counts(lender.lending).guests);
  }
  tfrt_device_loan_t* loan;
  order_t order = lend(0, 0, 3, &loan);
  order.ticket_size -= 1;
  answer_t answer = ask(&borrower, &order);
  expect_refusal(&answer, TFRT_STATUS_INVALID_ARGUMENT, "192 bytes, not 191");
  order.ticket_size += 1;
  memset(order.ticket.bytes + TICKET_IDENTITY, 'x', TFRT_DEVICE_IDENTITY_SIZE);
  answer = ask(&borrower, &order);
  expect_refusal(&answer, TFRT_STATUS_INVALID_ARGUMENT, "does not end");
  tfrt_device_loan_end(loan);
  order = lend(1, 0, 4, &loan);
  answer = ask(&borrower, &order);
  expect_equal(&answer);
  tfrt_device_loan_end(loan);
  borrower_stop(&borrower);
  process_end(&lender);
}
END_TEST

START_TEST(the_own_memory_is_not_borrowed) {
  process_begin(&lender);
  tfrt_device_loan_t* loan;
  const order_t order = lend(0, 0, 1, &loan);
  tfrt_device_buffer_t* target;
  ck_assert(!tfrt_device_port_allocate(lender.ports[0], SIZE, &target));
  tfrt_status_t status = tfrt_test_await(tfrt_device_lending_fetch(
      lender.lending, order.ticket.bytes, TFRT_DEVICE_TICKET_SIZE, lender.ports[0], target));
  ck_assert_msg(strstr(tfrt_status_message(status), "this process's memory"), "%s",
                tfrt_status_message(status));
  tfrt_status_release(status);
  tfrt_device_buffer_release(target);
  tfrt_device_loan_end(loan);
  process_end(&lender);
}
END_TEST

static void ignore(void* context) { (void)context; }

// Drivers end a process that opens such a block.
START_TEST(a_block_that_is_too_large_is_neither_lent_nor_borrowed) {
  borrower_t borrower = borrower_start();
  process_begin(&lender);
  tfrt_device_t* device = lender.devices[0];
  uint64_t size = device->sharing->max_block_size + 1;
  tfrt_device_buffer_t* buffer;
  tfrt_device_loan_t* loan;
  tfrt_device_ticket_t ticket;
  ck_assert(!tfrt_device_buffer_create_external(device, TFRT_DEVICE_SPACE_DEVICE, 4096,
                                                (size_t)size, ignore, NULL, &buffer));
  tfrt_status_t status = tfrt_device_lending_lend(lender.lending, buffer, &loan, &ticket);
  ck_assert_msg(tfrt_status_code(status) == TFRT_STATUS_FAILED_PRECONDITION &&
                    strstr(tfrt_status_message(status), "can't be lent"),
                "%s", tfrt_status_message(status));
  tfrt_status_release(status);
  tfrt_device_buffer_release(buffer);
  order_t order = lend(0, 0, 1, &loan);
  memcpy(order.ticket.bytes + TICKET_OFFSET, &size, sizeof(size));
  answer_t answer = ask(&borrower, &order);
  expect_refusal(&answer, TFRT_STATUS_FAILED_PRECONDITION, "can't be borrowed");
  tfrt_device_loan_end(loan);
  borrower_stop(&borrower);
  process_end(&lender);
}
END_TEST

// Each side looks for itself.
START_TEST(a_process_of_another_user_gets_nothing) {
  for (int way = 0; way < 2; ++way) {
    borrower_t borrower = borrower_start();
    process_begin(&lender);
    if (way == 0) tell(&borrower, BECOME, (int)geteuid() + 1);
    if (way == 1) lender.lending->user = geteuid() + 1;
    tfrt_device_loan_t* loan;
    const order_t order = lend(0, 0, 1, &loan);
    const answer_t answer = ask(&borrower, &order);
    if (way == 0) expect_refusal(&answer, TFRT_STATUS_PERMISSION_DENIED, "of the same user only");
    if (way == 1) expect_refusal(&answer, TFRT_STATUS_UNAVAILABLE, "doesn't answer");
    await_counts(1, 0, 0);
    tfrt_device_loan_end(loan);
    borrower_stop(&borrower);
    process_end(&lender);
  }
}
END_TEST

#ifndef TFRT_TEST_REAL_DRIVER
// The pool that is the device's own has no handle, and older drivers know none.
START_TEST(without_a_pool_of_ones_own_nothing_is_lent) {
  static const char* const calls[] = {"cuMemPoolCreate", "cuMemPoolExportToShareableHandle",
                                      "cuMemPoolSetAttribute", NULL};
  for (size_t way = 0; way < TFRT_ARRAY_SIZE(calls); ++way) {
    if (calls[way]) tfrt_fake_cuda_control()->set_failure(calls[way], 1, 801);
    if (!calls[way]) tfrt_fake_cuda_control()->set_version(11010);
    process_begin(&lender);
    ck_assert_int_eq(lender.devices[0]->properties.has_pools, calls[way] != NULL);
    tfrt_device_buffer_t* buffer = make(0, 64, 1);
    tfrt_device_loan_t* loan;
    tfrt_device_ticket_t ticket;
    tfrt_status_t status = tfrt_device_lending_lend(lender.lending, buffer, &loan, &ticket);
    ck_assert_int_eq(tfrt_status_code(status), TFRT_STATUS_FAILED_PRECONDITION);
    tfrt_status_release(status);
    ck_assert(has_bytes(&lender, 0, buffer, 1));
    tfrt_device_buffer_release(buffer);
    process_end(&lender);
  }
}
END_TEST

// Each call of the driver that either side makes fails once: an error, and nothing is left.
START_TEST(what_the_lenders_driver_refuses_is_an_error) {
  static const char* const calls[] = {"cuDeviceGetUuid", "cuMemPoolExportPointer"};
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(calls); ++i) {
    borrower_t borrower = borrower_start();
    process_begin(&lender);
    tfrt_device_buffer_t* buffer = make(0, SIZE, 1);
    tfrt_device_loan_t* loan;
    order_t order = {
        .kind = FETCH, .size = SIZE, .ticket_size = TFRT_DEVICE_TICKET_SIZE, .seed = 1};
    tfrt_fake_cuda_control()->set_failure(calls[i], 1, 2);
    tfrt_status_t status = tfrt_device_lending_lend(lender.lending, buffer, &loan, &order.ticket);
    ck_assert_ptr_nonnull(status);
    tfrt_status_release(status);
    ck_assert(!tfrt_device_lending_lend(lender.lending, buffer, &loan, &order.ticket));
    answer_t answer = ask(&borrower, &order);
    expect_equal(&answer);
    tfrt_device_loan_end(loan);
    tfrt_device_buffer_release(buffer);
    borrower_stop(&borrower);
    process_end(&lender);
  }
}
END_TEST
#endif  // TFRT_TEST_REAL_DRIVER

Suite* tfrt_test_suite(void) {
  Suite* suite = suite_create("device_lending");
  TCase* ways = tcase_create("ways");
  tcase_set_timeout(ways, 60);
  tcase_add_test(ways, memory_goes_from_process_to_process_on_one_device_or_two);
  tcase_add_test(ways, a_part_of_a_buffer_is_lent_as_a_part);
  tcase_add_test(ways, a_thousand_loans_leave_nothing);
  tcase_add_test(ways, a_loan_that_has_ended_is_refused);
  tcase_add_test(ways, a_borrower_that_is_killed_gives_its_loan_back);
  tcase_add_test(ways, a_ticket_that_is_changed_is_refused_and_harms_nobody);
  tcase_add_test(ways, the_own_memory_is_not_borrowed);
  tcase_add_test(ways, a_block_that_is_too_large_is_neither_lent_nor_borrowed);
  tcase_add_test(ways, a_process_of_another_user_gets_nothing);
#ifndef TFRT_TEST_REAL_DRIVER
  tcase_add_test(ways, memory_that_is_taken_outlives_its_loan);
  tcase_add_test(ways, a_lender_that_is_killed_leaves_the_borrower_whole);
  tcase_add_test(ways, without_a_pool_of_ones_own_nothing_is_lent);
  tcase_add_test(ways, what_the_lenders_driver_refuses_is_an_error);
#endif
  suite_add_tcase(suite, ways);
  return suite;
}
