import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { mapped } from "../map-span.fixture.ts";

/** docs/opentelemetry.md documents the attributes: each one in a table is tested on its own. */

const text = readFileSync(new URL("../../../../../docs/opentelemetry.md", import.meta.url), "utf8");
const cellsOf = (line: string): string[] =>
  line
    .split("|")
    .slice(1, -1)
    .map((cell) => cell.trim());

/** The rows of the table below a heading, as attributes by column. */
function table(heading: string): Array<[family: string, column: string, attributes: string[]]> {
  const [, section = ""] = text.split(`\n## ${heading}\n`);
  const [head = "", , ...lines] = (section.split("\n## ")[0] ?? "").split("\n").filter((line) => line.startsWith("|"));
  const [, ...columns] = cellsOf(head).map((cell) => cell.replaceAll("`", ""));
  return lines.flatMap((line) => {
    const [family = "", ...cells] = cellsOf(line);
    return columns.map((column, at): [string, string, string[]] => {
      const attributes = [...(cells[at] ?? "").matchAll(/`([^`]+)`/g)].map(([, name = ""]) => name);
      return [family, column, (cells[at] ?? "").startsWith("by ") ? [] : attributes];
    });
  });
}

const named = table("Who, and which call").filter(([, , attributes]) => attributes.length > 0);

test.each(named)("%s: %s", (_family, field, attributes) => {
  for (const [at, attribute] of attributes.entries()) {
    // Attributes with lower priority.
    const others = Object.fromEntries(attributes.slice(at + 1).map((other) => [other, "other"]));
    expect([attribute, mapped({ ...others, [attribute]: "mine" })[field]]).toEqual([attribute, "mine"]);
  }
});

const fields: Record<string, string> = {
  "tokens in": "prompt_tokens",
  "tokens out": "completion_tokens",
  "read from the cache": "prompt_cache_hit_tokens",
};

test.each(table("Usage"))("usage by %s: %s", (family, column, attributes) => {
  const [input = ""] = table("Usage").find(([name, other]) => name === family && other === "tokens in")?.[2] ?? [];
  for (const attribute of attributes) {
    const body = mapped({ ...(column !== "tokens in" && { [input]: 50 }), [attribute]: 7 });
    expect([attribute, body[fields[column] ?? ""]]).toEqual([attribute, 7]);
  }
});

test.each(table("What was said").filter(([family]) => family !== "the same before 1.37"))(
  "content of %s: %s",
  (_family, column, attributes) => {
    expect(attributes).not.toEqual([]);
    for (const attribute of attributes.filter((name) => name !== "ai.response.toolCalls")) {
      const around = { "mastra.span.type": "agent_run", "langfuse.observation.type": "generation" };
      const body = mapped({ ...around, [attribute]: "Hello there" });
      const message =
        column === "prompt" ? [body["prompt_messages"], body["input"]] : [body["completion_message"], body["output"]];
      expect([attribute, JSON.stringify(message)]).toEqual([attribute, expect.stringContaining("Hello there")]);
    }
  },
);

test("the session, under each of the product's names", () => {
  for (const family of ["svc", "respan", "keywordsai"]) {
    expect(mapped({ [`${family}.session.id`]: "s" })["session_identifier"]).toBe("s");
  }
});
