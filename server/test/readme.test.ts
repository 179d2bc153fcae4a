import { execFile, spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { programEnvironment } from "./support/server-process.ts";
import { differenceFromShown, elidedText } from "./support/elided.ts";
import { startTestApp, testKeys, type TestApp } from "./support/test-app.ts";

/** Runs documents from top to bottom: each command that is followed by its output has to print that output. */

const documentOf = (name: string) => readFileSync(new URL(`../../${name}`, import.meta.url), "utf8");
const root = new URL("../..", import.meta.url).pathname;
const documentedUrl = "http://127.0.0.1:8787";
const visibleMs = 5_000;

type Example = { command: string; language: "json" | "text"; shown: string };

function examplesIn(markdown: string): Example[] {
  const fence = "```";
  const pair = new RegExp(
    `${fence}sh\\n((?:(?!${fence})[\\s\\S])*)\\n${fence}\\n(?:(?!${fence})[\\s\\S])*?${fence}(json|text)\\n([\\s\\S]*?)\\n${fence}`,
    "g",
  );
  return Array.from(markdown.matchAll(pair), ([, command = "", language = "", shown = ""]) => ({
    command,
    language: language === "json" ? "json" : "text",
    shown,
  }));
}

/** Ids and times are new in each run. */
function parseTimeless(json: string): unknown {
  const uuid = /[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}/g;
  const time = /\d{4}-\d\d-\d\dT[\d:.]+Z/g;
  return JSON.parse(json.replaceAll(uuid, "an id").replaceAll(time, "a time")) as unknown;
}

const hasCurl = spawnSync("curl", ["--version"]).status === 0;

describe.skipIf(!hasCurl)(`examples of documents${hasCurl ? "" : " (skipped: there is no curl)"}`, () => {
  let app: TestApp;
  /** Variables that a reader keeps between commands. */
  let uniqueId = "";
  beforeAll(async () => {
    app = await startTestApp({ SPANWAY_ALLOW_PRIVATE_UPSTREAMS: "127.0.0.1" });
  });
  afterAll(() => app.stop());

  async function run(command: string): Promise<string> {
    const quiet = { npm_config_loglevel: "silent", npm_config_update_notifier: "false" };
    const reader = { SPANWAY_PROD_KEY: testKeys.prod, SPANWAY_URL: app.url, ID: uniqueId };
    const env = { ...programEnvironment(), HOME: process.env["HOME"], ...quiet, ...reader };
    const here = command.replaceAll(documentedUrl, app.url);
    const { stdout } = await promisify(execFile)("bash", ["-euc", here], { cwd: root, env });
    return stdout.replaceAll(app.url, documentedUrl);
  }

  function differenceOf({ language, shown }: Example, printed: string): string | undefined {
    if (language === "json") return differenceFromShown(parseTimeless(shown), parseTimeless(printed));
    return elidedText(shown).test(printed.trim()) ? undefined : `printed ${printed}`;
  }

  const readme = examplesIn(documentOf("README.md"));
  const tour = examplesIn(documentOf("docs/tour.md"));
  const automations = examplesIn(documentOf("docs/automations.md"));

  test("F9: README.md is short, and shows a call and its result", () => {
    expect(documentOf("README.md").split("\n").length).toBeLessThanOrEqual(200);
    const commands = readme.map(({ command }) => command).join("\n");
    for (const part of ["chat/completions", "timeseries/", "export/", "alerts/"]) expect(commands).toContain(part);
    expect(readme).toHaveLength(5);
    // Readable on the first screen.
    const [before = "", call = "", row = ""] = documentOf("README.md")
      .split(/^```\w*\n/m)
      .filter((part) => part !== "\n");
    expect(before).toContain("every call is recorded with prompt, answer, latency and cost");
    expect(documentOf("README.md").match(/```js\n((?:.+\n){1,4})```/)?.index).toBe(before.length);
    expect([call, row]).toEqual([
      expect.stringContaining("baseURL"),
      expect.stringContaining("/api/request-logs/list/"),
    ]);
    expect(documentOf("README.md")).toMatch(/\nWhat you get:\n\n(?:- .+\n){6}\n/);
    expect(documentOf("README.md")).toMatch(/^!\[.+\]\(docs\/images\/.+\)$/m);
  });

  test("F2: commands of the documents name the server by $SPANWAY_URL", () => {
    const names = readdirSync(new URL("../../docs", import.meta.url)).filter((name) => name.endsWith(".md"));
    for (const name of ["README.md", ...names.map((each) => `docs/${each}`)]) {
      const fences = documentOf(name).matchAll(/```(?:sh|js|python)\n([\s\S]*?)```/g);
      // The README defines it.
      const programs = Array.from(fences, ([, program = ""]) => program.replaceAll(/^export SPANWAY_URL=.*$/gm, ""));
      expect([name, programs.filter((program) => program.includes(documentedUrl))]).toEqual([name, []]);
    }
  });

  test("docs/tour.md shows a write, reads of each kind, a trace and the demos", () => {
    const commands = tour.map(({ command }) => command).join("\n");
    for (const part of [
      "npm run demo",
      "npm run demo:judge",
      "list/",
      "summary/",
      "groups/",
      "$ID/",
      "traces/ingest",
      "traces/quiz-1",
    ])
      expect(commands).toContain(part);
    expect(tour).toHaveLength(17);
  });

  test("docs/automations.md creates, tries and uses evaluators of every type", () => {
    const commands = automations.map(({ command }) => command).join("\n");
    for (const part of ['"code"', '"llm"', '"rule"', '"human"', "run/", "conditions/", "automations/", "scores__"])
      expect(commands).toContain(part);
    expect(automations).toHaveLength(12);
  });

  test.each(
    [...readme, ...tour, ...automations].map(
      (example) => [example.command.replace(/\s+/g, " ").slice(0, 100), example] as const,
    ),
  )("%s", async (_name, example) => {
    // Spans are visible a moment after they were accepted. Only reads may be repeated.
    const isRead = /list\/|summary\/|groups\//.test(example.command) || !/^npm| -d /m.test(example.command);
    const deadline = Date.now() + (isRead ? visibleMs : 0);
    let printed = await run(example.command);
    while (differenceOf(example, printed) !== undefined && Date.now() < deadline) {
      await sleep(50);
      printed = await run(example.command);
    }
    expect(differenceOf(example, printed)).toBeUndefined();
    uniqueId = /^\{"id":"([^"]+)"/.exec(printed)?.[1] ?? uniqueId;
  });
});
