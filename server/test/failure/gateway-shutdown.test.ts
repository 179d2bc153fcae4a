import { once } from "node:events";
import { request as httpRequest, type IncomingMessage } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { chunk, eventsOf, helloStream, question } from "../support/chat.ts";
import { startScriptedUpstream, streamHead, type ScriptedUpstream } from "../support/scripted-upstream.ts";
import { newDataDir, startServerProcess, type ServerProcess } from "../support/server-process.ts";
import { settle } from "../support/spans.ts";
import type { Answer } from "../support/test-client.ts";
import { testKeys } from "../support/test-app.ts";

const dataDir = newDataDir();
let upstream: ScriptedUpstream;
const servers: ServerProcess[] = [];
beforeAll(async () => {
  upstream = await startScriptedUpstream();
});
afterAll(async () => {
  for (const server of servers) server.child.kill("SIGKILL");
  await upstream.stop();
  await dataDir.remove();
});

async function start(): Promise<ServerProcess> {
  const server = await startServerProcess(dataDir.path, {
    OPENAI_API_KEY: "sk-test-0123456789",
    OPENAI_BASE_URL: `${upstream.url}/v1`,
  });
  servers.push(server);
  return server;
}

/** A started stream; `text` is its complete text, `isWhole` whether it ended normally. */
async function openStream(server: ServerProcess, custom_identifier: string) {
  const sent = httpRequest(new URL("/v1/chat/completions", server.url), {
    method: "POST",
    headers: { authorization: `Bearer ${testKeys.prod}`, "content-type": "application/json" },
    agent: false,
  });
  sent.end(JSON.stringify({ model: "gpt-4o", stream: true, messages: [question], custom_identifier }));
  const [answer] = (await once(sent, "response")) as [IncomingMessage];
  let text = "";
  answer.on("data", (bytes: Buffer) => (text += bytes.toString()));
  answer.on("error", () => undefined);
  await once(answer, "data");
  const closed = new Promise<void>((resolve) => answer.once("close", resolve));
  const ended = closed.then(() => ({ text, isWhole: answer.complete }));
  return { id: String(answer.headers["x-spanway-log-id"]), ended };
}

const stopped503 = "The service stopped before the answer was complete.";

/** A call to which its upstream does not respond. */
async function openMute(server: ServerProcess): Promise<Promise<Answer>[]> {
  const seen = upstream.requests.length;
  const answer = server.prod.post("/v1/chat/completions", { model: "gpt-4o", messages: [question] });
  while (upstream.requests.length === seen) await sleep(10);
  // In a list: an async function would wait for a returned promise.
  return [answer];
}

test("SIGTERM lets a stream finish, aborts a stream that does not and a call without a response with an error, and both have their spans after the restart", async () => {
  const server = await start();
  upstream.script(async (connection) => {
    await connection.write(streamHead + chunk({ role: "assistant", content: "Hel" }));
    await sleep(1_000);
    await connection.write(helloStream.slice(-3).join(""));
    return "close";
  });
  const finishing = await openStream(server, "finishing");
  upstream.script(async (connection) => {
    await connection.write(streamHead + chunk({ role: "assistant", content: "Endless" }));
    await connection.closed(30_000);
    return "close";
  });
  const endless = await openStream(server, "endless");
  const [mute] = await openMute(server);
  const stopped = server.kill("SIGTERM");

  expect(await finishing.ended).toMatchObject({ isWhole: true, text: expect.stringContaining("[DONE]") });
  const refused = await mute!;
  expect([refused.status, refused.json]).toMatchObject([503, { error: { code: "unavailable", message: stopped503 } }]);
  const ending = await endless.ended;
  expect(ending).toMatchObject({ isWhole: true, text: expect.stringContaining("Endless") });
  expect(eventsOf(ending.text).at(-1)).toMatchObject({
    error: { code: "unavailable", type: "server_error", message: stopped503 },
  });
  expect(await stopped).toEqual({ code: 0 });

  const again = await start();
  await settle(again.prod);
  const whole = await again.prod.get(`/api/request-logs/${finishing.id}/`);
  expect(whole.json).toMatchObject({ status_code: 200, custom_identifier: "finishing" });
  const aborted = await again.prod.get(`/api/request-logs/${endless.id}/`);
  expect(aborted.json).toMatchObject({
    status_code: 503,
    error_message: stopped503,
    completion_message: { content: "Endless" },
    usage_is_estimated: true,
  });
  expect((aborted.json as { cost: number }).cost).toBeGreaterThan(0);
  expect((await again.prod.get(`/api/request-logs/${refused.headers.get("x-spanway-log-id")}/`)).json).toMatchObject({
    status_code: 503,
    error_message: stopped503,
  });
  await again.kill("SIGTERM");
}, 60_000);
