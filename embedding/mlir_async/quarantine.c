// SPDX-License-Identifier: Apache-2.0
#include "embedding/mlir_async/quarantine.h"

#include "embedding/mlir_async/object.h"
#include "host_runtime/base/sync.h"

static struct {
  tfrt_mutex_t mutex;
  tfrt_mlir_slot_t* slots[TFRT_MLIR_QUARANTINE_LENGTH];  // guarded by |mutex|
  size_t next;                                           // likewise: the oldest one, or none yet
} quarantine = {.mutex = TFRT_MUTEX_INITIALIZER};

// Puts |slot|, or nothing, into the oldest one's place.
static void replace_oldest(tfrt_mlir_slot_t* slot) {
  tfrt_mutex_lock(&quarantine.mutex);
  tfrt_mlir_slot_t* oldest = quarantine.slots[quarantine.next];
  quarantine.slots[quarantine.next] = slot;
  quarantine.next = (quarantine.next + 1) % TFRT_MLIR_QUARANTINE_LENGTH;
  tfrt_mutex_unlock(&quarantine.mutex);
  if (oldest) tfrt_async_value_release(&oldest->base);
}

void tfrt_mlir_quarantine_put(tfrt_mlir_slot_t* slot) { replace_oldest(slot); }

void tfrt_mlir_quarantine_clear(void) {
  for (size_t i = 0; i < TFRT_MLIR_QUARANTINE_LENGTH; ++i) replace_oldest(NULL);
}
