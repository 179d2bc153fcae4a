import { execFile } from "node:child_process";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { programs } from "../support/server-process.ts";
import { startTestApp, type TestApp } from "../support/test-app.ts";
import type { Answer, TestClient } from "../support/test-client.ts";

const control = join(tmpdir(), `spanway-blocked-${process.pid}.db`);
let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ SPANWAY_CONTROL_URL: `sqlite:${control}` });
});
afterAll(async () => {
  await app.stop();
  await Promise.all(["", "-wal", "-shm"].map((suffix) => rm(control + suffix, { force: true })));
});

const bulk = (client: TestClient) => client.post("/api/request-logs/bulk/", { logs: [{ input: "a row" }] });

/** As an operator does, in a separate process. */
const admin = (...words: string[]) =>
  promisify(execFile)(process.execPath, [...programs.admin, ...words], {
    env: { SPANWAY_CONTROL_URL: `sqlite:${control}` },
  });

/** Servers apply it within seconds. */
async function answersWith(status: number, send: () => Promise<Answer>): Promise<Answer> {
  for (let tries = 0; ; tries += 1) {
    const answer = await send();
    if (answer.status === status || tries === 100) return answer;
    await sleep(100);
  }
}

test(
  "a blocked organization writes nothing until it is unblocked; it can still read and delete, and others are unaffected",
  { timeout: 30_000 },
  async () => {
    const { unique_organization_id: id, prod, test: testKey } = await app.newOrganization();
    expect((await bulk(prod)).status).toBe(201);
    expect((await prod.waitForSpans(1)).count).toBe(1);
    await admin("organizations", "block", "--organization", id);

    expect(await answersWith(400, () => bulk(prod))).toMatchObject({
      status: 400,
      json: { detail: expect.stringContaining("blocked"), code: "organization_blocked" },
    });
    for (const client of [prod, testKey]) {
      for (const path of ["/api/request-logs/", "/api/v1/traces/ingest", "/api/scores/", "/api/chat/completions"]) {
        const answer = await client.post(path, { input: "a row" });
        expect([path, answer.status]).toEqual([path, 400]);
        expect(answer.text).toContain("organization_blocked");
      }
      // google.rpc.Code.PERMISSION_DENIED; exporters do not retry after 400.
      expect(await client.post("/v1/traces", {})).toMatchObject({ status: 400, json: { code: 7 } });
    }
    expect((await prod.list()).count).toBeGreaterThan(0);
    expect((await prod.request("DELETE", "/api/traces/none/")).status).toBe(200);
    expect((await bulk(app.prod)).status).toBe(201);

    await admin("organizations", "unblock", "--organization", id);
    expect((await answersWith(201, () => bulk(prod))).status).toBe(201);
  },
);

test("an organization that does not exist cannot be blocked", async () => {
  await expect(admin("organizations", "block", "--organization", "nobody")).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringContaining("nobody"),
  });
});
