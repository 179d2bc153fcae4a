import { expect, test } from "vitest";
import { newDataDir, startServerProcess } from "../support/server-process.ts";
import { createSpan, listSpans, retrieveSpan } from "../support/spans.ts";

test("a change of a span outlives a server that is killed", async () => {
  const folder = newDataDir();
  try {
    const first = await startServerProcess(folder.path);
    const id = String((await createSpan(first.prod, { input: "hi" }))["unique_id"]);
    const change = { note: "kept", is_pinned: true };
    expect((await first.prod.request("PATCH", `/api/request-logs/${id}/`, change)).status).toBe(200);
    await first.kill("SIGKILL");
    const second = await startServerProcess(folder.path);
    expect(await retrieveSpan(second.prod, id)).toMatchObject(change);
    expect((await listSpans(second.prod, { is_pinned: true })).count).toBe(1);
    await second.kill("SIGTERM");
  } finally {
    await folder.remove();
  }
});
