import { spawn } from "node:child_process";
import { once } from "node:events";
import { Agent, request } from "node:http";
import { connect, type Socket } from "node:net";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, expect, test } from "vitest";
import { operationsOf } from "../support/api-operations.ts";
import { eventually, newEvaluator } from "../support/evaluation.ts";
import { newDataDir, programEnvironment, programs } from "../support/server-process.ts";
import { bodyOf } from "../support/spans.ts";
import { testAdmin, testEnvironment, testKeys } from "../support/test-app.ts";
import { createClient } from "../support/test-client.ts";

const dataDir = newDataDir();
afterAll(() => dataDir.remove());
const descriptors = 400;

type Answer = { status: number; retryAfter: string | undefined };

async function start() {
  const env = testEnvironment(dataDir.path, { SPANWAY_LOG_LEVEL: "info" });
  const child = spawn("bash", ["-c", `ulimit -n ${descriptors}; exec "$0" "$@"`, process.execPath, ...programs.main], {
    env: { ...programEnvironment(), ...env },
    stdio: ["ignore", "pipe", "ignore"],
  });
  for await (const line of createInterface({ input: child.stdout })) {
    const url = /"url":"([^"]+)","msg":"Spanway is listening"/.exec(line)?.[1];
    if (url === undefined) continue;
    child.stdout.resume();
    return { child, url };
  }
  throw new Error("the server did not start");
}

/** Requests over one connection that the server has already accepted. */
function createKeepAliveClient(url: string) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  return (method: string, path: string, body?: unknown, token: string = testKeys.prod) =>
    new Promise<Answer>((resolve, reject) => {
      const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
      request(url + path, { method, agent, headers }, (response) => {
        const { statusCode: status = 0, headers: answered } = response;
        response.resume().on("end", () => resolve({ status, retryAfter: answered["retry-after"] }));
      })
        .on("error", reject)
        .end(body === undefined ? undefined : JSON.stringify(body));
    });
}

test("K13: without file descriptors every route responds, none with 500, and all work again afterwards", async () => {
  const { child, url } = await start();
  const exited = once(child, "exit");
  const evaluator = await newEvaluator(createClient(url, testKeys.prod));
  const operations = await operationsOf(url);
  expect(operations.length).toBeGreaterThan(80);
  const person = bodyOf(await createClient(url).post("/api/auth/login/", testAdmin));
  const send = createKeepAliveClient(url);
  expect((await send("GET", "/livez")).status).toBe(200);
  const idle: Socket[] = [];
  for (let i = 0; i < descriptors + 50; i += 1) {
    idle.push(connect(Number(new URL(url).port), "127.0.0.1").on("error", () => undefined));
    await sleep(1);
  }
  await sleep(300);

  const answers: string[] = [];
  for (const { method, path, body } of operations) {
    const asKey = await send(method, path, body);
    const { status, retryAfter } =
      asKey.status === 401 ? await send(method, path, body, String(person["access"])) : asKey;
    answers.push(`${method} ${path} ${status}${status === 503 && path !== "/readyz" ? ` ${retryAfter}` : ""}`);
  }
  expect(answers.filter((line) => / 500$| 503 undefined$/.test(line))).toEqual([]);
  const short = { status: 503, retryAfter: "5" };
  expect(await send("POST", "/api/request-logs/list/", {})).toEqual(short);
  expect(await send("POST", `/api/evaluators/${String(evaluator["id"])}/run/`, { inputs: {} })).toEqual(short);
  const chat = {
    model: "openai/gpt-4o",
    messages: [{ role: "user", content: "hello" }],
    // An address, so that no name is resolved.
    customer_credentials: { openai: { api_key: "none", api_base: "https://1.1.1.1/v1" } },
    retries: 0,
  };
  expect(await send("POST", "/api/chat/completions", chat)).toEqual(short);

  for (const socket of idle) socket.destroy();
  await eventually(async () => {
    const { status } = await send("POST", "/api/request-logs/list/", {});
    return status === 200 || undefined;
  });
  expect((await send("POST", `/api/evaluators/${String(evaluator["id"])}/run/`, { inputs: {} })).status).toBe(200);
  child.kill("SIGTERM");
  await exited;
}, 90_000);
