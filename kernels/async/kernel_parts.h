// SPDX-License-Identifier: Apache-2.0
//
// The inside of this room, shared by its sources.
//
//     scalar_kernels.c  arithmetic
//     task_kernels.c    regions as tasks, waiting, assertions
//     block_runner.c    functions of several blocks
//     group_kernels.c   groups
//     print_kernels.c   prints
//     memory_kernels.c  memory, and what devices get of it
//     atomic_change.c   an element of memory is changed in one step
//
// Thread rule: the kernels are thread-safe. Failure rule: a kernel's failure is its results' error.
#ifndef TFRT_KERNELS_ASYNC_KERNEL_PARTS_H_
#define TFRT_KERNELS_ASYNC_KERNEL_PARTS_H_

#include "host_runtime/executor/kernel/kernel_registry.h"

extern const tfrt_kernel_registration_t tfrt_async_scalar_kernels[];
extern const size_t tfrt_async_scalar_kernel_count;

void tfrt_async_execute(tfrt_kernel_frame_t* frame);
void tfrt_async_assert(tfrt_kernel_frame_t* frame);
void tfrt_async_settled(tfrt_kernel_frame_t* frame);
void tfrt_async_is_error(tfrt_kernel_frame_t* frame);
void tfrt_async_drop_ref(tfrt_kernel_frame_t* frame);
void tfrt_async_run_blocks(tfrt_kernel_frame_t* frame);
void tfrt_async_create_group(tfrt_kernel_frame_t* frame);
void tfrt_async_add_to_group(tfrt_kernel_frame_t* frame);
void tfrt_async_await_all(tfrt_kernel_frame_t* frame);
void tfrt_async_print(tfrt_kernel_frame_t* frame);
void tfrt_async_print_text(tfrt_kernel_frame_t* frame);
void tfrt_async_end_line(tfrt_kernel_frame_t* frame);
void tfrt_async_print_thread(tfrt_kernel_frame_t* frame);
void tfrt_async_alloc(tfrt_kernel_frame_t* frame);
void tfrt_async_load(tfrt_kernel_frame_t* frame);
void tfrt_async_store(tfrt_kernel_frame_t* frame);
void tfrt_async_fill(tfrt_kernel_frame_t* frame);
void tfrt_async_atomic_rmw(tfrt_kernel_frame_t* frame);
void tfrt_async_print_memory(tfrt_kernel_frame_t* frame);
void tfrt_async_memory_cast(tfrt_kernel_frame_t* frame);
void tfrt_async_bytes(tfrt_kernel_frame_t* frame);
void tfrt_async_device_bytes(tfrt_kernel_frame_t* frame);
void tfrt_async_device_size(tfrt_kernel_frame_t* frame);
void tfrt_async_dim(tfrt_kernel_frame_t* frame);

// Appends the element of |type| at |payload| to |text| as MLIR's runner prints it. Thread-safe.
void tfrt_async_append_number(tfrt_string_builder_t* text, tfrt_type_id_t type,
                              const void* payload);

// Prints |text|, whole lines, and sets result 0 of |frame| to the chain behind it. Thread-safe.
void tfrt_async_print_lines(tfrt_kernel_frame_t* frame, tfrt_string_view_t text);

// Changes the element at |address|, of type |type|, by |operand| as MLIR's number |kind| says, in
// one step, and sets |old|, of the same type, to the one before. False: no such change of such
// elements. Thread-safe.
bool tfrt_async_atomic_change(void* address, tfrt_type_id_t type, uint64_t kind,
                              const void* operand, void* old);

// Registers the types of groups and of memory, once per process. Thread-safe.
tfrt_status_t tfrt_async_group_register(void) TFRT_MUST_USE;
tfrt_status_t tfrt_async_memory_register(void) TFRT_MUST_USE;

#endif  // TFRT_KERNELS_ASYNC_KERNEL_PARTS_H_
