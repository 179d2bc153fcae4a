import { runInNewContext } from "node:vm";
import { Validator } from "@seriousme/openapi-schema-validator";
import { Registry } from "prom-client";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { loadDocsPage } from "../../http/docs-page.ts";
import { endpoint, type AnyEndpoint } from "../../http/endpoint.ts";
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

  test("the page shows each operation with a command, also in browsers of before Map.groupBy", async () => {
    const [, script = ""] = /<script>([\s\S]*)<\/script>/.exec((await loadDocsPage()).html) ?? [];
    class Node {
      readonly children: unknown[] = [];
      append = (...children: unknown[]): number => this.children.push(...children);
      replaceChildren = (...children: unknown[]): unknown => this.children.splice(0, Infinity, ...children);
      setAttribute(): void {}
      addEventListener(): void {}
      get textContent(): string {
        return this.children.map((child) => (child instanceof Node ? child.textContent : String(child))).join("");
      }
      set textContent(text: string) {
        this.replaceChildren(text);
      }
      get childElementCount(): number {
        return this.children.length;
      }
    }
    const document = openapiDocument(
      [
        ...(await systemEndpoints(() => ({ ready: true, checks: {} }))),
        endpoint({
          id: "make_demo",
          method: "POST",
          path: "/api/demo/",
          summary: "Make a demo",
          tags: ["Demo"],
          auth: "key",
          query: z.object({ by: z.enum(["model", "trace"]) }),
          body: { kind: "json", schema: z.object({ name: z.string() }), example: { name: "it's" } },
          success: { status: 204 },
          errors: [],
          handler: () => undefined,
        }),
      ],
      { title: "Demo", version: "1.0.0" },
    );
    const places = new Map<string, Node>();
    const querySelector = (name: string) => places.get(name) ?? places.set(name, new Node()).get(name);
    runInNewContext(`delete Map.groupBy; delete Object.groupBy; ${script}`, {
      document: { querySelector, createElement: () => new Node() },
      location: { origin: "http://host", pathname: "/docs", hash: "" },
      fetch: () => Promise.resolve({ ok: true, json: () => Promise.resolve(JSON.parse(JSON.stringify(document))) }),
    });
    await expect.poll(() => places.get("#operations")?.textContent).toContain("Make a demo");
    const text = places.get("#operations")?.textContent ?? "";
    expect(text).toContain("curl -X GET 'http://host/livez'");
    expect(text).toContain(
      [
        "curl -X POST 'http://host/api/demo/?by=model'",
        '-H "Authorization: Bearer $SPANWAY_PROD_KEY"',
        "-H 'Content-Type: application/json'",
        `-d '{"name":"it'\\''s"}'`,
      ].join(" \\\n  "),
    );
  });
});
