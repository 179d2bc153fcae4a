import { execFile, spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { differenceFromShown } from "./support/elided.ts";
import { programEnvironment } from "./support/server-process.ts";
import { completion } from "./support/chat.ts";
import { startTestGateway, type TestGateway } from "./support/gateway.ts";
import { answers } from "./support/scripted-upstream.ts";
import { roundTrip } from "./support/spans.ts";
import { testAdmin, testKeys } from "./support/test-app.ts";
import type { Row, TestClient } from "./support/test-client.ts";

/** F10: the curl commands of the guides succeed, one after the other, as a reader would run them. */

const pages = [
  "alerts",
  "analytics",
  "caching",
  "costs",
  "exports",
  "fallbacks",
  "feedback",
  "filter-language",
  "live-tail",
  "mcp",
  "metrics",
  "people",
  "provider-differences",
  "providers",
  "rotate-a-key",
  "routing",
  "saved-views",
  "set-a-budget",
  "webhooks",
  // Deletes objects of other examples.
  "delete-data",
];

/** A response of Anthropic. */
const message = {
  id: "msg_1",
  type: "message",
  role: "assistant",
  model: "claude-sonnet-4-6",
  content: [{ type: "text", text: "Canberra." }],
  stop_reason: "end_turn",
  usage: { input_tokens: 10, output_tokens: 3 },
};

const commandsOf = (page: string): string[] =>
  Array.from(
    readFileSync(new URL(`../../docs/${page}.md`, import.meta.url), "utf8").matchAll(
      /```sh\n((?:[A-Z_]+=\$\()?curl [\s\S]*?)\n```/g,
    ),
    ([, command = ""]) => command,
  );

const hasCurl = spawnSync("curl", ["--version"]).status === 0;

describe.skipIf(!hasCurl)(`the commands of${hasCurl ? "" : " (skipped: there is no curl)"}`, () => {
  let gateway: TestGateway;
  let admin: TestClient;
  /** Values that a reader fills in. */
  let filledIn: Record<string, string>;
  beforeAll(async () => {
    gateway = await startTestGateway();
    gateway.upstream.script((connection, request) =>
      answers(200, request.path === "/v1/messages" ? message : completion())(connection, request),
    );
    const { app } = gateway;
    const login = await app.prod.post("/api/auth/login/", testAdmin);
    admin = await app.login();
    const key = (await admin.post("/api/api-keys/", { name: "Old", environment: "prod" })).json as Row;
    const me = (await admin.get("/api/auth/me/")).json as { organization: Row };
    const invited = (await admin.post("/api/members/", { email: "bob@example.com", role: "member" })).json as Row;
    const span = await app.prod.post("/api/request-logs/", {
      customer_identifier: "acme",
      trace_unique_id: "trace-1",
      span_unique_id: "span-1",
    });
    await app.prod.waitForSpans(1);
    filledIn = {
      SPANWAY_URL: app.url,
      SPANWAY_PROD_KEY: testKeys.prod,
      ACCESS_TOKEN: String((login.json as Row)["access"]),
      OLD_ID: String(key["id"]),
      ORGANIZATION_ID: String(me.organization["unique_organization_id"]),
      TRACE_ID: "trace-1",
      SPAN_ID: String((span.json as Row)["unique_id"]),
      INVITE_TOKEN: String(invited["invite_token"]),
    };
  });
  afterAll(() => gateway.stop());

  /** `ID` is the id of the page's object. */
  async function idFor(page: string): Promise<string> {
    if (page === "costs") return String(filledIn["SPAN_ID"]);
    const paths: Record<string, string> = { people: "/api/members/", alerts: "/api/alerts/" };
    const client = page === "people" ? admin : gateway.app.prod;
    const path = paths[page] ?? "/api/providers/";
    const { results } = (await client.get(path)).json as { results: Row[] };
    const found = results.find(({ email }) => email !== testAdmin.email);
    return JSON.stringify(found?.["id"] ?? "").slice(1, -1);
  }

  test.each(pages.flatMap((page) => commandsOf(page).map((command) => [page, command] as const)))(
    "%s.md: %s",
    async (page, command) => {
      const signIn = command.replace("admin@spanway.local", testAdmin.email).replace('"…"', `"${testAdmin.password}"`);
      const strict = `curl() { command curl --fail-with-body "$@"; }\n${signIn}`;
      const env = { ...programEnvironment(), ...filledIn, ID: await idFor(page) };
      const options = { env, cwd: process.env["TMPDIR"] };
      const { stdout } = await promisify(execFile)("bash", ["-euo", "pipefail", "-c", strict], options).catch(
        (error: { stdout: string; message: string }) => ({ stdout: `failed: ${error.stdout} ${error.message}` }),
      );
      expect(stdout).not.toMatch(/^failed/);
    },
  );

  test.each(pages)("%s.md has commands", (page) => {
    expect(commandsOf(page).length).toBeGreaterThan(0);
  });

  const references = ["all-limits", "gateway-reference", "glossary", "limits"];
  /** Two pages are about changing the source, and one is about the screens. */
  const others = ["adding-a-convention", "adding-a-provider", "web"];
  const guides = readdirSync(new URL("../../docs", import.meta.url)).flatMap(
    (name) => /^(.+)\.md$/.exec(name)?.[1] ?? [],
  );
  test.each(guides.filter((page) => ![...references, ...others].includes(page)))(
    "F10: %s.md starts with an example, after a few sentences at most",
    (page) => {
      const text = readFileSync(new URL(`../../docs/${page}.md`, import.meta.url), "utf8");
      const [before = ""] = text.split(/^```/m);
      expect([page, before.length < text.length, before.length < 1_500]).toEqual([page, true, true]);
    },
  );

  const programs = [
    ["js", process.execPath, ["--input-type=module", "-e"]],
    ["python", "python3", ["-c"]],
  ] as const;
  const installed = programs.filter(([, program]) => spawnSync(program, ["--version"]).status === 0);

  test("costs.md shows the receipt of the usage that it names", async () => {
    const page = readFileSync(new URL("../../docs/costs.md", import.meta.url), "utf8");
    const [, shown = "{}"] = /```jsonc\n([\s\S]*?)```/.exec(page) ?? [];
    const usage = {
      input_tokens: 1200,
      cache_read_input_tokens: 4000,
      cache_creation_input_tokens: 500,
      output_tokens: 85,
    };
    const span = await roundTrip(gateway.app.prod, { model: "claude-sonnet-4-6", provider_id: "anthropic", usage });
    expect(differenceFromShown(JSON.parse(shown), span)).toBeUndefined();
  });

  test.each(installed)("send-spans.md: the shortest span, in %s", async (language, program, options) => {
    const page = readFileSync(new URL("../../docs/send-spans.md", import.meta.url), "utf8");
    const [, snippet = ""] = new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``).exec(page) ?? [];
    const env = { ...programEnvironment(), ...filledIn };
    const { stdout } = await promisify(execFile)(program, [...options, snippet], { env });
    expect(stdout.trim()).toMatch(/^[\da-f-]{36}$/);
  });
});
