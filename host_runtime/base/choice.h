// SPDX-License-Identifier: Apache-2.0
//
// Alternatives that the text of a flag chooses by name: work queues, allocators. Users add theirs.
//
//   "mstd:4,64"  -->  entry "mstd", arguments "4,64"
//   NAME[:ARGUMENTS]
//
// Life: a table is static, with the entries that are built in; entries are added to it by mains
// and by kernel libraries, and stay.
//
// Thread rule: everything is thread-safe.
// Failure rule: an unknown name is INVALID_ARGUMENT with all names that there are.
#ifndef TFRT_HOST_RUNTIME_BASE_CHOICE_H_
#define TFRT_HOST_RUNTIME_BASE_CHOICE_H_

#include "host_runtime/base/status.h"
#include "host_runtime/base/string_builder.h"
#include "host_runtime/base/sync.h"

// At most this many entries are in a table.
#define TFRT_CHOICE_MAX_COUNT 32

// One entry; static, and embedded first in what it stands for.
typedef struct tfrt_choice_s {
  const char* name;   // not empty; no colon in it
  const char* usage;  // how arguments are written, e.g. "[:THREADS[,BLOCKING]]"; "": there are none
} tfrt_choice_t;

typedef struct tfrt_choice_table_s {
  const char* what;    // for messages: "type of work queues"
  tfrt_mutex_t mutex;  // guards the next two
  size_t count;
  const tfrt_choice_t* entries[TFRT_CHOICE_MAX_COUNT];
} tfrt_choice_table_t;

// Adds |choice| to |table|. The same again is fine; INVALID_ARGUMENT if its name is none,
// ALREADY_EXISTS if there is another of that name, RESOURCE_EXHAUSTED if the table is full.
// Thread-safe.
tfrt_status_t tfrt_choice_add(tfrt_choice_table_t* table, const tfrt_choice_t* choice)
    TFRT_MUST_USE;

// Sets |*out_choice| to the entry that |text| names, and |*out_arguments| to what stands behind
// the colon in |text|, "" if there is none. INVALID_ARGUMENT: see above; or |text| has arguments
// where the entry takes none, or ends in a colon. Thread-safe.
tfrt_status_t tfrt_choice_find(tfrt_choice_table_t* table, const char* text,
                               const tfrt_choice_t** out_choice, const char** out_arguments)
    TFRT_MUST_USE;

// Appends all entries of |table| with their usage to |out|, in the order of their coming:
// `s, mstd[:THREADS[,BLOCKING]]`. Thread-safe, as |out| is.
void tfrt_choice_append_all(tfrt_choice_table_t* table, tfrt_string_builder_t* out);

#endif  // TFRT_HOST_RUNTIME_BASE_CHOICE_H_
