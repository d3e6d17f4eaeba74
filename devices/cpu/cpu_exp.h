// SPDX-License-Identifier: Apache-2.0
//
// The exponential function of floats. The C library's own is in its mathematics library, which a
// program that runs BEF files would load for this function alone. Loading it would take a twentieth
// of such a program's time from start to end.
//
// Thread rule: thread-safe. Failure rule: none fails; a NaN stays one.
#ifndef TFRT_DEVICES_CPU_CPU_EXP_H_
#define TFRT_DEVICES_CPU_CPU_EXP_H_

#include <math.h>
#include <stdint.h>
#include <string.h>

// Beyond these the result is infinite, or zero.
#define TFRT_CPU_EXP_MAX 89.0f
#define TFRT_CPU_EXP_MIN (-104.0f)

// e to the power of |x|, off by less than one unit of the last place. Thread-safe.
static inline float tfrt_cpu_exp(float x) {
  if (x > TFRT_CPU_EXP_MAX) return INFINITY;
  if (x < TFRT_CPU_EXP_MIN) return 0;
  if (x != x) return x;
  // x = whole * ln 2 + rest, |rest| < 0.35. From 2^52 on doubles have no fraction: so it is
  // rounded.
  double whole = (double)x * 0x1.71547652b82fep0 + 0x1.8p52 - 0x1.8p52;
  double rest = (double)x - whole * 0x1.62e42fefa39efp-1;
  // The rest of the series is below 2^-31 of the result.
  static const double terms[] = {1.0 / 5040, 1.0 / 720, 1.0 / 120, 1.0 / 24,
                                 1.0 / 6,    1.0 / 2,   1,         1};
  double sum = 1.0 / 40320;
  for (int i = 0; i < 8; ++i) sum = sum * rest + terms[i];
  // 2^whole, by its exponent: a double has room for all that are possible.
  uint64_t bits = (uint64_t)((int64_t)whole + 1023) << 52;
  double power;
  memcpy(&power, &bits, sizeof(power));
  return (float)(sum * power);
}

#endif  // TFRT_DEVICES_CPU_CPU_EXP_H_
