import { afterAll, expect, test } from "vitest";
import { startTestClickHouse } from "../support/clickhouse-http-server.ts";
import { newDataDir, startServerProcess } from "../support/server-process.ts";
import { createSpan, retrieveSpan } from "../support/spans.ts";

const folder = newDataDir();
afterAll(() => folder.remove());

/** An installation without the package. */
const hidden = `import { registerHooks } from "node:module";
registerHooks({
  resolve(name, context, next) {
    if (name === "chdb") throw Object.assign(new Error("hidden"), { code: "MODULE_NOT_FOUND" });
    return next(name, context);
  },
});`;
const withoutChdb = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(hidden)}` };

test("without the package of the embedded engine a node runs with a ClickHouse server, and otherwise names the missing package", async () => {
  const refusal = await startServerProcess(folder.path, withoutChdb).catch(String);
  expect(refusal).toContain("no embedded span store: set SPANWAY_SPANS_URL to a ClickHouse server");
  expect(refusal).not.toMatch(/ {4}at /);
  const clickhouse = await startTestClickHouse();
  const server = await startServerProcess(folder.path, { ...withoutChdb, SPANWAY_SPANS_URL: clickhouse.url });
  const { unique_id } = await createSpan(server.prod, { input: "over a server" });
  expect(await retrieveSpan(server.prod, unique_id)).toMatchObject({ input: "over a server" });
  await server.kill("SIGTERM");
  await clickhouse.stop();
}, 60_000);
