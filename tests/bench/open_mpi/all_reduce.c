// SPDX-License-Identifier: Apache-2.0
//
// The time of MPI_Allreduce, as collective_bench.c takes that of tfrt_dist.all_reduce: many in a
// row, of f32, summed. Compiled and run by all_reduce.py; no part of the build, which has no MPI.
//
//   mpirun -n 4 all_reduce BYTES COUNT SAMPLES     microseconds of one, a line per sample
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int fail(const char* what) {
  fprintf(stderr, "all_reduce: %s\n", what);
  return MPI_Abort(MPI_COMM_WORLD, 1);
}

// Microseconds of one of |count| in a row, each of |elements|.
static double sample(const float* operand, float* result, int elements, int count) {
  MPI_Barrier(MPI_COMM_WORLD);
  double begin = MPI_Wtime();
  for (int i = 0; i < count; ++i) {
    MPI_Allreduce(operand, result, elements, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  return (MPI_Wtime() - begin) / count * 1e6;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (argc != 4) return fail("usage: all_reduce BYTES COUNT SAMPLES");
  int elements = atoi(argv[1]) / (int)sizeof(float);
  int count = atoi(argv[2]);
  int samples = atoi(argv[3]);
  if (elements < 1 || count < 1 || samples < 1) return fail("each number must be above 0");
  float* operand = NULL;
  float* result = NULL;
  MPI_Aint bytes = elements * (MPI_Aint)sizeof(float);
  // By default MPI ends the process when it has no memory.
  MPI_Alloc_mem(bytes, MPI_INFO_NULL, &operand);
  MPI_Alloc_mem(bytes, MPI_INFO_NULL, &result);
  for (int i = 0; i < elements; ++i) operand[i] = 1;
  sample(operand, result, elements, 1);
  for (int i = 0; i < samples; ++i) {
    double microseconds = sample(operand, result, elements, count);
    if (result[0] != (float)size || result[elements - 1] != (float)size) return fail("wrong sum");
    if (rank == 0) printf("%g\n", microseconds);
  }
  MPI_Free_mem(operand);
  MPI_Free_mem(result);
  return MPI_Finalize();
}
