// SPDX-License-Identifier: Apache-2.0
//
// `tfrt_worker`, the daemon.
#include <stdio.h>

#include "tools/process/address_space.h"
#include "tools/process/standard_streams.h"
#include "tools/worker/worker.h"

int main(int argc, char** argv) {
  tfrt_standard_streams_open();
  tfrt_address_space_spare();
  // A program that waits for the line with our address gets it at once.
  setvbuf(stdout, NULL, _IOLBF, 0);
  static tfrt_worker_options_t options;
  bool help = false;
  tfrt_status_t status = tfrt_worker_options_parse(argc - 1, argv + 1, &options, &help);
  if (status) {
    fprintf(stderr, "tfrt_worker: %s\n", tfrt_status_message(status));
    tfrt_status_release(status);
    return TFRT_WORKER_EXIT_USAGE;
  }
  return help ? TFRT_WORKER_EXIT_STOPPED : tfrt_worker_run(&options);
}
