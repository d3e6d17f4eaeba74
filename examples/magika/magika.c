// SPDX-License-Identifier: Apache-2.0
//
// Tells the types of files with a model, from C:
//
//   magika MODEL.bef LABELS.txt FILE...
//
// MODEL.bef is model.onnx beside this file, imported. It looks at 2,048 numbers of a file: its
// first 1,024 bytes without leading white space, and its last 1,024 without trailing white space;
// 256 stands where a file is shorter.
#include <stdio.h>
#include <string.h>

#include "embedding/tfrt.h"

enum { BLOCK = 4096, PART = 1024, NOTHING = 256, LABELS = 214, LABEL_SIZE = 32 };

static bool is_space(unsigned char byte) { return byte == ' ' || (byte >= '\t' && byte <= '\r'); }

// Sets the |numbers|, 2 * PART, that stand for the file at |path|; returns false if it can't be
// read.
static bool read_features(const char* path, int32_t* numbers) {
  static unsigned char first[BLOCK], last[BLOCK];
  FILE* file = fopen(path, "rb");
  if (!file) return false;
  size_t first_end = fread(first, 1, BLOCK, file);
  if (fseek(file, -BLOCK, SEEK_END) != 0) rewind(file);
  size_t last_end = fread(last, 1, BLOCK, file);
  fclose(file);
  size_t begin = 0;
  while (begin < first_end && is_space(first[begin])) ++begin;
  while (last_end > 0 && is_space(last[last_end - 1])) --last_end;
  for (size_t i = 0; i < PART; ++i) {
    numbers[i] = begin + i < first_end ? first[begin + i] : NOTHING;
    numbers[2 * PART - 1 - i] = i < last_end ? last[last_end - 1 - i] : NOTHING;
  }
  return true;
}

// Prints the label with the best of the |scores| for the file at |path|.
static void print_best(const char* path, const float* scores, char labels[][LABEL_SIZE]) {
  int best = 0;
  for (int i = 1; i < LABELS; ++i) {
    if (scores[i] > scores[best]) best = i;
  }
  printf("%s: %s (%d %%)\n", path, labels[best], (int)(100 * scores[best] + 0.5f));
}

static tfrt_status_t classify(tfrt_model_t* model, const char* path, char labels[][LABEL_SIZE]) {
  int32_t numbers[2 * PART];
  if (!read_features(path, numbers)) {
    return tfrt_status_create(TFRT_STATUS_NOT_FOUND, "%s can't be read", path);
  }
  int64_t dims[] = {1, 2 * PART};
  tfrt_model_tensor_t input = {.dtype = TFRT_DTYPE_I32, .rank = 2, .dims = dims, .data = numbers};
  tfrt_model_tensor_t scores;
  TFRT_RETURN_IF_ERROR(tfrt_model_run(model, &input, 1, &scores, 1));
  print_best(path, scores.data, labels);
  tfrt_model_tensor_release(&scores);
  return NULL;
}

static bool read_labels(const char* path, char labels[][LABEL_SIZE]) {
  FILE* file = fopen(path, "r");
  int count = 0;
  while (file && count < LABELS && fgets(labels[count], LABEL_SIZE, file)) {
    char* text = labels[count++];
    text[strcspn(text, "\n")] = '\0';
  }
  if (file) fclose(file);
  return count == LABELS;
}

int main(int argc, char** argv) {
  static char labels[LABELS][LABEL_SIZE];
  if (argc < 4 || !read_labels(argv[2], labels)) {
    fprintf(stderr, "usage: magika MODEL.bef LABELS.txt FILE...\n");
    return 2;
  }
  tfrt_model_options_t options = {.thread_count = 1};
  tfrt_model_t* model = NULL;
  tfrt_status_t status = tfrt_model_load(argv[1], &options, &model);
  for (int i = 3; i < argc && !status; ++i) status = classify(model, argv[i], labels);
  tfrt_model_free(model);
  if (!status) return 0;
  char text[512];
  tfrt_status_format(status, text, sizeof(text));
  fprintf(stderr, "magika: %s\n", text);
  tfrt_status_release(status);
  return 1;
}
