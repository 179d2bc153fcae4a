import { connect, type Socket } from "node:net";
import { gzipSync } from "node:zlib";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { httpLimits } from "./limits.ts";
import { BodyMemory } from "./body-memory.ts";
import { endpoint } from "./endpoint.ts";
import { startServer } from "./test-support.ts";

const MiB = 1024 * 1024;
let release = (): void => undefined;
let waiting = 0;
const upload = endpoint({
  id: "upload",
  method: "POST",
  path: "/upload",
  summary: "",
  tags: [],
  auth: "key",
  body: { kind: "raw", maxBytes: 64 * MiB },
  success: { status: 200 },
  errors: [],
  async handler({ headers }) {
    if (headers["x-wait"] === undefined) return;
    waiting += 1;
    await new Promise<void>((resolve) => (release = resolve));
    waiting -= 1;
  },
});

let server: Awaited<ReturnType<typeof startServer>>;
const sockets: Socket[] = [];
beforeEach(async () => {
  server = await startServer({ endpoints: [upload], bounds: { bodyBytesInFlight: 32 * MiB, slowUploadEveryMs: 200 } });
});
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  release();
  await server.close();
});

/** An upload that sends its head, and body bytes on request. */
function open(key: string, declaredBytes: number, headers = "") {
  const { hostname, port } = new URL(server.url);
  const socket = connect(Number(port), hostname);
  sockets.push(socket);
  let answer = "";
  socket.on("data", (bytes) => (answer += bytes.toString())).on("error", () => undefined);
  socket.write(
    `POST /upload HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\n${headers}content-length: ${declaredBytes}\r\n\r\n`,
  );
  return { socket, send: (bytes: Buffer) => socket.write(bytes), status: () => answer.slice(9, 12) };
}
const reservedBytes = async () =>
  Number(/^http_request_body_held_bytes (\d+)/m.exec(await server.registry.metrics())?.[1] ?? Number.NaN);
const expectReserved = (bytes: number) =>
  vi.waitFor(async () => expect(await reservedBytes()).toBe(bytes), { timeout: 5_000 });
const post = (key: string, bytes: number) =>
  fetch(`${server.url}/upload`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}` },
    body: Buffer.alloc(bytes, "a"),
  });

describe("K8: the bytes of a body are returned exactly once", () => {
  test.each<[string, () => Promise<void>]>([
    [
      "after its head",
      async () => {
        open("key-a1", 4 * MiB).socket.destroy();
        await expectReserved(0);
      },
    ],
    [
      "in the middle",
      async () => {
        const { send, socket } = open("key-a1", 4 * MiB);
        send(Buffer.alloc(2 * MiB));
        await expectReserved(2 * MiB);
        socket.destroy();
      },
    ],
    [
      "in the middle of a compressed one",
      async () => {
        const bytes = gzipSync(Buffer.alloc(8 * MiB), { level: 0 });
        const { send, socket } = open("key-a1", bytes.length, "content-encoding: gzip\r\n");
        send(bytes.subarray(0, 2 * MiB));
        await expectReserved(2 * MiB);
        socket.destroy();
      },
    ],
    [
      "while it is decompressed",
      async () => {
        const bytes = gzipSync(Buffer.alloc(30 * MiB));
        const { send, socket } = open("key-a1", bytes.length, "content-encoding: gzip\r\n");
        send(bytes);
        socket.end();
        setTimeout(() => socket.destroy(), 5);
        await new Promise((resolve) => socket.once("close", resolve));
      },
    ],
    [
      "while its handler runs, once the handler ends",
      async () => {
        const { send, socket } = open("key-a1", MiB, "x-wait: 1\r\n");
        send(Buffer.alloc(MiB));
        await vi.waitFor(() => expect(waiting).toBe(1));
        const left = server.logLines.length;
        socket.destroy();
        await vi.waitFor(() => expect(server.logLines.length).toBeGreaterThan(left));
        expect(await reservedBytes()).toBe(MiB);
        release();
        await vi.waitFor(() => expect(waiting).toBe(0));
      },
    ],
    [
      "after the response",
      async () => {
        expect((await post("key-a1", MiB)).status).toBe(200);
      },
    ],
    [
      "when it is refused",
      async () => {
        expect((await post("key-a1", 27 * MiB)).status).toBe(503);
      },
    ],
  ])("of an upload that ends %s, so that the bound is still enforced", async (_, act) => {
    for (let round = 0; round < 3; round += 1) await act();
    await expectReserved(0);
    // All large bodies together may use 28 MiB, four fifths of it for one organization.
    expect((await post("key-a1", 24 * MiB)).status).toBe(503);
    expect((await post("key-a1", 22 * MiB)).status).toBe(200);
    await expectReserved(0);
  });
});

describe("K9: uploads of one organization leave room for others", () => {
  test("stalled uploads of one organization do not block small or large bodies of another", async () => {
    const stalled = Array.from({ length: 8 }, () => open("key-a1", 8 * MiB));
    for (const { send } of stalled) send(Buffer.alloc(4 * MiB));
    await vi.waitFor(() => expect(stalled.filter(({ status }) => status() === "503").length).toBeGreaterThan(3));
    expect((await post("key-b1", 9 * MiB)).status).toBe(200);
    expect((await post("key-b1", 1_000)).status).toBe(200);
    expect((await post("key-a2", 1_000)).status).toBe(200);
  });

  test("stalled uploads are ended only while memory is short", async () => {
    const alone = open("key-a1", 4 * MiB);
    alone.send(Buffer.alloc(MiB));
    await expectReserved(MiB);
    const stalled = [open("key-a1", 8 * MiB), open("key-b1", 8 * MiB)];
    for (const { send } of stalled) send(Buffer.alloc(5 * MiB));
    await vi.waitFor(() => expect([alone, ...stalled].some(({ status }) => status() === "503")).toBe(true), {
      timeout: 5_000,
    });
    // Below a quarter of the total, the remaining uploads may be slow.
    await vi.waitFor(async () => expect(await reservedBytes()).toBeLessThanOrEqual(8 * MiB));
    expect(await server.registry.metrics()).toMatch(/^http_slow_uploads_total [123]$/m);
  });
});

test("any order of take and release stays within the bounds, and returns all bytes", () => {
  const step = fc.record({ hold: fc.nat(9), bytes: fc.nat(3 * MiB), isRelease: fc.boolean() });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const memory = new BodyMemory(16 * MiB);
      const reservations = Array.from({ length: 10 }, (_, index) => memory.reserve(`party ${index % 3}`));
      const reserved = reservations.map(() => 0);
      for (const { hold, bytes, isRelease } of steps) {
        if (isRelease) reservations[hold]?.release();
        if (isRelease) reserved[hold] = 0;
        else if (reservations[hold]?.take(bytes) === true) reserved[hold] = (reserved[hold] ?? 0) + bytes;
        expect(memory.reservedBytes).toBe(reserved.reduce((sum, each) => sum + each, 0));
        expect(memory.reservedBytes).toBeLessThanOrEqual(16 * MiB);
      }
      for (const hold of [...reservations, ...reservations]) hold.release();
      expect(memory.reservedBytes).toBe(0);
      expect(memory.reserve("another").take(httpLimits.smallBodyBytes)).toBe(true);
    }),
  );
});

test("a compressed body waits for at most one slow compressed body of another organization", async () => {
  // Few bytes as sent, but some milliseconds of decompression each.
  const large = gzipSync(Buffer.alloc(4 * MiB, "a"), { level: 1 });
  const small = gzipSync(Buffer.alloc(1_000, "a"));
  const send = (key: string, body: Buffer) =>
    fetch(`${server.url}/upload`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-encoding": "gzip" },
      body,
    });
  let done = 0;
  const hog = Array.from({ length: 200 }, async () => {
    const { status } = await send("key-a1", large);
    done += 1;
    return status;
  });
  await vi.waitFor(() => expect(done).toBeGreaterThan(0), { interval: 1, timeout: 10_000 });
  expect((await send("key-b1", small)).status).toBe(200);
  expect(done).toBeLessThan(150);
  await Promise.all(hog);
});
