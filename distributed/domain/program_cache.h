// SPDX-License-Identifier: Apache-2.0
//
// The programs that this host has, by the SHA-256 of their bytes. So no host ships the same program
// to it again. Guarded by the node's lock.
//
//   Program(sha) --known?--> use it
//                --else----> fetch the bytes (a remote value) --> hash, verify, resolve --> use
//
// Life of an entry:
//  1. Made when its SHA-256 is first heard of, with the value that its bytes will be.
//  2. Ready: |program| is set, or |ready| says what is wrong with it. The waiting tasks run in the
//     order in which they came. An AsyncValue would run the last one first, and calls that start in
//     that order would take the credit for wants that earlier calls need.
//  3. Stays as long as anybody uses it; the most recent ones stay longer. One that could not
//     be loaded isn't found any more: the next announcement begins anew. Nor does a job find one
//     that is on its way to another job, or from another host: that may never come.
//
// Thread rule: everything here needs the node's lock.
// Failure rule: a program that can't be loaded is an error for each caller.
#ifndef TFRT_DISTRIBUTED_DOMAIN_PROGRAM_CACHE_H_
#define TFRT_DISTRIBUTED_DOMAIN_PROGRAM_CACHE_H_

#include "distributed/domain/node_part.h"
#include "distributed/threads/node_lock.h"
#include "distributed/wire/limits.h"
#include "host_runtime/async/task_list.h"
#include "host_runtime/base/list.h"
#include "host_runtime/executor/program/program.h"

typedef struct tfrt_job_s tfrt_job_t;
typedef struct tfrt_node_s tfrt_node_t;

// The host that the bytes of a program come from, and the job that fetches them.
typedef struct tfrt_program_source_s {
  const tfrt_job_t* job;  // +0; the value of the bytes keeps it until they are here
  uint64_t owner;         // an incarnation
} tfrt_program_source_t;

typedef struct tfrt_cached_program_s {
  tfrt_ref_count_t ref_count;
  tfrt_node_t* node;      // +1 while it is loaded, else +0
  tfrt_list_link_t link;  // in the node's cache
  uint8_t sha256[TFRT_WIRE_SHA256_SIZE];
  uint64_t size;
  tfrt_async_value_t* bytes;     // +1; a "!tfrt.program" with the BEF image
  tfrt_program_source_t source;  // of |bytes|, before they are here
  tfrt_async_value_t* ready;     // +1; a chain: available, or the error, when loaded
  bool is_verified;              // |bytes| are here, have |sha256|, and load if that was tried
  bool loading;                  // or loaded
  bool failed;                   // |ready| is the error, or will be
  tfrt_program_t* program;       // +1, once ready and good
  tfrt_task_t loader;            // waits for |bytes|
  tfrt_task_list_t waiting;      // run when loaded
} tfrt_cached_program_t;

// Registers the type of the bytes of a program. Needs no lock. Thread-safe.
tfrt_status_t tfrt_program_cache_type(tfrt_type_id_t* out_type) TFRT_MUST_USE;

// The entry (+1) with |sha256| whose bytes are here, or on their way from |source| (NULL: from
// nowhere); NULL if there is none that may be good.
tfrt_cached_program_t* tfrt_program_cache_find(tfrt_node_t* node, tfrt_string_view_t sha256,
                                               const tfrt_program_source_t* source);

// A new entry (+1) with |sha256| and |size|, whose bytes are, or will be, |bytes| (+0), from
// |source| (NULL: they are here). NULL when memory is out.
tfrt_cached_program_t* tfrt_program_cache_add(tfrt_node_t* node, tfrt_string_view_t sha256,
                                              uint64_t size, tfrt_async_value_t* bytes,
                                              const tfrt_program_source_t* source);

// Sets |*out_program| (+1) to the entry for the BEF image |bytes|, which is copied unless there is
// one. Takes the lock.
tfrt_status_t tfrt_program_cache_add_bytes(tfrt_node_t* node, tfrt_string_view_t bytes,
                                           tfrt_cached_program_t** out_program) TFRT_MUST_USE;

// The same with the lock held, for |bytes| that are few.
tfrt_status_t tfrt_program_cache_add_few_bytes(tfrt_node_t* node, tfrt_string_view_t bytes,
                                               tfrt_cached_program_t** out_program) TFRT_MUST_USE;

// The name of |function| of |program| (+0, as long as that), "" if that isn't loaded, or has no
// such function.
const char* tfrt_cached_program_function_name(const tfrt_cached_program_t* program,
                                              uint32_t function);

// Sets |*out_place| to where |function| of |program| (may be NULL) is written, with texts that live
// as long as that; to no place if that is not known.
void tfrt_cached_program_function_place(const tfrt_cached_program_t* program, uint32_t function,
                                        tfrt_status_origin_t* out_place);

// Begins to load |program|, unless that has been begun: its |ready| will be resolved. Then runs
// |task| (may be NULL), after those that were given before; the caller keeps |program| until then.
void tfrt_cached_program_load(tfrt_cached_program_t* program, tfrt_task_t* task);

// The entry (+0) whose program is |program|, or NULL.
tfrt_cached_program_t* tfrt_program_cache_find_program(tfrt_node_t* node,
                                                       const tfrt_program_t* program);

// Forgets everything that nobody uses, as the cache of a node that ends.
void tfrt_program_cache_clear(tfrt_node_t* node);

// Counts references.
tfrt_cached_program_t* tfrt_cached_program_retain(tfrt_cached_program_t* program);
void tfrt_cached_program_release(tfrt_cached_program_t* program);

// The kernel that running_kernel.h has listed as |site|, or NULL if it is of no program in the
// cache. Good while the node's lock is held.
const tfrt_kernel_site_t* tfrt_program_cache_find_site(const tfrt_node_t* node, const void* site);

// Has the node have a cache.
extern const tfrt_node_part_t tfrt_program_cache_part;

#endif  // TFRT_DISTRIBUTED_DOMAIN_PROGRAM_CACHE_H_
