// SPDX-License-Identifier: Apache-2.0
//
// Products of matrices of 16-bit elements for GPUs of compute capability 8.0 or later; included by
// half_kernels.cuh, which says what has been said before, and MMA_TYPE, the type in instructions.
//
// A block of 8 warps makes a tile of 128 times 256 elements of the target, a warp 64 times 64 of it,
// DEPTH of the inner axis at a time:
//
//        64   64   64   64
//      +----+----+----+----+        global --cp.async--> stage --ldmatrix--> registers --mma--> sums
//      | w0 | w1 | w2 | w3 | 64
//      +----+----+----+----+        While the tensor cores work on step s, step s + 1 is read from its
//      | w4 | w5 | w6 | w7 | 64     stage, and steps s + 2 to s + 4 are on their way into theirs.
//      +----+----+----+----+
//
// Shared memory is read 8 rows of 16 bytes at a time (a chunk is 8 elements), which have to lie in
// different banks: so the places of chunks are swizzled.
//
//   left, 128 rows of 2 chunks     chunk c of row r lies at c ^ (r / 4 % 2)
//   right, 16 rows of 32 chunks    chunk c of row k lies at c ^ (k % 8)

#define TILE_ROWS 128
#define TILE_COLUMNS 256
#define DEPTH 16
#define STAGES 4
#define CHUNK 8

typedef struct stage_s {
  uint4 left[TILE_ROWS][DEPTH / CHUNK];
  uint4 right[DEPTH][TILE_COLUMNS / CHUNK];
} stage_t;

// What a warp works on in one step: 4 parts of 16 rows, and 8 of 8 columns.
typedef struct parts_s {
  unsigned int left[4][4];
  unsigned int right[8][2];
} parts_t;

// What this thread brings of each step: a chunk of the left matrix and two of the right one, 8 rows
// apart; and where they go in a stage, in bytes.
typedef struct source_s {
  const element_t* left;  // of the next step
  const element_t* right;
  size_t right_step;             // elements from one row to the 8th after it
  unsigned int left_rest;        // inner elements from |left| on; 0: none
  unsigned int right_rest;       // rows from |right| on; 0: none
  unsigned int right_width;      // elements of the chunk, at most CHUNK
  unsigned int left_to;
  unsigned int right_to;
} source_t;

__device__ __forceinline__ unsigned int lessen(unsigned int rest, unsigned int by) {
  return rest > by ? rest - by : 0;
}

__device__ __forceinline__ source_t make_source(const element_t* a, const element_t* b,
                                                unsigned int rows, unsigned int inner,
                                                unsigned int columns, uint2 tile) {
  unsigned int row = threadIdx.x / 2;
  unsigned int chunk = threadIdx.x % 2;
  unsigned int k = threadIdx.x / 32;
  unsigned int c = threadIdx.x % 32;
  size_t y = tile.y * (size_t)TILE_ROWS + row;
  size_t x = tile.x * (size_t)TILE_COLUMNS + c * CHUNK;
  source_t source;
  source.left = a + y * inner + chunk * CHUNK;
  source.right = b + k * (size_t)columns + x;
  source.right_step = 8 * (size_t)columns;
  source.left_rest = y < rows ? lessen(inner, chunk * CHUNK) : 0;
  source.right_rest = x < columns ? lessen(inner, k) : 0;
  source.right_width = x + CHUNK <= columns ? CHUNK : (unsigned int)(columns - x);
  source.left_to = (row * (DEPTH / CHUNK) + (chunk ^ (row / 4 % 2))) * 16;
  // The swizzle of row k + 8 is that of row k.
  source.right_to = (k * (TILE_COLUMNS / CHUNK) + (c ^ (k % 8))) * 16;
  return source;
}

// Brings |count| elements at |from| to the chunk at |to|, zeros for the others. |is_whole|: all or
// none are there, and begin where a copy may.
template <bool is_whole>
__device__ __forceinline__ void bring_chunk(char* to, const element_t* from, unsigned int count) {
  if (is_whole) {
    unsigned int size = count > 0 ? 16 : 0;
    unsigned int address = (unsigned int)__cvta_generic_to_shared(to);
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(address), "l"(from),
                 "r"(size)
                 : "memory");
  } else {
    union {
      uint4 whole;
      unsigned short bits[CHUNK];
    } chunk;
    chunk.whole = make_uint4(0, 0, 0, 0);
#pragma unroll
    for (unsigned int i = 0; i < CHUNK; ++i) {
      if (i < count) chunk.bits[i] = reinterpret_cast<const unsigned short*>(from)[i];
    }
    *reinterpret_cast<uint4*>(to) = chunk.whole;
  }
}

// Brings the next step to |stage|, and ends a group of copies.
template <bool is_whole>
__device__ __forceinline__ void bring_step(stage_t* stage, source_t* source) {
  char* left = reinterpret_cast<char*>(stage->left);
  char* right = reinterpret_cast<char*>(stage->right);
  bring_chunk<is_whole>(left + source->left_to, source->left, source->left_rest);
  bring_chunk<is_whole>(right + source->right_to, source->right,
                        source->right_rest > 0 ? source->right_width : 0);
  bring_chunk<is_whole>(right + source->right_to + sizeof(stage->right) / 2,
                        source->right + source->right_step,
                        source->right_rest > 8 ? source->right_width : 0);
  asm volatile("cp.async.commit_group;" ::: "memory");
  source->left += DEPTH;
  source->right += 2 * source->right_step;
  source->left_rest = lessen(source->left_rest, DEPTH);
  source->right_rest = lessen(source->right_rest, DEPTH);
}

// Where a lane reads in a stage, in bytes; all else is added to that.
typedef struct places_s {
  unsigned int left;
  unsigned int right[4];
} places_t;

__device__ __forceinline__ places_t make_places(unsigned int row, unsigned int column) {
  unsigned int lane = threadIdx.x % 32;
  unsigned int k = lane % 16;
  places_t places;
  places.left = ((row + lane % 16) * (DEPTH / CHUNK) + (lane / 16 ^ (lane % 16 / 4 % 2))) * 16;
  for (unsigned int j = 0; j < 4; ++j) {
    unsigned int chunk = column / CHUNK + 2 * j + lane / 16;
    places.right[j] = sizeof(((stage_t*)0)->left) +
                      (k * (TILE_COLUMNS / CHUNK) + (chunk ^ (k % 8))) * 16;
  }
  return places;
}

// Reads part |i| of 4 of the left matrix, and two of the right one, at |stage|.
__device__ __forceinline__ void read_parts(parts_t* parts, unsigned int stage,
                                           const places_t* places, int i) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(parts->left[i][0]), "=r"(parts->left[i][1]), "=r"(parts->left[i][2]),
                 "=r"(parts->left[i][3])
               : "r"(stage + places->left + i * 16 * DEPTH * 2)
               : "memory");
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(parts->right[2 * i][0]), "=r"(parts->right[2 * i][1]),
                 "=r"(parts->right[2 * i + 1][0]), "=r"(parts->right[2 * i + 1][1])
               : "r"(stage + places->right[i])
               : "memory");
}

// Multiplies part |i| of the left matrix by all of the right one.
__device__ __forceinline__ void multiply_part(float (&sums)[4][8][4], const parts_t* parts, int i) {
#pragma unroll
  for (int j = 0; j < 8; ++j) {
    float* sum = sums[i][j];
    asm("mma.sync.aligned.m16n8k16.row.col.f32." MMA_TYPE "." MMA_TYPE
        ".f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
        : "r"(parts->left[i][0]), "r"(parts->left[i][1]), "r"(parts->left[i][2]),
          "r"(parts->left[i][3]), "r"(parts->right[j][0]), "r"(parts->right[j][1]));
  }
}

// Writes two sums that lie side by side; |is_whole|: pairs begin where a pair may.
template <bool is_whole>
__device__ __forceinline__ void write_pair(element_t* target, float first, float second,
                                           size_t row, size_t column, unsigned int rows,
                                           unsigned int columns) {
  if (row >= rows || column >= columns) return;
  element_t* to = target + row * columns + column;
  if (is_whole) {
    union {
      element_t elements[2];
      unsigned int whole;
    } pair;
    pair.elements[0] = element_t(first);
    pair.elements[1] = element_t(second);
    *reinterpret_cast<unsigned int*>(to) = pair.whole;
  } else {
    to[0] = element_t(first);
    if (column + 1 < columns) to[1] = element_t(second);
  }
}

// Works on step |step| in |now| while the one behind it comes to |next|, and a later one to the stage
// that nobody needs any more. Products and reads take turns, so that neither waits for the other.
template <bool is_whole>
__device__ __forceinline__ void work_step(float (&sums)[4][8][4], stage_t* stages,
                                          source_t* source, const places_t* places,
                                          unsigned int step, const parts_t* now, parts_t* next) {
  // All but the last two groups of copies are there: so is the step behind this one.
  asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2) : "memory");
  __syncthreads();
  unsigned int stage = (unsigned int)__cvta_generic_to_shared(&stages[(step + 1) % STAGES]);
  read_parts(next, stage, places, 0);
  multiply_part(sums, now, 0);
  read_parts(next, stage, places, 1);
  bring_step<is_whole>(&stages[step % STAGES], source);
  multiply_part(sums, now, 1);
  read_parts(next, stage, places, 2);
  multiply_part(sums, now, 2);
  read_parts(next, stage, places, 3);
  multiply_part(sums, now, 3);
}

template <bool is_whole>
__device__ __forceinline__ void multiply(stage_t* stages, source_t source, element_t* target,
                                         unsigned int rows, unsigned int inner,
                                         unsigned int columns, uint2 tile) {
  unsigned int warp = threadIdx.x / 32;
  unsigned int lane = threadIdx.x % 32;
  unsigned int row = warp / 4 * 64;
  unsigned int column = warp % 4 * 64;
  unsigned int steps = (unsigned int)((inner + (size_t)DEPTH - 1) / DEPTH);
  places_t places = make_places(row, column);
  float sums[4][8][4] = {};
  parts_t parts[2];
#pragma unroll 1
  for (unsigned int step = 0; step < STAGES; ++step) bring_step<is_whole>(&stages[step], &source);
  asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 1) : "memory");
  __syncthreads();
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    read_parts(&parts[0], (unsigned int)__cvta_generic_to_shared(stages), &places, i);
  }
  // Two at a time, so that it is known which of the parts are which.
#pragma unroll 1
  for (unsigned int step = 0; step < steps; step += 2) {
    work_step<is_whole>(sums, stages, &source, &places, step, &parts[0], &parts[1]);
    // One step too many adds zeros.
    work_step<is_whole>(sums, stages, &source, &places, step + 1, &parts[1], &parts[0]);
  }
#pragma unroll
  for (unsigned int i = 0; i < 4; ++i) {
#pragma unroll
    for (unsigned int j = 0; j < 8; ++j) {
      size_t y = tile.y * (size_t)TILE_ROWS + row + i * 16 + lane / 4;
      size_t x = tile.x * (size_t)TILE_COLUMNS + column + j * 8 + lane % 4 * 2;
      write_pair<is_whole>(target, sums[i][j][0], sums[i][j][1], y, x, rows, columns);
      write_pair<is_whole>(target, sums[i][j][2], sums[i][j][3], y + 8, x, rows, columns);
    }
  }
}

extern "C" {

__global__ void __launch_bounds__(BLOCK, 1)
    NAME(tfrt_matmul)(const element_t* a, const element_t* b, element_t* target, unsigned int rows,
                      unsigned int inner, unsigned int columns) {
  __shared__ stage_t stages[STAGES];
  uint2 tile = choose_tile(rows, columns, TILE_ROWS, TILE_COLUMNS);
  if (tile.y * (size_t)TILE_ROWS >= rows || tile.x * (size_t)TILE_COLUMNS >= columns) return;
  source_t source = make_source(a, b, rows, inner, columns, tile);
  bool is_whole = inner % CHUNK == 0 && columns % CHUNK == 0 && is_aligned(a) && is_aligned(b) &&
                  is_aligned(target);
  if (is_whole) {
    multiply<true>(stages, source, target, rows, inner, columns, tile);
  } else {
    multiply<false>(stages, source, target, rows, inner, columns, tile);
  }
}

}  // extern "C"
