import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdtempSync, readFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { chunk } from "../support/chat.ts";
import { startTestGateway, type TestGateway } from "../support/gateway.ts";
import { hasNginx, startNginx } from "../support/nginx.ts";
import { streamHead } from "../support/scripted-upstream.ts";
import { testAdmin, testKeys } from "../support/test-app.ts";
import { createClient, type ListAnswer, type TestClient } from "../support/test-client.ts";

/** The configurations of docs/behind-a-proxy.md in a real nginx. TLS, addresses and file names are replaced. */

const page = readFileSync(new URL("../../../docs/behind-a-proxy.md", import.meta.url), "utf8");
const documented = Array.from(page.matchAll(/```nginx\n([\s\S]*?)```/g), ([, block = ""]) => block);

let gateway: TestGateway;
let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "spanway-nginx-"));
  // If root starts it, nginx runs as another user.
  chmodSync(folder, 0o755);
  gateway = await startTestGateway({ SPANWAY_TRUST_PROXY: "1" });
});
afterAll(async () => {
  await gateway.stop();
  await rm(folder, { recursive: true, force: true });
});

function start(name: string, site: string): Promise<{ url: string; nginx: ChildProcess }> {
  return startNginx(folder, name, (address) =>
    site
      .replace("listen 443 ssl;", `listen ${address};`)
      .replaceAll(/^ *ssl_.*\n/gm, "")
      .replace("http://127.0.0.1:8787", gateway.app.url),
  );
}

describe.skipIf(!hasNginx).each([
  ["at the root", "", documented[0] ?? ""],
  ["below a path", "/spanway", documented[1] ?? ""],
])(`F6: behind nginx, %s${hasNginx ? "" : " (skipped: there is no nginx)"}`, (_name, prefix, site) => {
  let nginx: ChildProcess;
  let client: TestClient;
  let base: string;
  beforeAll(async () => {
    const started = await start(prefix.slice(1) || "root", site);
    nginx = started.nginx;
    base = started.url + prefix;
    const direct = createClient(started.url, testKeys.prod);
    client = {
      ...direct,
      request: (method, path, ...rest) => direct.request(method, prefix + path, ...rest),
      get: (path) => direct.get(prefix + path),
      post: (path, ...rest) => direct.post(prefix + path, ...rest),
    };
  });
  afterAll(async () => {
    nginx.kill();
    await once(nginx, "exit");
  });

  test("links lead back through the proxy, whatever the client states", async () => {
    await gateway.app.prod.post("/api/request-logs/bulk/", { logs: [{ input: "a" }, { input: "b" }] });
    await gateway.app.prod.waitForSpans(2);
    const forged = { "x-forwarded-host": "evil.com", "x-forwarded-proto": "gopher", "x-forwarded-prefix": "/evil" };
    for (const headers of [{}, forged]) {
      const answer = await client.post("/api/request-logs/list/?page_size=1", {}, headers);
      expect((answer.json as ListAnswer).next).toMatch(`${base}/api/request-logs/list/?page_size=1&page=2`);
    }
  });

  test("a stream arrives word by word", async () => {
    let goOn = (): void => undefined;
    gateway.upstream.script(async (connection) => {
      await connection.write(streamHead);
      for (const word of ["one", "two", "three"]) {
        const arrived = new Promise<void>((resolve) => (goOn = resolve));
        await connection.write(chunk({ content: word }));
        await arrived;
      }
      await connection.write(`${chunk({}, "stop")}data: [DONE]\n\n`);
      return "close";
    });
    const answer = await fetch(`${base}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${testKeys.prod}`, "content-type": "application/json" },
      body: JSON.stringify({ model: "gpt-4o", stream: true, messages: [{ role: "user", content: "Count." }] }),
    });
    let output = "";
    // The upstream sends the next word only after this one has arrived.
    for await (const bytes of answer.body ?? []) {
      output += Buffer.from(bytes).toString();
      goOn();
    }
    expect(output).toMatch(/one[\s\S]*two[\s\S]*three[\s\S]*\[DONE\]/);
  });

  test("60 MB are accepted, and more is refused in the form of the route", async () => {
    const logs = Array.from({ length: 100 }, () => ({ input: "x".repeat(600_000) }));
    expect(await client.post("/api/request-logs/bulk/", { logs })).toMatchObject({ status: 201 });
    const large = " ".repeat(70_000_000);
    expect(await client.post("/api/request-logs/bulk/", large)).toMatchObject({
      status: 413,
      json: { code: "payload_too_large" },
    });
    expect(await client.post("/v1/chat/completions", large)).toMatchObject({
      status: 413,
      json: { error: { code: "payload_too_large" } },
    });
  });

  test("a budget is set for a customer whose id has a slash", async () => {
    const id = `a/b${prefix}`;
    await client.post("/api/users/", { customer_identifier: id });
    const path = `/api/users/${encodeURIComponent(id)}/`;
    expect(await client.request("PATCH", path, { period_budget: 7 })).toMatchObject({
      status: 200,
      json: { customer_identifier: id, period_budget: 7 },
    });
  });

  test("service parameters of 12 KB in a header are accepted", async () => {
    const params = Buffer.from(JSON.stringify({ metadata: { a: "x".repeat(9_000) } })).toString("base64");
    const body = { model: "spanway/echo", messages: [{ role: "user", content: "Hi" }] };
    expect(await client.post("/v1/chat/completions", body, { "x-data-svc-params": params })).toMatchObject({
      status: 200,
    });
  });

  test("metrics are not accessible", async () => {
    expect((await fetch(`${base}/metrics`)).status).toBe(403);
  });

  test("failed sign-ins count for the client's address, not for a forged address", async () => {
    const statuses: number[] = [];
    for (let n = 0; n < 12; n += 1) {
      const wrong = { email: `${prefix}${testAdmin.email}`, password: "a wrong password" };
      statuses.push((await client.post("/api/auth/login/", wrong, { "x-forwarded-for": `9.9.9.${n}` })).status);
    }
    expect(statuses.slice(0, 10)).toEqual(Array.from({ length: 10 }, () => 401));
    expect(statuses.slice(10)).toEqual([429, 429]);
  });
});
