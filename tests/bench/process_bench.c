// SPDX-License-Identifier: Apache-2.0
//
// Whole processes: what it takes to start a tool, let it do its work, and see it end.
//
// The least that any process takes is `yardstick/empty_process`; sizes are those of the programs'
// files when all that only debuggers and linkers want is stripped.
//
// Resident memory is read when a process is about to end.
#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host_runtime/base/file.h"
#include "host_runtime/base/string_builder.h"
#include "tests/bench/bench_host.h"
#include "tests/bench/bench_memory.h"
#include "tests/bench/bench_program.h"
#include "tests/bench/benchmark.h"

enum { FOLDER_SIZE = 512 };

enum {
  RUN_TIME,
  RUN_MEMORY,
  REPEAT_MEMORY,
  TRANSLATE_TIME,
  TRANSLATE_AGAIN_TIME,  // the output replaces the one of the sample before
  TRANSLATE_MEMORY
};

typedef struct state_s {
  const tfrt_benchmark_t* benchmark;
  char folder[FOLDER_SIZE];  // of the inputs; removed with them
  char text_path[FOLDER_SIZE + 16];
  char bef_path[FOLDER_SIZE + 16];
  char output_path[FOLDER_SIZE + 16];
  char tool[PATH_MAX];
  char queue[32];
} state_t;

static state_t current;

// --- A process ---------------------------------------------------------------

static bool is_run(int kind) {
  return kind == RUN_TIME || kind == RUN_MEMORY || kind == REPEAT_MEMORY;
}

static bool is_memory(int kind) {
  return kind == RUN_MEMORY || kind == REPEAT_MEMORY || kind == TRANSLATE_MEMORY;
}

// Becomes the tool; never returns.
static void become_tool(const state_t* self, bool traced) {
  int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
  if (null < 0 || dup2(null, STDOUT_FILENO) < 0) _exit(126);
  if (traced && ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0) _exit(126);
  if (is_run(self->benchmark->kind)) {
    execl(self->tool, self->tool, self->queue, self->bef_path, (char*)NULL);
  } else {
    execl(self->tool, self->tool, self->text_path, "-o", self->output_path, (char*)NULL);
  }
  _exit(127);
}

// Waits for |pid| to end; one that is traced is stopped just before, and its memory is read
// then.
static tfrt_status_t await_end(pid_t pid, bool traced, long* out_peak) {
  int state = 0;
  *out_peak = 0;
  bool began = false;
  while (waitpid(pid, &state, 0) == pid && WIFSTOPPED(state)) {
    if (!traced) continue;
    if (!began) ptrace(PTRACE_SETOPTIONS, pid, NULL, (void*)PTRACE_O_TRACEEXIT);
    began = true;
    if (state >> 8 == (SIGTRAP | (PTRACE_EVENT_EXIT << 8))) *out_peak = tfrt_bench_peak_memory(pid);
    ptrace(PTRACE_CONT, pid, NULL, NULL);
  }
  if (WIFEXITED(state) && WEXITSTATUS(state) == 0) return NULL;
  return tfrt_status_create(TFRT_STATUS_INTERNAL, "%s ended with %d", current.tool,
                            WIFEXITED(state) ? WEXITSTATUS(state) : -WTERMSIG(state));
}

static tfrt_status_t sample(void* state, double* out_figure) {
  const state_t* self = state;
  bool traced = is_memory(self->benchmark->kind);
  long peak = 0;
  if (self->benchmark->kind == TRANSLATE_TIME) unlink(self->output_path);
  int64_t begin = tfrt_benchmark_now_ns();
  // Memory is not copied for a child that only becomes another program, but its tables
  // would be.
  pid_t pid = traced ? fork() : vfork();
  if (pid == 0) become_tool(self, traced);
  if (pid < 0) return tfrt_status_create(TFRT_STATUS_RESOURCE_EXHAUSTED, "can't fork");
  TFRT_RETURN_IF_ERROR(await_end(pid, traced, &peak));
  double elapsed = (double)(tfrt_benchmark_now_ns() - begin) / 1e6;
  *out_figure = traced ? (double)peak : elapsed;
  if (!traced || peak > 0) return NULL;
  return tfrt_status_create(TFRT_STATUS_UNAVAILABLE, "the memory of a process can't be read");
}

// --- Its inputs --------------------------------------------------------------

static tfrt_status_t write_inputs(state_t* self, const tfrt_string_builder_t* text) {
  TFRT_RETURN_IF_ERROR(tfrt_string_builder_status(text));
  tfrt_string_view_t view = tfrt_string_builder_view(text);
  TFRT_RETURN_IF_ERROR(tfrt_file_write(self->text_path, view.data, view.size));
  void* bytes = NULL;
  size_t size = 0;
  TFRT_RETURN_IF_ERROR(tfrt_bench_translate(view, &bytes, &size));
  tfrt_status_t status = tfrt_file_write(self->bef_path, bytes, size);
  tfrt_allocator_free(tfrt_allocator_system(), bytes, size);
  return status;
}

static void close_process(void* state) {
  const state_t* self = state;
  unlink(self->text_path);
  unlink(self->bef_path);
  unlink(self->output_path);
  rmdir(self->folder);
}

// Makes a folder for the inputs and names them. A folder whose name is too long can't be made.
static tfrt_status_t make_folder(state_t* self) {
  char folder[FOLDER_SIZE];
  const char* temporary = getenv("TEST_TMPDIR");
  snprintf(folder, sizeof(folder), "%s/tfrt_bench_XXXXXX", temporary ? temporary : "/tmp");
  if (!mkdtemp(folder)) {
    return tfrt_status_create(TFRT_STATUS_UNAVAILABLE, "can't make the folder %s", folder);
  }
  snprintf(self->text_path, sizeof(self->text_path), "%s/program.mlir", folder);
  snprintf(self->bef_path, sizeof(self->bef_path), "%s/program.bef", folder);
  snprintf(self->output_path, sizeof(self->output_path), "%s/output.bef", folder);
  memcpy(self->folder, folder, sizeof(folder));
  return NULL;
}

static tfrt_status_t open_process(const tfrt_benchmark_t* benchmark,
                                  const tfrt_benchmark_files_t* files, int64_t size,
                                  void** out_state) {
  state_t* self = &current;
  *out_state = self;
  self->benchmark = benchmark;
  snprintf(self->tool, sizeof(self->tool), "%s/%s", files->tools,
           is_run(benchmark->kind) ? "bef_executor" : "mlir_to_bef");
  snprintf(self->queue, sizeof(self->queue),
           benchmark->threads ? "--work_queue_type=mstd:%d" : "--work_queue_type=s",
           benchmark->threads);
  TFRT_RETURN_IF_ERROR(make_folder(self));
  tfrt_string_builder_t text;
  tfrt_string_builder_initialize(&text, tfrt_allocator_system());
  tfrt_bench_program_t program = benchmark->kind == REPEAT_MEMORY ? TFRT_BENCH_REPEAT
                                 : size > 1                       ? TFRT_BENCH_CHAIN
                                                                  : TFRT_BENCH_TRIVIAL;
  tfrt_bench_program_append(program, size, &text);
  tfrt_status_t status = write_inputs(self, &text);
  tfrt_string_builder_deinitialize(&text);
  if (status) close_process(self);
  return status;
}

// --- Sizes -------------------------------------------------------------------

// Sets |*out_size| to where the last section of |file| that is loaded ends: stripping leaves
// little more.
static tfrt_status_t find_stripped_size(const tfrt_file_contents_t* file, double* out_size) {
  Elf64_Ehdr header;
  bool is_whole = file->size >= sizeof(header);
  if (is_whole) memcpy(&header, file->data, sizeof(header));
  is_whole = is_whole && header.e_shentsize == sizeof(Elf64_Shdr) && header.e_shoff < file->size &&
             header.e_shnum <= (file->size - header.e_shoff) / sizeof(Elf64_Shdr);
  if (!is_whole) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "%s is no whole ELF file",
                              current.tool);
  }
  uint64_t end = 0;
  for (unsigned i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr section;
    memcpy(&section, file->data + header.e_shoff + i * sizeof(section), sizeof(section));
    bool is_loaded = (section.sh_flags & SHF_ALLOC) && section.sh_type != SHT_NOBITS;
    if (is_loaded && section.sh_offset + section.sh_size > end) {
      end = section.sh_offset + section.sh_size;
    }
  }
  *out_size = (double)end / 1000;
  return NULL;
}

static tfrt_status_t sample_size(void* state, double* out_figure) {
  (void)state;
  tfrt_file_contents_t file;
  TFRT_RETURN_IF_ERROR(tfrt_file_read(current.tool, tfrt_allocator_system(), &file));
  tfrt_status_t status = find_stripped_size(&file, out_figure);
  tfrt_file_contents_deinitialize(&file);
  return status;
}

static tfrt_status_t open_size(const tfrt_benchmark_t* benchmark,
                               const tfrt_benchmark_files_t* files, int64_t size,
                               void** out_state) {
  (void)size;
  *out_state = &current;
  snprintf(current.tool, sizeof(current.tool), "%s/%s", files->tools,
           benchmark->name + strlen("process/size_of_"));
  return NULL;
}

static void close_size(void* state) { (void)state; }

// --- The table ---------------------------------------------------------------

#define SIZE_BENCHMARK(TOOL, TFRT)                                                           \
  {                                                                                          \
    .name = "process/size_of_" TOOL, .unit = "kB", .size = 1, .small_size = 1, .tfrt = TFRT, \
    .is_unscaled = true, .open = open_size, .sample = sample_size, .close = close_size       \
  }

#define BENCHMARK(NAME, UNIT, KIND, SIZE, SMALL_SIZE, THREADS, TFRT)                             \
  {                                                                                              \
    .name = "process/" NAME, .unit = UNIT, .size = SIZE, .small_size = SMALL_SIZE, .tfrt = TFRT, \
    .is_unscaled = (KIND) != RUN_TIME && (KIND) != TRANSLATE_TIME, .kind = KIND,                 \
    .threads = THREADS, .open = open_process, .sample = sample, .close = close_process           \
  }

static const tfrt_benchmark_t benchmarks[] = {
    BENCHMARK("run_trivial", "ms", RUN_TIME, 1, 1, 0, 0.98),
    BENCHMARK("run_trivial_2_threads", "ms", RUN_TIME, 1, 1, 2, 15.5),
    BENCHMARK("run_trivial_memory", "KiB", RUN_MEMORY, 1, 1, 0, 6042),
    BENCHMARK("run_trivial_memory_2_threads", "KiB", RUN_MEMORY, 1, 1, 2, 19456),
    BENCHMARK("run_repeat_100m_memory", "KiB", REPEAT_MEMORY, 100000000, 50, 0, 0),
    BENCHMARK("run_chain_10k", "ms", RUN_TIME, 10000, 10, 0, 1.45),
    BENCHMARK("run_chain_100k", "ms", RUN_TIME, 100000, 20, 0, 5.3),
    BENCHMARK("translate_trivial", "ms", TRANSLATE_TIME, 1, 1, 0, 1.2),
    BENCHMARK("translate_chain_10k", "ms", TRANSLATE_TIME, 10000, 10, 0, 22),
    BENCHMARK("translate_chain_10k_again", "ms", TRANSLATE_AGAIN_TIME, 10000, 10, 0, 0),
    BENCHMARK("translate_chain_100k", "ms", TRANSLATE_TIME, 100000, 20, 0, 328),
    BENCHMARK("translate_chain_100k_memory", "KiB", TRANSLATE_MEMORY, 100000, 20, 0, 109568),
    SIZE_BENCHMARK("bef_executor", 2888),
    SIZE_BENCHMARK("bef_executor_small", 2888),
};

tfrt_benchmark_group_t tfrt_process_benchmarks(void) {
  return (tfrt_benchmark_group_t){benchmarks, TFRT_ARRAY_SIZE(benchmarks)};
}
