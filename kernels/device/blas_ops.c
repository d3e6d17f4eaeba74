// SPDX-License-Identifier: Apache-2.0
//
// The ops of linear algebra, which vendors' libraries do.
#include "kernels/device/op_parts.h"
#include "kernels/device/ops.h"

#define HANDLE "!tfrt_gpu.blas.handle"
#define ALGORITHM "!tfrt_gpu.blas.gemm.algo"
// Types of scale factors.
#define NUMBER "f16|f32|f64"

// --- Operands -----------------------------------------------------------------

static const tfrt_operand_descriptor_t context[] = {READ("context", CONTEXT)};
static const tfrt_operand_descriptor_t added[] = {
    READ("handle", HANDLE), READ("stream", STREAM), READ("n", "i32"),
    READ("alpha", NUMBER),  READ("x", BUFFER),      READ("strideX", "i32"),
    WRITTEN("y"),           READ("strideY", "i32"), AFTER,
};
static const tfrt_operand_descriptor_t scaled[] = {
    READ("handle", HANDLE),
    READ("stream", STREAM),
    READ("n", "i32"),
    READ("alpha", NUMBER),
    WRITTEN("x"),
    READ("strideX", "i32"),
    AFTER,
};
static const tfrt_operand_descriptor_t multiplied[] = {
    READ("handle", HANDLE), READ("stream", STREAM),  READ("m", "i32"),
    READ("n", "i32"),       READ("k", "i32"),        READ("alpha", NUMBER),
    READ("A", BUFFER),      READ("heightA", "i32"),  READ("B", BUFFER),
    READ("heightB", "i32"), READ("beta", NUMBER),    WRITTEN("C"),
    READ("heightC", "i32"), READ("algo", ALGORITHM), AFTER,
};
static const tfrt_operand_descriptor_t batch[] = {
    READ("handle", HANDLE),
    READ("stream", STREAM),
    READ("m", "i32"),
    READ("n", "i32"),
    READ("k", "i32"),
    READ("alpha", NUMBER),
    READ("A", BUFFER),
    READ("heightA", "i32"),
    READ("strideA", "i64"),
    READ("B", BUFFER),
    READ("heightB", "i32"),
    READ("strideB", "i64"),
    READ("beta", NUMBER),
    WRITTEN("C"),
    READ("heightC", "i32"),
    READ("strideC", "i64"),
    READ("batchCount", "i32"),
    READ("algo", ALGORITHM),
    AFTER,
};
static const tfrt_operand_descriptor_t solved[] = {
    READ("handle", HANDLE),
    READ("stream", STREAM),
    READ("m", "i32"),
    READ("n", "i32"),
    READ("alpha", NUMBER),
    READ("A", BUFFER),
    READ("heightA", "i32"),
    WRITTEN("B"),
    READ("heightB", "i32"),
    READ("batchCount", "i32"),
    AFTER,
};

// --- Results and attributes -----------------------------------------------------

static const tfrt_result_descriptor_t handle_result[] = {{"handle", HANDLE}};
static const tfrt_result_descriptor_t algorithm_result[] = {{"algo", ALGORITHM}};
static const tfrt_result_descriptor_t chain_result[] = {{"chain", CHAIN}};

static const tfrt_attribute_descriptor_t algorithm[] = {NAME("algo")};
static const tfrt_attribute_descriptor_t types_of_added[] = {
    NAME("executionType"), NAME("typeAlpha"), NAME("typeX"), NAME("typeY")};
static const tfrt_attribute_descriptor_t types_of_scaled[] = {NAME("executionType"),
                                                              NAME("typeAlpha"), NAME("typeX")};
static const tfrt_attribute_descriptor_t types_of_product[] = {NAME("computeType"), NAME("transA"),
                                                               NAME("transB"),      NAME("typeA"),
                                                               NAME("typeB"),       NAME("typeC")};
static const tfrt_attribute_descriptor_t kind_of_system[] = {
    NAME("dataType"), NAME("diagType"), NAME("fillMode"), NAME("sideMode"), NAME("trans")};

// --- Ops --------------------------------------------------------------------------

static const tfrt_kernel_descriptor_t descriptors[] = {
    {.name = "tfrt_gpu.blas.create",
     .summary = "A handle of the device's library of linear algebra, which is opened when it is "
                "first asked for.",
     .assembly = "operands attr-dict",
     TFRT_OPERANDS(context),
     TFRT_RESULTS(handle_result),
     .effects = TFRT_EFFECT_NONE,
     .cost = 1000},
    {.name = "tfrt_gpu.blas.axpy",
     .summary = "y = alpha * x + y for `n` elements, which lie `strideX` and `strideY` elements "
                "apart.",
     .assembly = "%handle , %stream , %n , %alpha , $typeAlpha , %x , $typeX , %strideX , %y , "
                 "$typeY , %strideY , $executionType , %chain attr-dict",
     TFRT_OPERANDS(added),
     TFRT_RESULTS(chain_result),
     TFRT_ATTRIBUTES(types_of_added),
     .effects = TFRT_EFFECT_NONE,
     .orders = "stream",
     .cost = 50},
    {.name = "tfrt_gpu.blas.scal",
     .summary = "x = alpha * x for `n` elements, which lie `strideX` elements apart.",
     .assembly = "%handle , %stream , %n , %alpha , $typeAlpha , %x , $typeX , %strideX , "
                 "$executionType , %chain attr-dict",
     TFRT_OPERANDS(scaled),
     TFRT_RESULTS(chain_result),
     TFRT_ATTRIBUTES(types_of_scaled),
     .effects = TFRT_EFFECT_NONE,
     .orders = "stream",
     .cost = 50},
    {.name = "tfrt_gpu.blas.gemm.algo",
     .summary = "How a product is made; CUBLAS_GEMM_DEFAULT leaves that to the library.",
     .assembly = "$algo attr-dict",
     TFRT_RESULTS(algorithm_result),
     TFRT_ATTRIBUTES(algorithm),
     .effects = TFRT_EFFECT_NONE,
     .cost = 10},
    {.name = "tfrt_gpu.blas.gemm",
     .summary =
         "C = alpha * (A times B) + beta * C, with `m` rows, `n` columns and sums of `k` products. "
         "Matrices lie column by column, and a column begins `height` elements behind the one "
         "before.",
     .assembly = "%handle , %stream , $transA , $transB , %m , %n , %k , %alpha , %A , $typeA , "
                 "%heightA , %B , $typeB , %heightB , %beta , %C , $typeC , %heightC , "
                 "$computeType , %algo , %chain attr-dict",
     TFRT_OPERANDS(multiplied),
     TFRT_RESULTS(chain_result),
     TFRT_ATTRIBUTES(types_of_product),
     .effects = TFRT_EFFECT_NONE,
     .orders = "stream",
     .cost = 50},
    {.name = "tfrt_gpu.blas.gemm.batch",
     .summary = "`batchCount` such products: matrix i begins at element i * `stride`.",
     .assembly = "%handle , %stream , $transA , $transB , %m , %n , %k , %alpha , %A , $typeA , "
                 "%heightA , %strideA , %B , $typeB , %heightB , %strideB , %beta , %C , $typeC , "
                 "%heightC , %strideC , %batchCount , $computeType , %algo , %chain attr-dict",
     TFRT_OPERANDS(batch),
     TFRT_RESULTS(chain_result),
     TFRT_ATTRIBUTES(types_of_product),
     .effects = TFRT_EFFECT_NONE,
     .orders = "stream",
     .cost = 50},
    {.name = "tfrt_gpu.blas.trsm.batch",
     .summary =
         "Makes each of `batchCount` matrices B, of `m` rows and `n` columns, the X of A times X = "
         "alpha * B, or of X times A, with a triangular A. The matrices lie one behind the other.",
     .assembly = "%handle , %stream , $sideMode , $fillMode , $trans , $diagType , %m , %n , "
                 "$dataType , %alpha , %A , %heightA , %B , %heightB , %batchCount , %chain "
                 "attr-dict",
     TFRT_OPERANDS(solved),
     TFRT_RESULTS(chain_result),
     TFRT_ATTRIBUTES(kind_of_system),
     .effects = TFRT_EFFECT_NONE,
     .orders = "stream",
     .cost = 50},
};

const tfrt_kernel_table_t tfrt_blas_ops = {descriptors, TFRT_ARRAY_SIZE(descriptors)};
