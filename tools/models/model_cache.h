// SPDX-License-Identifier: Apache-2.0
//
// The programs that models became before, in a folder of the user's:
//
//   $XDG_CACHE_HOME/tfrt/models/HASH.bef     without that variable: $HOME/.cache/tfrt/models
//
// HASH is the SHA-256 of the model, of the flags about it, and of the identity of this tool's file,
// since another build may import otherwise. An entry is written as a whole or not at all. The
// folder and an entry are used only if they are this user's own and nobody else may write to them.
// The entries that were not used for the longest time make room for new ones.
//
// Thread rule: thread-compatible; processes may use the folder at the same time.
// Failure rule: none: what can't be used is imported anew, and what can't be written is not there.
#ifndef TFRT_TOOLS_MODELS_MODEL_CACHE_H_
#define TFRT_TOOLS_MODELS_MODEL_CACHE_H_

#include "host_runtime/base/string_view.h"
#include "host_runtime/bef/bef_file.h"

// The most bytes of all entries.
#define TFRT_MODEL_CACHE_MAX_SIZE ((uint64_t)8 << 30)

// The place of an entry.
typedef struct tfrt_model_cache_place_s {
  char folder[4096];
  char path[4096 + 80];
} tfrt_model_cache_place_t;

// Sets |*out_place| to where the program of the |model| belongs that is imported with |settings|.
// Makes the folder. Returns false if there is no folder to be used.
bool tfrt_model_cache_find(tfrt_string_view_t model, tfrt_string_view_t settings,
                           tfrt_model_cache_place_t* out_place);

// The program at |place| (+1), or NULL.
tfrt_bef_file_t* tfrt_model_cache_load(const tfrt_model_cache_place_t* place);

// Makes the |size| bytes at |bytes| the entry at |place|.
void tfrt_model_cache_store(const tfrt_model_cache_place_t* place, const void* bytes, size_t size);

#endif  // TFRT_TOOLS_MODELS_MODEL_CACHE_H_
