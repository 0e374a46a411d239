// The k nearest rows of a table for every prefix of its columns, the lowest rows of those that tie: a block of threads for each
// query. Squares are added column by column, each operation rounded as on the processor, so that distances and ties are the same.
using i64 = long long;
struct Near {
  double square;
  i64 row;
};
__device__ bool nearer(const Near& a, const Near& b) { return a.square < b.square || (a.square == b.square && a.row < b.row); }
constexpr int KEPT = 4;  // nearest rows of a thread's that it remembers: it seldom has more of the k nearest
struct Nearest {
  Near kept[KEPT];
  __device__ void clear(const Near& none) {
    for (int j = 0; j < KEPT; j++) kept[j] = none;
  }
  __device__ void add(Near other) {
    if (!nearer(other, kept[KEPT - 1])) return;
#pragma unroll
    for (int j = 0; j < KEPT; j++)
      if (nearer(other, kept[j])) {
        const Near moved = kept[j];
        kept[j] = other, other = moved;
      }
  }
  __device__ void remove_first(const Near& none) {
#pragma unroll
    for (int j = 1; j < KEPT; j++) kept[j - 1] = kept[j];
    kept[KEPT - 1] = none;
  }
};

// `columns`: one after the other; `points`: all queries, row by row; `sums`: room for the rows of every query of this launch;
// `rows`, `squares`: [size][query of this launch][k].
extern "C" __global__ void __launch_bounds__(256)
nearest(const double* __restrict__ columns, const double* __restrict__ points, i64 n_rows, i64 width, i64 first, i64 leave_out,
        const i64* __restrict__ sizes, i64 n_sizes, i64 k, double* __restrict__ sums, unsigned* rows, double* squares) {
  __shared__ Near of_warps[8];
  const i64 query = first + blockIdx.x, left_out = leave_out ? query : -1;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const Near none{__longlong_as_double(0x7ff0000000000000ll), n_rows};
  double* mine = sums + blockIdx.x * n_rows;
  const double* point = points + query * width;
  i64 done = 0;
  for (i64 s = 0; s < n_sizes; s++) {
    Nearest best;
    best.clear(none);
    for (i64 i = threadIdx.x; i < n_rows; i += 256) {
      double sum = s ? mine[i] : 0.0;
      for (i64 f = done; f < sizes[s]; f++) {
        const double to = __dsub_rn(point[f], columns[f * n_rows + i]);
        sum = __dadd_rn(sum, __dmul_rn(to, to));
      }
      mine[i] = sum;
      if (i != left_out) best.add({sum, i});
    }
    done = sizes[s];
    for (i64 j = 0; j < k; j++) {
      Near all = best.kept[0];
      for (int d = 16; d; d /= 2) {
        const Near other{__shfl_xor_sync(~0u, all.square, d), __shfl_xor_sync(~0u, all.row, d)};
        if (nearer(other, all)) all = other;
      }
      __syncthreads();
      if (lane == 0) of_warps[warp] = all;
      __syncthreads();
      for (int w = 0; w < 8; w++)
        if (nearer(of_warps[w], all)) all = of_warps[w];
      if (threadIdx.x == 0) {
        const i64 at = (s * gridDim.x + blockIdx.x) * k + j;
        rows[at] = unsigned(all.row);
        if (squares) squares[at] = all.square;
      }
      if (all.row != best.kept[0].row || all.row == n_rows) continue;
      best.remove_first(none);  // it was of this thread
      if (best.kept[0].row < n_rows) continue;
      for (i64 i = threadIdx.x; i < n_rows; i += 256)  // none is left that it remembers
        if (const Near other{mine[i], i}; i != left_out && nearer(all, other)) best.add(other);
    }
  }
}
