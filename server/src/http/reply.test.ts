import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { endpoint } from "./endpoint.ts";
import { content } from "./reply.ts";
import { startServer } from "./test-support.ts";

/** Bodies that are produced while they are sent. */
const piece = Buffer.alloc(1024 * 1024, "0");
const count = 24;
let made = 0;

const long = endpoint({
  id: "long",
  method: "GET",
  path: "/long/",
  summary: "",
  description: "",
  tags: [],
  auth: "none",
  limit: "none",
  success: { status: 200, schema: z.string() },
  errors: [],
  handler: async () =>
    content("application/json", {
      bytes: count * piece.length,
      pieces: (function* () {
        for (made = 0; made < count; made += 1) yield piece;
      })(),
    }),
});

let server: Awaited<ReturnType<typeof startServer>>;
beforeAll(async () => {
  server = await startServer({ endpoints: [long] });
});
afterAll(() => server.close());

test.each(["identity", "gzip"])("streamed bodies are complete, with the coding %s", async (coding) => {
  const answer = await fetch(`${server.url}/long/`, { headers: { "accept-encoding": coding } });
  expect(answer.headers.get("content-encoding") ?? "identity").toBe(coding);
  const body = Buffer.from(await answer.arrayBuffer());
  expect(body.length).toBe(count * piece.length);
  expect(body.equals(Buffer.alloc(body.length, "0"))).toBe(true);
});

test("HEAD has the length of a streamed body, without the body", async () => {
  const answer = await fetch(`${server.url}/long/`, { method: "HEAD", headers: { "accept-encoding": "identity" } });
  expect(answer.headers.get("content-length")).toBe(String(count * piece.length));
  expect(await answer.text()).toBe("");
});

test("pieces are not produced ahead of a client that does not read, nor after it disconnected", async () => {
  const leave = new AbortController();
  const answer = await fetch(`${server.url}/long/`, {
    headers: { "accept-encoding": "identity" },
    signal: leave.signal,
  });
  expect(answer.status).toBe(200);
  await sleep(300);
  expect(made).toBeLessThan(count / 2);
  leave.abort();
  await sleep(100);
  expect(made).toBeLessThan(count / 2);
  expect(server.logLines.filter((line) => line["msg"] === "request failed")).toEqual([]);
});
