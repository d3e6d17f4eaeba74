// SPDX-License-Identifier: Apache-2.0
//
// A simulated network of nodes with devices: the fake CUDA driver's, whose streams are threads, and
// the CPU's, which do the same in each run. Simulated and real time pass together.
//
// Life: begun, run, ended; again and again.
//
// Thread rule: thread-compatible. Failure rule: what goes wrong fails the test.
#ifndef TFRT_TESTS_DISTRIBUTED_COLLECTIVE_DEVICE_WORLD_H_
#define TFRT_TESTS_DISTRIBUTED_COLLECTIVE_DEVICE_WORLD_H_

#include "tests/distributed/host/node_harness.h"

// Functions of a program for tensors of i32: @upload makes one of the device that its call is
// placed on of a host's, and @download the other way round. |COUNT| and |SIZE| are the text of how
// many numbers and bytes it has.
#define TFRT_DEVICE_WORLD_FUNCTIONS(COUNT, SIZE)                                            \
  "func.func @upload(%t: !tfrt_tensor.tensor, %ch0: !tfrt.chain)\n"                         \
  "    -> (!tfrt_gpu.tensor, !tfrt.chain) {\n"                                              \
  "  %device = tfrt_gpu.device.current\n"                                                   \
  "  %context = tfrt_gpu.context.primary %device\n"                                         \
  "  %stream = tfrt_gpu.stream.create %context\n"                                           \
  "  %allocator = tfrt_gpu.allocator.create %context\n"                                     \
  "  %size = tfrt.constant.i64 " SIZE                                                       \
  "\n"                                                                                      \
  "  %buffer = tfrt_gpu.mem.allocate %allocator, %stream, %size, %ch0\n"                    \
  "  %bytes, %ch1 = tfrt_dht.get_buffer %t, %ch0\n"                                         \
  "  %ch2 = tfrt_gpu.mem.copy %buffer, %bytes, %stream, %ch1"                               \
  " : !tfrt_gpu.buffer, !ht.host_buffer\n"                                                  \
  "  %shape = ts.build_shape [" COUNT                                                       \
  " : i64]\n"                                                                               \
  "  %tensor = tfrt_gpu.tensor.make.i32 %buffer, %shape, %ch2\n"                            \
  "  tfrt.return %tensor, %ch2 : !tfrt_gpu.tensor, !tfrt.chain\n"                           \
  "}\n"                                                                                     \
  "func.func @download(%t: !tfrt_gpu.tensor, %ch0: !tfrt.chain) -> !tfrt_tensor.tensor {\n" \
  "  %ch1 = tfrt_gpu.tensor.print_metadata %t, %ch0\n"                                      \
  "  %host = tfrt_gpu.tensor.to_host %t, %ch1\n"                                            \
  "  tfrt.return %host : !tfrt_tensor.tensor\n"                                             \
  "}\n"

// Makes |world| one of |host_count| hosts. |seed| says how long messages and the driver's streams
// take; |window| is as in the harness. Thread-compatible.
void tfrt_device_world_begin(tfrt_node_world_t* world, uint32_t host_count, uint64_t seed,
                             uint64_t window);

// Has the hosts of the worlds that are begun from now on say that their network |is_encrypted|; at
// first it isn't. Thread-compatible.
void tfrt_device_world_set_encrypted(bool is_encrypted);

// Lets a moment of simulated and real time pass. Thread-compatible.
void tfrt_device_world_run_a_moment(tfrt_node_world_t* world);

// Lets time pass until |is_done|, which looks at |world| after each message. Thread-compatible.
void tfrt_device_world_run_until(tfrt_node_world_t* world,
                                 bool (*is_done)(const tfrt_node_world_t* world));

// Returns true when all results of |world| are there. Thread-compatible.
bool tfrt_device_world_has_results(const tfrt_node_world_t* world);

// Ends |world|, whose driver must have seen no misuse, and must have nothing left.
// Thread-compatible.
void tfrt_device_world_end(tfrt_node_world_t* world);

// Number |index| of the tensor that |seed| stands for. Thread-safe.
int32_t tfrt_device_world_number(int64_t index, int32_t seed);

// A tensor (+1) of the host with the first |count| of these numbers. Thread-safe.
tfrt_async_value_t* tfrt_device_world_make_tensor(int64_t count, int32_t seed);

// The |*out_count| numbers in result |index|, a tensor of the host; they live as long as that.
// Thread-compatible.
const int32_t* tfrt_device_world_numbers(const tfrt_node_world_t* world, uint32_t index,
                                         int64_t* out_count);

#endif  // TFRT_TESTS_DISTRIBUTED_COLLECTIVE_DEVICE_WORLD_H_
