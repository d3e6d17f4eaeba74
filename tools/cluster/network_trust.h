// SPDX-License-Identifier: Apache-2.0
//
// Which networks may see what is not encrypted: those of this machine, and those that the user
// trusts.
//
// Thread rule: thread-safe. Failure rule: one line that names the address and the fix.
#ifndef TFRT_TOOLS_CLUSTER_NETWORK_TRUST_H_
#define TFRT_TOOLS_CLUSTER_NETWORK_TRUST_H_

#include <stdint.h>
#include <sys/socket.h>

#include "host_runtime/base/status.h"
#include "host_runtime/base/string_view.h"

// True if |address| is a loopback address, of IPv4, IPv6, or IPv4 in IPv6. Thread-safe.
bool tfrt_network_address_is_loopback(const struct sockaddr* address);

// The help of the flag with which a client may send the cluster key without encryption.
#define TFRT_NETWORK_TRUST_HELP "allow a cluster key without --tls-dir off the loopback interface"

// OK if the |count| |addresses|, as HOST:PORT or unix:PATH, all lead to this machine, so that a
// cluster key sent to them crosses no network; else INVALID_ARGUMENT. A name that nobody knows is
// left to the dialling, which says so. May ask the system's resolver. Thread-safe.
tfrt_status_t tfrt_network_trust_check_key(const tfrt_string_view_t* addresses, uint32_t count)
    TFRT_MUST_USE;

#endif  // TFRT_TOOLS_CLUSTER_NETWORK_TRUST_H_
