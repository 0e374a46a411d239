// Counts from the one-bit tensor cores of compute capability 8.0 to 9.0 (mma.sync); follows tiles.cu.
constexpr int SLOTS = 96 * 1024 / USED;  // stages on their way, and the one that is counted
constexpr int THREADS = 256;
extern __shared__ __align__(16) char sm[];
__device__ u32 at(const void* p) { return u32(__cvta_generic_to_shared(p)); }
// 16 columns (in registers, where they were masked) x 8 targets x 256 rows: c += popcount(a & b).
__device__ void mma(int (&c)[4], const u32 (&a)[4], u32 low, u32 high) {
  asm("mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and.popc {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(low), "r"(high));
}

// counts[b][l][p] = rows with bit p of the features, level b + 1 of the condition and target l. A warp takes 16 columns of every
// block of 64 in a tile, all levels, and half of the targets. The stages of all tiles are shared out evenly among the blocks.
extern "C" __global__ void __launch_bounds__(THREADS, 1)
count(const char* F, const char* Y, const char* S, Stored* C, i64 KS, i64 tiles, i64 pitch, i64 columns) {
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, half = warp / 4, w = warp % 4;
  const int line = lane / 4, t = lane % 4, n_stages = int(KS);
  const i64 unit = NARROW ? KS : 1, all = tiles * KS / unit;
  const i64 first = all * blockIdx.x / gridDim.x * unit;
  int left = int(all * (blockIdx.x + 1) / gridDim.x * unit - first), to_fetch = left;  // stages
  i64 tile = first / KS, next_tile = tile;
  int stage = int(first % KS), next_stage = stage, begun = stage;
  const auto fetch = [&](int slot) {
    if (to_fetch > 0) {
      const char *y = Y + i64(next_stage) * Y_BYTES, *s = S + i64(next_stage) * LEVELS * 128;
      const char* f = F + (next_tile * BLOCKS * KS + next_stage) * F_BYTES;
      const u32 to = at(sm) + slot * USED;
      const auto copy = [&](u32 place, const char* from) {
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to + place), "l"(from) : "memory");
      };
#pragma unroll
      for (int i = threadIdx.x; i < Y_BYTES / 16; i += THREADS) copy(i * 16, y + i * 16);
#pragma unroll
      for (int b = 0; b < BLOCKS; b++)
        for (int i = threadIdx.x; i < F_BYTES / 16; i += THREADS) copy(Y_BYTES + b * F_BYTES + i * 16, f + b * KS * F_BYTES + i * 16);
      if (threadIdx.x < LEVELS * 8) copy(Y_BYTES + BLOCKS * F_BYTES + threadIdx.x * 16, s + threadIdx.x * 16);
      to_fetch--;
      if (++next_stage == n_stages) next_stage = 0, next_tile++;
    }
    asm volatile("cp.async.commit_group;" ::: "memory");
  };
  for (int ahead = 0; ahead < SLOTS - 1; ahead++) fetch(ahead);
  int c[4][7][4] = {};  // of pairs of a block and a level, and groups of eight targets
  for (int slot = 0; left > 0; slot = slot + 1 == SLOTS ? 0 : slot + 1) {
    asm volatile("cp.async.wait_group %0;" ::"n"(SLOTS - 2) : "memory");
    __syncthreads();  // the stage has arrived, and no warp reads the previous one
    fetch(slot ? slot - 1 : SLOTS - 1);
    const char* rows = sm + slot * USED;
#pragma unroll
    for (int k = 0; k < 4; k++) {
      u32 a[4][4];
#pragma unroll
      for (int u = 0; u < 4; u++) {
        const uint4 bits = *(const uint4*)(rows + Y_BYTES + u / LEVELS * F_BYTES + (w * 128 + lane) * 16 + k * 512);
        const uint2 mask = *(const uint2*)(rows + Y_BYTES + BLOCKS * F_BYTES + u % LEVELS * 128 + t * 32 + k * 8);
        a[u][0] = bits.x & mask.x, a[u][1] = bits.y & mask.x, a[u][2] = bits.z & mask.y, a[u][3] = bits.w & mask.y;
      }
#pragma unroll
      for (int j = 0; j < 7; j++) {
        const char* target = rows + ((half * 7 + j) * 8 + line) * 128 + t * 4;
        const u32 low = *(const u32*)(target + ((2 * k) ^ line) * 16), high = *(const u32*)(target + ((2 * k + 1) ^ line) * 16);
#pragma unroll
        for (int u = 0; u < 4; u++) mma(c[u][j], a[u], low, high);
      }
    }
    left--, stage++;
    if (left && stage < n_stages) continue;
    const bool shared = stage - begun < n_stages;
#pragma unroll
    for (int u = 0; u < 4; u++)
#pragma unroll
      for (int j = 0; j < 7; j++)
#pragma unroll
        for (int x = 0; x < 2; x++) {
          const int l = (half * 7 + j) * 8 + t * 2 + x;
          Stored* to = C + (i64(u % LEVELS) * TARGETS + l) * pitch + (tile * BLOCKS + u / LEVELS) * 64 + w * 16 + line * 2;
          if (l < columns) store(to, c[u][j][x], c[u][j][x + 2], shared);
          c[u][j][x] = c[u][j][x + 2] = 0;
        }
    begun = stage = 0, tile++;
  }
}
