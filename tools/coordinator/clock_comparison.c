// SPDX-License-Identifier: Apache-2.0
#include "tools/coordinator/clock_comparison.h"

#include <stdbool.h>

void tfrt_clock_comparison_note(tfrt_clock_comparison_t* comparison, int64_t asked_ns,
                                int64_t answered_ns, int64_t clock_ns) {
  int64_t half_ns = (answered_ns - asked_ns) / 2;
  if (comparison->answers++ > 0 && half_ns >= comparison->error_ns) return;
  bool is_same = clock_ns >= asked_ns && clock_ns <= answered_ns;
  comparison->offset_ns = is_same ? 0 : asked_ns + half_ns - clock_ns;
  comparison->error_ns = half_ns;
}
