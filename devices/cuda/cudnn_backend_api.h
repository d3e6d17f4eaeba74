// SPDX-License-Identifier: Apache-2.0
//
// Our own declarations of the part of cuDNN's backend, its interface of graphs of operations, that
// this project uses. Each object is a descriptor: it is created with a type, gets attributes by
// name, and is finalized. After that it can only be read and referred to.
//
// The attributes of each descriptor, and their types, come from NVIDIA's "cudnn_graph Library"
// (https://docs.nvidia.com/deeplearning/cudnn/api; "cudnnBackendDescriptorType_t" and the sections
// "CUDNN_BACKEND_..._DESCRIPTOR"). That page gives no numbers. Two projects declare the same
// numbers after cuDNN's headers: hidet's runtime (cudnn.cc) for cuDNN 8, and ZLUDA
// (cuda_types::cudnn9) for cuDNN 9. The numbers of descriptors' types are also in cudarc
// (https://docs.rs/cudarc, cudarc::cudnn::sys). The numbers of attributes' types and of pointwise
// modes are also in JCudnn.
//
// Thread rule: constant after opening. Failure rule: as devices/cuda/vendor_library.h.
#ifndef TFRT_DEVICES_CUDA_CUDNN_BACKEND_API_H_
#define TFRT_DEVICES_CUDA_CUDNN_BACKEND_API_H_

#include <stdint.h>

#include "devices/cuda/cudnn_api.h"

typedef struct tfrt_cudnn_backend_s* tfrt_cudnn_backend_t;

// Types of descriptors.
enum tfrt_cudnn_backend_type_e {
  TFRT_CUDNN_BACKEND_POINTWISE = 0,
  TFRT_CUDNN_BACKEND_CONVOLUTION = 1,
  TFRT_CUDNN_BACKEND_ENGINE = 2,
  TFRT_CUDNN_BACKEND_ENGINECFG = 3,
  TFRT_CUDNN_BACKEND_EXECUTION_PLAN = 5,
  TFRT_CUDNN_BACKEND_KNOB_CHOICE = 7,
  TFRT_CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD = 10,
  TFRT_CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER = 11,
  TFRT_CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA = 12,
  TFRT_CUDNN_BACKEND_OPERATION_POINTWISE = 13,
  TFRT_CUDNN_BACKEND_OPERATIONGRAPH = 15,
  TFRT_CUDNN_BACKEND_VARIANT_PACK = 16,
  TFRT_CUDNN_BACKEND_TENSOR = 17,
};

// Types of attributes, with what an element is in memory.
enum tfrt_cudnn_attribute_type_e {
  TFRT_CUDNN_TYPE_HANDLE = 0,              // tfrt_cudnn_handle_t
  TFRT_CUDNN_TYPE_DATA_TYPE = 1,           // int
  TFRT_CUDNN_TYPE_BOOLEAN = 2,             // bool
  TFRT_CUDNN_TYPE_INT64 = 3,               // int64_t
  TFRT_CUDNN_TYPE_FLOAT = 4,               // float
  TFRT_CUDNN_TYPE_DOUBLE = 5,              // double
  TFRT_CUDNN_TYPE_VOID_PTR = 6,            // void*
  TFRT_CUDNN_TYPE_CONVOLUTION_MODE = 7,    // int
  TFRT_CUDNN_TYPE_KNOB_TYPE = 9,           // int
  TFRT_CUDNN_TYPE_POINTWISE_MODE = 14,     // int
  TFRT_CUDNN_TYPE_BACKEND_DESCRIPTOR = 15  // tfrt_cudnn_backend_t
};

// Names of attributes.
enum tfrt_cudnn_attribute_e {
  TFRT_CUDNN_POINTWISE_MODE = 0,
  TFRT_CUDNN_POINTWISE_MATH_PREC = 1,

  TFRT_CUDNN_CONVOLUTION_COMP_TYPE = 100,
  TFRT_CUDNN_CONVOLUTION_CONV_MODE = 101,
  TFRT_CUDNN_CONVOLUTION_DILATIONS = 102,
  TFRT_CUDNN_CONVOLUTION_FILTER_STRIDES = 103,
  TFRT_CUDNN_CONVOLUTION_POST_PADDINGS = 104,
  TFRT_CUDNN_CONVOLUTION_PRE_PADDINGS = 105,
  TFRT_CUDNN_CONVOLUTION_SPATIAL_DIMS = 106,

  TFRT_CUDNN_ENGINECFG_ENGINE = 300,
  TFRT_CUDNN_ENGINECFG_KNOB_CHOICES = 302,

  TFRT_CUDNN_EXECUTION_PLAN_HANDLE = 400,
  TFRT_CUDNN_EXECUTION_PLAN_ENGINE_CONFIG = 401,
  TFRT_CUDNN_EXECUTION_PLAN_WORKSPACE_SIZE = 402,

  TFRT_CUDNN_KNOB_CHOICE_KNOB_TYPE = 600,
  TFRT_CUDNN_KNOB_CHOICE_KNOB_VALUE = 601,

  TFRT_CUDNN_OPERATION_CONVOLUTION_FORWARD_ALPHA = 700,
  TFRT_CUDNN_OPERATION_CONVOLUTION_FORWARD_BETA = 701,
  TFRT_CUDNN_OPERATION_CONVOLUTION_FORWARD_CONV_DESC = 702,
  TFRT_CUDNN_OPERATION_CONVOLUTION_FORWARD_W = 703,
  TFRT_CUDNN_OPERATION_CONVOLUTION_FORWARD_X = 704,
  TFRT_CUDNN_OPERATION_CONVOLUTION_FORWARD_Y = 705,
  TFRT_CUDNN_OPERATION_CONVOLUTION_BWD_DATA_ALPHA = 706,
  TFRT_CUDNN_OPERATION_CONVOLUTION_BWD_DATA_BETA = 707,
  TFRT_CUDNN_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC = 708,
  TFRT_CUDNN_OPERATION_CONVOLUTION_BWD_DATA_W = 709,
  TFRT_CUDNN_OPERATION_CONVOLUTION_BWD_DATA_DX = 710,
  TFRT_CUDNN_OPERATION_CONVOLUTION_BWD_DATA_DY = 711,
  TFRT_CUDNN_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA = 712,
  TFRT_CUDNN_OPERATION_CONVOLUTION_BWD_FILTER_BETA = 713,
  TFRT_CUDNN_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC = 714,
  TFRT_CUDNN_OPERATION_CONVOLUTION_BWD_FILTER_DW = 715,
  TFRT_CUDNN_OPERATION_CONVOLUTION_BWD_FILTER_X = 716,
  TFRT_CUDNN_OPERATION_CONVOLUTION_BWD_FILTER_DY = 717,

  TFRT_CUDNN_OPERATION_POINTWISE_PW_DESCRIPTOR = 750,
  TFRT_CUDNN_OPERATION_POINTWISE_XDESC = 751,
  TFRT_CUDNN_OPERATION_POINTWISE_BDESC = 752,
  TFRT_CUDNN_OPERATION_POINTWISE_YDESC = 753,
  TFRT_CUDNN_OPERATION_POINTWISE_ALPHA1 = 754,
  TFRT_CUDNN_OPERATION_POINTWISE_ALPHA2 = 755,

  TFRT_CUDNN_OPERATIONGRAPH_HANDLE = 800,
  TFRT_CUDNN_OPERATIONGRAPH_OPS = 801,

  TFRT_CUDNN_TENSOR_BYTE_ALIGNMENT = 900,
  TFRT_CUDNN_TENSOR_DATA_TYPE = 901,
  TFRT_CUDNN_TENSOR_DIMENSIONS = 902,
  TFRT_CUDNN_TENSOR_STRIDES = 903,
  TFRT_CUDNN_TENSOR_UNIQUE_ID = 906,
  TFRT_CUDNN_TENSOR_IS_VIRTUAL = 907,

  TFRT_CUDNN_VARIANT_PACK_UNIQUE_IDS = 1000,
  TFRT_CUDNN_VARIANT_PACK_DATA_POINTERS = 1001,
  TFRT_CUDNN_VARIANT_PACK_WORKSPACE = 1003,

  TFRT_CUDNN_ENGINE_OPERATION_GRAPH = 1300,
  TFRT_CUDNN_ENGINE_GLOBAL_INDEX = 1301,
};

// Modes of pointwise operations.
enum tfrt_cudnn_pointwise_mode_e {
  TFRT_CUDNN_POINTWISE_ADD = 0,
  TFRT_CUDNN_POINTWISE_RELU_FWD = 100,
};

// The table: X(entry point without its "cudnn", what it returns, parameters).
#define TFRT_CUDNN_BACKEND_ENTRIES(X)                                                              \
  X(BackendCreateDescriptor, tfrt_cudnn_status_t, (int type, tfrt_cudnn_backend_t* descriptor))    \
  X(BackendDestroyDescriptor, tfrt_cudnn_status_t, (tfrt_cudnn_backend_t descriptor))              \
  X(BackendSetAttribute, tfrt_cudnn_status_t,                                                      \
    (tfrt_cudnn_backend_t descriptor, int name, int type, int64_t count, const void* elements))    \
  X(BackendGetAttribute, tfrt_cudnn_status_t,                                                      \
    (tfrt_cudnn_backend_t descriptor, int name, int type, int64_t requested_count, int64_t* count, \
     void* elements))                                                                              \
  X(BackendFinalize, tfrt_cudnn_status_t, (tfrt_cudnn_backend_t descriptor))                       \
  X(BackendExecute, tfrt_cudnn_status_t,                                                           \
    (tfrt_cudnn_handle_t handle, tfrt_cudnn_backend_t plan, tfrt_cudnn_backend_t variant_pack))

typedef struct tfrt_cudnn_backend_api_s {
#define TFRT_CUDNN_MEMBER(name, type, parameters) type(*name) parameters;
  TFRT_CUDNN_BACKEND_ENTRIES(TFRT_CUDNN_MEMBER)
#undef TFRT_CUDNN_MEMBER
} tfrt_cudnn_backend_api_t;

#endif  // TFRT_DEVICES_CUDA_CUDNN_BACKEND_API_H_
