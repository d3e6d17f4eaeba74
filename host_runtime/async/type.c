// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/async/type.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host_runtime/async/builtin_types.h"
#include "host_runtime/base/hash_table.h"
#include "host_runtime/base/sync.h"

#define MAX_REGISTERED (TFRT_TYPE_MAX_COUNT - TFRT_TYPE_FIRST_REGISTERED)

// Entries never move or change once they are counted, so that a lookup needs no lock.
// The pages of this array that nobody registers into are never touched.
static tfrt_type_t registered[MAX_REGISTERED];
// The hashes of their names: names are compared only where those are equal.
static uint32_t registered_hashes[MAX_REGISTERED];
static _Atomic uint32_t registered_count = 0;
static tfrt_mutex_t registration_mutex = TFRT_MUTEX_INITIALIZER;

const tfrt_type_t* tfrt_type_get(tfrt_type_id_t id) {
  // A thread that has a registered id got it, directly or not, from the registration, which wrote
  // the entry before.
  if (id < TFRT_TYPE_FIRST_REGISTERED) return &tfrt_builtin_types[id];
  return &registered[id - TFRT_TYPE_FIRST_REGISTERED];
}

static uint32_t hash_name(const char* name) {
  return (uint32_t)tfrt_hash_bytes(name, strlen(name));
}

static bool find_builtin(const char* name, tfrt_type_id_t* out_id) {
  *out_id = TFRT_TYPE_NONE;
  if (name[0] == '\0') return false;
  // From 1 on: "no type" is not found under any name. Most of these names begin with two characters
  // of their own.
  for (uint32_t i = 1; i < TFRT_TYPE_FIRST_REGISTERED; ++i) {
    const char* candidate = tfrt_builtin_types[i].name;
    bool may_be_it = candidate && candidate[0] == name[0] && candidate[1] == name[1];
    if (may_be_it && strcmp(candidate, name) == 0) {
      *out_id = (tfrt_type_id_t)i;
      return true;
    }
  }
  return false;
}

// Among the registered types: |name|, which hashes to |hash|.
static bool find_registered(const char* name, uint32_t hash, tfrt_type_id_t* out_id) {
  // Acquire: the entries counted; pairs with the release in register_locked().
  uint32_t count = atomic_load_explicit(&registered_count, memory_order_acquire);
  for (uint32_t i = 0; i < count; ++i) {
    if (registered_hashes[i] == hash && strcmp(registered[i].name, name) == 0) {
      *out_id = (tfrt_type_id_t)(TFRT_TYPE_FIRST_REGISTERED + i);
      return true;
    }
  }
  return false;
}

bool tfrt_type_find(const char* name, tfrt_type_id_t* out_id) {
  return find_builtin(name, out_id) || find_registered(name, hash_name(name), out_id);
}

static bool is_same(const tfrt_type_t* a, const tfrt_type_t* b) {
  return a->size == b->size && a->flags == b->flags && a->destroy == b->destroy &&
         a->codec == b->codec && a->print == b->print && a->streams == b->streams &&
         a->aggregate == b->aggregate && a->withdraw == b->withdraw;
}

// Registers |type| with the mutex held.
static tfrt_status_t register_locked(const tfrt_type_t* type, tfrt_type_id_t* out_id) {
  tfrt_type_id_t known = TFRT_TYPE_NONE;
  uint32_t hash = hash_name(type->name);
  if (find_builtin(type->name, &known) || find_registered(type->name, hash, &known)) {
    if (!is_same(type, tfrt_type_get(known))) {
      return tfrt_status_create(TFRT_STATUS_ALREADY_EXISTS,
                                "type '%s' is registered already, as something else", type->name);
    }
    *out_id = known;
    return NULL;
  }
  if (type->name[0] != '!' || !type->name[1]) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "type '%s': the name of a type begins with '!', as MLIR prints it: "
                              "'!my.type'",
                              type->name);
  }
  uint32_t count = atomic_load_explicit(&registered_count, memory_order_relaxed);
  if (count == MAX_REGISTERED) {
    return tfrt_status_create(TFRT_STATUS_RESOURCE_EXHAUSTED,
                              "can't register type '%s': a process has room for %d types",
                              type->name, TFRT_TYPE_MAX_COUNT);
  }
  registered[count] = *type;
  registered_hashes[count] = hash;
  *out_id = (tfrt_type_id_t)(TFRT_TYPE_FIRST_REGISTERED + count);
  // Release: the entry and its hash; pairs with the acquire in find_registered().
  atomic_store_explicit(&registered_count, count + 1, memory_order_release);
  return NULL;
}

tfrt_status_t tfrt_type_register(const tfrt_type_t* type, tfrt_type_id_t* out_id) {
  *out_id = TFRT_TYPE_NONE;
  if (!type->name || !type->name[0]) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "a type needs a name");
  }
  if (type->codec && (!type->codec->encode || !type->codec->decode)) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "the codec of type '%s' lacks its %s function: a codec has both, and "
                              "a type whose values stay on their host has no codec",
                              type->name, type->codec->encode ? "decode" : "encode");
  }
  if (type->aggregate && (!type->aggregate->elements || !type->aggregate->construct)) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "the aggregate '%s' lacks its %s function: it has both", type->name,
                              type->aggregate->elements ? "construct" : "elements");
  }
  if (type->codec && type->aggregate) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "type '%s' has a codec and is an aggregate: an aggregate travels as "
                              "its elements do, and has no codec of its own",
                              type->name);
  }
  tfrt_mutex_lock(&registration_mutex);
  tfrt_status_t status = register_locked(type, out_id);
  tfrt_mutex_unlock(&registration_mutex);
  return status;
}

tfrt_status_t tfrt_type_encode(const tfrt_type_t* type, const void* payload,
                               tfrt_encoding_t* out_encoding) {
  out_encoding->header_size = 0;
  out_encoding->body = NULL;
  out_encoding->body_size = 0;
  if (!type->codec) {
    return tfrt_status_create(TFRT_STATUS_FAILED_PRECONDITION, "%s has no codec", type->name);
  }
  TFRT_RETURN_IF_ERROR(type->codec->encode(payload, out_encoding));
  if (out_encoding->header_size <= TFRT_CODEC_MAX_HEADER_SIZE) return NULL;
  return tfrt_status_create(TFRT_STATUS_FAILED_PRECONDITION,
                            "the codec of %s makes a header of %zu bytes, and at most %d fit; the "
                            "rest belongs into the body",
                            type->name, out_encoding->header_size, TFRT_CODEC_MAX_HEADER_SIZE);
}

void tfrt_type_abort_none(void) {
  fprintf(stderr,
          "tfrt: a value of no type can't be made: register its type with tfrt_type_register() "
          "before (a kernel library: in its set_up)\n");
  abort();
}
