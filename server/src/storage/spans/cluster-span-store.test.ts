import { afterAll, beforeAll } from "vitest";
import { startTestClickHouse, type TestClickHouse } from "../../../test/support/clickhouse-http-server.ts";
import { Secret } from "../../lib/secret.ts";
import { openSpanStore } from "./drivers/open-span-store.ts";
import { describeSpanStore } from "./contract/span-store-contract.ts";

let server: TestClickHouse;
beforeAll(async () => {
  server = await startTestClickHouse("cluster");
});
afterAll(() => server.stop());

describeSpanStore("a cluster of two shards", (bounds = {}) =>
  openSpanStore(
    {
      kind: "clickhouse",
      url: server.url,
      username: "default",
      password: new Secret(""),
      database: "default",
      cluster: "main",
    },
    { bounds },
  ),
);
