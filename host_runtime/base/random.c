// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/base/random.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/types.h>

// One step of splitmix64: turns seeds that differ in one bit into states that differ
// in about half of them.
static uint64_t splitmix(uint64_t* counter) {
  *counter += UINT64_C(0x9e3779b97f4a7c15);
  uint64_t z = *counter;
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return z ^ (z >> 31);
}

static uint64_t rotate_left(uint64_t value, int count) {
  return (value << count) | (value >> (64 - count));
}

void tfrt_random_initialize(tfrt_random_t* random, uint64_t seed) {
  // Four outputs in a row of a permutation can't all be zero.
  for (int i = 0; i < 4; ++i) random->state[i] = splitmix(&seed);
}

uint64_t tfrt_random_next(tfrt_random_t* random) {
  uint64_t* s = random->state;
  uint64_t result = rotate_left(s[1] * 5, 7) * 9;
  uint64_t shifted = s[1] << 17;
  s[2] ^= s[0];
  s[3] ^= s[1];
  s[1] ^= s[2];
  s[0] ^= s[3];
  s[2] ^= shifted;
  s[3] = rotate_left(s[3], 45);
  return result;
}

uint64_t tfrt_random_below(tfrt_random_t* random, uint64_t limit) {
  assert(limit > 0);
  // The numbers below 2^64 mod |limit| are thrown away: what is left falls evenly on
  // the remainders.
  uint64_t threshold = (0 - limit) % limit;
  uint64_t number = tfrt_random_next(random);
  while (number < threshold) number = tfrt_random_next(random);
  return number % limit;
}

double tfrt_random_unit(tfrt_random_t* random) {
  return (double)(tfrt_random_next(random) >> 11) * 0x1p-53;
}

void tfrt_random_entropy(void* out_bytes, size_t size) {
  unsigned char* bytes = out_bytes;
  while (size > 0) {
    ssize_t got = getrandom(bytes, size, 0);
    if (got > 0) {
      bytes += got;
      size -= (size_t)got;
    } else if (errno != EINTR) {
      perror("tfrt: the system gives no random bytes (getrandom)");
      abort();
    }
  }
}
