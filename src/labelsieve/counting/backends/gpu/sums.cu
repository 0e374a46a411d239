// Exact sums of products of whole numbers, for every GPU: plain integers of 64 bits.
//
// A number has at most 23 bits and a sign, and what it is multiplied with at most 24: sums over a slab of up to 2^16 rows stay
// below 2^63.
// Each block of threads writes the sums of some columns over one slab, [slab][column][vector]; slabs are added up later.
// Blocks are numbered by columns, slabs and vectors.
using u16 = unsigned short;
using u64 = unsigned long long;
using i64 = long long;
constexpr int THREADS = 256, COLUMNS = 8, VECTORS = 4, LEVELS = 8;

// Thread i < N returns the sum of sums[i] over all threads of the block; the others return 0.
template <int N>
__device__ i64 sum_of_block(const i64 (&sums)[N]) {
  __shared__ i64 of_warps[N][THREADS / 32];
#pragma unroll
  for (int i = 0; i < N; ++i) {
    i64 sum = sums[i];
    for (int step = 16; step; step /= 2) sum += __shfl_down_sync(0xffffffffu, sum, step);
    if (threadIdx.x % 32 == 0) of_warps[i][threadIdx.x / 32] = sum;
  }
  __syncthreads();
  i64 total = 0;
  for (int warp = 0; threadIdx.x < N && warp < THREADS / 32; ++warp) total += of_warps[threadIdx.x][warp];
  return total;
}

// Products of columns, [column][row] with `pitch` numbers from one to the next, with vectors, [vector][row].
extern "C" __global__ void __launch_bounds__(THREADS)
products(const int* columns, i64 pitch, i64 n_columns, const int* vectors, i64 n_vectors, i64 n_rows, i64 slab, i64* out) {
  const i64 column = blockIdx.x * i64(COLUMNS), vector = blockIdx.z * i64(VECTORS);
  const i64 begin = blockIdx.y * slab, end = min(n_rows, begin + slab);
  i64 sums[COLUMNS * VECTORS] = {};
  for (i64 row = begin + threadIdx.x; row < end; row += THREADS) {
    int of_vectors[VECTORS];
#pragma unroll
    for (int v = 0; v < VECTORS; ++v) of_vectors[v] = vector + v < n_vectors ? vectors[(vector + v) * n_rows + row] : 0;
#pragma unroll
    for (int c = 0; c < COLUMNS; ++c) {
      const int number = column + c < n_columns ? columns[(column + c) * pitch + row] : 0;
#pragma unroll
      for (int v = 0; v < VECTORS; ++v) sums[c * VECTORS + v] += i64(number) * of_vectors[v];
    }
  }
  const i64 total = sum_of_block(sums);
  const i64 c = column + threadIdx.x / VECTORS, v = vector + threadIdx.x % VECTORS;
  if (threadIdx.x < COLUMNS * VECTORS && c < n_columns && v < n_vectors)
    out[(blockIdx.y * n_columns + c) * n_vectors + v] = total;
}

// Squares of every column. The weighted number is cut into pieces of 24 bits, the last one with its sign:
// [slab][column][piece], with one piece where all rows count once (`weights` is null).
extern "C" __global__ void __launch_bounds__(THREADS)
squares(const int* columns, i64 pitch, const u64* weights, i64 n_rows, i64 slab, i64* out) {
  const int* column = columns + blockIdx.x * pitch;
  const i64 begin = blockIdx.y * slab, end = min(n_rows, begin + slab);
  i64 sums[3] = {};
  for (i64 row = begin + threadIdx.x; row < end; row += THREADS) {
    const i64 number = column[row];
    if (!weights) {
      sums[0] += number * number;
      continue;
    }
    const i64 weighted = number * i64(weights[row]);
    sums[0] += number * (weighted & 0xffffff);
    sums[1] += number * (weighted >> 24 & 0xffffff);
    sums[2] += number * (weighted >> 48);
  }
  const i64 total = sum_of_block(sums);
  const int n_pieces = weights ? 3 : 1;
  if (threadIdx.x < n_pieces) out[(blockIdx.y * i64(gridDim.x) + blockIdx.x) * n_pieces + threadIdx.x] = total;
}

// Products of levels, [feature][row], of which every one but 0 is a column of zeros and ones. A tile is a feature, its first
// level here, the column of that level and the number of levels.
extern "C" __global__ void __launch_bounds__(THREADS)
level_products(const u16* levels, i64 pitch, const i64* tiles, i64 n_columns, const int* vectors, i64 n_vectors, i64 n_rows,
               i64 slab, i64* out) {
  const i64* tile = tiles + 4 * blockIdx.x;
  const u16* of_rows = levels + tile[0] * pitch;
  const int* vector = vectors + blockIdx.z * n_rows;
  const int first = int(tile[1]);
  const i64 begin = blockIdx.y * slab, end = min(n_rows, begin + slab);
  i64 sums[LEVELS] = {};
  for (i64 row = begin + threadIdx.x; row < end; row += THREADS) {
    const int level = int(of_rows[row]) - first, number = vector[row];
#pragma unroll
    for (int k = 0; k < LEVELS; ++k) sums[k] += level == k ? number : 0;
  }
  const i64 total = sum_of_block(sums);
  if (i64(threadIdx.x) < tile[3]) out[(blockIdx.y * n_columns + tile[2] + threadIdx.x) * n_vectors + blockIdx.z] = total;
}
