import { describe, expect, test } from "vitest";
import { createResendTracker, trackSideTables } from "../drivers/write-watches.ts";
import type { SpanDatabase } from "../drivers/span-database.ts";
import type { WriteBytes } from "../span-export.ts";
import type { Counts } from "./counted-spans.ts";
import { readOnce, streamOnce, type Once } from "./once.ts";

/** How a stream is read if rows that share a key come in at some moment of it. */

type Moment = "before the look" | "during the look" | "before the first bytes" | "after the first bytes";

async function read(options: { found?: string[]; resendAt?: Moment; isRemote?: boolean } = {}) {
  const resends = createResendTracker();
  const comeIn = async (moment: Moment) => {
    if (options.resendAt === moment) await resends.during(async () => undefined);
  };
  const database = {
    ...(options.isRemote !== true && { resends }),
    async query() {
      await comeIn("during the look");
      return { rows: (options.found ?? []).map((probe) => ({ probe })), rowsBeforeLimit: undefined };
    },
  } as unknown as SpanDatabase;
  const reads: Array<[Once, Counts]> = [];
  const taken: string[] = [];
  const take: WriteBytes = async (bytes) => void taken.push(bytes.toString());
  const stream = async (once: Once, counts: Counts, writeBytes: WriteBytes) => {
    reads.push([once, counts]);
    await comeIn("before the first bytes");
    await writeBytes(Buffer.from(`${once || "plain"} 1`));
    await comeIn("after the first bytes");
    await writeBytes(Buffer.from(`${once || "plain"} 2`));
  };
  await comeIn("before the look");
  const part = { where: { sql: "1", params: { organization_id: "org" } } };
  await streamOnce(database, { parts: [part], counts: "all" }, stream, take, new AbortController().signal);
  return { reads, taken };
}

describe("a stream", () => {
  test.each([
    ["is read without FINAL if no rows share a key", {}, ["plain 1", "plain 2"]],
    ["is read without FINAL if rows came in before the probe", { resendAt: "before the look" }, ["plain 1", "plain 2"]],
    [
      "is read without FINAL if rows come in after the first bytes",
      { resendAt: "after the first bytes" },
      ["plain 1", "plain 2"],
    ],
    ["uses FINAL if rows share a key", { found: ["resend"] }, ["FINAL 1", "FINAL 2"]],
    ["uses FINAL on a server, where other nodes write too", { isRemote: true }, ["FINAL 1", "FINAL 2"]],
    ["restarts with FINAL if rows come in before that", { resendAt: "before the first bytes" }, ["FINAL 1", "FINAL 2"]],
    ["restarts with FINAL if rows come in during the probe", { resendAt: "during the look" }, ["FINAL 1", "FINAL 2"]],
  ] as const)("%s", async (_what, options, expected) => {
    expect((await read(options as Parameters<typeof read>[0])).taken).toEqual(expected);
  });

  test("reads counts only if there are some", async () => {
    expect((await read({ found: ["counts"] })).reads).toEqual([["", "all"]]);
    expect((await read()).reads).toEqual([["", "none"]]);
  });

  test("is not restarted if its reader fails", async () => {
    const resends = createResendTracker();
    const database = {
      resends,
      query: async () => ({ rows: [], rowsBeforeLimit: undefined }),
    } as unknown as SpanDatabase;
    const part = { where: { sql: "1", params: { organization_id: "org" } } };
    let reads = 0;
    const stream = async (_once: Once, _counts: Counts, take: WriteBytes) => {
      reads += 1;
      await take(Buffer.from("x"));
    };
    const disconnected = new Error("the client left");
    const take: WriteBytes = async () => {
      throw disconnected;
    };
    await expect(
      streamOnce(database, { parts: [part], counts: "all" }, stream, take, new AbortController().signal),
    ).rejects.toBe(disconnected);
    expect(reads).toBe(1);
  });
});

/** A store with the rows `window` in the window that is read, and `elsewhere` in others. */
function readsOf(has: { window: Set<string>; elsewhere: Set<string> }) {
  const resends = createResendTracker();
  const { counts, during } = trackSideTables();
  const probes: string[] = [];
  const database = {
    resends,
    counts,
    async query({ sql }: { sql: string }) {
      probes.push(sql);
      const all = has.window.union(has.elsewhere);
      const found = [...has.window, ...[...all].map((name) => `${name} everywhere`)];
      return { rows: found.filter((name) => sql.includes(`'${name}' AS probe`)).map((probe) => ({ probe })) };
    },
  } as unknown as SpanDatabase;
  const read = async (): Promise<[Once, Counts]> => {
    const part = { where: { sql: "1", params: { organization_id: "org" } } };
    return await readOnce(database, { parts: [part], counts: "all" }, async (...known) => known);
  };
  return { read, probes, resends, writeCounts: () => during("span_counts", async () => undefined) };
}

describe("consecutive reads", () => {
  test("stop probing if the organization has neither resends nor counts, until some come in", async () => {
    const has = { window: new Set<string>(), elsewhere: new Set<string>() };
    const { read, probes, resends, writeCounts } = readsOf(has);
    for (let i = 0; i < 5; i += 1) expect(await read()).toEqual(["", "none"]);
    expect(probes).toHaveLength(2);
    has.window.add("counts");
    await writeCounts();
    expect(await read()).toEqual(["", "all"]);
    has.window.add("resend");
    await resends.during(async () => undefined);
    expect(await read()).toEqual(["FINAL", "all"]);
  });

  test("keep probing if it has some in other windows", async () => {
    const has = { window: new Set<string>(), elsewhere: new Set(["resend", "counts"]) };
    const { read, probes } = readsOf(has);
    for (let i = 0; i < 5; i += 1) expect(await read()).toEqual(["", "none"]);
    expect(probes).toHaveLength(5);
    has.window.add("resend").add("counts");
    expect(await read()).toEqual(["FINAL", "all"]);
  });

  test("assume counts for a while after a window had some", async () => {
    const has = { window: new Set(["counts"]), elsewhere: new Set<string>() };
    const { read, probes } = readsOf(has);
    for (let i = 0; i < 3; i += 1) expect(await read()).toEqual(["", "all"]);
    has.window.clear();
    const known: Counts[] = [];
    for (let i = 0; i < 30; i += 1) known.push((await read())[1]);
    expect(known).toContain("none");
    expect(probes.length).toBeLessThan(10);
  });
});
