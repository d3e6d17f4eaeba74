// SPDX-License-Identifier: Apache-2.0
//
// The checksum of chunks, CRC-32C (Castagnoli): polynomial 0x1EDC6F41, reflected, begun and ended
// with all ones, as in iSCSI. It finds bytes that a network changed; it does not protect against an
// attacker.
//
// Thread rule: thread-safe. Failure rule: none fails.
#ifndef TFRT_DISTRIBUTED_BULK_CRC32C_H_
#define TFRT_DISTRIBUTED_BULK_CRC32C_H_

#include <stddef.h>
#include <stdint.h>

// Returns the checksum of some bytes with checksum |crc| (0: none yet) and the |size| bytes at
// |data| behind them. Thread-safe.
uint32_t tfrt_crc32c_extend(uint32_t crc, const void* data, size_t size);

#endif  // TFRT_DISTRIBUTED_BULK_CRC32C_H_
