import { availableParallelism } from "node:os";

/** A thread of the engine rarely waits for an arena: small allocations have a cache for each thread. */
const coresOfArena = 4;

/**
 * Settings of chDB's allocator, which it reads from the environment variable `JE_MALLOC_CONF` when it is loaded. Each
 * arena keeps what was freed in it for a while, and only allocations of the same arena use it again. chDB's defaults are
 * an arena for each core, so that blocks that threads on several cores allocate and free take a multiple of their size,
 * and five seconds.
 */
export const engineAllocator = [
  "percpu_arena:disabled",
  `narenas:${Math.ceil(availableParallelism() / coresOfArena)}`,
  "dirty_decay_ms:1000",
].join(",");
