// Counts from the one-bit tensor cores of compute capability 9.0 (wgmma); follows tiles.cu.
constexpr int SLOT = (USED + 1023) / 1024 * 1024, SLOTS = 200 * 1024 / SLOT;
extern __shared__ __align__(1024) char sm[];
__device__ u32 at(const void* p) { return u32(__cvta_generic_to_shared(p)); }
__device__ void wait(u32 barrier, u32 parity) {
  asm volatile("{.reg .pred p; W: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1; @!p bra W;}" ::"r"(barrier), "r"(parity)
               : "memory");
}
__device__ void copy(u32 to, const char* from, u32 bytes, u32 barrier) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(to), "l"(from),
               "r"(bytes), "r"(barrier));
}
// 64 columns (in registers, where they were masked) x 112 targets (in shared memory) x 256 rows: c (+)= popcount(a & b).
__device__ void mma(int (&c)[56], const u32 (&a)[4], u64 b, int keep) {
  asm volatile(
      "{.reg .pred p; setp.ne.b32 p, %61, 0; wgmma.mma_async.sync.aligned.m64n112k256.s32.b1.b1.and.popc "
      "{@D@}, {%56, %57, %58, %59}, %60, p;}"
      : @C@
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(keep));
}

// counts[b][l][p] = rows with bit p of the features, level b + 1 of the condition and target l. Two warp groups, each with
// 2 x (64 x 112) sums in registers, and a thread that fetches. The stages of all tiles are shared out evenly among the blocks; a
// tile that blocks share is added up in memory.
extern "C" __global__ void __launch_bounds__(384, 1)
count(const char* F, const char* Y, const char* S, Stored* C, i64 KS, i64 tiles, i64 pitch, i64 columns) {
  __shared__ u64 full[SLOTS], empty[SLOTS];
  u32 ready = at(full), free = at(empty), stages = at(sm), slot = 0, turn = 0;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, group = warp / 4, w = warp % 4;
  for (int i = 0; i < SLOTS && threadIdx.x == 0; i++)
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1; mbarrier.init.shared::cta.b64 [%1], 8;" ::"r"(ready + 8 * i), "r"(free + 8 * i));
  asm volatile("fence.mbarrier_init.release.cluster;" : "+r"(ready), "+r"(free), "+r"(stages)::"memory");
  __syncthreads();
  const i64 unit = NARROW ? KS : 1, all = tiles * KS / unit;
  i64 g = all * blockIdx.x / gridDim.x * unit, end = all * (blockIdx.x + 1) / gridDim.x * unit;
  const auto advance = [&] { turn ^= ++slot == SLOTS, slot = slot == SLOTS ? 0 : slot; };
  if (warp >= 8) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 24;");  // registers for those who add
    for (const i64 first = g; g < end && threadIdx.x == 256; g++, advance()) {
      const u32 bar = ready + 8 * slot, to = stages + slot * SLOT;
      if (g >= first + SLOTS) wait(free + 8 * slot, turn ^ 1);
      asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(bar), "r"(USED) : "memory");
      for (int b = 0; b < BLOCKS; b++)
        copy(to + Y_BYTES + b * F_BYTES, F + ((g / KS * BLOCKS + b) * KS + g % KS) * F_BYTES, F_BYTES, bar);
      copy(to, Y + g % KS * Y_BYTES, Y_BYTES, bar);
      copy(to + Y_BYTES + BLOCKS * F_BYTES, S + g % KS * LEVELS * 128, LEVELS * 128, bar);
    }
    return;
  }
  asm volatile("setmaxnreg.inc.sync.aligned.u32 240;");
  // The two halves of a group's sums: two levels of the condition for the same 64 columns, or 64 columns each for the one level.
  const int level = LEVELS == 4 ? 2 * group : 0, block = LEVELS == 4 ? 0 : LEVELS == 2 ? group : 2 * group;
  constexpr int next_level = LEVELS > 1, next_block = LEVELS == 1;
  const u32 my_bits = Y_BYTES + block * F_BYTES + (w * 128 + lane) * 16;
  const u32 my_masks = Y_BYTES + BLOCKS * F_BYTES + level * 128 + lane % 4 * 32;
  int c[2][56];
  u32 a[2][2][4], v[2][4], m[2][2];  // masked bits of two slabs of 256 rows: one is made while the tensor cores work on the other
  const auto load = [&](u32 slot, int kk) {
    for (int u = 0; u < 2; u++) {
      const u32 from = stages + slot * SLOT, bits = from + my_bits + u * next_block * F_BYTES + kk * 512;
      const u32 mask = from + my_masks + u * next_level * 128 + kk * 8;
      asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(v[u][0]), "=r"(v[u][1]), "=r"(v[u][2]), "=r"(v[u][3]) : "r"(bits));
      asm volatile("ld.shared.v2.u32 {%0, %1}, [%2];" : "=r"(m[u][0]), "=r"(m[u][1]) : "r"(mask));
    }
  };
  const auto mask = [&](u32(&x)[2][4]) {
    for (int j = 0; j < 8; j++) x[j / 4][j % 4] = v[j / 4][j % 4] & m[j / 4][j % 4 / 2];
  };
  if (g < end) wait(ready, 0), load(0, 0), mask(a[0]);
  for (bool begun = false; g < end;) {
    const i64 tile = g / KS, stop = min((tile + 1) * KS, end), shared = stop - g < KS;  // shared with other blocks
    for (int keep = 0; g < stop; keep = 1, begun = true, g++) {
      const u32 now = slot, before = now ? now - 1 : SLOTS - 1;
      const u64 b = 1ull << 62 | 64ull << 32 | 1ull << 16 | (stages + now * SLOT) >> 4;  // 128-byte swizzle, groups of 1024 bytes
#pragma unroll
      for (int kk = 0; kk < 4; kk++) {
        if (kk == 3) {
          advance();
          if (g + 1 < end) wait(ready + 8 * slot, turn);
        }
        load(slot, (kk + 1) % 4);
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
        for (int u = 0; u < 2; u++) mma(c[u], a[kk % 2][u], b + 2 * kk, keep | kk);
        asm volatile("wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 1;" ::: "memory");  // the slab before is done
        for (int j = 0; j < 8; j++) asm volatile("" : "+r"(a[1 - kk % 2][j / 4][j % 4]));  // until here its registers were in use
        mask(a[1 - kk % 2]);
        if (kk == 0 && begun && lane == 0) asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(free + 8 * before) : "memory");
      }
    }
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
#pragma unroll
    for (int j = 0; j < 56; j++) {
      const int u = j / 28, l = j % 28 / 2 * 8 + lane % 4 * 2 + j % 2;
      if (l >= columns) continue;
      int even = c[u][j % 28 / 2 * 4 + j % 2], odd = c[u][j % 28 / 2 * 4 + j % 2 + 2];
      asm volatile("" : "+r"(even), "+r"(odd));  // not read before the wait
      Stored* to = C + (i64(level + u * next_level) * TARGETS + l) * pitch + (tile * BLOCKS + block + u * next_block) * 64 + w * 16 + lane / 4 * 2;
      store(to, even, odd, shared);
    }
  }
}
