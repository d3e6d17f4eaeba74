// SPDX-License-Identifier: Apache-2.0
#include "tools/worker/listen_address.h"

#include <arpa/inet.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "tools/cluster/network_trust.h"

static bool listen_address_is_port(const char* text) {
  int port = 0;
  for (const char* c = text; *c; ++c) {
    if (*c < '0' || *c > '9' || c - text == 5) return false;
    port = 10 * port + (*c - '0');
  }
  return *text != '\0' && port <= UINT16_MAX;
}

// Sets |*out_host| to the part before the port, without brackets, and |*out_port| to the port
// with its colon.
static tfrt_status_t listen_address_split(const char* text,
                                          char out_host[TFRT_TRANSPORT_ADDRESS_SIZE],
                                          const char** out_port) {
  const char* colon = strrchr(text, ':');
  const char* host = text;
  size_t size = colon ? (size_t)(colon - text) : 0;
  bool is_bracketed = size >= 2 && text[0] == '[' && text[size - 1] == ']';
  if (is_bracketed) {
    ++host;
    size -= 2;
  }
  // Without brackets, a second colon says that the port of an IPv6 address was forgotten.
  bool is_address = size > 0 && (is_bracketed || !memchr(host, ':', size));
  if (!is_address || !listen_address_is_port(colon + 1)) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "'%s' is no address; write HOST:PORT (127.0.0.1:0, [::1]:8000, "
                              "name:8000) or unix:/path",
                              text);
  }
  memcpy(out_host, host, size);
  out_host[size] = '\0';
  *out_port = colon;
  return NULL;
}

void tfrt_listen_address_host(const char* text, char out_host[TFRT_TRANSPORT_ADDRESS_SIZE]) {
  const char* port = NULL;
  strcpy(out_host, "localhost");
  if (strncmp(text, "unix:", 5) == 0) return;
  tfrt_status_release(listen_address_split(text, out_host, &port));
}

// All of |found| are judged: the system may listen on each of them.
static void listen_address_judge_all(const struct addrinfo* found, bool* out_is_local,
                                     const struct addrinfo** out_best) {
  *out_is_local = true;
  *out_best = found;
  for (const struct addrinfo* one = found; one; one = one->ai_next) {
    if (!tfrt_network_address_is_loopback(one->ai_addr)) *out_is_local = false;
    if (one->ai_family == AF_INET && (*out_best)->ai_family != AF_INET) *out_best = one;
  }
}

static void listen_address_write(const struct addrinfo* address, const char* port,
                                 char out_text[TFRT_TRANSPORT_ADDRESS_SIZE]) {
  char number[NI_MAXHOST];
  if (getnameinfo(address->ai_addr, address->ai_addrlen, number, sizeof(number), NULL, 0,
                  NI_NUMERICHOST) != 0) {
    return;  // the text stays as the user wrote it
  }
  const char* format = address->ai_family == AF_INET6 ? "[%.*s]%s" : "%.*s%s";
  snprintf(out_text, TFRT_TRANSPORT_ADDRESS_SIZE, format, INET6_ADDRSTRLEN + IF_NAMESIZE, number,
           port);
}

tfrt_status_t tfrt_listen_address_judge(const char* text, tfrt_listen_address_t* out_address) {
  *out_address = (tfrt_listen_address_t){.is_local = false};
  if (strlen(text) >= sizeof(out_address->text)) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "an address has at most %d characters, not %zu",
                              TFRT_TRANSPORT_ADDRESS_SIZE - 1, strlen(text));
  }
  strcpy(out_address->text, text);
  if (strncmp(text, "unix:", 5) == 0) {
    out_address->is_local = true;
    return NULL;
  }
  char host[TFRT_TRANSPORT_ADDRESS_SIZE];
  const char* port = NULL;
  TFRT_RETURN_IF_ERROR(listen_address_split(text, host, &port));
  const struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
  struct addrinfo* found = NULL;
  int error = getaddrinfo(host, NULL, &hints, &found);
  if (error != 0) {
    return tfrt_status_create(TFRT_STATUS_NOT_FOUND, "'%s' is no host that this machine knows: %s",
                              host, gai_strerror(error));
  }
  const struct addrinfo* best = NULL;
  listen_address_judge_all(found, &out_address->is_local, &best);
  // One that may be reached from outside keeps its name, by which others know it.
  if (out_address->is_local) listen_address_write(best, port, out_address->text);
  freeaddrinfo(found);
  return NULL;
}
