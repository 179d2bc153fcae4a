import { readFileSync } from "node:fs";
import { expect, inject, test } from "vitest";
import { createClient } from "../../server/test/support/test-client.ts";
import { newOrganization } from "../support/run-client.ts";
import { runSnippet, snippetsOf } from "../support/run-snippet.ts";
import { capital } from "./upstream/scene.ts";

const readme = readFileSync(new URL("../../README.md", import.meta.url), "utf8");
const snippet = snippetsOf("README.md").find((program) => program.includes('from "openai"')) ?? "";
const [, row = "{}"] = /```jsonc\n([\s\S]*?)```/.exec(readme) ?? [];

/** Compares types only, since a model's text varies. */
const shapeOf = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(shapeOf);
  if (typeof value !== "object" || value === null) return typeof value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, shapeOf(member)]));
};

/** The README's program, with the model that it names and with the one that needs no provider. */
test.each([
  ["gpt-4o-mini", { model: "gpt-4o-mini", provider_id: "openai" }, capital],
  ["spanway/echo", { model: "echo", provider_id: "spanway" }, "Which city is the capital of Australia?"],
])(
  "F9: the README's first program with %s prints the response, and its row is as shown",
  async (model, served, printed) => {
    expect(snippet).toContain('"gpt-4o-mini"');
    const url = inject("serverUrl");
    const key = await newOrganization(url);
    const program = snippet.replace("gpt-4o-mini", model);
    expect(await runSnippet(program, { SPANWAY_URL: url, SPANWAY_PROD_KEY: key })).toBe(`${printed}\n`);
    const { results } = await createClient(url, key).waitForSpans(1);
    expect(results).toMatchObject([{ ...served, stream: false, status_code: 200 }]);
    const shown = JSON.parse(row) as Record<string, unknown>;
    delete shown["…"];
    expect(shapeOf(results[0])).toMatchObject(shapeOf(shown) as object);
  },
);
