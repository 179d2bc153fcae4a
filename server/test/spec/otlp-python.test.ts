import { afterAll, beforeAll, expect, test } from "vitest";
import { wholeSpans } from "../support/otlp.ts";
import {
  expectedPython,
  pythonCaptures,
  summarizePythonSpan,
  summarizePythonTraces,
  type PythonSetUp,
} from "../support/otlp-python.ts";
import { inAnyOrder } from "../support/otlp-summary.ts";
import { settle } from "../support/spans.ts";
import { startTestApp, type TestApp } from "../support/test-app.ts";
import type { TestClient } from "../support/test-client.ts";

/**
 * The exports of each Python SDK, all files of a set-up together, are posted unchanged and read back through the API.
 */
const captures = pythonCaptures();
const expectations = await expectedPython();
const clients = new Map<string, TestClient>();

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
  for (const [setUp, sent] of captures) {
    const { prod } = await app.newOrganization();
    clients.set(setUp, prod);
    for (const { file, path, contentType, body } of sent) {
      const answer = await prod.post(servedPath(path), body, { "content-type": contentType });
      if (answer.status !== 200) throw new Error(`${file} answered ${answer.status}: ${answer.text}`);
    }
  }
  await settle(app.prod);
}, 120_000);
afterAll(() => app.stop());

test.each(expectations)("%s", async (setUp, expected) => {
  const client = clients.get(setUp);
  if (!client) throw new Error(`there is no capture of ${setUp}`);
  await expect
    .poll(async () => inOrder(await storedSetUp(client)), { timeout: 15_000, interval: 200 })
    .toEqual(inOrder(expected));
});

test("every set-up has an expectation", () => {
  expect(expectations.map(([setUp]) => setUp).toSorted()).toEqual([...captures.keys()].toSorted());
});

/** Langfuse's own path is Basic-authenticated and tested elsewhere. */
function servedPath(path: string): string {
  return path === "/api/public/otel/v1/traces" ? "/api/v2/traces" : path;
}

async function storedSetUp(client: TestClient): Promise<PythonSetUp> {
  const rows = await wholeSpans(client, { log_type: { operator: "not", value: ["marker"] } });
  const spans = rows.map((row) => summarizePythonSpan(row, rows));
  return { traces: await summarizePythonTraces(client), spans };
}

function inOrder({ traces, spans }: PythonSetUp): PythonSetUp {
  return {
    traces: traces.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1)),
    spans: inAnyOrder(spans),
  };
}
