// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/base/machine.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host_runtime/base/sync.h"

static tfrt_once_t once = TFRT_ONCE_INITIALIZER;
static char id[TFRT_MACHINE_ID_SIZE];        // constant after that
static char place[TFRT_MACHINE_PLACE_SIZE];  // the same

static void read_machine(void) {
  int file = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
  ssize_t size = file < 0 ? 0 : read(file, id, sizeof(id) - 1);
  if (file >= 0) close(file);
  if (size <= 0) gethostname(id, sizeof(id) - 1);
  id[strcspn(id, "\n")] = 0;
  struct stat network;
  bool has_network = stat("/proc/self/ns/net", &network) == 0;
  snprintf(place, sizeof(place), "%s/%llu/%u", id,
           has_network ? (unsigned long long)network.st_ino : 0, (unsigned)geteuid());
}

const char* tfrt_machine_id(void) {
  tfrt_once_run(&once, read_machine);
  return id;
}

const char* tfrt_machine_place(void) {
  tfrt_once_run(&once, read_machine);
  return place;
}
