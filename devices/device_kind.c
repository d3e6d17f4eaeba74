// SPDX-License-Identifier: Apache-2.0
#include "devices/device_kind.h"

#include <string.h>

#include "host_runtime/base/sync.h"

static struct {
  tfrt_mutex_t mutex;  // guards the rest
  size_t count;
  const tfrt_device_kind_t* entries[TFRT_DEVICE_KIND_MAX_COUNT];
} kinds = {.mutex = TFRT_MUTEX_INITIALIZER};

static bool is_name(const char* name) {
  size_t length = name ? strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_") : 0;
  return length > 0 && length <= TFRT_DEVICE_KIND_MAX_NAME_LENGTH && name[length] == '\0' &&
         name[0] >= 'a' && name[0] <= 'z';
}

static tfrt_status_t check(const tfrt_device_kind_t* kind) {
  if (!is_name(kind->name)) {
    return tfrt_status_create(
        TFRT_STATUS_INVALID_ARGUMENT,
        "'%.32s' is no name for a kind of devices: write a small letter and up to %d small "
        "letters, digits and '_'",
        kind->name ? kind->name : "", TFRT_DEVICE_KIND_MAX_NAME_LENGTH - 1);
  }
  if (kind->open) return NULL;
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                            "the kind of devices '%s' lacks its function `open`", kind->name);
}

static tfrt_status_t add_locked(const tfrt_device_kind_t* kind) {
  for (size_t i = 0; i < kinds.count; ++i) {
    if (kinds.entries[i] == kind) return NULL;
    if (strcmp(kinds.entries[i]->name, kind->name) != 0) continue;
    return tfrt_status_create(TFRT_STATUS_ALREADY_EXISTS,
                              "there is a kind of devices '%s' already: choose another name",
                              kind->name);
  }
  if (kinds.count == TFRT_DEVICE_KIND_MAX_COUNT) {
    return tfrt_status_create(TFRT_STATUS_RESOURCE_EXHAUSTED,
                              "no room for a kind of devices '%s': there are %d already",
                              kind->name, TFRT_DEVICE_KIND_MAX_COUNT);
  }
  kinds.entries[kinds.count++] = kind;
  return NULL;
}

tfrt_status_t tfrt_device_kind_register(const tfrt_device_kind_t* kind) {
  TFRT_RETURN_IF_ERROR(check(kind));
  tfrt_mutex_lock(&kinds.mutex);
  tfrt_status_t status = add_locked(kind);
  tfrt_mutex_unlock(&kinds.mutex);
  return status;
}

size_t tfrt_device_kind_count(void) {
  tfrt_mutex_lock(&kinds.mutex);
  size_t count = kinds.count;
  tfrt_mutex_unlock(&kinds.mutex);
  return count;
}

const tfrt_device_kind_t* tfrt_device_kind_get(size_t index) {
  tfrt_mutex_lock(&kinds.mutex);
  const tfrt_device_kind_t* kind = kinds.entries[index];
  tfrt_mutex_unlock(&kinds.mutex);
  return kind;
}

// --- Opening -----------------------------------------------------------------------------

// OK if |platform|, which the open() of |kind| has made, can be used.
static tfrt_status_t check_platform(const tfrt_device_kind_t* kind,
                                    const tfrt_device_platform_t* platform) {
  const char* fault = NULL;
  if (!platform) {
    fault = "its `open` gives no platform, and no error";
  } else if (!platform->vtable || !platform->vtable->destroy || !platform->vtable->device ||
             !platform->vtable->create_ccl_id) {
    fault = "its platform lacks an entry of tfrt_device_platform_vtable_t";
  } else if (!platform->name || strcmp(platform->name, kind->name) != 0) {
    fault = "its platform has another name";
  }
  if (!fault) return NULL;
  return tfrt_status_create(TFRT_STATUS_INTERNAL, "kind of devices '%s': %s", kind->name, fault);
}

tfrt_status_t tfrt_device_kind_open(const tfrt_device_kind_t* kind, tfrt_allocator_t allocator,
                                    tfrt_work_queue_t* work_queue,
                                    tfrt_device_platform_t** out_platform) {
  *out_platform = NULL;
  tfrt_device_platform_t* platform = NULL;
  TFRT_RETURN_IF_ERROR(kind->open(kind->options, allocator, work_queue, &platform));
  tfrt_status_t status = check_platform(kind, platform);
  if (status) {
    // Nothing else was made of it yet; without its destroy() it stays.
    if (platform && platform->vtable && platform->vtable->destroy) {
      tfrt_device_platform_release(platform);
    }
    return status;
  }
  *out_platform = platform;
  return NULL;
}
