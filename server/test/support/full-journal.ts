import { freePort } from "./free-port.ts";
import { startTestApp, type TestApp } from "./test-app.ts";

/** A server that refuses spans with 503: its span store does not respond, and its journal is full. */
export async function startWithFullJournal(): Promise<TestApp> {
  const app = await startTestApp({
    SPANWAY_SPANS_URL: `http://127.0.0.1:${await freePort()}`,
    SPANWAY_JOURNAL_MAX_BYTES: "1MiB",
  });
  const { status } = await app.prod.post("/api/request-logs/", { input: "x".repeat(2 ** 20) });
  if (status !== 201) throw new Error(`filling the journal answered ${status}`);
  return app;
}
