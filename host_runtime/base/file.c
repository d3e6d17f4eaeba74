// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host_runtime/base/file_system.h"
#include "host_runtime/base/random.h"

// Room for a file whose size is not known before it is read.
#define FIRST_CAPACITY ((size_t)16 * 1024)

static tfrt_status_code_t code_of_errno(int error) {
  switch (error) {
    case ENOENT:
    case ENOTDIR:
      return TFRT_STATUS_NOT_FOUND;
    case EACCES:
    case EPERM:
    case EROFS:
      return TFRT_STATUS_PERMISSION_DENIED;
    case EISDIR:
    case ENAMETOOLONG:
      return TFRT_STATUS_INVALID_ARGUMENT;
    case ENOMEM:
    case ENOSPC:
    case EDQUOT:
    case EMFILE:
    case ENFILE:
      return TFRT_STATUS_RESOURCE_EXHAUSTED;
    default:
      return TFRT_STATUS_UNKNOWN;
  }
}

static const char* shown_path(const char* path) {
  if (*path == '\0') return "'' (an empty name)";
  return strcmp(path, TFRT_FILE_STANDARD_INPUT) == 0 ? "the standard input" : path;
}

static tfrt_status_t system_error(const char* verb, const char* path, int error) {
  return tfrt_status_create(code_of_errno(error), "can't %s %s: %s", verb, shown_path(path),
                            strerrordesc_np(error));
}

// Makes room for at least one byte more than there are, and the NUL.
static bool grow(tfrt_file_contents_t* contents, size_t capacity) {
  uint8_t* data =
      tfrt_allocator_reallocate(contents->allocator, contents->data, contents->capacity, capacity);
  if (!data) return false;
  contents->data = data;
  contents->capacity = capacity;
  return true;
}

static tfrt_status_t out_of_memory(const char* path, size_t size) {
  return tfrt_status_create(TFRT_STATUS_RESOURCE_EXHAUSTED,
                            "can't read %s: memory for %zu bytes is out", shown_path(path), size);
}

static tfrt_status_t too_long(const char* path, size_t max_size, bool is_stream) {
  return tfrt_status_create(
      TFRT_STATUS_INVALID_ARGUMENT, "can't read %s: it has more than %zu bytes, the most that %s",
      shown_path(path), max_size,
      is_stream ? "is read of a pipe or a device; write what it gives to a file and name that"
                : "a file for this may have; name another");
}

// Sets |*out_capacity| to the room that is asked for first, and |*out_max_size| to the most bytes
// that are read. INVALID_ARGUMENT if it is known to have more.
static tfrt_status_t measure(const struct stat* info, const char* path, size_t max_size,
                             size_t* out_capacity, size_t* out_max_size) {
  *out_capacity = FIRST_CAPACITY;
  *out_max_size = max_size > 0 ? max_size : SIZE_MAX - 2;
  if (!S_ISREG(info->st_mode)) {
    if (*out_max_size > TFRT_FILE_STREAM_MAX_SIZE) *out_max_size = TFRT_FILE_STREAM_MAX_SIZE;
    return NULL;
  }
  size_t size = (size_t)info->st_size;
  if (size > *out_max_size) return too_long(path, *out_max_size, false);
  // Two bytes more than the size: the NUL, and one that shows that the end is reached.
  *out_capacity = size + 2;
  return NULL;
}

static tfrt_status_t read_descriptor(int descriptor, const char* path,
                                     tfrt_file_contents_t* contents) {
  struct stat info;
  if (fstat(descriptor, &info) != 0) return system_error("read", path, errno);
  if (S_ISDIR(info.st_mode)) return system_error("read", path, EISDIR);
  size_t capacity, max_size;
  TFRT_RETURN_IF_ERROR(measure(&info, path, contents->max_size, &capacity, &max_size));
  while (contents->size <= max_size) {
    if (contents->capacity < contents->size + 2) {
      // More than the limit and what shows its crossing is never needed.
      if (capacity > max_size + 2) capacity = max_size + 2;
      if (!grow(contents, capacity)) return out_of_memory(path, capacity);
      if (!tfrt_size_multiply(capacity, 2, &capacity)) capacity = SIZE_MAX;
    }
    ssize_t got =
        read(descriptor, contents->data + contents->size, contents->capacity - contents->size - 1);
    if (got == 0) break;
    if (got > 0) {
      contents->size += (size_t)got;
    } else if (errno != EINTR) {
      return system_error("read", path, errno);
    }
  }
  if (contents->size > max_size) {
    return too_long(path, max_size, max_size != contents->max_size);
  }
  contents->data[contents->size] = 0;
  return NULL;
}

tfrt_status_t tfrt_file_contents_append(tfrt_file_contents_t* contents, const void* data,
                                        size_t size) {
  size_t needed;
  if (!tfrt_size_add(contents->size, size, &needed) || !tfrt_size_add(needed, 1, &needed)) {
    return out_of_memory("a file", SIZE_MAX);
  }
  if (contents->max_size > 0 && needed - 1 > contents->max_size) {
    return too_long("a file", contents->max_size, false);
  }
  size_t doubled = contents->capacity > SIZE_MAX / 2 ? SIZE_MAX : contents->capacity * 2;
  if (needed > contents->capacity && !grow(contents, needed > doubled ? needed : doubled)) {
    return out_of_memory("a file", needed);
  }
  if (size > 0) memcpy(contents->data + contents->size, data, size);
  contents->size += size;
  contents->data[contents->size] = 0;
  return NULL;
}

tfrt_status_t tfrt_file_read_local(const char* path, tfrt_file_contents_t* contents) {
  bool is_input = strcmp(path, TFRT_FILE_STANDARD_INPUT) == 0;
  int descriptor = is_input ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return system_error("open", path, errno);
  tfrt_status_t status = read_descriptor(descriptor, path, contents);
  if (!is_input) close(descriptor);
  return status;
}

static tfrt_status_t read_file(const char* path, tfrt_file_contents_t* out_contents) {
  const tfrt_file_system_t* file_system;
  const char* local_path;
  TFRT_RETURN_IF_ERROR(tfrt_file_system_find(path, &file_system, &local_path));
  tfrt_status_t status = file_system->read(local_path, out_contents);
  // Contents that a file system left empty read like an empty file.
  if (!status && !out_contents->data) status = tfrt_file_contents_append(out_contents, "", 0);
  if (status) tfrt_file_contents_deinitialize(out_contents);
  return status;
}

tfrt_status_t tfrt_file_read(const char* path, tfrt_allocator_t allocator,
                             tfrt_file_contents_t* out_contents) {
  *out_contents = (tfrt_file_contents_t){.allocator = allocator};
  return read_file(path, out_contents);
}

tfrt_status_t tfrt_file_read_at_most(const char* path, size_t max_size, tfrt_allocator_t allocator,
                                     tfrt_file_contents_t* out_contents) {
  *out_contents = (tfrt_file_contents_t){.allocator = allocator, .max_size = max_size};
  return read_file(path, out_contents);
}

// --- Mapping -----------------------------------------------------------------------

// Whether the file of |info| is one to map, not to read.
static bool is_mappable(const struct stat* info, size_t max_size) {
  bool is_trusted = (info->st_uid == geteuid() || info->st_uid == 0) &&
                    (info->st_mode & (S_IWGRP | S_IWOTH)) == 0;
  return S_ISREG(info->st_mode) && is_trusted &&
         (uint64_t)info->st_size >= TFRT_FILE_SMALLEST_MAPPED &&
         (uint64_t)info->st_size <= max_size;
}

// Whether some process has the file |descriptor| open to write: only without one the system gives a
// lease. A file system without leases doesn't say.
static bool is_being_written(int descriptor) {
  // A process that opens it meanwhile waits, and the holder gets a signal: one that is ignored by
  // default.
  if (fcntl(descriptor, F_SETSIG, SIGURG) != 0) return false;
  if (fcntl(descriptor, F_SETLEASE, F_RDLCK) != 0) return errno == EAGAIN;
  fcntl(descriptor, F_SETLEASE, F_UNLCK);
  return false;
}

// Maps the file |descriptor| of |size| bytes; false if the system doesn't.
static bool map_descriptor(int descriptor, size_t size, tfrt_file_contents_t* contents) {
  // A page of zeros follows where the file ends with its last page: for the NUL.
  void* room = mmap(NULL, size + 1, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (room == MAP_FAILED) return false;
  if (mmap(room, size, PROT_READ, MAP_PRIVATE | MAP_FIXED, descriptor, 0) == MAP_FAILED) {
    munmap(room, size + 1);
    return false;
  }
  contents->data = room;
  contents->size = size;
  contents->capacity = size + 1;
  contents->is_mapped = true;
  return true;
}

// Maps the file |path| of this machine, or returns false if it must be read, or is none.
static bool try_to_map(const char* path, tfrt_file_contents_t* contents) {
  const tfrt_file_system_t* file_system;
  const char* local_path;
  struct stat info;
  tfrt_status_t status = tfrt_file_system_find(path, &file_system, &local_path);
  bool is_local = !status && file_system->read == tfrt_file_read_local;
  tfrt_status_release(status);
  if (!is_local || strcmp(local_path, TFRT_FILE_STANDARD_INPUT) == 0) return false;
  int descriptor = open(local_path, O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return false;
  bool is_mapped = fstat(descriptor, &info) == 0 && is_mappable(&info, contents->max_size) &&
                   !is_being_written(descriptor) &&
                   map_descriptor(descriptor, (size_t)info.st_size, contents);
  close(descriptor);
  return is_mapped;
}

tfrt_status_t tfrt_file_map(const char* path, size_t max_size, tfrt_allocator_t allocator,
                            tfrt_file_contents_t* out_contents) {
  *out_contents = (tfrt_file_contents_t){.allocator = allocator, .max_size = max_size};
  if (try_to_map(path, out_contents)) return NULL;
  return read_file(path, out_contents);
}

void tfrt_file_contents_unload(const tfrt_file_contents_t* contents, const void* data,
                               size_t size) {
  if (!contents->is_mapped) return;
  uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
  uintptr_t begin = ((uintptr_t)data + page - 1) / page * page;
  uintptr_t end = ((uintptr_t)data + size) / page * page;
  if (begin < end) madvise((void*)begin, end - begin, MADV_DONTNEED);
}

void tfrt_file_contents_deinitialize(tfrt_file_contents_t* contents) {
  if (contents->is_mapped) {
    munmap(contents->data, contents->capacity);
  } else {
    tfrt_allocator_free(contents->allocator, contents->data, contents->capacity);
  }
  *contents = (tfrt_file_contents_t){.allocator = contents->allocator};
}

static tfrt_status_t write_all(int descriptor, const char* path, const char* data, size_t size) {
  while (size > 0) {
    ssize_t written = write(descriptor, data, size);
    if (written >= 0) {
      data += written;
      size -= (size_t)written;
    } else if (errno != EINTR) {
      return system_error("write", path, errno);
    }
  }
  return NULL;
}

// Whether |path| is there and no regular file: a device, a pipe, or a link to anything, which a
// new file must not take the name of. A directory is left to rename(), which refuses it.
static bool is_special(const char* path) {
  struct stat info;
  return lstat(path, &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode);
}

static tfrt_status_t write_in_place(const char* path, const void* data, size_t size) {
  int descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (descriptor < 0) return system_error("open", path, errno);
  tfrt_status_t status = write_all(descriptor, path, data, size);
  if (close(descriptor) != 0 && !status) status = system_error("write", path, errno);
  return status;
}

// Fills the new file |temporary| and gives it the name |path|.
static tfrt_status_t write_temporary(const char* path, const char* temporary, const void* data,
                                     size_t size) {
  int descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (descriptor < 0) return system_error("create a file beside", path, errno);
  tfrt_status_t status = write_all(descriptor, path, data, size);
  // Some file systems tell only here that the bytes did not fit.
  if (close(descriptor) != 0 && !status) status = system_error("write", path, errno);
  if (!status && rename(temporary, path) != 0) status = system_error("replace", path, errno);
  if (status) unlink(temporary);
  return status;
}

tfrt_status_t tfrt_file_write(const char* path, const void* data, size_t size) {
  const tfrt_file_system_t* file_system;
  const char* local_path;
  TFRT_RETURN_IF_ERROR(tfrt_file_system_find(path, &file_system, &local_path));
  return file_system->write(local_path, data, size);
}

// Whether a file can be made in the folder of |path| and take that name.
static tfrt_status_t check_folder(const char* path) {
  const char* slash = strrchr(path, '/');
  size_t size = slash ? (size_t)(slash - path) : 0;
  char folder[PATH_MAX];
  if (size >= sizeof folder) return system_error("create a file beside", path, ENAMETOOLONG);
  snprintf(folder, sizeof folder, "%.*s", (int)size, path);
  const char* shown = !slash ? "." : size == 0 ? "/" : folder;
  return access(shown, W_OK | X_OK) == 0 ? NULL : system_error("create a file beside", path, errno);
}

tfrt_status_t tfrt_file_check_writable(const char* path) {
  const tfrt_file_system_t* file_system;
  const char* local_path;
  TFRT_RETURN_IF_ERROR(tfrt_file_system_find(path, &file_system, &local_path));
  // Whether others can be written shows only when they are written.
  if (file_system->write != tfrt_file_write_local) return NULL;
  struct stat info;
  if (stat(local_path, &info) == 0 && S_ISDIR(info.st_mode)) {
    return system_error("replace", local_path, EISDIR);
  }
  if (!is_special(local_path)) return check_folder(local_path);
  if (access(local_path, W_OK) == 0 || errno == ENOENT) return NULL;
  return system_error("open", local_path, errno);
}

tfrt_status_t tfrt_file_write_local(const char* path, const void* data, size_t size) {
  if (is_special(path)) return write_in_place(path, data, size);
  // The name is drawn from 2^64 ones: two writers of one path never meet. mkstemp() is
  // no choice, because its files are for their owner alone, whatever the umask says.
  uint64_t number = 0;
  tfrt_random_entropy(&number, sizeof number);
  char temporary[PATH_MAX];
  int length =
      snprintf(temporary, sizeof temporary, "%s.%016llx", path, (unsigned long long)number);
  bool fits = length >= 0 && (size_t)length < sizeof temporary;
  return fits ? write_temporary(path, temporary, data, size)
              : system_error("create a file beside", path, ENAMETOOLONG);
}
