// SPDX-License-Identifier: Apache-2.0
//
// The objects behind the fake driver's handles, and what it knows of memory. Private to it.
//
//   context --> streams (a thread and a queue of ops each), events, modules
//   memory: blocks with owner, kind and state; never given back to the system before the end
//
// Thread rule: all state is guarded by one mutex, tfrt_fake.mutex; ops run without it. One
// condition is signalled after each op.
// Failure rule: memory of the host is never out here; results are the driver's numbers.
#ifndef TFRT_TESTS_FAKES_CUDA_FAKE_CUDA_STATE_H_
#define TFRT_TESTS_FAKES_CUDA_FAKE_CUDA_STATE_H_

#include <stdbool.h>

#include "devices/cpu/cpu_platform.h"
#include "devices/cuda/cuda_api.h"
#include "host_runtime/base/list.h"
#include "host_runtime/base/random.h"
#include "host_runtime/base/sync.h"
#include "tests/fakes/cuda/fake_cuda.h"

// The memory of each device; more is CUDA_ERROR_OUT_OF_MEMORY.
#define TFRT_FAKE_CUDA_MEMORY_SIZE ((size_t)1 << 26)

// The most processes that have a block of another one open.
#define TFRT_FAKE_MAX_IMPORTERS 8

typedef struct tfrt_cuda_context_s {
  int ordinal;
  int retain_count;
  int error;                                      // the one that sticks; 0: alive
  bool peers[TFRT_FAKE_CUDA_DEVICE_COUNT];        // whose memory it reaches
  bool pool_access[TFRT_FAKE_CUDA_DEVICE_COUNT];  // who reaches its pool's
  size_t used_size;
} tfrt_fake_context_t;

typedef enum tfrt_fake_memory_kind_e {
  TFRT_FAKE_MEMORY_DEVICE,
  TFRT_FAKE_MEMORY_POOL,
  TFRT_FAKE_MEMORY_GLOBAL,
  TFRT_FAKE_MEMORY_PINNED,
  TFRT_FAKE_MEMORY_REGISTERED,
} tfrt_fake_memory_kind_t;

// A pool that was made, or that another process has exported. It is a file in memory. Each block
// has its own part of that: a page that describes the block, then its bytes. Parts are used once.
// The default pool of a device is not one of these: its handle is the device's context.
typedef struct tfrt_cuda_pool_s {
  tfrt_list_link_t link;
  tfrt_fake_context_t* context;
  bool is_imported;
  bool is_exported;                          // its handle was asked for
  bool access[TFRT_FAKE_CUDA_DEVICE_COUNT];  // who reaches its memory
  int file;
  uint64_t next;    // the first byte of the file that no block has had; of one that is not imported
  int block_count;  // alive
  bool is_destroyed;
} tfrt_fake_pool_t;

// The first page of a block in the file of a pool, which all processes see.
typedef struct tfrt_fake_part_s {
  uint64_t magic;
  uint64_t size;
  _Atomic int is_alive;
  _Atomic int users[TFRT_FAKE_MAX_IMPORTERS];  // processes that have the block open; 0: none
} tfrt_fake_part_t;

typedef struct tfrt_fake_block_s {
  tfrt_list_link_t link;
  tfrt_fake_memory_kind_t kind;
  tfrt_fake_pool_t* pool;        // NULL: not of a pool that was made or imported
  tfrt_fake_part_t* part;        // of such a pool
  uint64_t offset;               // of the part in the pool's file
  tfrt_fake_context_t* context;  // of the one who made it
  char* data;
  size_t size;
  bool is_freed;  // asked to be; nobody may ask for more
  bool is_dead;   // the stream has come so far
} tfrt_fake_block_t;

typedef struct tfrt_cuda_event_handle_s {
  tfrt_list_link_t link;
  tfrt_fake_context_t* context;
  bool with_timing;
  bool is_destroyed;
  int ref_count;    // of the handle, and of ops
  uint64_t issued;  // records
  uint64_t done;    // those whose point is reached
  int64_t time_ns;
} tfrt_fake_event_t;

typedef struct tfrt_cuda_module_handle_s {
  tfrt_list_link_t link;
  tfrt_fake_context_t* context;
  char* image;
  size_t size;
  bool is_read;  // what it declares was looked at
  char* log;     // what is wrong with it goes here; NULL: nowhere
  size_t log_size;
  tfrt_list_link_t functions;
  tfrt_list_link_t globals;
} tfrt_fake_module_t;

typedef struct tfrt_cuda_function_handle_s {
  tfrt_list_link_t link;
  tfrt_fake_module_t* module;
  const tfrt_cpu_kernel_t* kernel;
  uint32_t parameter_count;
  uint32_t parameter_sizes[TFRT_DEVICE_MAX_PARAMETERS];
  int shared_size;
} tfrt_fake_function_t;

typedef struct tfrt_fake_op_s tfrt_fake_op_t;

typedef struct tfrt_cuda_stream_handle_s {
  tfrt_list_link_t link;
  tfrt_fake_context_t* context;
  tfrt_random_t random;
  tfrt_list_link_t ops;
  bool is_destroyed;  // ends when its ops are done
  bool is_over;       // its thread only has to be joined
  bool is_capturing;  // ops go to |captured|
  tfrt_list_link_t captured;
  tfrt_thread_t thread;
} tfrt_fake_stream_t;

// A graph, or one that was made ready: both are ops that are copied into streams.
typedef struct tfrt_fake_graph_s {
  tfrt_list_link_t link;
  tfrt_fake_context_t* context;
  tfrt_list_link_t ops;
} tfrt_fake_graph_t;

// The state of a library on top of the driver.
typedef struct tfrt_fake_library_s {
  tfrt_list_link_t link;
  tfrt_fake_context_t* context;
  tfrt_fake_stream_t* stream;  // of the next call; NULL: none was set
} tfrt_fake_library_t;

// Memory that an op touches.
typedef struct tfrt_fake_range_s {
  const void* data;
  size_t size;
} tfrt_fake_range_t;

#define TFRT_FAKE_MAX_RANGES 8
#define TFRT_FAKE_ARGUMENT_SIZE 1024

typedef enum tfrt_fake_op_kind_e {
  TFRT_FAKE_OP_COPY,
  TFRT_FAKE_OP_FILL,
  TFRT_FAKE_OP_LAUNCH,
  TFRT_FAKE_OP_RECORD,
  TFRT_FAKE_OP_WAIT,
  TFRT_FAKE_OP_FREE,
  TFRT_FAKE_OP_CALL,
} tfrt_fake_op_kind_t;

struct tfrt_fake_op_s {
  tfrt_list_link_t link;
  tfrt_fake_op_kind_t kind;
  tfrt_fake_stream_t* stream;
  char* target;
  const char* source;
  size_t size;  // of a copy or fill, in bytes
  unsigned pattern;
  unsigned width;
  const tfrt_cpu_kernel_t* kernel;
  tfrt_device_launch_t launch;
  uint32_t parameter_count;
  uint32_t parameter_sizes[TFRT_DEVICE_MAX_PARAMETERS];
  uint64_t parameters[TFRT_DEVICE_MAX_PARAMETERS];  // of at most 8 bytes each
  tfrt_fake_event_t* event;
  uint64_t sequence;
  tfrt_fake_block_t* block;
  void (*call)(const void* argument);  // with a copy of the caller's argument
  void (*drop)(
      const void* argument);  // instead, on a broken context, with the mutex; NULL: nothing
  _Alignas(16) char argument[TFRT_FAKE_ARGUMENT_SIZE];
  uint32_t range_count;
  tfrt_fake_range_t ranges[TFRT_FAKE_MAX_RANGES];
};

typedef struct tfrt_fake_s {
  tfrt_mutex_t mutex;  // guards all below
  tfrt_condition_t condition;
  tfrt_fake_context_t contexts[TFRT_FAKE_CUDA_DEVICE_COUNT];
  tfrt_list_link_t blocks;
  tfrt_list_link_t pools;
  tfrt_list_link_t old_pools;  // destroyed; dead blocks know them
  tfrt_list_link_t streams;
  tfrt_list_link_t events;
  tfrt_list_link_t modules;
  tfrt_list_link_t graphs;
  tfrt_list_link_t graph_execs;
  tfrt_list_link_t libraries;
  tfrt_list_link_t ended_streams;  // destroyed; their threads are to be joined
  uint64_t seed;
  int version;
  const char* failing_name;
  uint32_t failing_countdown;
  int failing_result;
  int held_ordinal;   // whose copies wait; -1: nobody's
  bool forgets;       // memory that was freed goes back to the system
  int last_priority;  // of the last launch that had one
  size_t waiting_lists;
  int defect_count;
  char defects[4096];
} tfrt_fake_t;

extern tfrt_fake_t tfrt_fake;

// Makes |tfrt_fake| what it is at first, once.
void tfrt_fake_initialize(void);

// --- With the mutex held -------------------------------------------------------------

// Counts a defect, described by |format|.
void tfrt_fake_defect(const char* format, ...) TFRT_PRINTF(1, 2);

// A new block of |size| bytes: its data is the system's, or |data| when that is not NULL.
tfrt_fake_block_t* tfrt_fake_block_create(tfrt_fake_memory_kind_t kind,
                                          tfrt_fake_context_t* context, void* data, size_t size);

// Gives back the part of |block|, which is not used any more: as its owner, or as an importer.
void tfrt_fake_part_end(tfrt_fake_block_t* block);

// The block that has the |size| bytes at |data|; a defect, and NULL, if there is none, or if
// it was freed before |context| could use it. NULL without a defect unless |is_required|.
tfrt_fake_block_t* tfrt_fake_block_find(const void* data, size_t size, bool is_required);

// Takes |block| out of use; its bytes become poison.
void tfrt_fake_block_kill(tfrt_fake_block_t* block);

// Takes all blocks of |context| out of use.
void tfrt_fake_kill_blocks(const tfrt_fake_context_t* context);

// A new stream with its thread; NULL if there is none to have.
tfrt_fake_stream_t* tfrt_fake_stream_create(tfrt_fake_context_t* context);

// The bytes of all copies that are held back.
size_t tfrt_fake_held_size(void);

// A new op of |stream|, and what puts it there.
tfrt_fake_op_t* tfrt_fake_op_create(tfrt_fake_stream_t* stream, tfrt_fake_op_kind_t kind);
void tfrt_fake_op_give(tfrt_fake_op_t* op);

void tfrt_fake_event_release(tfrt_fake_event_t* event);

// --- Without it ------------------------------------------------------------------------

// Joins the threads of the streams of |context| that were destroyed.
void tfrt_fake_join_streams(const tfrt_fake_context_t* context);

#endif  // TFRT_TESTS_FAKES_CUDA_FAKE_CUDA_STATE_H_
