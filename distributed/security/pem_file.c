// SPDX-License-Identifier: Apache-2.0
#include "distributed/security/pem_file.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>

#include "host_runtime/base/file.h"

// Hundreds of certificates.
#define TFRT_PEM_MAX_SIZE ((size_t)1024 * 1024)

tfrt_status_t tfrt_pem_openssl_error(const char* what) {
  char reason[256] = "no reason given";
  unsigned long error = ERR_get_error();
  if (error != 0) ERR_error_string_n(error, reason, sizeof(reason));
  ERR_clear_error();
  return tfrt_status_create(TFRT_STATUS_INTERNAL, "OpenSSL: %s: %s", what, reason);
}

typedef struct tfrt_pem_input_s {
  tfrt_file_contents_t contents;
  BIO* bio;  // reads |contents|
} tfrt_pem_input_t;

static void pem_input_deinitialize(tfrt_pem_input_t* input) {
  BIO_free(input->bio);
  OPENSSL_cleanse(input->contents.data, input->contents.size);
  tfrt_file_contents_deinitialize(&input->contents);
  ERR_clear_error();
}

static tfrt_status_t pem_input_initialize(tfrt_pem_input_t* input, const char* path) {
  TFRT_RETURN_IF_ERROR(
      tfrt_file_read_at_most(path, TFRT_PEM_MAX_SIZE, tfrt_allocator_system(), &input->contents));
  ERR_clear_error();
  input->bio = BIO_new_mem_buf(input->contents.data, (int)input->contents.size);
  if (input->bio) return NULL;
  pem_input_deinitialize(input);
  return tfrt_status_out_of_memory();
}

static tfrt_status_t pem_wrong_content(const char* path, const char* wanted) {
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                            "%s holds no %s in PEM form; `tfrt certs init` makes one", path,
                            wanted);
}

// Nobody is there to type a password.
static int pem_give_no_password(char* buffer, int size, int is_writing, void* argument) {
  (void)buffer;
  (void)size;
  (void)is_writing;
  (void)argument;
  return -1;
}

tfrt_status_t tfrt_pem_read_certificate(const char* path, X509** out_certificate) {
  *out_certificate = NULL;
  tfrt_pem_input_t input;
  TFRT_RETURN_IF_ERROR(pem_input_initialize(&input, path));
  *out_certificate = PEM_read_bio_X509(input.bio, NULL, pem_give_no_password, NULL);
  pem_input_deinitialize(&input);
  return *out_certificate ? NULL : pem_wrong_content(path, "certificate");
}

tfrt_status_t tfrt_pem_read_authorities(const char* path, X509_STORE** out_store) {
  *out_store = NULL;
  X509_STORE* store = X509_STORE_new();
  if (!store) return tfrt_status_out_of_memory();
  tfrt_pem_input_t input;
  tfrt_status_t status = pem_input_initialize(&input, path);
  if (!status) {
    size_t count = 0;
    X509* one;
    while ((one = PEM_read_bio_X509(input.bio, NULL, pem_give_no_password, NULL))) {
      count += X509_STORE_add_cert(store, one) == 1;
      X509_free(one);
    }
    pem_input_deinitialize(&input);
    if (count == 0) status = pem_wrong_content(path, "certificate");
  }
  if (status) {
    X509_STORE_free(store);
    return status;
  }
  *out_store = store;
  return NULL;
}

tfrt_status_t tfrt_pem_read_key(const char* path, EVP_PKEY** out_key) {
  *out_key = NULL;
  tfrt_pem_input_t input;
  TFRT_RETURN_IF_ERROR(pem_input_initialize(&input, path));
  *out_key = PEM_read_bio_PrivateKey(input.bio, NULL, pem_give_no_password, NULL);
  pem_input_deinitialize(&input);
  return *out_key ? NULL : pem_wrong_content(path, "private key without a password");
}
