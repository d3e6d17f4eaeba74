// SPDX-License-Identifier: Apache-2.0
//
// Groups of devices: the data that each call brings to each member, for all types; order, and
// members that give up.
#include <string.h>

#include "devices/conformance/conformance_fixture.h"
#include "devices/device_ccl.h"
#include "host_runtime/async/blocking_wait.h"

// --- Members -----------------------------------------------------------------------------

// A member with a stream of its own.
typedef struct tfrt_test_member_s {
  tfrt_device_t* device;
  tfrt_device_ccl_t* ccl;
  tfrt_device_stream_t* stream;
} tfrt_test_member_t;

// Makes |count| members, on the fixture's devices in turn if there are two; false where there is
// no library and none was promised, or too few devices.
static bool test_group(tfrt_test_member_t* members, int32_t count) {
  tfrt_conformance_t* t = &tfrt_conformance;
  tfrt_ccl_id_t id;
  if (count > 1 && !t->peer) return false;
  tfrt_status_t status = tfrt_device_platform_create_ccl_id(t->platform, &id);
  if (tfrt_status_code(status) == TFRT_STATUS_UNAVAILABLE &&
      !tfrt_conformance_has(TFRT_CONFORMANCE_CCL)) {
    tfrt_status_release(status);
    return false;
  }
  tfrt_conformance_expect_ok(status);
  for (int32_t i = 0; i < count; ++i) {
    members[i].device = i % 2 == 0 ? t->device : t->peer;
    members[i].stream = tfrt_conformance_stream(members[i].device);
    tfrt_conformance_expect_ok(
        tfrt_device_create_ccl(members[i].device, &id, i, count, &members[i].ccl));
  }
  for (int32_t i = 0; i < count; ++i) {
    tfrt_conformance_await(tfrt_device_ccl_join(members[i].ccl));
  }
  return true;
}

static void test_disband(tfrt_test_member_t* members, int32_t count) {
  for (int32_t i = 0; i < count; ++i) {
    tfrt_device_ccl_release(members[i].ccl);
    tfrt_device_stream_release(members[i].stream);
  }
}

// --- Memory --------------------------------------------------------------------------------

// A new buffer of the member's device that has the |size| bytes at |bytes|.
static tfrt_device_buffer_t* test_store(const tfrt_test_member_t* member, const void* bytes,
                                        size_t size) {
  tfrt_device_allocator_t* allocator;
  tfrt_device_buffer_t* buffer;
  tfrt_conformance_expect_ok(tfrt_device_allocator_create(member->device, &allocator));
  tfrt_conformance_expect_ok(
      tfrt_device_allocator_allocate(allocator, member->stream, size, &buffer));
  tfrt_device_allocator_release(allocator);
  tfrt_device_buffer_t* host = tfrt_conformance_host(size);
  memcpy(tfrt_device_buffer_host_data(host), bytes, size);
  tfrt_conformance_expect_ok(tfrt_device_stream_copy(member->stream, buffer, 0, host, 0, size));
  tfrt_device_buffer_release(host);
  return buffer;
}

// Checks that |buffer| has the |size| bytes at |bytes| when the member's stream has come so far.
static void test_expect(const tfrt_test_member_t* member, tfrt_device_buffer_t* buffer,
                        const void* bytes, size_t size) {
  tfrt_device_buffer_t* host = tfrt_conformance_host(size);
  ck_assert_uint_eq(buffer->size, size);
  tfrt_conformance_expect_ok(tfrt_device_stream_copy(member->stream, host, 0, buffer, 0, size));
  tfrt_conformance_finish(member->stream);
  ck_assert_mem_eq(tfrt_device_buffer_host_data(host), bytes, size);
  tfrt_device_buffer_release(host);
}

// --- Results of each member ----------------------------------------------------------------

// Has two members execute a call of |kind| on i32, and checks what comes out; each input and output
// has |input_count| and |output_count| numbers.
static void test_exchange(tfrt_ccl_kind_t kind, size_t input_count, int32_t inputs[2][4],
                          size_t output_count, int32_t outputs[2][4]) {
  tfrt_test_member_t members[2];
  if (!test_group(members, 2)) return;
  tfrt_ccl_call_t calls[2];
  tfrt_async_value_t* chains[2];
  int32_t nothing[4] = {0};
  for (int i = 0; i < 2; ++i) {
    calls[i] = (tfrt_ccl_call_t){
        .kind = kind,
        .dtype = TFRT_DTYPE_I32,
        .input = test_store(&members[i], inputs[i], input_count * sizeof(int32_t)),
        .output = test_store(&members[i], nothing, output_count * sizeof(int32_t))};
    chains[i] = tfrt_device_ccl_execute(members[i].ccl, members[i].stream, &calls[i], 1);
  }
  for (int i = 0; i < 2; ++i) {
    tfrt_conformance_await(chains[i]);
    test_expect(&members[i], calls[i].output, outputs[i], output_count * sizeof(int32_t));
    tfrt_device_buffer_release(calls[i].input);
    tfrt_device_buffer_release(calls[i].output);
  }
  test_disband(members, 2);
}

START_TEST(all_members_get_what_all_have) {
  test_exchange(TFRT_CCL_ALL_GATHER, 2, (int32_t[2][4]){{1, 2}, {3, 4}}, 4,
                (int32_t[2][4]){{1, 2, 3, 4}, {1, 2, 3, 4}});
}
END_TEST

START_TEST(all_members_get_the_sum) {
  test_exchange(TFRT_CCL_ALL_REDUCE, 2, (int32_t[2][4]){{1, 2}, {30, 40}}, 2,
                (int32_t[2][4]){{31, 42}, {31, 42}});
}
END_TEST

START_TEST(each_member_gets_its_part_of_the_sum) {
  test_exchange(TFRT_CCL_REDUCE_SCATTER, 4, (int32_t[2][4]){{1, 2, 3, 4}, {10, 20, 30, 40}}, 2,
                (int32_t[2][4]){{11, 22}, {33, 44}});
}
END_TEST

START_TEST(each_member_gets_its_part_of_each) {
  test_exchange(TFRT_CCL_ALL_TO_ALL, 4, (int32_t[2][4]){{1, 2, 3, 4}, {5, 6, 7, 8}}, 4,
                (int32_t[2][4]){{1, 2, 5, 6}, {3, 4, 7, 8}});
}
END_TEST

// To or from member |root|: who has no input or output there brings none.
static void test_exchange_with(tfrt_ccl_kind_t kind, int32_t root, int32_t inputs[2][4],
                               int32_t outputs[4]) {
  tfrt_test_member_t members[2];
  if (!test_group(members, 2)) return;
  tfrt_ccl_call_t calls[2];
  tfrt_async_value_t* chains[2];
  int32_t nothing[4] = {0};
  for (int32_t i = 0; i < 2; ++i) {
    bool gives = kind == TFRT_CCL_REDUCE || i == root;
    bool gets = (kind == TFRT_CCL_REDUCE) == (i == root);
    calls[i] = (tfrt_ccl_call_t){
        .kind = kind,
        .dtype = TFRT_DTYPE_I32,
        .peer = root,
        .input = gives ? test_store(&members[i], inputs[i], sizeof(nothing)) : NULL,
        .output = gets ? test_store(&members[i], nothing, sizeof(nothing)) : NULL};
    chains[i] = tfrt_device_ccl_execute(members[i].ccl, members[i].stream, &calls[i], 1);
  }
  for (int i = 0; i < 2; ++i) {
    tfrt_conformance_await(chains[i]);
    if (calls[i].input) {
      test_expect(&members[i], calls[i].input, inputs[i], sizeof(nothing));
    }
    if (calls[i].output) {
      test_expect(&members[i], calls[i].output, outputs, sizeof(nothing));
    }
    tfrt_device_buffer_release(calls[i].input);
    tfrt_device_buffer_release(calls[i].output);
  }
  test_disband(members, 2);
}

START_TEST(one_member_gets_the_sum) {
  for (int32_t root = 0; root < 2; ++root) {
    test_exchange_with(TFRT_CCL_REDUCE, root, (int32_t[2][4]){{1, 2, 3, 4}, {10, 20, 30, 40}},
                       (int32_t[4]){11, 22, 33, 44});
  }
}
END_TEST

START_TEST(all_members_get_what_one_has) {
  for (int32_t root = 0; root < 2; ++root) {
    test_exchange_with(TFRT_CCL_BROADCAST, root, (int32_t[2][4]){{5, 6, 7, 8}, {5, 6, 7, 8}},
                       (int32_t[4]){5, 6, 7, 8});
  }
}
END_TEST

// --- Sites ---------------------------------------------------------------------------------

START_TEST(devices_of_one_process_can_be_members_of_one_group) {
  tfrt_conformance_t* t = &tfrt_conformance;
  tfrt_test_member_t one;
  if (!t->peer || !test_group(&one, 1)) return;
  test_disband(&one, 1);
  tfrt_ccl_site_t sites[2];
  tfrt_conformance_expect_ok(tfrt_device_ccl_site(t->device, &sites[0]));
  tfrt_conformance_expect_ok(tfrt_device_ccl_site(t->peer, &sites[1]));
  ck_assert_str_ne(sites[0].library, "");
  ck_assert_str_eq(sites[0].library, sites[1].library);
  ck_assert(!sites[0].place[0] || strcmp(sites[0].place, sites[1].place) != 0);
}
END_TEST

// --- Reductions ----------------------------------------------------------------------------

static void test_number(tfrt_dtype_t dtype, int number, void* out_bytes) {
  // The bits of -3, 2, 5, -1, 8 and so on as f16 and bf16 are their upper ones in f32.
  float f32 = (float)number;
  double f64 = number;
  int64_t i64 = number;
  uint32_t bits;
  memcpy(&bits, &f32, sizeof(bits));
  uint32_t exponent = number ? (bits >> 23 & 0xff) - 112 : 0;
  uint16_t bf16 = (uint16_t)(bits >> 16);
  uint16_t f16 =
      (uint16_t)(bits >> 16 & 0x8000) | (uint16_t)(exponent << 10) | (uint16_t)(bits >> 13 & 0x3ff);
  const void* source = dtype == TFRT_DTYPE_F32    ? (void*)&f32
                       : dtype == TFRT_DTYPE_F64  ? (void*)&f64
                       : dtype == TFRT_DTYPE_F16  ? (void*)&f16
                       : dtype == TFRT_DTYPE_BF16 ? (void*)&bf16
                                                  : (void*)&i64;
  memcpy(out_bytes, source, tfrt_dtype_size(dtype));
}

// Reduces a and b, in place, and checks that both members get |expected|.
static void test_reduce(tfrt_test_member_t* members, tfrt_dtype_t dtype,
                        tfrt_ccl_reduction_t reduction, int a, int b, int expected) {
  char bytes[8];
  tfrt_ccl_call_t calls[2];
  tfrt_async_value_t* chains[2];
  size_t size = tfrt_dtype_size(dtype);
  for (int i = 0; i < 2; ++i) {
    test_number(dtype, i == 0 ? a : b, bytes);
    tfrt_device_buffer_t* buffer = test_store(&members[i], bytes, size);
    calls[i] = (tfrt_ccl_call_t){.kind = TFRT_CCL_ALL_REDUCE,
                                 .dtype = dtype,
                                 .reduction = reduction,
                                 .input = buffer,
                                 .output = buffer};
    chains[i] = tfrt_device_ccl_execute(members[i].ccl, members[i].stream, &calls[i], 1);
  }
  test_number(dtype, expected, bytes);
  for (int i = 0; i < 2; ++i) {
    tfrt_conformance_await(chains[i]);
    test_expect(&members[i], calls[i].output, bytes, size);
    tfrt_device_buffer_release(calls[i].output);
  }
}

START_TEST(numbers_of_all_types_are_reduced_in_all_ways) {
  static const tfrt_dtype_t dtypes[] = {
      TFRT_DTYPE_I8,  TFRT_DTYPE_I32, TFRT_DTYPE_I64, TFRT_DTYPE_F16,  TFRT_DTYPE_BF16,
      TFRT_DTYPE_F32, TFRT_DTYPE_F64, TFRT_DTYPE_UI8, TFRT_DTYPE_UI32, TFRT_DTYPE_UI64};
  tfrt_test_member_t members[2];
  if (!test_group(members, 2)) return;
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(dtypes); ++i) {
    // The last three know no numbers below 0.
    int a = i < 7 ? -3 : 3;
    test_reduce(members, dtypes[i], TFRT_CCL_SUM, a, 5, a + 5);
    test_reduce(members, dtypes[i], TFRT_CCL_PRODUCT, a, 5, a * 5);
    test_reduce(members, dtypes[i], TFRT_CCL_MAX, a, 5, 5);
    test_reduce(members, dtypes[i], TFRT_CCL_MIN, a, 5, a);
    test_reduce(members, dtypes[i], TFRT_CCL_AVERAGE, a, 5, (a + 5) / 2);
  }
  test_disband(members, 2);
}
END_TEST

// --- Order ---------------------------------------------------------------------------------

// The numbers go round for a while: each member's next list takes what the one before brought, and
// the host waits for nothing but that they are taken.
START_TEST(lists_come_behind_what_their_streams_were_given) {
  tfrt_test_member_t members[2];
  if (!test_group(members, 2)) return;
  tfrt_device_buffer_t* buffers[2];
  int32_t numbers[2] = {1, 10};
  for (int i = 0; i < 2; ++i) {
    buffers[i] = test_store(&members[i], &numbers[i], sizeof(int32_t));
  }
  for (int round = 0; round < 10; ++round) {
    tfrt_async_value_t* chains[2];
    for (int i = 0; i < 2; ++i) {
      tfrt_ccl_call_t call = {.kind = TFRT_CCL_ALL_REDUCE,
                              .dtype = TFRT_DTYPE_I32,
                              .input = buffers[i],
                              .output = buffers[i]};
      chains[i] = tfrt_device_ccl_execute(members[i].ccl, members[i].stream, &call, 1);
    }
    for (int i = 0; i < 2; ++i) tfrt_conformance_await(chains[i]);
  }
  int32_t expected = 11 << 9;
  for (int i = 0; i < 2; ++i) {
    test_expect(&members[i], buffers[i], &expected, sizeof(expected));
    tfrt_device_buffer_release(buffers[i]);
  }
  test_disband(members, 2);
}
END_TEST

// Two lists of one member are given before the other one comes; all of it is released at once.
START_TEST(a_member_may_go_when_its_lists_are_given) {
  tfrt_test_member_t members[2];
  if (!test_group(members, 2)) return;
  tfrt_device_buffer_t* sent[2];
  tfrt_device_buffer_t* received[2];
  tfrt_async_value_t* chains[4];
  int32_t numbers[2] = {7, 8};
  for (int n = 0; n < 2; ++n) {
    sent[n] = test_store(&members[0], &numbers[n], sizeof(int32_t));
    received[n] = test_store(&members[1], &numbers[1 - n], sizeof(int32_t));
    tfrt_ccl_call_t call = {
        .kind = TFRT_CCL_SEND, .dtype = TFRT_DTYPE_I32, .peer = 1, .input = sent[n]};
    chains[n] = tfrt_device_ccl_execute(members[0].ccl, members[0].stream, &call, 1);
    tfrt_device_buffer_release(sent[n]);
  }
  tfrt_device_ccl_release(members[0].ccl);
  for (int n = 0; n < 2; ++n) {
    tfrt_ccl_call_t call = {
        .kind = TFRT_CCL_RECEIVE, .dtype = TFRT_DTYPE_I32, .peer = 0, .output = received[n]};
    chains[2 + n] = tfrt_device_ccl_execute(members[1].ccl, members[1].stream, &call, 1);
  }
  tfrt_device_ccl_release(members[1].ccl);
  for (int i = 0; i < 4; ++i) tfrt_conformance_await(chains[i]);
  for (int n = 0; n < 2; ++n) {
    test_expect(&members[1], received[n], &numbers[n], sizeof(int32_t));
    tfrt_device_buffer_release(received[n]);
    tfrt_device_stream_release(members[n].stream);
  }
}
END_TEST

START_TEST(a_group_of_one_has_itself) {
  tfrt_test_member_t member;
  if (!test_group(&member, 1)) return;
  int32_t numbers[2] = {3, 4};
  int32_t nothing[2] = {0};
  tfrt_device_buffer_t* input = test_store(&member, numbers, sizeof(numbers));
  tfrt_device_buffer_t* outputs[2];
  for (int i = 0; i < 2; ++i) outputs[i] = test_store(&member, nothing, sizeof(nothing));
  tfrt_ccl_call_t calls[] = {
      {.kind = TFRT_CCL_ALL_GATHER, .dtype = TFRT_DTYPE_I32, .input = input, .output = outputs[0]},
      {.kind = TFRT_CCL_SEND, .dtype = TFRT_DTYPE_I32, .input = input},
      {.kind = TFRT_CCL_RECEIVE, .dtype = TFRT_DTYPE_I32, .output = outputs[1]}};
  tfrt_conformance_await(tfrt_device_ccl_execute(member.ccl, member.stream, calls, 3));
  tfrt_conformance_await(tfrt_device_ccl_execute(member.ccl, member.stream, calls, 0));
  for (int i = 0; i < 2; ++i) {
    test_expect(&member, outputs[i], numbers, sizeof(numbers));
    tfrt_device_buffer_release(outputs[i]);
  }
  tfrt_device_buffer_release(input);
  test_disband(&member, 1);
}
END_TEST

// --- Errors --------------------------------------------------------------------------------

// Waits for |value| (consumed), which is an error of |code| that mentions |part|.
static void test_await_error(tfrt_async_value_t* value, tfrt_status_code_t code, const char* part) {
  tfrt_blocking_wait(&value, 1);
  ck_assert(tfrt_async_value_is_error(value));
  tfrt_status_t status = tfrt_async_value_error(value);
  ck_assert_msg(tfrt_status_code(status) == code && strstr(tfrt_status_message(status), part),
                "%s: %s", tfrt_status_code_name(tfrt_status_code(status)),
                tfrt_status_message(status));
  tfrt_async_value_release(value);
}

// Member |rank| of a group of two whose other member never comes; NULL where there is no library.
static tfrt_device_ccl_t* test_lonely(int32_t rank) {
  tfrt_conformance_t* t = &tfrt_conformance;
  tfrt_ccl_id_t id;
  tfrt_device_ccl_t* ccl;
  tfrt_test_member_t one;
  if (!test_group(&one, 1)) return NULL;
  test_disband(&one, 1);
  tfrt_conformance_expect_ok(tfrt_device_platform_create_ccl_id(t->platform, &id));
  tfrt_conformance_expect_ok(tfrt_device_create_ccl(t->device, &id, rank, 2, &ccl));
  return ccl;
}

// The calls given before and after the abort end with its reason; the device still works.
START_TEST(who_waits_for_nobody_can_give_up) {
  tfrt_conformance_t* t = &tfrt_conformance;
  tfrt_device_ccl_t* ccl = test_lonely(0);
  if (!ccl) return;
  tfrt_ccl_call_t call = {.kind = TFRT_CCL_ALL_REDUCE,
                          .dtype = TFRT_DTYPE_I32,
                          .input = t->buffer,
                          .output = t->buffer};
  tfrt_async_value_t* chain = tfrt_device_ccl_execute(ccl, t->stream, &call, 1);
  tfrt_status_t reason = tfrt_status_create(TFRT_STATUS_DEADLINE_EXCEEDED, "enough of that");
  tfrt_device_ccl_abort(ccl, reason);
  tfrt_device_ccl_abort(ccl, reason);
  tfrt_status_release(reason);
  test_await_error(chain, TFRT_STATUS_DEADLINE_EXCEEDED, "enough of that");
  chain = tfrt_device_ccl_execute(ccl, t->stream, &call, 1);
  tfrt_device_ccl_release(ccl);
  test_await_error(chain, TFRT_STATUS_DEADLINE_EXCEEDED, "enough of that");
  tfrt_conformance_expect_ok(tfrt_device_stream_fill(t->stream, t->buffer, 5, 4));
  tfrt_conformance_expect_all(t->stream, t->buffer, 5);
}
END_TEST

START_TEST(a_member_that_never_joins_may_go) { tfrt_device_ccl_release(test_lonely(1)); }
END_TEST

static void test_refused(const tfrt_test_member_t* member, tfrt_ccl_kind_t kind, tfrt_dtype_t dtype,
                         int32_t peer, tfrt_device_buffer_t* input, tfrt_device_buffer_t* output) {
  tfrt_ccl_call_t call = {
      .kind = kind, .dtype = dtype, .peer = peer, .input = input, .output = output};
  test_await_error(tfrt_device_ccl_execute(member->ccl, member->stream, &call, 1),
                   TFRT_STATUS_INVALID_ARGUMENT, member->device->name);
}

START_TEST(calls_that_do_not_fit_are_refused) {
  tfrt_conformance_t* t = &tfrt_conformance;
  tfrt_test_member_t members[2];
  if (!test_group(members, 2)) return;
  char bytes[12] = {0};
  tfrt_device_buffer_t* four = test_store(&members[0], bytes, 4);
  tfrt_device_buffer_t* twelve = test_store(&members[0], bytes, 12);
  tfrt_device_buffer_t* other = test_store(&members[1], bytes, 4);
  tfrt_test_member_t* first = &members[0];
  test_refused(first, TFRT_CCL_ALL_GATHER, TFRT_DTYPE_I32, 0, four, twelve);
  test_refused(first, TFRT_CCL_ALL_REDUCE, TFRT_DTYPE_I32, 0, four, twelve);
  test_refused(first, TFRT_CCL_REDUCE_SCATTER, TFRT_DTYPE_I32, 0, twelve, four);
  test_refused(first, TFRT_CCL_ALL_TO_ALL, TFRT_DTYPE_I32, 0, twelve, twelve);
  test_refused(first, TFRT_CCL_ALL_REDUCE, TFRT_DTYPE_I64, 0, four, four);
  test_refused(first, TFRT_CCL_ALL_REDUCE, TFRT_DTYPE_I1, 0, four, four);
  test_refused(first, TFRT_CCL_SEND, TFRT_DTYPE_I32, 2, four, NULL);
  test_refused(first, TFRT_CCL_RECEIVE, TFRT_DTYPE_I32, -1, NULL, four);
  test_refused(first, TFRT_CCL_SEND, TFRT_DTYPE_I32, 1, other, NULL);
  test_refused(first, TFRT_CCL_REDUCE, TFRT_DTYPE_I32, 0, four, NULL);
  test_refused(first, TFRT_CCL_REDUCE, TFRT_DTYPE_I32, 0, four, twelve);
  test_refused(first, TFRT_CCL_REDUCE, TFRT_DTYPE_I32, 1, four, four);
  test_refused(first, TFRT_CCL_BROADCAST, TFRT_DTYPE_I32, 0, NULL, four);
  test_refused(first, TFRT_CCL_BROADCAST, TFRT_DTYPE_I32, 1, four, NULL);
  test_refused(first, TFRT_CCL_BROADCAST, TFRT_DTYPE_I32, 2, four, NULL);
  tfrt_test_member_t mixed = {members[0].device, members[0].ccl, members[1].stream};
  test_refused(&mixed, TFRT_CCL_SEND, TFRT_DTYPE_I32, 1, four, NULL);
  tfrt_ccl_id_t id = {{0}};
  tfrt_device_ccl_t* ccl;
  tfrt_conformance_expect(tfrt_device_create_ccl(t->device, &id, 2, 2, &ccl),
                          TFRT_STATUS_INVALID_ARGUMENT);
  tfrt_conformance_expect(tfrt_device_create_ccl(t->device, &id, 0, 0, &ccl),
                          TFRT_STATUS_INVALID_ARGUMENT);
  tfrt_device_buffer_release(four);
  tfrt_device_buffer_release(twelve);
  tfrt_device_buffer_release(other);
  test_disband(members, 2);
}
END_TEST

TCase* tfrt_conformance_ccl_case(void) {
  TCase* ccl = tcase_create("ccl");
  tcase_set_timeout(ccl, 60);
  tcase_add_checked_fixture(ccl, tfrt_conformance_set_up, tfrt_conformance_tear_down);
  tcase_add_test(ccl, all_members_get_what_all_have);
  tcase_add_test(ccl, all_members_get_the_sum);
  tcase_add_test(ccl, each_member_gets_its_part_of_the_sum);
  tcase_add_test(ccl, each_member_gets_its_part_of_each);
  tcase_add_test(ccl, one_member_gets_the_sum);
  tcase_add_test(ccl, all_members_get_what_one_has);
  tcase_add_test(ccl, devices_of_one_process_can_be_members_of_one_group);
  tcase_add_test(ccl, numbers_of_all_types_are_reduced_in_all_ways);
  tcase_add_test(ccl, lists_come_behind_what_their_streams_were_given);
  tcase_add_test(ccl, a_member_may_go_when_its_lists_are_given);
  tcase_add_test(ccl, a_group_of_one_has_itself);
  tcase_add_test(ccl, who_waits_for_nobody_can_give_up);
  tcase_add_test(ccl, a_member_that_never_joins_may_go);
  tcase_add_test(ccl, calls_that_do_not_fit_are_refused);
  return ccl;
}
