import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, expect, test } from "vitest";

/** M18: `npm run compare-prices` compares the table with a second one. */

const folder = mkdtempSync(join(tmpdir(), "spanway-compare-"));
afterAll(() => rm(folder, { recursive: true, force: true }));
const script = fileURLToPath(new URL("../../scripts/compare-prices.ts", import.meta.url));

function compare(entries: Record<string, object>): Promise<{ code: number; stdout: string }> {
  const path = join(folder, "prices.json");
  const others = Array.from({ length: 60 }, (_, at) => [
    `m${at}`,
    { litellm_provider: "x", input_cost_per_token: 1e-6 },
  ]);
  writeFileSync(path, JSON.stringify({ ...Object.fromEntries(others), ...entries }));
  return new Promise((resolve) => {
    execFile(process.execPath, [script, path], (error, stdout) => resolve({ code: Number(error?.code ?? 0), stdout }));
  });
}

const gpt4o = { litellm_provider: "openai", input_cost_per_token: 2.5e-6, output_cost_per_token: 1e-5 };

test("M18: a price that is equal to 1 % is no difference, and a larger difference fails the check", async () => {
  const same = await compare({ "gpt-4o": { ...gpt4o, output_cost_per_token: 1.005e-5 } });
  expect(same).toMatchObject({ code: 0, stdout: expect.stringMatching(/300 models: 0 differences to look up/) });
  const { code, stdout } = await compare({ "gpt-4o": { ...gpt4o, output_cost_per_token: 1.2e-5 } });
  expect([code, stdout]).toEqual([1, expect.stringContaining("openai/gpt-4o output: 10 here, 12 there")]);
  const gap = await compare({ "gpt-4o": { ...gpt4o, input_cost_per_audio_token: 1e-4 } });
  expect([gap.code, gap.stdout]).toEqual([1, expect.stringMatching(/openai\/gpt-4o \w+: no price here, 100 there/)]);
});

test("M18: a step of a longer prompt is compared too", async () => {
  const stepped = { ...gpt4o, input_cost_per_token_above_200k_tokens: 5e-6 };
  const { code, stdout } = await compare({ "gpt-4o": stepped });
  expect([code, stdout]).toEqual([1, expect.stringContaining("openai/gpt-4o input, long prompt: 2.5 here, 5 there")]);
});

test("M18: a known difference passes as long as our price is the value that was looked up", async () => {
  const regional = { litellm_provider: "bedrock_converse", input_cost_per_token: 3e-6, output_cost_per_token: 1.5e-5 };
  const { code, stdout } = await compare({ "anthropic.claude-sonnet-4-6": regional });
  expect([code, stdout]).toEqual([0, expect.stringMatching(/0 differences to look up, 3 known ones/)]);
});

test("M18: the steps of a release compare the table before the changelog is closed", () => {
  const read = (name: string) => readFileSync(new URL(`../../${name}`, import.meta.url), "utf8");
  const [, steps = ""] = read("CONTRIBUTING.md").split("\n## A release\n");
  expect(steps).toMatch(/\n2\. Prices:[^]*```sh\n +npm run compare-prices -- [^]*\n3\. /);
  const { scripts } = JSON.parse(read("package.json")) as { scripts: Record<string, string> };
  expect(scripts["compare-prices"]).toBe("node scripts/compare-prices.ts");
});
