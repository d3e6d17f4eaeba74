// SPDX-License-Identifier: Apache-2.0
//
// The committed programs as bytes, and small files made by the writer, for the tests of
// this room.
//
// Thread rule: test thread only. Failure rule: what goes wrong fails the test.
#ifndef TFRT_TESTS_HOST_RUNTIME_BEF_BEF_TEST_FILES_H_
#define TFRT_TESTS_HOST_RUNTIME_BEF_BEF_TEST_FILES_H_

#include <stddef.h>
#include <stdint.h>

#include "host_runtime/bef/bef_file.h"
#include "host_runtime/bef/bef_writer.h"

// Bytes in a block of exactly their size, so that AddressSanitizer sees the first one behind.
typedef struct test_bytes_s {
  uint8_t* data;
  size_t size;
} test_bytes_t;

// A block of |size| bytes that nobody has written yet, and its end.
uint8_t* test_allocate(size_t size);
void test_free(void* data, size_t size);

// Reads tests/programs/|name| whole. Freed by test_free().
test_bytes_t test_read_program(const char* name);

// Calls |visit| with the name and the bytes of each .bef file of tests/programs, and returns
// how many there are.
size_t test_for_each_program(void (*visit)(const char* name, test_bytes_t bytes));

// Loads |bytes|, which must be a good file. Released by the caller.
tfrt_bef_file_t* test_load(test_bytes_t bytes);

// Loads |bytes|, which must be refused as INVALID_ARGUMENT with a message that has each of the
// |part_count| |parts|.
void test_refuse(test_bytes_t bytes, const char* const* parts, size_t part_count);

// Loads |bytes|, good or not: it may refuse them, but with a message, and must not crash.
bool test_loads(test_bytes_t bytes);

// Finishes |writer| and frees it. Freed by test_free().
test_bytes_t test_finish(tfrt_bef_writer_t* writer);

// A function `f(i32) -> i32` with two kernels: `k.one` (no arguments, attribute 7 : i32 named
// `value`) and `k.add` (both of them, with call options), as a file.
test_bytes_t test_small_file(void);

// The longest chain that test_chain_file() makes.
#define TEST_MAX_CHAIN 100

// A function `f(i32) -> i32` of |count| kernels `k.add`, from 1 to TEST_MAX_CHAIN: number k, from 1
// on, sets register k to registers k - 1 and 0. As a file.
test_bytes_t test_chain_file(uint32_t count);

#endif  // TFRT_TESTS_HOST_RUNTIME_BEF_BEF_TEST_FILES_H_
