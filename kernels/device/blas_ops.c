// SPDX-License-Identifier: Apache-2.0
//
// The ops of linear algebra, which vendors' libraries do.
#include "kernels/device/op_parts.h"
#include "kernels/device/ops.h"

#define HANDLE "!tfrt_gpu.blas.handle"
#define ALGORITHM "!tfrt_gpu.blas.gemm.algo"
// Types of scale factors.
#define NUMBER "f16|f32|f64"

// --- Results and attributes -----------------------------------------------------

static const tfrt_attribute_descriptor_t types_of_product[] = {
    NEED("computeType", STRING), NEED("transA", STRING), NEED("transB", STRING),
    NEED("typeA", STRING),       NEED("typeB", STRING),  NEED("typeC", STRING)};

// --- Ops --------------------------------------------------------------------------

static const tfrt_kernel_descriptor_t descriptors[] = {
    OP("tfrt_gpu.blas.create",
       "A handle of the device's library of linear algebra, which is opened when it is first asked "
       "for.",
       FORM("operands attr-dict"), IN(READ("context", CONTEXT)), OUT(GIVE("handle", HANDLE)),
       EFFECTS(NONE), COST(1000)),
    OP("tfrt_gpu.blas.axpy",
       "y = alpha * x + y for `n` elements, which lie `strideX` and `strideY` elements apart.",
       FORM("%handle , %stream , %n , %alpha , $typeAlpha , %x , $typeX , %strideX , %y , $typeY , "
            "%strideY , $executionType , %chain attr-dict"),
       IN(READ("handle", HANDLE), READ("stream", STREAM), READ("n", "i32"), READ("alpha", NUMBER),
          READ("x", BUFFER), READ("strideX", "i32"), WRITE("y", BUFFER), READ("strideY", "i32"),
          AFTER),
       OUT(DONE),
       SET(NEED("executionType", STRING), NEED("typeAlpha", STRING), NEED("typeX", STRING),
           NEED("typeY", STRING)),
       EFFECTS(NONE), .orders = "stream", COST(50)),
    OP("tfrt_gpu.blas.scal", "x = alpha * x for `n` elements, which lie `strideX` elements apart.",
       FORM("%handle , %stream , %n , %alpha , $typeAlpha , %x , $typeX , %strideX , "
            "$executionType , %chain attr-dict"),
       IN(READ("handle", HANDLE), READ("stream", STREAM), READ("n", "i32"), READ("alpha", NUMBER),
          WRITE("x", BUFFER), READ("strideX", "i32"), AFTER),
       OUT(DONE),
       SET(NEED("executionType", STRING), NEED("typeAlpha", STRING), NEED("typeX", STRING)),
       EFFECTS(NONE), .orders = "stream", COST(50)),
    OP("tfrt_gpu.blas.gemm.algo",
       "How a product is made; CUBLAS_GEMM_DEFAULT leaves that to the library.",
       FORM("$algo attr-dict"), OUT(GIVE("algo", ALGORITHM)), SET(NEED("algo", STRING)),
       EFFECTS(NONE), COST(10)),
    OP("tfrt_gpu.blas.gemm",
       "C = alpha * (A times B) + beta * C, with `m` rows, `n` columns and sums of `k` products. "
       "Matrices lie column by column, and a column begins `height` elements behind the one "
       "before.",
       FORM("%handle , %stream , $transA , $transB , %m , %n , %k , %alpha , %A , $typeA , "
            "%heightA , %B , $typeB , %heightB , %beta , %C , $typeC , %heightC , $computeType , "
            "%algo , %chain attr-dict"),
       IN(READ("handle", HANDLE), READ("stream", STREAM), READ("m", "i32"), READ("n", "i32"),
          READ("k", "i32"), READ("alpha", NUMBER), READ("A", BUFFER), READ("heightA", "i32"),
          READ("B", BUFFER), READ("heightB", "i32"), READ("beta", NUMBER), WRITE("C", BUFFER),
          READ("heightC", "i32"), READ("algo", ALGORITHM), AFTER),
       OUT(DONE), TFRT_ATTRIBUTES(types_of_product), EFFECTS(NONE), .orders = "stream", COST(50)),
    OP("tfrt_gpu.blas.gemm.batch",
       "`batchCount` such products: matrix i begins at element i * `stride`.",
       FORM("%handle , %stream , $transA , $transB , %m , %n , %k , %alpha , %A , $typeA , "
            "%heightA , %strideA , %B , $typeB , %heightB , %strideB , %beta , %C , $typeC , "
            "%heightC , %strideC , %batchCount , $computeType , %algo , %chain attr-dict"),
       IN(READ("handle", HANDLE), READ("stream", STREAM), READ("m", "i32"), READ("n", "i32"),
          READ("k", "i32"), READ("alpha", NUMBER), READ("A", BUFFER), READ("heightA", "i32"),
          READ("strideA", "i64"), READ("B", BUFFER), READ("heightB", "i32"), READ("strideB", "i64"),
          READ("beta", NUMBER), WRITE("C", BUFFER), READ("heightC", "i32"), READ("strideC", "i64"),
          READ("batchCount", "i32"), READ("algo", ALGORITHM), AFTER),
       OUT(DONE), TFRT_ATTRIBUTES(types_of_product), EFFECTS(NONE), .orders = "stream", COST(50)),
    OP("tfrt_gpu.blas.trsm.batch",
       "Makes each of `batchCount` matrices B, of `m` rows and `n` columns, the X of A times X = "
       "alpha * B, or of X times A, with a triangular A. The matrices lie one behind the other.",
       FORM("%handle , %stream , $sideMode , $fillMode , $trans , $diagType , %m , %n , $dataType "
            ", %alpha , %A , %heightA , %B , %heightB , %batchCount , %chain attr-dict"),
       IN(READ("handle", HANDLE), READ("stream", STREAM), READ("m", "i32"), READ("n", "i32"),
          READ("alpha", NUMBER), READ("A", BUFFER), READ("heightA", "i32"), WRITE("B", BUFFER),
          READ("heightB", "i32"), READ("batchCount", "i32"), AFTER),
       OUT(DONE),
       SET(NEED("dataType", STRING), NEED("diagType", STRING), NEED("fillMode", STRING),
           NEED("sideMode", STRING), NEED("trans", STRING)),
       EFFECTS(NONE), .orders = "stream", COST(50)),
};

const tfrt_kernel_table_t tfrt_blas_ops = {descriptors, TFRT_ARRAY_SIZE(descriptors)};
