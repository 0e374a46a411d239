// Kernels of the GPU backend for every GPU. Rows travel in stages of 1,024: 32 words of 32 bits. Of a variable with r levels,
// level 0 is left out, and each of the others is a column of bits. Features lie in blocks of 64 columns: a stage of a block is
// 2,048 words in the order [4][k: 4][8][t: 4][h: 2][2], for the column 16 a + 2 b + c with the three unnamed indices a, b, c and
// the word 8 k + 4 h + t of the stage, which is how the threads of a warp group hold it. Targets and conditions have plain
// columns, [column][stage][word]. Counts lie as [level of the condition - 1][column of the targets][column of the features],
// with room for 112 columns of targets; the last of these is 1 in every row.
using u16 = unsigned short;
using u32 = unsigned;
using u64 = unsigned long long;
using i64 = long long;
constexpr int TARGETS = 112;  // columns of the targets in a block of counts
#ifndef COUNT
#define COUNT int
#endif
using Stored = COUNT;  // of counts and margins; 16 bits for few rows and many features, which are never added up in memory

#ifdef CONDITION
// The columns of a variable to condition on, out of the packed features (or `plain`), in both forms: plain, and as fragments
// [pass of up to four levels][stage][level][t][k][h]. `padded` levels: the last pass has room for one, two or four.
// Where the margins of its feature are known, they are the counts of (condition, target). `chosen`: the feature, where only the
// GPU knows it.
extern "C" __global__ void condition(const u32* features, i64 column, const i64* chosen, i64 stages, i64 levels, i64 padded,
                                     u32* plain, u32* fragments, const Stored* margins, const Stored* margins_all, i64 pitch,
                                     i64 targets, int* given) {
  if (chosen) column = *chosen * levels;
  const i64 me = blockIdx.x * i64(blockDim.x) + threadIdx.x, all = i64(gridDim.x) * blockDim.x;
  for (i64 i = me; i < padded * stages * 32; i += all) {
    const i64 b = i / 32 / stages, stage = i / 32 % stages, word = i % 32, k = word / 8, h = word / 4 % 2, t = word % 4;
    u32 bits = 0;
    if (b < levels && features) {
      const i64 p = column + b, x = p % 64;
      bits = features[(p / 64 * stages + stage) * 2048 + (x / 16 * 4 + k) * 128 + x % 16 / 2 * 16 + t * 4 + h * 2 + x % 2];
      plain[i] = bits;
    } else if (b < levels) {
      bits = plain[i];
    }
    const i64 wide = min(4ll, padded - b / 4 * 4);
    fragments[b / 4 * 4 * stages * 32 + (stage * wide + b % 4) * 32 + t * 8 + k * 2 + h] = bits;
  }
  for (i64 i = me; margins && i < levels * targets; i += all) {
    const i64 b = i / targets, l = i % targets;
    given[b * TARGETS + l] = (l + 1 == targets ? margins_all : margins + l * pitch)[column + b];
  }
}

// Counts of two plain sets of columns: one warp for each pair. Without `first`, of the second set alone.
extern "C" __global__ void cross(const u32* first, const u32* second, i64 words, i64 n_first, i64 n_second, int* out) {
  const i64 warp = (blockIdx.x * i64(blockDim.x) + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (warp >= n_first * n_second) return;
  const i64 b = warp / n_second, l = warp % n_second;
  int sum = 0;
  for (i64 i = lane; i < words; i += 32) sum += __popc(second[l * words + i] & (first ? first[b * words + i] : ~0u));
  for (int d = 16; d; d /= 2) sum += __shfl_xor_sync(~0u, sum, d);
  if (lane == 0) out[b * TARGETS + l] = sum;
}
#endif

#ifdef MASKS
// Counts by AND and population count: a block takes 64 columns of features and MASKS pairs (level of the condition, column of the
// targets), and `share` stages. Without a condition there is one level, every row. Shares of one column add up in memory.
constexpr int GROUP = 4;  // stages between two barriers
extern "C" __global__ void __launch_bounds__(128)
popcount(const uint4* features, const u32* given, const u32* targets, Stored* counts, i64 stages, i64 share, i64 pitch, i64 levels,
         i64 n_targets) {
  __shared__ u32 masks[MASKS][GROUP * 32];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, t = lane % 4, first = blockIdx.y * MASKS;
  const i64 begin = blockIdx.z * share, end = min(stages, begin + share);
  const uint4* mine = features + blockIdx.x * stages * 512 + warp * 128 + lane;
  int sums[MASKS][2] = {};
  for (i64 stage = begin; stage < end; stage += GROUP) {
    __syncthreads();
    for (int m = 0; m < MASKS; m++) {
      const i64 b = (first + m) / n_targets, l = (first + m) % n_targets, word = stage * 32 + threadIdx.x;
      const bool inside = b < levels && word < end * 32;
      masks[m][threadIdx.x] = inside ? targets[l * stages * 32 + word] & (given ? given[b * stages * 32 + word] : ~0u) : 0u;
    }
    __syncthreads();
#pragma unroll(MASKS <= 4 ? GROUP : 1)
    for (int j = 0; j < GROUP; j++) {
      uint4 bits[4];
#pragma unroll
      for (int k = 0; k < 4; k++) bits[k] = stage + j < end ? __ldg(mine + (stage + j) * 512 + k * 32) : uint4{0, 0, 0, 0};
#pragma unroll
      for (int k = 0; k < 4; k++)
#pragma unroll
        for (int m = 0; m < MASKS; m++) {
          const u32 low = masks[m][j * 32 + k * 8 + t], high = masks[m][j * 32 + k * 8 + 4 + t];
          sums[m][0] += __popc(bits[k].x & low) + __popc(bits[k].z & high);
          sums[m][1] += __popc(bits[k].y & low) + __popc(bits[k].w & high);
        }
    }
  }
#pragma unroll
  for (int m = 0; m < MASKS; m++)
#pragma unroll
    for (int c = 0; c < 2; c++) {
      int sum = sums[m][c];
      sum += __shfl_xor_sync(~0u, sum, 1);
      sum += __shfl_xor_sync(~0u, sum, 2);
      const i64 b = (first + m) / n_targets, l = (first + m) % n_targets;
      if (t || b >= levels) continue;
      Stored* to = counts + (b * TARGETS + l) * pitch + blockIdx.x * 64ll + warp * 16 + lane / 4 * 2 + c;
      if constexpr (sizeof(Stored) == 4)
        if (gridDim.z > 1) {
          atomicAdd((int*)to, sum);
          continue;
        }
      *to = Stored(sum);
    }
}
#endif

#ifdef FEATURE_LEVELS
// Sums of the table of n log n over the cells, for features of FEATURE_LEVELS levels; GIVEN_LEVELS of the condition, or 0: any
// number. A warp takes 32 features and `per` targets. What level 0 counts follows from the margins (counts without the condition)
// and from `given` and `totals` (counts without the feature). TABLE_IN_BLOCK: n log n is looked up in shared memory. Pairs are added to `pairs` times a factor, triples to `triples`:
// all of a feature to one number when `wide` is 0, else to a row of `wide` numbers.
constexpr int R = FEATURE_LEVELS, WIDTH = sizeof(Stored) * (R == 2 || R == 3 || R == 5 ? R - 1 : 1);
struct alignas(WIDTH) Counts {  // of the levels of a feature but the first
  Stored n[R - 1];
};
extern __shared__ i64 in_block[];
extern "C" __global__ void __launch_bounds__(TABLE_IN_BLOCK ? 1024 : 256)
sums(const Stored* __restrict__ counts, i64 pitch, const Stored* __restrict__ margins, i64 margins_pitch,
     const Stored* __restrict__ margins_all, const int* __restrict__ given, const int* __restrict__ totals,
     const int* __restrict__ starts, const int* __restrict__ places, const i64* __restrict__ index,
     const i64* __restrict__ table, i64 rows, i64 levels, i64 features, i64 n_targets, i64 per, u64* pairs, i64 pair_factor, u64* triples,
     i64 triple_factor, i64 wide) {
  const int rs = GIVEN_LEVELS ? GIVEN_LEVELS : int(levels), all = starts[n_targets];
  const i64 parts = max(1ll, (n_targets + per - 1) / per), items = (features + 31) / 32 * parts, warps = blockDim.x / 32;
  if (TABLE_IN_BLOCK) {
    for (i64 i = threadIdx.x; i <= rows; i += blockDim.x) in_block[i] = table[i];
    __syncthreads();
  }
  const auto term = [&](int n) { return TABLE_IN_BLOCK ? in_block[n] : __ldg(table + n); };
  for (i64 item = blockIdx.x * warps + threadIdx.x / 32; item < items; item += gridDim.x * warps) {
    const i64 f = item / parts * 32 + threadIdx.x % 32;
    const i64 first = item % parts * per;
    if (f >= features) continue;
    const auto row = [&](int b, int l, int (&n)[R]) {  // cells of level b and column l, for every level of the feature
      const Stored* from = b ? counts + (i64(b - 1) * TARGETS + l) * pitch : l == all ? margins_all : margins + l * margins_pitch;
      n[0] = b ? given[(b - 1) * TARGETS + l] : totals[l];
      const Counts others = *(const Counts*)(from + f * (R - 1));
#pragma unroll
      for (int a = 1; a < R; a++) n[0] -= n[a] = others.n[a - 1];
      if (b == 0)
#pragma unroll
        for (int other = 1; other < rs; other++) {
          const Counts taken = *(const Counts*)(counts + (i64(other - 1) * TARGETS + l) * pitch + f * (R - 1));
          n[0] -= given[(other - 1) * TARGETS + l];
#pragma unroll
          for (int a = 1; a < R; a++) n[a] -= taken.n[a - 1], n[0] += taken.n[a - 1];
        }
    };
    i64 sum = 0;
    if (first == 0 && pairs) {
#pragma unroll
      for (int b = 0; b < rs; b++) {
        int n[R];
        row(b, all, n);
#pragma unroll
        for (int a = 0; a < R; a++) sum += term(n[a]);
      }
      atomicAdd(pairs + index[f], u64(sum * pair_factor));
      sum = 0;
    }
    const i64 last = min(n_targets, first + per);
    for (i64 target = first; target < last; target++) {
      const int begin = starts[target], end = starts[target + 1];
#pragma unroll
      for (int b = 0; b < rs; b++) {
        int left[R];
        row(b, all, left);
        for (int l = begin; l < end; l++) {
          int n[R];
          row(b, l, n);
#pragma unroll
          for (int a = 0; a < R; a++) left[a] -= n[a], sum += term(n[a]);
        }
#pragma unroll
        for (int a = 0; a < R; a++) sum += term(left[a]);
      }
      if (wide) triples[index[f] * wide + places[target]] = u64(sum * triple_factor), sum = 0;
    }
    if (!wide && first < last) atomicAdd(triples + index[f], u64(sum * triple_factor));
  }
}
#endif

#ifdef WEIGHTED
// One joint table at a time, for many levels and for weights: a block counts the cells of (feature, condition, target) in shared
// memory, in several copies where there is room, or in its part of `scratch`, and adds up n log n: from a table, or, for sums of
// weights, operation by operation as on the processor.
#if WEIGHTED
using Count = u64;
#else
using Count = u32;
#endif
extern __shared__ char shared[];
__device__ i64 term(u64 count, const i64* table, const double* logs, double scale, i64 penalty) {
#if WEIGHTED
  if (count == 0) return 0;
  const double n = double(count);
  const i64 bits = __double_as_longlong(n);
  const double exponent = double((bits >> 52) - 1023);
  const double mantissa = __longlong_as_double((bits & 0xfffffffffffffll) | 0x3ff0000000000000ll);
  const i64 i = i64(__dmul_rn(__dsub_rn(mantissa, 1.0), 4096.0));
  const double center = __dadd_rn(1.0, __ddiv_rn(double(i), 4096.0)), r = __ddiv_rn(__dsub_rn(mantissa, center), center);
  const double third = __dsub_rn(1.0 / 3.0, __dmul_rn(r, 0.25)), half = __dsub_rn(0.5, __dmul_rn(r, third));
  const double series = __dmul_rn(r, __dsub_rn(1.0, __dmul_rn(r, half)));
  const double log = __dadd_rn(__dmul_rn(exponent, logs[4096]), __dadd_rn(logs[i], series));
  return i64(floor(__dadd_rn(__dmul_rn(__dmul_rn(n, log), scale), 0.5))) - penalty;
#else
  return table[count];
#endif
}
extern "C" __global__ void __launch_bounds__(256)
histogram(const unsigned short* x, const int* x_levels, const u32* z, i64 z_levels, const unsigned short* y, const int* y_levels,
          const u64* weights, i64 rows, i64 features, i64 targets, const i64* index, const int* places, const i64* table,
          const double* logs, double scale, i64 penalty, Count* scratch, i64 room, u64* out, i64 factor, i64 wide) {
  __shared__ u64 total;
  for (i64 item = blockIdx.x; item < features * targets; item += gridDim.x) {
    const i64 f = item / targets, l = item % targets, ry = y ? y_levels[l] : 1, cells = x_levels[f] * z_levels * ry;
    Count* counts = scratch ? scratch + blockIdx.x * room : (Count*)shared;
    i64 copies = 1;
    while (!scratch && copies < 32 && cells * copies * 2 <= room) copies *= 2;
    __syncthreads();
    if (threadIdx.x == 0) total = 0;
    for (i64 i = threadIdx.x; i < cells * copies; i += blockDim.x) counts[i] = 0;
    __syncthreads();
    for (i64 i = threadIdx.x; i < rows; i += blockDim.x) {
      const i64 cell = (x[f * rows + i] * z_levels + (z ? z[i] : 0)) * ry + (y ? y[l * rows + i] : 0);
      atomicAdd(counts + cell * copies + threadIdx.x % copies, Count(weights ? weights[i] : 1));
    }
    __syncthreads();
    i64 sum = 0;
    for (i64 cell = threadIdx.x; cell < cells; cell += blockDim.x) {
      u64 count = 0;
      for (i64 c = 0; c < copies; c++) count += counts[cell * copies + c];
      sum += term(count, table, logs, scale, penalty);
    }
    for (int d = 16; d; d /= 2) sum += __shfl_xor_sync(~0u, sum, d);
    if (threadIdx.x % 32 == 0) atomicAdd(&total, u64(sum));
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd(out + (wide ? index[f] * wide + places[l] : index[f]), total * u64(factor));
  }
}
#endif

#ifdef BEST
// The largest score of the features that are not taken, the first of equal ones, as numpy finds it: NaN is larger than all. Blocks
// leave their best in `values` and `places`; the last one to end finds the best of these, takes it, and writes it. `done` is 0
// before and after.
struct Best {
  double value;
  i64 place;
};
__device__ bool before(const Best& a, const Best& b) {
  if (a.place < 0 || b.place < 0) return b.place < 0 && a.place >= 0;
  const bool no = a.value != a.value, other = b.value != b.value;
  if (no != other) return no;
  return a.value > b.value || ((no || a.value == b.value) && a.place < b.place);
}
__device__ Best best_of_block(Best mine) {
  __shared__ Best of_warps[8];
  for (int d = 16; d; d /= 2) {
    const Best other{__shfl_xor_sync(~0u, mine.value, d), __shfl_xor_sync(~0u, mine.place, d)};
    if (before(other, mine)) mine = other;
  }
  __syncthreads();
  if (threadIdx.x % 32 == 0) of_warps[threadIdx.x / 32] = mine;
  __syncthreads();
  for (int w = 0; w < 8; w++)
    if (before(of_warps[w], mine)) mine = of_warps[w];
  return mine;
}
extern "C" __global__ void __launch_bounds__(256)
best(const double* scores, unsigned char* is_taken, i64 n, double* values, i64* places, u32* done, i64* chosen, double* score) {
  __shared__ bool is_last;
  Best mine{0.0, -1};
  for (i64 i = blockIdx.x * 256ll + threadIdx.x; i < n; i += gridDim.x * 256ll)
    if (const Best other{scores[i], i}; !is_taken[i] && before(other, mine)) mine = other;
  mine = best_of_block(mine);
  if (threadIdx.x == 0) {
    values[blockIdx.x] = mine.value, places[blockIdx.x] = mine.place;
    __threadfence();
    is_last = atomicAdd(done, 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (!is_last) return;
  __threadfence();
  mine = {0.0, -1};
  for (int i = threadIdx.x; i < gridDim.x; i += 256)
    if (const Best other{__ldcg(values + i), __ldcg(places + i)}; before(other, mine)) mine = other;
  mine = best_of_block(mine);
  if (threadIdx.x) return;
  is_taken[mine.place] = 1;
  *chosen = mine.place, *score = mine.value, *done = 0;
}
#endif
