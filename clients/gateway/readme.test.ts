import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { expect, inject, test } from "vitest";
import { createClient } from "../../server/test/support/test-client.ts";
import { newOrganization } from "../support/run-client.ts";
import { capital } from "./upstream/scene.ts";

const readme = readFileSync(new URL("../../README.md", import.meta.url), "utf8");
const documentedUrl = "http://127.0.0.1:8787";
const [, snippet = ""] = /```js\n([^`]*from "openai"[^`]*)```/.exec(readme) ?? [];

/** What the README's program prints: as it is, and with the real model that the README names. */
test.each([
  ["spanway/echo", { model: "echo", provider_id: "spanway" }, "Which city is the capital of Australia?"],
  ["gpt-4o-mini", { model: "gpt-4o-mini", provider_id: "openai" }, capital],
])("the README's example of the openai SDK with %s", async (model, served, printed) => {
  expect(snippet).toContain('"spanway/echo"');
  expect(snippet).toContain(documentedUrl);
  expect(readme).toContain(model);
  const url = inject("serverUrl");
  const key = await newOrganization(url);
  const program = snippet.replace(documentedUrl, url).replace("spanway/echo", model);
  expect(await run(program, { SPANWAY_PROD_KEY: key })).toBe(`${printed}\n`);
  const { results } = await createClient(url, key).waitForSpans(1);
  expect(results).toMatchObject([{ ...served, stream: false, status_code: 200 }]);
});

/** As a module beside what is installed here. */
function run(program: string, variables: Record<string, string>): Promise<string> {
  const options = { cwd: import.meta.dirname, env: { PATH: process.env["PATH"], ...variables }, timeout: 30_000 };
  return new Promise((resolve, reject) => {
    const child = execFile(process.execPath, ["--input-type=module", "-"], options, (error, stdout) => {
      if (error) reject(error);
      else resolve(stdout);
    });
    child.stdin?.end(program);
  });
}
