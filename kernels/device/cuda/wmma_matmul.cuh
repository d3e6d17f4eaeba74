// SPDX-License-Identifier: Apache-2.0
//
// Products of matrices of 16-bit elements for GPUs of compute capability 7.0 and 7.5; included by
// half_kernels.cuh, which says what has been said before.
#include <mma.h>

// --- Products of matrices ------------------------------------------------------------------
//
// A block of 8 warps makes a tile of TILE times TILE elements of the target, DEPTH of the inner
// axis at a time:
//
//               128                    a warp's part is 32 x 64:
//        +---------------+             2 x 4 fragments of 16 x 16
//        | w0      w1    |  32
//        | w2      w3    |             While the tensor cores work on one step, the elements of
//   128  | w4      w5    |             the next one come to registers.
//        | w6      w7    |
//        +---------------+
//             64

#define TILE 128
#define DEPTH 32
// Rows in shared memory are longer by this, so that they begin in different banks.
#define PAD 8
#define WARP_ROWS 32
#define WARP_COLUMNS 64
#define PART 16    // the edge of a fragment
#define CHUNK 8    // elements that are loaded at once: 16 bytes
#define CHUNKS 2   // of each matrix, by each of the 256 threads, in each step
#define SCRATCH (PART * PART)  // of a warp

typedef nvcuda::wmma::fragment<nvcuda::wmma::accumulator, PART, PART, PART, float> sums_t;
typedef nvcuda::wmma::fragment<nvcuda::wmma::matrix_a, PART, PART, PART, element_t,
                               nvcuda::wmma::row_major>
    left_t;
typedef nvcuda::wmma::fragment<nvcuda::wmma::matrix_b, PART, PART, PART, element_t,
                               nvcuda::wmma::row_major>
    right_t;

// Fragments are read and written where the address is a multiple of 32: so begin the arrays, and
// so long is a fragment's row.

// CHUNK elements of row |row| from |column| on, zero beyond the end of the matrix.
__device__ uint4 load_chunk(const element_t* matrix, unsigned int row, unsigned int column,
                            unsigned int rows, unsigned int columns) {
  union {
    uint4 whole;
    unsigned short bits[CHUNK];
  } chunk;
  chunk.whole = make_uint4(0, 0, 0, 0);
  if (row >= rows || column >= columns) return chunk.whole;
  const element_t* from = matrix + (size_t)row * columns + column;
  if (column + CHUNK <= columns && (size_t)from % sizeof(uint4) == 0) {
    return *reinterpret_cast<const uint4*>(from);
  }
  for (unsigned int i = 0; i < CHUNK && column + i < columns; ++i) {
    chunk.bits[i] = reinterpret_cast<const unsigned short*>(from)[i];
  }
  return chunk.whole;
}

// Fills |sums| of a warp with the products of one step.
__device__ void multiply_step(sums_t (&sums)[2][4], const element_t (*left)[DEPTH + PAD],
                              const element_t (*right)[TILE + PAD], unsigned int row,
                              unsigned int column) {
  for (int k = 0; k < DEPTH; k += PART) {
    left_t a[2];
    right_t b;
    for (int i = 0; i < 2; ++i) {
      nvcuda::wmma::load_matrix_sync(a[i], &left[row + i * PART][k], DEPTH + PAD);
    }
    for (int j = 0; j < 4; ++j) {
      nvcuda::wmma::load_matrix_sync(b, &right[k][column + j * PART], TILE + PAD);
      for (int i = 0; i < 2; ++i) nvcuda::wmma::mma_sync(sums[i][j], a[i], b, sums[i][j]);
    }
  }
}

// Writes the |sums| of a warp, which begin at |row| and |column| of the target.
__device__ void write_sums(sums_t (&sums)[2][4], float* scratch, element_t* target,
                           unsigned int row, unsigned int column, unsigned int rows,
                           unsigned int columns) {
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 4; ++j) {
      nvcuda::wmma::store_matrix_sync(scratch, sums[i][j], PART, nvcuda::wmma::mem_row_major);
      __syncwarp();
      for (unsigned int e = threadIdx.x % 32; e < SCRATCH; e += 32) {
        unsigned int y = row + i * PART + e / PART;
        unsigned int x = column + j * PART + e % PART;
        if (y < rows && x < columns) target[(size_t)y * columns + x] = element_t(scratch[e]);
      }
      __syncwarp();
    }
  }
}

extern "C" {

__global__ void __launch_bounds__(BLOCK)
    NAME(tfrt_matmul)(const element_t* a, const element_t* b, element_t* target, unsigned int rows,
                      unsigned int inner, unsigned int columns) {
  __shared__ __align__(32) element_t left[TILE][DEPTH + PAD];
  __shared__ __align__(32) element_t right[DEPTH][TILE + PAD];
  __shared__ __align__(32) float scratch[8][SCRATCH];
  unsigned int first_row = blockIdx.y * TILE;
  unsigned int first_column = blockIdx.x * TILE;
  unsigned int warp = threadIdx.x / 32;
  unsigned int row = warp / 2 * WARP_ROWS;
  unsigned int column = warp % 2 * WARP_COLUMNS;
  sums_t sums[2][4];
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 4; ++j) nvcuda::wmma::fill_fragment(sums[i][j], 0.0f);
  }
  uint4 next_left[CHUNKS];
  uint4 next_right[CHUNKS];
  // One turn more than there are steps: loads for the next one, then works on this one.
  for (unsigned long long start = 0; start < (unsigned long long)inner + DEPTH; start += DEPTH) {
    for (unsigned int c = 0; c < CHUNKS && start < inner; ++c) {
      unsigned int chunk = threadIdx.x + c * BLOCK;
      next_left[c] = load_chunk(a, first_row + chunk / (DEPTH / CHUNK),
                                (unsigned int)start + chunk % (DEPTH / CHUNK) * CHUNK, rows, inner);
      next_right[c] = load_chunk(b, (unsigned int)start + chunk / (TILE / CHUNK),
                                 first_column + chunk % (TILE / CHUNK) * CHUNK, inner, columns);
    }
    if (start > 0) multiply_step(sums, left, right, row, column);
    __syncthreads();
    for (unsigned int c = 0; c < CHUNKS && start < inner; ++c) {
      unsigned int chunk = threadIdx.x + c * BLOCK;
      unsigned int k = chunk % (DEPTH / CHUNK) * CHUNK;
      unsigned int x = chunk % (TILE / CHUNK) * CHUNK;
      *reinterpret_cast<uint4*>(&left[chunk / (DEPTH / CHUNK)][k]) = next_left[c];
      *reinterpret_cast<uint4*>(&right[chunk / (TILE / CHUNK)][x]) = next_right[c];
    }
    __syncthreads();
  }
  write_sums(sums, scratch[warp], target, first_row + row, first_column + column, rows, columns);
}

}  // extern "C"
