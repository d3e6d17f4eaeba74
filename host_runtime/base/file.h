// SPDX-License-Identifier: Apache-2.0
//
// Whole files in and out: programs, weights, results. A path may say in which file system it is
// (file_system.h); else it is one of this machine.
//
// Life of what was read:
//  1. Filled by tfrt_file_read(), or mapped by tfrt_file_map().
//  2. Used; |data| is aligned for anything up to 16 bytes (a BEF file asks for 8), and
//     a NUL, which |size| doesn't count, lies behind the last byte.
//  3. Given back by tfrt_file_contents_deinitialize().
//
// Thread rule: thread-safe, as far as the files are.
// Failure rule: each error names the path and the system's reason: NOT_FOUND,
// PERMISSION_DENIED, INVALID_ARGUMENT (a directory, or more bytes than are read),
// RESOURCE_EXHAUSTED (memory or disk), UNKNOWN for the rest. A write that fails leaves the old file
// as it was.
#ifndef TFRT_HOST_RUNTIME_BASE_FILE_H_
#define TFRT_HOST_RUNTIME_BASE_FILE_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host_runtime/base/allocator.h"
#include "host_runtime/base/macros.h"
#include "host_runtime/base/status.h"

TFRT_API_BEGIN

// The path that names the standard input.
#define TFRT_FILE_STANDARD_INPUT "-"

// The most bytes that are read of what is no regular file, whatever the caller's limit: a pipe
// or a device tells its size only by its end, and may have none.
#define TFRT_FILE_STREAM_MAX_SIZE ((size_t)1 << 30)

// The bytes of a file.
typedef struct tfrt_file_contents_s {
  uint8_t* data;  // never NULL after a successful read
  size_t size;
  size_t capacity;  // of the block at |data|
  size_t max_size;  // the most bytes that may be read into it; 0: no limit
  bool is_mapped;   // |data| are pages of the file, which can't be written to
  tfrt_allocator_t allocator;
} tfrt_file_contents_t;

// Appends |size| bytes at |data| to |contents|, and a NUL behind them. INVALID_ARGUMENT when there
// would be more than |max_size|, RESOURCE_EXHAUSTED when memory is out; then nothing has changed.
// Thread-compatible.
tfrt_status_t tfrt_file_contents_append(tfrt_file_contents_t* contents, const void* data,
                                        size_t size) TFRT_MUST_USE;

// Reads all of the file |path|, or of the standard input if that is "-", into memory
// of |allocator|. Pipes and other files without a size are read to their end, which must come
// within TFRT_FILE_STREAM_MAX_SIZE bytes. Sets |*out_contents|, which is empty after an error.
// Thread-safe.
tfrt_status_t tfrt_file_read(const char* path, tfrt_allocator_t allocator,
                             tfrt_file_contents_t* out_contents) TFRT_MUST_USE;

// The same for a file of at most |max_size| bytes, more than 0; of a longer one no more than that
// is read. Thread-safe.
tfrt_status_t tfrt_file_read_at_most(const char* path, size_t max_size, tfrt_allocator_t allocator,
                                     tfrt_file_contents_t* out_contents) TFRT_MUST_USE;

// The fewest bytes that tfrt_file_map() maps.
#define TFRT_FILE_SMALLEST_MAPPED ((size_t)256 * 1024)

// The same as tfrt_file_read_at_most() for bytes that are never written to: the pages of a large
// file of this machine become memory, and each is read when it is first used. A file that is not
// this user's own or root's, or that others may write to, or that a process has open to write, is
// read whole instead. For what is written to a mapped file later would be seen, and a read behind
// the end of one that was cut off would end this process. Its owner replaces it with a new file, as
// tfrt_file_write() does, and doesn't write into it meanwhile. Thread-safe.
tfrt_status_t tfrt_file_map(const char* path, size_t max_size, tfrt_allocator_t allocator,
                            tfrt_file_contents_t* out_contents) TFRT_MUST_USE;

// For bytes of |contents| that are not used for a while: takes the memory of the whole pages among
// the |size| bytes at |data|, if they are mapped; the next use reads them from the file again.
// Thread-safe.
void tfrt_file_contents_unload(const tfrt_file_contents_t* contents, const void* data, size_t size);

// Gives back what |contents| holds. Thread-compatible.
void tfrt_file_contents_deinitialize(tfrt_file_contents_t* contents);

// Makes |size| bytes at |data| the content of the file |path|, all at once: who reads
// meanwhile sees the old content or the new one. The bytes go to a new file beside it
// first, which then takes its name. A file that is not regular (a device, a pipe, a link) keeps its
// name and is written to. Not synchronised to disk. Thread-safe.
tfrt_status_t tfrt_file_write(const char* path, const void* data, size_t size) TFRT_MUST_USE;

// For callers that work long before they write: the error that tfrt_file_write() to |path| would
// return, as far as it can be seen without writing; NULL if none. Makes and changes no file, so a
// later write may still fail. Thread-safe.
tfrt_status_t tfrt_file_check_writable(const char* path) TFRT_MUST_USE;

// A read or a write for a path of this machine, whatever it looks like. |contents| is empty and has
// its allocator and limit; after an error the caller gives back what is there. Thread-safe.
tfrt_status_t tfrt_file_read_local(const char* path, tfrt_file_contents_t* contents) TFRT_MUST_USE;
tfrt_status_t tfrt_file_write_local(const char* path, const void* data, size_t size) TFRT_MUST_USE;

TFRT_API_END

#endif  // TFRT_HOST_RUNTIME_BASE_FILE_H_
