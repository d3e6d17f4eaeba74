// SPDX-License-Identifier: Apache-2.0
#include "tools/cluster/network_trust.h"

#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

bool tfrt_network_address_is_loopback(const struct sockaddr* address) {
  if (address->sa_family == AF_INET) {
    const struct sockaddr_in* ipv4 = (const struct sockaddr_in*)(const void*)address;
    return ntohl(ipv4->sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
  }
  if (address->sa_family != AF_INET6) return false;
  const struct in6_addr* ipv6 = &((const struct sockaddr_in6*)(const void*)address)->sin6_addr;
  if (IN6_IS_ADDR_V4MAPPED(ipv6)) return ipv6->s6_addr[12] == IN_LOOPBACKNET;
  return IN6_IS_ADDR_LOOPBACK(ipv6);
}

// The part of HOST:PORT before the port, without brackets.
static void network_trust_copy_host(tfrt_string_view_t address, char out_host[NI_MAXHOST]) {
  size_t size = address.size;
  while (size > 0 && address.data[size - 1] != ':') --size;
  if (size > 0) --size;
  const char* host = address.data;
  if (size >= 2 && host[0] == '[' && host[size - 1] == ']') {
    ++host;
    size -= 2;
  }
  snprintf(out_host, NI_MAXHOST, "%.*s", (int)(size < NI_MAXHOST ? size : 0), host);
}

// Whether |address| leads off this machine by one of the addresses that the system has for it.
static bool network_trust_leads_off(tfrt_string_view_t address) {
  if (address.size >= 5 && memcmp(address.data, "unix:", 5) == 0) return false;
  char host[NI_MAXHOST];
  network_trust_copy_host(address, host);
  const struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
  struct addrinfo* found = NULL;
  if (getaddrinfo(host, NULL, &hints, &found) != 0) return false;
  bool leads_off = false;
  for (const struct addrinfo* one = found; one && !leads_off; one = one->ai_next) {
    leads_off = !tfrt_network_address_is_loopback(one->ai_addr);
  }
  freeaddrinfo(found);
  return leads_off;
}

tfrt_status_t tfrt_network_trust_check_key(const tfrt_string_view_t* addresses, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) {
    if (!network_trust_leads_off(addresses[i])) continue;
    return tfrt_status_create(
        TFRT_STATUS_INVALID_ARGUMENT,
        "the cluster key would cross the network to %.*s without encryption: give --tls-dir (see "
        "`tfrt certs --help`), or, where the network is trusted, add --insecure-network",
        TFRT_STRING_VIEW_ARGUMENTS(addresses[i]));
  }
  return NULL;
}
