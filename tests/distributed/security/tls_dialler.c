// SPDX-License-Identifier: Apache-2.0
#include "tests/distributed/security/tls_dialler.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <unistd.h>

static int connect_to(uint16_t port) {
  struct sockaddr_in name = {.sin_family = AF_INET, .sin_port = htons(port)};
  name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (descriptor < 0 || connect(descriptor, (struct sockaddr*)&name, sizeof(name)) == 0) {
    return descriptor;
  }
  close(descriptor);
  return -1;
}

static void talk(SSL_CTX* context, int descriptor) {
  SSL* tls = SSL_new(context);
  SSL_set_fd(tls, descriptor);
  char answer;
  if (SSL_connect(tls) == 1) (void)SSL_read(tls, &answer, 1);
  SSL_free(tls);
}

bool tfrt_tls_dialler_shake_hands(uint16_t port, tfrt_tls_dialler_version_t version,
                                  const tfrt_certificate_files_t* files) {
  SSL_CTX* context = SSL_CTX_new(TLS_client_method());
  const int number = version == TFRT_TLS_DIALLER_1_2 ? TLS1_2_VERSION : TLS1_3_VERSION;
  bool is_good = SSL_CTX_set_max_proto_version(context, number) == 1;
  if (files) {
    is_good = is_good && SSL_CTX_use_certificate_chain_file(context, files->certificate) == 1 &&
              SSL_CTX_use_PrivateKey_file(context, files->key, SSL_FILETYPE_PEM) == 1;
  }
  const int descriptor = is_good ? connect_to(port) : -1;
  if (descriptor >= 0) {
    talk(context, descriptor);
    close(descriptor);
  }
  SSL_CTX_free(context);
  return descriptor >= 0;
}
