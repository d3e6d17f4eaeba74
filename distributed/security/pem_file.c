// SPDX-License-Identifier: Apache-2.0
#include "distributed/security/pem_file.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/bio.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

tfrt_status_t tfrt_pem_path(const char* directory, const char* name, const char* suffix,
                            char out_path[TFRT_PEM_PATH_SIZE]) {
  int size = snprintf(out_path, TFRT_PEM_PATH_SIZE, "%s/%s%s", directory, name, suffix);
  if (size > 0 && size < TFRT_PEM_PATH_SIZE) return NULL;
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "the path %.64s... is too long",
                            directory);
}

// --- Reading -------------------------------------------------------------------

typedef struct tfrt_pem_input_s {
  tfrt_file_contents_t contents;
  BIO* bio;  // reads |contents|
} tfrt_pem_input_t;

static void tfrt_pem_input_deinitialize(tfrt_pem_input_t* input) {
  BIO_free(input->bio);
  OPENSSL_cleanse(input->contents.data, input->contents.size);
  tfrt_file_contents_deinitialize(&input->contents);
  ERR_clear_error();
}

static tfrt_status_t tfrt_pem_input_initialize(tfrt_pem_input_t* input, const char* path) {
  TFRT_RETURN_IF_ERROR(
      tfrt_file_read_at_most(path, TFRT_PEM_MAX_SIZE, tfrt_allocator_system(), &input->contents));
  ERR_clear_error();
  input->bio = BIO_new_mem_buf(input->contents.data, (int)input->contents.size);
  if (input->bio) return NULL;
  tfrt_pem_input_deinitialize(input);
  return tfrt_status_out_of_memory();
}

static tfrt_status_t tfrt_pem_wrong_content(const char* path, const char* wanted) {
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                            "%s holds no %s in PEM form; `tfrt certs init` makes one", path,
                            wanted);
}

// Nobody is there to type a password.
static int tfrt_pem_give_no_password(char* buffer, int size, int is_writing, void* argument) {
  (void)buffer;
  (void)size;
  (void)is_writing;
  (void)argument;
  return -1;
}

tfrt_status_t tfrt_pem_read_certificate(const char* path, X509** out_certificate) {
  *out_certificate = NULL;
  tfrt_pem_input_t input;
  TFRT_RETURN_IF_ERROR(tfrt_pem_input_initialize(&input, path));
  *out_certificate = PEM_read_bio_X509(input.bio, NULL, tfrt_pem_give_no_password, NULL);
  tfrt_pem_input_deinitialize(&input);
  return *out_certificate ? NULL : tfrt_pem_wrong_content(path, "certificate");
}

tfrt_status_t tfrt_pem_read_authorities(const char* path, X509_STORE** out_store) {
  *out_store = NULL;
  X509_STORE* store = X509_STORE_new();
  if (!store) return tfrt_status_out_of_memory();
  tfrt_pem_input_t input;
  tfrt_status_t status = tfrt_pem_input_initialize(&input, path);
  if (!status) {
    size_t count = 0;
    X509* one;
    while ((one = PEM_read_bio_X509(input.bio, NULL, tfrt_pem_give_no_password, NULL))) {
      count += X509_STORE_add_cert(store, one) == 1;
      X509_free(one);
    }
    tfrt_pem_input_deinitialize(&input);
    if (count == 0) status = tfrt_pem_wrong_content(path, "certificate");
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
  TFRT_RETURN_IF_ERROR(tfrt_pem_input_initialize(&input, path));
  *out_key = PEM_read_bio_PrivateKey(input.bio, NULL, tfrt_pem_give_no_password, NULL);
  tfrt_pem_input_deinitialize(&input);
  return *out_key ? NULL : tfrt_pem_wrong_content(path, "private key without a password");
}

// --- Writing -------------------------------------------------------------------

static tfrt_status_t tfrt_pem_system_error(const char* path, int error) {
  tfrt_status_code_t code = error == EEXIST                     ? TFRT_STATUS_ALREADY_EXISTS
                            : error == ENOTDIR                  ? TFRT_STATUS_INVALID_ARGUMENT
                            : error == ENOENT                   ? TFRT_STATUS_NOT_FOUND
                            : error == EACCES || error == EROFS ? TFRT_STATUS_PERMISSION_DENIED
                            : error == ENOSPC                   ? TFRT_STATUS_RESOURCE_EXHAUSTED
                                                                : TFRT_STATUS_UNKNOWN;
  if (error == EEXIST) {
    return tfrt_status_create(code, "%s exists already and is not replaced; move it away first",
                              path);
  }
  return tfrt_status_create(code, "can't write %s: %s", path, strerror(error));
}

// Returns 0 or the system's error.
static int tfrt_pem_fill_file(int descriptor, const char* data, size_t size) {
  while (size > 0) {
    ssize_t written = write(descriptor, data, size);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return written < 0 ? errno : EIO;
    data += written;
    size -= (size_t)written;
  }
  return fsync(descriptor) == 0 ? 0 : errno;
}

// A new file under another name (which mkostemp() makes readable for its owner alone) is
// linked to |path|, which fails if that name is taken, or, if it |replaces| what is there, moved.
static tfrt_status_t tfrt_pem_write_data(const char* path, const char* data, size_t size,
                                         bool replaces) {
  char temporary[TFRT_PEM_PATH_SIZE + 8];
  snprintf(temporary, sizeof(temporary), "%s.XXXXXX", path);
  int descriptor = mkostemp(temporary, O_CLOEXEC);
  if (descriptor < 0) return tfrt_pem_system_error(path, errno);
  int error = tfrt_pem_fill_file(descriptor, data, size);
  close(descriptor);
  if (error == 0 && (replaces ? rename(temporary, path) : link(temporary, path)) != 0) {
    error = errno;
  }
  if (error != 0 || !replaces) unlink(temporary);
  return error == 0 ? NULL : tfrt_pem_system_error(path, error);
}

static tfrt_status_t tfrt_pem_write(const char* path, X509* certificate, EVP_PKEY* key,
                                    bool replaces) {
  BIO* bio = BIO_new(BIO_s_mem());
  if (!bio) return tfrt_status_out_of_memory();
  int is_ok = certificate ? PEM_write_bio_X509(bio, certificate)
                          : PEM_write_bio_PrivateKey(bio, key, NULL, NULL, 0, NULL, NULL);
  char* data = NULL;
  long size = BIO_get_mem_data(bio, &data);
  tfrt_status_t status = is_ok ? tfrt_pem_write_data(path, data, (size_t)size, replaces)
                               : tfrt_pem_openssl_error("can't write PEM");
  if (size > 0) OPENSSL_cleanse(data, (size_t)size);
  BIO_free(bio);
  return status;
}

tfrt_status_t tfrt_pem_write_certificate(const char* path, X509* certificate, bool replaces) {
  return tfrt_pem_write(path, certificate, NULL, replaces);
}

tfrt_status_t tfrt_pem_write_key(const char* path, EVP_PKEY* key) {
  return tfrt_pem_write(path, NULL, key, false);
}
