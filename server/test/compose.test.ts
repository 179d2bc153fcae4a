import { once } from "node:events";
import { chmodSync, mkdtempSync, readFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { httpLimits } from "../src/http/limits.ts";
import { readConfig } from "../src/config/config.ts";
import { hasNginx, startNginx } from "./support/nginx.ts";

/** The content of the compose files. Docker is not run; the load balancer runs in front of small servers. */

type Service = {
  environment?: Record<string, unknown>;
  stop_grace_period?: string;
  env_file?: Array<{ path: string; required: boolean }>;
  volumes?: string[];
  command?: string[];
  ports?: string[];
};
type Compose = { services: Record<string, Service>; volumes: Record<string, { name: string }> };

const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");
const composeOf = (name: string): Compose => parse(read(name), { merge: true }) as Compose;
const single = composeOf("compose.yaml");
const scaled = composeOf("compose.scale.yaml");

/** As Compose replaces variables, with only the required ones set. */
const filledIn = (text: string): string =>
  text
    .replaceAll(/\$\{(?:STORES_PASSWORD|SPANWAY_SECRET_KEY):\?\}/g, "0123456789abcdef")
    .replaceAll(/\$\{\w+:-(.*?)\}/g, "$1");

describe("N11: compose files", () => {
  test.each([
    ["compose.yaml", single, ["spanway"]],
    ["compose.scale.yaml", scaled, ["spanway-1", "spanway-2"]],
  ])("of %s, each node starts with its settings", (_name, { services }, nodes) => {
    for (const node of nodes) {
      const environment = Object.entries(services[node]?.environment ?? {});
      const config = readConfig(Object.fromEntries(environment.map(([key, value]) => [key, filledIn(String(value))])));
      expect(config).toMatchObject({ host: "0.0.0.0", port: 8787, dataDir: "/data", unknownVariables: [] });
      // Docker kills a container that is still running then.
      const graceS = Number(services[node]?.stop_grace_period?.replace(/s$/, ""));
      expect(graceS).toBeGreaterThanOrEqual(config.drainS + (2 * httpLimits.shutdownGraceMs) / 1000);
    }
  });

  test.each([
    ["compose.yaml", single, ["spanway"], []],
    [
      "compose.scale.yaml",
      scaled,
      ["spanway-1", "spanway-2"],
      ["SPANWAY_SPANS_URL", "SPANWAY_CONTROL_URL", "SPANWAY_CACHE_URL"],
    ],
  ])(
    "of %s, each node gets every variable of .env, except those that the file sets",
    (_name, { services }, nodes, shared) => {
      for (const node of nodes) {
        const { env_file, environment = {} } = services[node] ?? {};
        expect(env_file).toEqual([{ path: ".env", required: false }]);
        // A value set here overrides that of .env, unless it refers to it.
        const hidden = Object.entries(environment).filter(([name, value]) => !String(value).startsWith(`\${${name}:`));
        const decided = ["SPANWAY_HOST", "SPANWAY_PORT", "SPANWAY_DATA_DIR", ...shared];
        expect(hidden.map(([name]) => name)).toEqual(decided);
      }
    },
  );

  test.each([
    ["compose.yaml", single],
    ["compose.scale.yaml", scaled],
  ])("of %s, all stored data is in named volumes, each used by one service", (_name, { services, volumes }) => {
    const sources = Object.values(services).flatMap((service) => (service.volumes ?? []).map((v) => v.split(":")));
    const named = sources.map(([source = ""]) => source).filter((source) => !source.startsWith("./"));
    expect([...named].sort()).toEqual(Object.keys(volumes).sort());
    for (const { name } of Object.values(volumes)) expect(name).toMatch(/^spanway-/);
  });

  test("cached answers cannot use all memory", () => {
    expect(scaled.services["valkey"]?.command).toEqual(expect.arrayContaining(["--maxmemory", "--maxmemory-policy"]));
  });

  test("only the proxy is reachable from outside, and it knows every node", () => {
    const published = Object.entries(scaled.services).filter(([, { ports }]) => ports !== undefined);
    expect(published.map(([name]) => name)).toEqual(["proxy"]);
    const nodes = Object.keys(scaled.services).filter((name) => name.startsWith("spanway-"));
    const known = Array.from(
      read("deploy/compose/nginx.conf").matchAll(/server (spanway-\d+):8787/g),
      ([, name]) => name,
    );
    expect(known).toEqual(nodes);
  });
});

describe.skipIf(!hasNginx)(
  `the load balancer of compose.scale.yaml${hasNginx ? "" : " (skipped: there is no nginx)"}`,
  () => {
    async function startNode(name: string): Promise<{ server: Server; port: number }> {
      const server = createServer((request, response) => {
        let bytes = 0;
        request.on("data", (piece: Buffer) => (bytes += piece.byteLength));
        request.on("end", () =>
          response.end(JSON.stringify({ name, bytes, host: request.headers["x-forwarded-host"] })),
        );
      }).listen(0, "127.0.0.1");
      await once(server, "listening");
      return { server, port: (server.address() as AddressInfo).port };
    }

    test("forwards requests to both nodes, large ones too, and to one node when the other stops", async () => {
      const folder = mkdtempSync(join(tmpdir(), "spanway-balancer-"));
      chmodSync(folder, 0o755);
      const [one, two] = await Promise.all([startNode("one"), startNode("two")]);
      const { url, nginx } = await startNginx(folder, "nodes", (address) =>
        read("deploy/compose/nginx.conf")
          .replace("listen 8080;", `listen ${address};`)
          .replace("spanway-1:8787", `127.0.0.1:${one.port}`)
          .replace("spanway-2:8787", `127.0.0.1:${two.port}`),
      );
      try {
        const send = async (size: number) => {
          const answer = await fetch(`${url}/api/request-logs/`, { method: "POST", body: "x".repeat(size) });
          return answer.status === 200
            ? ((await answer.json()) as { name: string; bytes: number; host: string })
            : answer;
        };
        const answers = await Promise.all(Array.from({ length: 10 }, () => send(5_000_000)));
        expect(new Set(answers.map((answer) => "name" in answer && answer.name))).toEqual(new Set(["one", "two"]));
        expect(answers[0]).toMatchObject({ bytes: 5_000_000, host: url.slice("http://".length) });

        two.server.closeAllConnections();
        two.server.close();
        const alone = await Promise.all(Array.from({ length: 20 }, () => send(100)));
        expect(alone.map((answer) => "name" in answer && answer.name)).toEqual(alone.map(() => "one"));
        expect((await fetch(`${url}/metrics`)).status).toBe(403);
      } finally {
        nginx.kill();
        await once(nginx, "exit");
        one.server.close();
        two.server.close();
        await rm(folder, { recursive: true, force: true });
      }
    });
  },
);
