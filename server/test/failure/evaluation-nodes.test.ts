import { afterAll, describe, expect, test } from "vitest";
import { startTestClickHouse } from "../support/clickhouse-http-server.ts";
import { eventually, newAutomation, newEvaluator } from "../support/evaluation.ts";
import { createPostgresDatabase, postgresSkipReason, postgresUrl } from "../support/postgres.ts";
import { newDataDir, startServerProcess } from "../support/server-process.ts";
import type { ListAnswer } from "../support/test-client.ts";

const folders = [newDataDir(), newDataDir()] as const;
afterAll(() => Promise.all(folders.map((folder) => folder.remove())));

describe.skipIf(postgresUrl === undefined)(`two nodes over one Postgres${postgresSkipReason}`, () => {
  test("together judge each log once, from the creation of an automation on", async () => {
    const [clickhouse, database] = [await startTestClickHouse(), await createPostgresDatabase()];
    const stores = {
      SPANWAY_SPANS_URL: clickhouse.url,
      SPANWAY_CONTROL_URL: database.url.reveal(),
      SPANWAY_SECRET_KEY: "a secret that both nodes know",
    };
    const start = ({ path }: { path: string }) => startServerProcess(path, stores);
    const [first, second] = await Promise.all([start(folders[0]), start(folders[1])]);
    try {
      // The number of code runs reveals a double run, because a second score of a log is not stored.
      const evaluator = await newEvaluator(first.prod);
      await newAutomation(first.prod, { evaluator_ids: [evaluator["id"]] });
      const total = 400;
      const scores = async () =>
        ((await first.prod.get(`/api/scores/?evaluator_id=${String(evaluator["id"])}`)).json as ListAnswer).count;
      const scored = (count: number) => eventually(async () => ((await scores()) >= count ? true : undefined), 20_000);
      // The other node loads the new automation only within the next five seconds.
      const early = Array.from({ length: 20 }, (_, i) => ({ output: `early ${i}` }));
      expect((await second.prod.post("/api/request-logs/bulk/", { logs: early })).status).toBe(201);
      await scored(early.length);
      await Promise.all(
        [first, second].map(({ prod }) =>
          prod.post("/api/request-logs/bulk/", {
            logs: Array.from({ length: total / 2 }, (_, i) => ({ output: "x".repeat(i + 1) })),
          }),
        ),
      );
      await scored(early.length + total);
      expect(await scores()).toBe(early.length + total);
      expect(await sandboxRuns(first.url, second.url)).toBe(early.length + total);
    } finally {
      await Promise.all([first.kill("SIGTERM"), second.kill("SIGTERM")]);
      await clickhouse.stop();
      await database.drop();
    }
  }, 60_000);
});

async function sandboxRuns(...urls: string[]): Promise<number> {
  const texts = await Promise.all(urls.map(async (url) => (await fetch(`${url}/metrics`)).text()));
  return texts
    .flatMap((text) => text.match(/(?<=^spanway_sandbox_runs_total\{outcome="ok"\} )\d+/gm) ?? [])
    .reduce((sum, runs) => sum + Number(runs), 0);
}
