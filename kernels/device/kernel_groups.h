// SPDX-License-Identifier: Apache-2.0
//
// The kernels of this room by file, for the registration. Private to it.
//
// Thread rule: as kernels (kernel_frame.h). Failure rule: as kernels.
#ifndef TFRT_KERNELS_DEVICE_KERNEL_GROUPS_H_
#define TFRT_KERNELS_DEVICE_KERNEL_GROUPS_H_

#include "host_runtime/executor/kernel/kernel_frame.h"
#include "host_runtime/executor/kernel/kernel_registry.h"

// memory_kernels.c
void tfrt_gpu_allocator_create(tfrt_kernel_frame_t* frame);
void tfrt_gpu_mem_allocate(tfrt_kernel_frame_t* frame);
void tfrt_gpu_mem_allocate_host(tfrt_kernel_frame_t* frame);
void tfrt_gpu_mem_deallocate(tfrt_kernel_frame_t* frame);
void tfrt_gpu_mem_copy(tfrt_kernel_frame_t* frame);
void tfrt_gpu_mem_set(tfrt_kernel_frame_t* frame);
void tfrt_gpu_mem_register(tfrt_kernel_frame_t* frame);
void tfrt_gpu_mem_view(tfrt_kernel_frame_t* frame);
void tfrt_gpu_mem_load(tfrt_kernel_frame_t* frame);

// graph_kernels.c
void tfrt_gpu_graph_create(tfrt_kernel_frame_t* frame);
void tfrt_gpu_graph_call(tfrt_kernel_frame_t* frame);

// tensor_kernels.c
void tfrt_gpu_tensor_make_i8(tfrt_kernel_frame_t* frame);
void tfrt_gpu_tensor_make_i32(tfrt_kernel_frame_t* frame);
void tfrt_gpu_tensor_make_i64(tfrt_kernel_frame_t* frame);
void tfrt_gpu_tensor_make_f32(tfrt_kernel_frame_t* frame);
void tfrt_gpu_tensor_make_f64(tfrt_kernel_frame_t* frame);
void tfrt_gpu_tensor_get_buffer(tfrt_kernel_frame_t* frame);
void tfrt_gpu_tensor_to_host(tfrt_kernel_frame_t* frame);
void tfrt_gpu_tensor_print_metadata(tfrt_kernel_frame_t* frame);
void tfrt_gpu_mem_print_metadata(tfrt_kernel_frame_t* frame);

// module_kernels.c
void tfrt_gpu_module_load(tfrt_kernel_frame_t* frame);
void tfrt_gpu_module_load_file(tfrt_kernel_frame_t* frame);
void tfrt_gpu_module_get_global(tfrt_kernel_frame_t* frame);
void tfrt_gpu_module_get_function(tfrt_kernel_frame_t* frame);
void tfrt_gpu_function_launch(tfrt_kernel_frame_t* frame);
void tfrt_gpu_function_launch_cooperative(tfrt_kernel_frame_t* frame);
void tfrt_gpu_function_launch_priority(tfrt_kernel_frame_t* frame);
void tfrt_gpu_function_launch_cluster(tfrt_kernel_frame_t* frame);

// blas_kernels.c: registers all of tfrt_blas_ops. Thread-safe.
tfrt_status_t tfrt_blas_kernels_register(tfrt_kernel_registry_t* registry) TFRT_MUST_USE;

// dnn_plan_kernels.c
void tfrt_gpu_dnn_build_convolution(tfrt_kernel_frame_t* frame);
void tfrt_gpu_dnn_build_fused_convolution(tfrt_kernel_frame_t* frame);
void tfrt_gpu_dnn_run_convolution(tfrt_kernel_frame_t* frame);
void tfrt_gpu_dnn_run_fused_convolution(tfrt_kernel_frame_t* frame);

// dnn_kernels.c: registers all of tfrt_dnn_ops. Thread-safe.
tfrt_status_t tfrt_dnn_kernels_register(tfrt_kernel_registry_t* registry) TFRT_MUST_USE;

// ccl_kernels.c: registers all of tfrt_ccl_ops. Thread-safe.
tfrt_status_t tfrt_ccl_kernels_register(tfrt_kernel_registry_t* registry) TFRT_MUST_USE;

#endif  // TFRT_KERNELS_DEVICE_KERNEL_GROUPS_H_
