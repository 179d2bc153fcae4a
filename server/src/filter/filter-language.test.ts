import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { SpanRow } from "../domain/span.ts";
import { domainLimits } from "../domain/limits.ts";
import { filterLimits } from "./limits.ts";
import type { Filter } from "./ast.ts";
import { compileMatcher } from "./match.ts";
import { indexMetadata } from "./metadata-index.ts";
import { operatorsOf } from "./operators.ts";
import { parseFilters } from "./parse.ts";
import { parseQuickFilters } from "./quick-filters.ts";
import { createSpanCatalogue } from "./span-fields.ts";
import type { SpanTable } from "./span-table.fixture.ts";
import { openSpanTable } from "./span-table.fixture.ts";

/** Every example of docs/filter-language.md, in both interpreters. */

const page = readFileSync(new URL("../../../docs/filter-language.md", import.meta.url), "utf8");
const catalogue = createSpanCatalogue();
const rows = readRows();

type Example = { text: string; answer: string };

/** The rows of the tables whose second column has this heading. */
function examplesUnder(pattern: RegExp): Example[] {
  const examples: Example[] = [];
  let inside = false;
  for (const line of page.split("\n")) {
    if (!line.startsWith("|")) inside = false;
    else if (pattern.test(line)) inside = true;
    const [, text, answer] = /^\| `(.+?)` \| ?([^|]*?) ?\|/.exec(line) ?? [];
    if (inside && text !== undefined && answer !== undefined && !pattern.test(line)) examples.push({ text, answer });
  }
  return examples;
}

function readRows(): SpanRow[] {
  const block = /```json rows\n(.*?)```/s.exec(page)?.[1] ?? "";
  const parsed = JSON.parse(block) as Array<Partial<SpanRow>>;
  return parsed.map((row, index): SpanRow => {
    const metadata = (row.metadata ?? {}) as Record<string, unknown>;
    const visible = Object.fromEntries(Object.entries(metadata).filter(([key]) => !key.startsWith("_")));
    const defaults = {
      organization_id: "org",
      environment: "prod",
      timestamp: "",
      unique_id: `00000000-0000-4000-8000-00000000000${index}`,
      version: "1",
    } as const;
    return Object.assign(defaults, row, { metadata: visible, metadata_index: indexMetadata(metadata) });
  });
}

function findInMemory(filter: Filter): string[] {
  const matches = compileMatcher(filter, catalogue);
  return rows.filter((row) => matches(row)).map((row) => row.span_name ?? "");
}

const names = (answer: string) => answer.split(" ").filter((name) => name !== "");

let table: SpanTable;
beforeAll(async () => {
  table = await openSpanTable(catalogue);
  await table.insert(rows);
});
afterAll(async () => {
  await table.close();
});

describe("the examples of the page", () => {
  const bodies = examplesUnder(/^\| `filters` \| finds/);
  const urls = examplesUnder(/^\| query \| finds/);
  const refused = examplesUnder(/^\| `filters` \| refused/);

  test("are found", () => {
    expect(rows).toHaveLength(4);
    expect(bodies.length).toBeGreaterThan(60);
    expect(urls.length).toBeGreaterThan(5);
    expect(refused.length).toBeGreaterThan(5);
  });

  test.each(bodies)("$text finds $answer", async ({ text, answer }) => {
    const { filter } = parseFilters(JSON.parse(text), catalogue);
    expect(findInMemory(filter)).toEqual(names(answer));
    expect(await table.find(filter)).toEqual(names(answer));
  });

  test.each(urls)("$text finds $answer", async ({ text, answer }) => {
    const { filter } = parseQuickFilters(new URLSearchParams(text), catalogue, []);
    expect(findInMemory(filter)).toEqual(names(answer));
    expect(await table.find(filter)).toEqual(names(answer));
  });

  test.each(refused)("$text is refused", ({ text, answer }) => {
    expect(() => parseFilters(JSON.parse(text), catalogue)).toThrow(answer);
  });

  test("show every operator", () => {
    const shown = bodies.flatMap(({ text }) => [...text.matchAll(/"operator": "(\w+)"/g)].map((match) => match[1]));
    for (const operator of operatorsOf("text").filter((one) => one !== "equal")) expect(shown).toContain(operator);
  });
});

describe("the page", () => {
  test("names every field", () => {
    const section = page.slice(page.indexOf("## Fields"), page.indexOf("## Metadata"));
    for (const { name } of catalogue.fields) expect(section).toContain(`\`${name}\``);
    const named = [...section.split("| `filters`")[0]!.matchAll(/`([a-z_]+)`/g)].map((match) => match[1] ?? "");
    const words = new Set(["success", "failed", "ok", "error", "contains", "icontains"]);
    for (const name of named.filter((one) => !words.has(one)))
      expect([name, catalogue.find(name)?.name]).not.toContain(undefined);
  });

  test("gives the bounds in force", () => {
    const { filterConditions, filterValues, filterValueChars, filterChars, filterDepth } = filterLimits;
    expect(page).toContain(
      `Bounds: ${filterConditions} conditions, ${filterValues} values each, ${filterValueChars} characters a value, ${filterChars} characters together, groups ${filterDepth} deep.`,
    );
    expect(page.replaceAll("\n", " ")).toContain(
      `look for ${filterLimits.filterSearchTexts} texts in one request, its body and URL together, of ${filterLimits.filterSearchChars} characters together`,
    );
    expect(page).toContain(`A request may have ${domainLimits.newMessagesConditions} conditions on it`);
    expect(page).toContain(`${filterLimits.metadataJsonChars / 1024} Ki characters`);
    expect(page).toContain(`levels deeper than ${filterLimits.metadataIndexDepth} `);
    expect(page).toContain(`beyond ${filterLimits.metadataKeys} entries`);
  });
});
