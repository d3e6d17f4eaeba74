// SPDX-License-Identifier: Apache-2.0
//
// An image as the input of a model: a JPEG or PNG file to [1, 3, height, width] of f32, red, green
// and blue. The user declares what the model was trained with:
//
//   file --decode--> pixels --cut, resize--> 0 .. 255 --divide by 255, subtract the mean, divide by
//   the deviation--> tensor
//
// The largest part around the middle that has the wanted proportions is cut out and resized. Each
// new pixel is the mean of the old ones around its place, weighted by nearness: in a reduction of
// all that it covers (the triangle filter of Pillow's and torchvision's bilinear resize).
//
// Thread rule: thread-compatible. Failure rule: one line that names the file or the flag.
#ifndef TFRT_TOOLS_COMMAND_LINE_IMAGE_FILE_H_
#define TFRT_TOOLS_COMMAND_LINE_IMAGE_FILE_H_

#include "host_runtime/async/async_value.h"
#include "tools/command_line/flags.h"

// The flags about images.
typedef struct tfrt_image_flags_s {
  tfrt_flag_list_t images;  // --image NAME=FILE
  const char* size;         // --size N or HEIGHTxWIDTH; NULL: the image's own
  const char* mean;         // --mean R,G,B; NULL: 0
  const char* deviation;    // --std R,G,B; NULL: 1
  bool channels_last;       // [1, height, width, 3]
} tfrt_image_flags_t;

#define TFRT_IMAGE_HELP \
  "a parameter that is an image, JPEG or PNG; --size, --mean, --std go with it"
#define TFRT_IMAGE_SIZE_HELP "of images: cut and resized to N x N, or to HEIGHTxWIDTH"
#define TFRT_IMAGE_MEAN_HELP "of images: subtracted, of colours from 0 to 1 (default 0,0,0)"
#define TFRT_IMAGE_DEVIATION_HELP "of images: divided by behind that (default 1,1,1)"
#define TFRT_IMAGE_CHANNELS_LAST_HELP "of images: [1, height, width, 3], not [1, 3, height, width]"

// Sets |*out_value| to an available tensor (+1) with the image in the file |path| as |flags| say.
tfrt_status_t tfrt_image_file_read(const char* path, const tfrt_image_flags_t* flags,
                                   tfrt_async_value_t** out_value) TFRT_MUST_USE;

#endif  // TFRT_TOOLS_COMMAND_LINE_IMAGE_FILE_H_
