import { Validator } from "@seriousme/openapi-schema-validator";
import { Registry } from "prom-client";
import { describe, expect, test } from "vitest";
import { loadDocsPage } from "../../http/docs-page.ts";
import type { AnyEndpoint } from "../../http/endpoint.ts";
import { openapiDocument } from "../../http/openapi.ts";
import { startServer } from "../../http/test-support.ts";
import { getDocs } from "./get-docs.ts";
import { getLivez } from "./get-livez.ts";
import { getMetrics } from "./get-metrics.ts";
import { getOpenapi } from "./get-openapi.ts";
import { getReadyz, type Readiness } from "./get-readyz.ts";

async function systemEndpoints(readiness: () => Readiness): Promise<AnyEndpoint[]> {
  const registry = new Registry();
  const endpoints: AnyEndpoint[] = [
    getLivez(),
    getReadyz({ readiness }),
    getMetrics({ registry }),
    getDocs({ page: await loadDocsPage() }),
    getOpenapi({ document: () => openapiDocument(endpoints, { title: "Demo", version: "1.0.0" }) }),
  ];
  return endpoints;
}

describe("system endpoints", () => {
  test("live, ready, metrics, document and page are served without credentials", async () => {
    let ready = false;
    const server = await startServer({
      endpoints: await systemEndpoints(() => ({ ready, checks: { journal: ready ? "ok" : "replaying" } })),
    });
    const get = (path: string) => fetch(server.url + path);
    try {
      expect(await (await get("/livez")).json()).toEqual({ status: "ok" });

      const notYet = await get("/readyz");
      expect(notYet.status).toBe(503);
      expect(await notYet.json()).toEqual({ ready: false, checks: { journal: "replaying" } });
      ready = true;
      expect((await get("/readyz/")).status).toBe(200);

      expect((await get("/metrics")).headers.get("content-type")).toMatch(/^text\/plain/);
      const document = JSON.parse(await (await get("/openapi.json")).text());
      expect(await new Validator().validate(document)).toMatchObject({ valid: true });
    } finally {
      await server.close();
    }
  });

  test("the page asks nothing of another host, and its policy allows exactly its own script and style", async () => {
    const server = await startServer({ endpoints: await systemEndpoints(() => ({ ready: true, checks: {} })) });
    const response = await fetch(`${server.url}/docs/`);
    const html = await response.text();
    await server.close();
    expect(response.headers.get("content-type")).toBe("text/html; charset=utf-8");
    expect(html).not.toMatch(/(?:src|href)=|https?:\/\//);

    const policy = response.headers.get("content-security-policy") ?? "";
    expect(policy).toContain("default-src 'none'");
    expect(policy).not.toMatch(/unsafe|\*/);
    for (const name of ["style", "script"]) {
      const text = new RegExp(`<${name}>([\\s\\S]*)</${name}>`).exec(html)?.[1] ?? "";
      const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
      expect(policy).toContain(`${name}-src 'sha256-${Buffer.from(digest).toString("base64")}'`);
    }
  });
});
