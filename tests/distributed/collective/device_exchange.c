// SPDX-License-Identifier: Apache-2.0
#include "tests/distributed/collective/device_exchange.h"

#include <check.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define HOSTS TFRT_DEVICE_EXCHANGE_HOSTS
#define TENSOR "!tfrt_tensor.tensor"
#define GPU "!tfrt_gpu.tensor"

static char program[10240];

typedef struct size_info_s {
  int64_t count;
  const char* functions;
} size_info_t;

static const size_info_t sizes[] = {
    [TFRT_DEVICE_EXCHANGE_FEW] = {7, TFRT_DEVICE_WORLD_FUNCTIONS("7", "28")},
    [TFRT_DEVICE_EXCHANGE_ONE] = {1, TFRT_DEVICE_WORLD_FUNCTIONS("1", "4")},
    [TFRT_DEVICE_EXCHANGE_MANY] = {400000, TFRT_DEVICE_WORLD_FUNCTIONS("400000", "1600000")},
    [TFRT_DEVICE_EXCHANGE_EVEN] = {300000, TFRT_DEVICE_WORLD_FUNCTIONS("300000", "1200000")},
};

typedef struct op_s {
  const char* name;
  const char* attributes;
} op_t;

static const op_t ops[] = {
    [TFRT_DEVICE_EXCHANGE_ALL_REDUCE] = {"all_reduce", " {reduction = \"sum\"}"},
    [TFRT_DEVICE_EXCHANGE_REDUCE] = {"reduce", " {reduction = \"max\", root = 1 : i32}"},
    [TFRT_DEVICE_EXCHANGE_REDUCE_SCATTER] = {"reduce_scatter", " {reduction = \"sum\"}"},
    [TFRT_DEVICE_EXCHANGE_ALL_GATHER] = {"all_gather", ""},
    [TFRT_DEVICE_EXCHANGE_BROADCAST] = {"broadcast", " {root = 2 : i32}"},
    [TFRT_DEVICE_EXCHANGE_ALL_TO_ALL] = {"all_to_all", ""},
};

tfrt_device_exchange_t tfrt_device_exchange_of(tfrt_device_exchange_kind_t kind,
                                               tfrt_device_exchange_size_t size,
                                               const char* const* devices) {
  return (tfrt_device_exchange_t){
      .size = size, .op = ops[kind].name, .attributes = ops[kind].attributes, .devices = devices};
}

int64_t tfrt_device_exchange_count(tfrt_device_exchange_size_t size) { return sizes[size].count; }

const char* tfrt_device_exchange_functions(tfrt_device_exchange_size_t size) {
  return sizes[size].functions;
}

// --- Programs ----------------------------------------------------------------

// Appends to the program at its end |end|; returns the new end.
static char* append(char* end, const char* format, ...) __attribute__((format(printf, 2, 3)));

static char* append(char* end, const char* format, ...) {
  size_t room = sizeof(program) - (size_t)(end - program);
  va_list arguments;
  va_start(arguments, format);
  int size = vsnprintf(end, room, format, arguments);
  va_end(arguments);
  ck_assert(size >= 0 && (size_t)size < room);
  return end + size;
}

// @part uploads its operand, and runs the op on it; @in_memory runs it on the host's.
static char* append_parts(char* end, const tfrt_device_exchange_t* exchange) {
  end =
      append(end,
             "func.func @part(%%t: " TENSOR ", %%ch: !tfrt.chain) -> " TENSOR
             " {\n"
             "  %%world = tfrt_dist.world\n"
             "  %%there, %%ch1 = tfrt.call @upload(%%t, %%ch) : (" TENSOR ", !tfrt.chain) -> (" GPU
             ", !tfrt.chain)\n"
             "  %%made, %%ch2 = tfrt_dist.%s %%world, %%there, %%ch1%s\n"
             "  %%back = tfrt.call @download(%%made, %%ch2) : (" GPU ", !tfrt.chain) -> " TENSOR
             "\n"
             "  tfrt.return %%back : " TENSOR "\n}\n",
             exchange->op, exchange->attributes);
  return append(end,
                "func.func @in_memory(%%t: " TENSOR ", %%ch: !tfrt.chain) -> " TENSOR
                " {\n"
                "  %%world = tfrt_dist.world\n"
                "  %%made, %%ch1 = tfrt_dist.%s %%world, %%t, %%ch%s\n"
                "  tfrt.return %%made : " TENSOR "\n}\n",
                exchange->op, exchange->attributes);
}

// The call on |host| that makes %|result|HOST of %|argument|HOST.
static char* append_call(char* end, const tfrt_device_exchange_t* exchange, int host, char result,
                         char argument) {
  const char* device = exchange->devices[host];
  end = append(end, "  %%%c%d = tfrt.call @%s(%%%c%d, %%ch) {host = %d : i32", result, host,
               device[0] ? "part" : "in_memory", argument, host, host);
  if (device[0]) end = append(end, ", device = \"%s\"", device);
  return append(end, "%s} : (" TENSOR ", !tfrt.chain) -> " TENSOR "\n",
                exchange->options ? exchange->options : "");
}

static void write_program(const tfrt_device_exchange_t* exchange) {
  char* end = append(program, "%s", sizes[exchange->size].functions);
  end = append_parts(end, exchange);
  end = append(end, "func.func @main(%%t0: " TENSOR ", %%t1: " TENSOR ", %%t2: " TENSOR
                    ") -> (" TENSOR ", " TENSOR ", " TENSOR ") {\n  %%ch = tfrt.new.chain\n");
  for (int i = 0; i < HOSTS; ++i) end = append_call(end, exchange, i, 'r', 't');
  for (int i = 0; i < HOSTS && exchange->is_twice; ++i) {
    end = append_call(end, exchange, i, 's', 'r');
  }
  char result = exchange->is_twice ? 's' : 'r';
  append(end, "  tfrt.return %%%c0, %%%c1, %%%c2 : " TENSOR ", " TENSOR ", " TENSOR "\n}\n", result,
         result, result);
}

static int32_t seed_of(uint32_t host) { return (int32_t)host * 1000 + 3; }

void tfrt_device_exchange_start_program(tfrt_node_world_t* world, tfrt_device_exchange_size_t size,
                                        const char* text) {
  tfrt_async_value_t* tensors[HOSTS];
  for (uint32_t i = 0; i < HOSTS; ++i) {
    tensors[i] = tfrt_device_world_make_tensor(sizes[size].count, seed_of(i));
  }
  tfrt_node_world_start(world, text, tensors, HOSTS, HOSTS);
  for (uint32_t i = 0; i < HOSTS; ++i) tfrt_async_value_release(tensors[i]);
}

void tfrt_device_exchange_start(tfrt_node_world_t* world, const tfrt_device_exchange_t* exchange) {
  write_program(exchange);
  tfrt_device_exchange_start_program(world, exchange->size, program);
}

// --- What must come ------------------------------------------------------------

int32_t tfrt_device_exchange_number(uint32_t host, int64_t index) {
  return tfrt_device_world_number(index, seed_of(host));
}

static int32_t sum(int64_t index) {
  int32_t result = 0;
  for (uint32_t i = 0; i < HOSTS; ++i) result += tfrt_device_exchange_number(i, index);
  return result;
}

// The first of |count| rows that belongs to |host|.
static int64_t first_row(int64_t count, uint32_t host) {
  return count / HOSTS * host + (host < count % HOSTS ? host : count % HOSTS);
}

static int64_t rows_of(int64_t count, uint32_t host) {
  return first_row(count, host + 1) - first_row(count, host);
}

// How many numbers |host| has in the end if each began with |count|, and which.
static int64_t count_of(tfrt_device_exchange_kind_t kind, int64_t count, uint32_t host) {
  switch (kind) {
    case TFRT_DEVICE_EXCHANGE_REDUCE_SCATTER:
      return rows_of(count, host);
    case TFRT_DEVICE_EXCHANGE_ALL_GATHER:
      return HOSTS * count;
    case TFRT_DEVICE_EXCHANGE_ALL_TO_ALL:
      return HOSTS * rows_of(count, host);
    default:
      return count;
  }
}

static int32_t expected(tfrt_device_exchange_kind_t kind, int64_t count, uint32_t host,
                        int64_t index) {
  int64_t rows = rows_of(count, host);
  switch (kind) {
    case TFRT_DEVICE_EXCHANGE_ALL_REDUCE:
      return sum(index);
    case TFRT_DEVICE_EXCHANGE_REDUCE:
      return tfrt_device_exchange_number(host == 1 ? 2 : host, index);
    case TFRT_DEVICE_EXCHANGE_REDUCE_SCATTER:
      return sum(first_row(count, host) + index);
    case TFRT_DEVICE_EXCHANGE_ALL_GATHER:
      return tfrt_device_exchange_number((uint32_t)(index / count), index % count);
    case TFRT_DEVICE_EXCHANGE_BROADCAST:
      return tfrt_device_exchange_number(2, index);
    default:
      return tfrt_device_exchange_number((uint32_t)(index / rows),
                                         first_row(count, host) + index % rows);
  }
}

void tfrt_device_exchange_expect(const tfrt_node_world_t* world, tfrt_device_exchange_kind_t kind,
                                 tfrt_device_exchange_size_t size) {
  int64_t count = sizes[size].count;
  for (uint32_t host = 0; host < HOSTS; ++host) {
    int64_t got = 0;
    const int32_t* numbers = tfrt_device_world_numbers(world, host, &got);
    ck_assert_int_eq(got, count_of(kind, count, host));
    for (int64_t i = 0; i < got; ++i) {
      int32_t wanted = expected(kind, count, host, i);
      ck_assert_msg(numbers[i] == wanted, "%s: host %u has %d at %ld, not %d", ops[kind].name, host,
                    numbers[i], (long)i, wanted);
    }
  }
}

void tfrt_device_exchange_expect_error(const tfrt_node_world_t* world, tfrt_status_code_t code,
                                       const char* part) {
  for (uint32_t host = 0; host < HOSTS; ++host) {
    tfrt_status_t status = tfrt_node_world_error(world, host);
    ck_assert_msg(tfrt_status_code(status) == code && strstr(tfrt_status_message(status), part),
                  "host %u: %s", host, tfrt_status_message(status));
  }
}
