// What the kernels that count with tensor cores share. For the layout of features see portable.cu; a stage of 112 targets is
// swizzled as the tensor cores read it, and the LEVELS of the condition in a pass (1, 2 or 4) are masks in the order of the
// fragments. Every one of these is contiguous. A tile is 256 / LEVELS columns of features, with all levels and targets.
using u16 = unsigned short;
using u32 = unsigned;
using u64 = unsigned long long;
using i64 = long long;
constexpr int TARGETS = 112, Y_BYTES = TARGETS * 128, F_BYTES = 64 * 128, BLOCKS = 4 / LEVELS;
constexpr int USED = Y_BYTES + BLOCKS * F_BYTES + LEVELS * 128;
using Stored = COUNT;
constexpr bool NARROW = sizeof(Stored) == 2;  // counts of 16 bits cannot be added up in memory: blocks take whole tiles
// Zeroes in the tiles that blocks of `count` will share; `blocks` is the size of its grid.
extern "C" __global__ void clear(int* counts, i64 stages, i64 tiles, i64 pitch, i64 columns, i64 blocks) {
  constexpr int WIDE = BLOCKS * 16;  // int4 of a tile
  const i64 first = tiles * stages * (blockIdx.x / 8) / blocks;
  if (first % stages == 0) return;
  for (i64 i = blockIdx.x % 8 * blockDim.x + threadIdx.x; i < LEVELS * columns * WIDE; i += 8 * blockDim.x)
    ((int4*)(counts + (i / WIDE / columns * TARGETS + i / WIDE % columns) * pitch))[first / stages * WIDE + i % WIDE] = {0, 0, 0, 0};
}

// Counts of two neighboring columns of features: stored, or added where blocks share a tile.
__device__ void store(Stored* to, int even, int odd, bool shared) {
  if (NARROW)
    *(u32*)to = even | odd << 16;
  else if (shared)
    atomicAdd((int*)to, even), atomicAdd((int*)to + 1, odd);
  else
    *(int2*)to = {even, odd};
}
