// SPDX-License-Identifier: Apache-2.0
//
// Reads a tensor from a file that a user names: .npy, idx, gzip of these, .npz (FILE.npz:NAME is
// one of its arrays), or BTF (its first tensor), told apart by the first bytes.
//
// Thread rule: thread-compatible.
// Failure rule: one line that names the file and what is wrong with it.
#ifndef TFRT_TOOLS_COMMAND_LINE_TENSOR_FILE_H_
#define TFRT_TOOLS_COMMAND_LINE_TENSOR_FILE_H_

#include "host_runtime/async/async_value.h"

// The most bytes that a compressed file may unpack to.
#define TFRT_TENSOR_FILE_MAX_UNPACKED ((size_t)4 << 30)

// Sets |*out_value| to an available tensor (+1) with the contents of the file that |text| names.
// Errors: those of reading; INVALID_ARGUMENT for a file that is none of these; NOT_FOUND for an
// array that an archive lacks; DATA_LOSS for packed data that are broken or cut. Thread-compatible.
tfrt_status_t tfrt_tensor_file_read(const char* text, tfrt_async_value_t** out_value) TFRT_MUST_USE;

#endif  // TFRT_TOOLS_COMMAND_LINE_TENSOR_FILE_H_
