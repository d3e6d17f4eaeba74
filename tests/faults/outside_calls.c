// SPDX-License-Identifier: Apache-2.0
//
// Makes the N-th outside call of a process fail: a library for LD_PRELOAD, which stands before the
// C library and libuv. It counts the calls that the program's own code makes, allocations, files,
// sockets, threads and processes; the N-th, and none other, fails as the system would have it fail.
// Calls that libraries make among themselves go on: gRPC, for one, ends the process when it gets no
// memory.
//
//   program --malloc, open, connect, uv_spawn, ...--> here --others--> C library, libuv
//                                                      '--the N-th--> NULL, -1 and errno, UV_E...
//
// Environment:
//   TFRT_OUTSIDE_FAIL=N     which call of the process fails, from 1; 0: none
//   TFRT_OUTSIDE_ONLY=P     only in the program P; not set: in each
//   TFRT_OUTSIDE_SKIP=S     calls of the function S neither count nor fail
//   TFRT_OUTSIDE_REPORT=F   a line is appended to the file F for the call that fails:
//                           "FUNCTION PROGRAM OFFSET...", with the places in the program that call
//                           it, the innermost first (addr2line -f -e PROGRAM OFFSET says where)
//   TFRT_OUTSIDE_LEFT=F     when a process ends in order, lines are appended to the file F for the
//                           blocks that its own code has allocated and that are not freed:
//                           "PROGRAM COUNT OFFSET..." (outside_blocks.h)
//
// A process that it starts begins to count anew.
//
// Thread rule: thread-safe. Failure rule: a process in which a function is missing is ended.
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <link.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>
#include <uv.h>

#include "tests/faults/outside_blocks.h"

#define EXPORTED __attribute__((visibility("default")))

// The next definition of the function |name|, behind this library's.
#define NEXT(type, name) ((type)next_function(#name))

// --- The program's own code ------------------------------------------------------

static uintptr_t program_begin;
static uintptr_t program_end;
static uintptr_t program_base;
static uint64_t failing;     // which call fails; 0: none
static const char* skipped;  // NULL: no function
static const char* report_path;
static const char* left_path;  // NULL: blocks are not noted
static _Atomic uint64_t call_count;

// Sees the program first, then libraries.
static int find_program(struct dl_phdr_info* info, size_t size, void* argument) {
  (void)size;
  (void)argument;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)* part = &info->dlpi_phdr[i];
    if (part->p_type != PT_LOAD || !(part->p_flags & PF_X)) continue;
    program_base = info->dlpi_addr;
    program_begin = info->dlpi_addr + part->p_vaddr;
    program_end = program_begin + part->p_memsz;
  }
  return 1;
}

__attribute__((constructor)) static void begin(void) {
  const char* number = getenv("TFRT_OUTSIDE_FAIL");
  skipped = getenv("TFRT_OUTSIDE_SKIP");
  report_path = getenv("TFRT_OUTSIDE_REPORT");
  left_path = getenv("TFRT_OUTSIDE_LEFT");
  const char* only = getenv("TFRT_OUTSIDE_ONLY");
  const bool is_it = !only || strcmp(only, program_invocation_short_name) == 0;
  failing = number && is_it ? strtoull(number, NULL, 10) : 0;
  dl_iterate_phdr(find_program, NULL);
}

static void* next_function(const char* name) {
  void* function = dlsym(RTLD_NEXT, name);
  if (!function) _exit(99);
  return function;
}

static bool is_program(const void* caller) {
  const uintptr_t place = (uintptr_t)caller;
  return place >= program_begin && place < program_end;
}

#define MAX_PLACES 32

// The places in the program that are in the calling thread's stack, the innermost first.
static int find_places(uintptr_t found[MAX_PLACES]) {
  void* places[MAX_PLACES];
  const int count = backtrace(places, MAX_PLACES);
  int found_count = 0;
  for (int i = 0; i < count; ++i) {
    const uintptr_t place = (uintptr_t)places[i];
    if (place < program_begin || place >= program_end) continue;
    found[found_count++] = place - program_base;
  }
  return found_count;
}

// Opens the file |path| for lines behind its others, by a call that is not counted.
static int open_lines(const char* path) {
  int (*open_next)(const char*, int, ...) = NEXT(int (*)(const char*, int, ...), open);
  return open_next(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
}

// Says which function fails; by calls that are not counted, as this is not the program.
static void report(const char* name) {
  if (!report_path) return;
  uintptr_t places[MAX_PLACES];
  const int count = find_places(places);
  char line[1024];
  size_t size = (size_t)snprintf(line, sizeof(line), "%s %s", name, program_invocation_short_name);
  for (int i = 0; i < count; ++i) {
    size += (size_t)snprintf(line + size, sizeof(line) - size, " 0x%jx", (uintmax_t)places[i]);
  }
  line[size++] = '\n';
  int descriptor = open_lines(report_path);
  if (descriptor < 0) return;
  ssize_t written = NEXT(ssize_t(*)(int, const void*, size_t), write)(descriptor, line, size);
  (void)written;
  close(descriptor);
}

// Threads of the program call these when they end. The main thread does not end as others do.
#define MAX_KEYS 8
static pthread_key_t keys[MAX_KEYS];
static void (*key_ends[MAX_KEYS])(void*);
static _Atomic unsigned key_count;

EXPORTED int pthread_key_create(pthread_key_t* out, void (*destroy)(void*)) {
  int (*create)(pthread_key_t*, void (*)(void*)) =
      NEXT(int (*)(pthread_key_t*, void (*)(void*)), pthread_key_create);
  const int code = create(out, destroy);
  if (code || !destroy || !is_program(__builtin_return_address(0))) return code;
  const unsigned number = atomic_fetch_add_explicit(&key_count, 1, memory_order_relaxed);
  if (number >= MAX_KEYS) _exit(99);
  keys[number] = *out;
  key_ends[number] = destroy;
  return 0;
}

static void end_thread(void) {
  for (unsigned i = 0; i < atomic_load_explicit(&key_count, memory_order_relaxed); ++i) {
    void* content = pthread_getspecific(keys[i]);
    pthread_setspecific(keys[i], NULL);
    if (content) key_ends[i](content);
  }
}

// Says what the program leaves.
__attribute__((destructor)) static void end(void) {
  if (!left_path) return;
  end_thread();
  int descriptor = open_lines(left_path);
  if (descriptor < 0) return;
  outside_blocks_write(descriptor, program_invocation_short_name);
  close(descriptor);
}

// True if the call of |name| from |caller| is the one that fails.
static bool fails(const char* name, const void* caller) {
  if (failing == 0 || !is_program(caller)) return false;
  if (skipped && strcmp(skipped, name) == 0) return false;
  if (atomic_fetch_add_explicit(&call_count, 1, memory_order_relaxed) + 1 != failing) return false;
  report(name);
  return true;
}

// Defines |name| as a function that fails by returning |failure| with errno |code|.
#define WRAP(result, name, parameters, arguments, failure, code)                   \
  EXPORTED result name parameters;                                                 \
  EXPORTED result name parameters {                                                \
    static result(*_Atomic next) parameters;                                       \
    result(*known) parameters = atomic_load_explicit(&next, memory_order_relaxed); \
    if (!known) {                                                                  \
      known = NEXT(result(*) parameters, name);                                    \
      atomic_store_explicit(&next, known, memory_order_relaxed);                   \
    }                                                                              \
    if (!fails(#name, __builtin_return_address(0))) return known arguments;        \
    errno = code;                                                                  \
    return failure;                                                                \
  }

// --- Memory ----------------------------------------------------------------------

// Looking up malloc() may allocate. The C library has its own names for these.
extern void* __libc_malloc(size_t size);
extern void* __libc_memalign(size_t alignment, size_t size);

extern void __libc_free(void* block);

// Notes |block|, which the program gets.
static void* note(void* block) {
  if (!left_path || !block) return block;
  uintptr_t places[MAX_PLACES];
  const int count = find_places(places);
  if (count > 0) outside_blocks_add(block, places, count);
  return block;
}

EXPORTED void* malloc(size_t size) {
  const void* caller = __builtin_return_address(0);
  if (!is_program(caller)) return __libc_malloc(size);
  if (!fails("malloc", caller)) return note(__libc_malloc(size));
  errno = ENOMEM;
  return NULL;
}

EXPORTED int posix_memalign(void** out, size_t alignment, size_t size) {
  const void* caller = __builtin_return_address(0);
  void* found = fails("posix_memalign", caller) ? NULL : __libc_memalign(alignment, size);
  if (!found) return ENOMEM;
  *out = is_program(caller) ? note(found) : found;
  return 0;
}

EXPORTED void free(void* block) {
  if (left_path && block) outside_blocks_remove(block);
  __libc_free(block);
}

WRAP(void*, mmap, (void* at, size_t size, int protection, int flags, int file, off_t offset),
     (at, size, protection, flags, file, offset), (void*)-1, ENOMEM)

// --- Files -----------------------------------------------------------------------

EXPORTED int open(const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(more, mode_t) : 0;
  va_end(more);
  if (!fails("open", __builtin_return_address(0))) {
    return NEXT(int (*)(const char*, int, ...), open)(path, flags, mode);
  }
  errno = EMFILE;
  return -1;
}

EXPORTED int fcntl(int file, int command, ...) {
  va_list more;
  va_start(more, command);
  void* argument = va_arg(more, void*);
  va_end(more);
  if (!fails("fcntl", __builtin_return_address(0))) {
    return NEXT(int (*)(int, int, ...), fcntl)(file, command, argument);
  }
  errno = EMFILE;
  return -1;
}

WRAP(FILE*, fopen, (const char* path, const char* mode), (path, mode), NULL, EMFILE)
WRAP(ssize_t, read, (int file, void* bytes, size_t size), (file, bytes, size), -1, EIO)
WRAP(ssize_t, write, (int file, const void* bytes, size_t size), (file, bytes, size), -1, ENOSPC)
WRAP(size_t, fwrite, (const void* bytes, size_t size, size_t count, FILE* file),
     (bytes, size, count, file), 0, ENOSPC)
WRAP(int, fflush, (FILE * file), (file), EOF, ENOSPC)
WRAP(int, fsync, (int file), (file), -1, EIO)
WRAP(int, ftruncate, (int file, off_t size), (file, size), -1, ENOSPC)
WRAP(int, rename, (const char* from, const char* to), (from, to), -1, EACCES)
WRAP(int, stat, (const char* path, struct stat* found), (path, found), -1, EACCES)
WRAP(int, fstat, (int file, struct stat* found), (file, found), -1, EIO)
WRAP(int, mkdir, (const char* path, mode_t mode), (path, mode), -1, EACCES)

// --- The network -----------------------------------------------------------------

WRAP(int, socket, (int domain, int type, int protocol), (domain, type, protocol), -1, EMFILE)
WRAP(int, bind, (int file, const struct sockaddr* name, socklen_t size), (file, name, size), -1,
     EADDRINUSE)
WRAP(int, listen, (int file, int backlog), (file, backlog), -1, EADDRINUSE)
WRAP(int, connect, (int file, const struct sockaddr* name, socklen_t size), (file, name, size), -1,
     ECONNREFUSED)
WRAP(int, accept4, (int file, struct sockaddr* name, socklen_t* size, int flags),
     (file, name, size, flags), -1, EMFILE)
WRAP(int, getsockname, (int file, struct sockaddr* name, socklen_t* size), (file, name, size), -1,
     ENOBUFS)
WRAP(int, getsockopt, (int file, int level, int name, void* value, socklen_t* size),
     (file, level, name, value, size), -1, ENOBUFS)
WRAP(int, setsockopt, (int file, int level, int name, const void* value, socklen_t size),
     (file, level, name, value, size), -1, ENOBUFS)
WRAP(ssize_t, send, (int file, const void* bytes, size_t size, int flags),
     (file, bytes, size, flags), -1, ECONNRESET)
WRAP(ssize_t, recv, (int file, void* bytes, size_t size, int flags), (file, bytes, size, flags), -1,
     ECONNRESET)
WRAP(int, eventfd, (unsigned count, int flags), (count, flags), -1, EMFILE)
WRAP(int, gethostname, (char* name, size_t size), (name, size), -1, ENAMETOOLONG)

// --- Threads and processes ---------------------------------------------------------

EXPORTED int pthread_create(pthread_t* out, const pthread_attr_t* attributes, void* (*run)(void*),
                            void* argument) {
  typedef int (*create_t)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  if (fails("pthread_create", __builtin_return_address(0))) return EAGAIN;
  return NEXT(create_t, pthread_create)(out, attributes, run, argument);
}

// Defines |name|, of libuv, as a function that fails with |code|. Programs without libuv never call
// it.
#define WRAP_UV(name, parameters, arguments, code)              \
  EXPORTED int name parameters {                                \
    if (fails(#name, __builtin_return_address(0))) return code; \
    return NEXT(int(*) parameters, name) arguments;             \
  }

WRAP_UV(uv_loop_init, (uv_loop_t * loop), (loop), UV_EMFILE)
WRAP_UV(uv_async_init, (uv_loop_t * loop, uv_async_t* handle, uv_async_cb run), (loop, handle, run),
        UV_EMFILE)
WRAP_UV(uv_poll_init, (uv_loop_t * loop, uv_poll_t* handle, int file), (loop, handle, file),
        UV_EMFILE)
WRAP_UV(uv_read_start, (uv_stream_t * stream, uv_alloc_cb allocate, uv_read_cb run),
        (stream, allocate, run), UV_EIO)

// The real one makes the handle one to be closed also where it fails, so it is called with a
// program that is not there.
EXPORTED int uv_spawn(uv_loop_t* loop, uv_process_t* process, const uv_process_options_t* options) {
  typedef int (*spawn_t)(uv_loop_t*, uv_process_t*, const uv_process_options_t*);
  uv_process_options_t changed = *options;
  if (fails("uv_spawn", __builtin_return_address(0))) changed.file = "/no/such/program";
  return NEXT(spawn_t, uv_spawn)(loop, process, &changed);
}
