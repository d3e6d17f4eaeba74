// SPDX-License-Identifier: Apache-2.0
#include "distributed/bulk/crc32c.h"

#include "host_runtime/base/sync.h"

#define REFLECTED_POLYNOMIAL UINT32_C(0x82f63b78)

// tables[k][b]: what the byte |b|, with k zero bytes behind it, does to the checksum. Eight
// of them take in eight bytes with independent lookups.
static uint32_t tables[8][256];
static tfrt_once_t tables_once = TFRT_ONCE_INITIALIZER;

static void fill_tables(void) {
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) ? REFLECTED_POLYNOMIAL : 0);
    tables[0][byte] = crc;
  }
  for (uint32_t byte = 0; byte < 256; ++byte) {
    for (int k = 1; k < 8; ++k) {
      uint32_t before = tables[k - 1][byte];
      tables[k][byte] = (before >> 8) ^ tables[0][before & 0xff];
    }
  }
}

uint32_t tfrt_crc32c_extend(uint32_t crc, const void* data, size_t size) {
  tfrt_once_run(&tables_once, fill_tables);
  const uint8_t* bytes = data;
  crc = ~crc;
  for (; size >= 8; size -= 8, bytes += 8) {
    crc ^= (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
           (uint32_t)bytes[3] << 24;
    crc = tables[7][crc & 0xff] ^ tables[6][(crc >> 8) & 0xff] ^ tables[5][(crc >> 16) & 0xff] ^
          tables[4][crc >> 24] ^ tables[3][bytes[4]] ^ tables[2][bytes[5]] ^ tables[1][bytes[6]] ^
          tables[0][bytes[7]];
  }
  for (; size > 0; --size, ++bytes) crc = (crc >> 8) ^ tables[0][(crc ^ *bytes) & 0xff];
  return ~crc;
}
