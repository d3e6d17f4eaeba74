// SPDX-License-Identifier: Apache-2.0
#include "tools/command_line/version.h"

#include <inttypes.h>
#include <stdio.h>

#include "host_runtime/base/version.h"
#include "host_runtime/bef/bef_format.h"

void tfrt_version_print(tfrt_string_view_t program, tfrt_protocol_range_t protocol) {
  printf("%.*s %s\n", TFRT_STRING_VIEW_ARGUMENTS(program), tfrt_version());
  if (protocol.last > protocol.first) {
    printf("protocol %" PRIu32 " to %" PRIu32 ", ", protocol.first, protocol.last);
  } else if (protocol.last > 0) {
    printf("protocol %" PRIu32 ", ", protocol.last);
  }
  printf("BEF %d\n", TFRT_BEF_VERSION);
}
