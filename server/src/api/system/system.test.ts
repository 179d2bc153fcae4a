import { Validator } from "@seriousme/openapi-schema-validator";
import { Registry } from "prom-client";
import { describe, expect, test } from "vitest";
import { type AnyEndpoint } from "../../http/endpoint.ts";
import { openapiDocument } from "../../http/openapi.ts";
import { startServer } from "../../http/test-support.ts";
import { getDocs } from "./get-docs.ts";
import { getLivez } from "./get-livez.ts";
import { getMetrics } from "./get-metrics.ts";
import { getOpenapi } from "./get-openapi.ts";
import { getReadyz, type Checks } from "./get-readyz.ts";

function systemEndpoints(checks: () => Checks): AnyEndpoint[] {
  const registry = new Registry();
  const endpoints: AnyEndpoint[] = [
    getLivez(),
    getReadyz({ readiness: { traffic: async () => checks(), reads: async () => ({}) } }),
    getMetrics({ registry }),
    getDocs({ page: undefined }),
    getOpenapi({ document: () => openapiDocument(endpoints, { title: "Demo", version: "1.0.0" }) }),
  ];
  return endpoints;
}

describe("system endpoints", () => {
  test("live, ready, metrics, document and page are served without credentials", async () => {
    let ready = false;
    const server = await startServer({
      endpoints: systemEndpoints(() => ({ journal: ready ? "ok" : "full" })),
    });
    const get = (path: string) => fetch(server.url + path);
    try {
      expect(await (await get("/livez")).json()).toEqual({ status: "ok" });

      const notYet = await get("/readyz");
      expect(notYet.status).toBe(503);
      expect(await notYet.json()).toEqual({ ready: false, checks: { journal: "full" } });
      ready = true;
      expect((await get("/readyz/")).status).toBe(200);

      const unbuilt = await get("/docs");
      expect([unbuilt.status, await unbuilt.text()]).toEqual([503, expect.stringContaining("npm run build:web")]);
      expect((await get("/metrics")).headers.get("content-type")).toMatch(/^text\/plain/);
      const document = JSON.parse(await (await get("/openapi.json")).text());
      expect(await new Validator().validate(document)).toMatchObject({ valid: true });
    } finally {
      await server.close();
    }
  });
});
