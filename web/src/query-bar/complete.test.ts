import fc from "fast-check";
import { expect, test } from "vitest";
import { applySuggestion, placeAt, suggest, type KnownValues } from "./complete.ts";
import { addTerm, toggleValue, valueState, withoutField } from "./edit-query.ts";
import { parseQuery } from "./parse-query.ts";

const known: KnownValues = {
  values: [
    { value: "gpt-4o", count: 7 },
    { value: "claude sonnet", count: 2 },
  ],
  metadataKeys: [
    { key: "plan", count: 5 },
    { key: "a b", count: 1 },
  ],
};

/** Parses a text in which `|` marks the cursor. */
function at(marked: string) {
  const cursor = marked.indexOf("|");
  const text = marked.replace("|", "");
  const place = placeAt(text, cursor);
  return { text, place, labels: place === undefined ? undefined : suggest(place, known).map(({ label }) => label) };
}

function taken(marked: string, label: string): string {
  const { text, place } = at(marked);
  const suggestion = place && suggest(place, known).find((each) => each.label === label);
  if (place === undefined || suggestion === undefined) throw new Error(`${label} is not suggested`);
  const applied = applySuggestion(text, place.replaces, suggestion.insert);
  return `${applied.text.slice(0, applied.cursor)}|${applied.text.slice(applied.cursor)}`;
}

test("fields are suggested by the start of a word first, then by a part of the name", () => {
  expect(at("mo|").labels?.slice(0, 1)).toEqual(["model"]);
  expect(at("|").labels?.slice(0, 3)).toEqual(["model", "status", "cost"]);
  expect(at("cost>1 cust|").labels).toContain("customer");
  expect(at("pla|").labels).toContain("metadata.plan");
  expect(at("metadata.|").labels).toEqual(["metadata.plan", "metadata.a b"]);
  expect(at("has:no|").labels).toEqual(["note"]);
});

test("values are suggested with their counts, without those already chosen", () => {
  expect(at("model:|").labels).toEqual(["gpt-4o", "claude sonnet"]);
  expect(at("model:cl|").labels).toEqual(["claude sonnet"]);
  expect(at("model:gpt-4o,|").labels).toEqual(["claude sonnet"]);
  expect(at("stream:|").labels?.slice(0, 2)).toEqual(["true", "false"]);
  expect(at('"words|').labels).toBeUndefined();
});

test.each(["cost:|>1", "cost>|=1", "unknown:|>"])("nothing is suggested within an operator: %s", (marked) => {
  expect(at(marked).labels).toBeUndefined();
});

test.each([
  ["mo|", "model", "model:|"],
  ["co|", "cost", "cost>|"],
  ["-mo| cost>1", "model", "-model:| cost>1"],
  ["model:g|", "gpt-4o", "model:gpt-4o |"],
  ["model:g| cost>1", "gpt-4o", "model:gpt-4o | cost>1".replace("o | c", "o |c")],
  ["model:gpt-4o,c|", "claude sonnet", 'model:gpt-4o,"claude sonnet" |'],
  ['model:"cl|', "claude sonnet", 'model:"claude sonnet" |'],
  ["metadata.a|", "metadata.a b", 'metadata."a b":|'],
  ["has:pl|", "metadata.plan", "has:metadata.plan |"],
])("%s with %s becomes %s", (marked, label, result) => {
  expect(taken(marked, label)).toBe(result);
});

test("at any cursor of any text, suggestions are valid there, or there are none", () => {
  const part = fc.constantFrom("model", ":", '"', " ", "-", ",", ">", "metadata.", "x", "has:", "\\", "é");
  fc.assert(
    fc.property(fc.array(part, { maxLength: 12 }), fc.nat(60), (parts, position) => {
      const text = parts.join("");
      const cursor = Math.min(position, text.length);
      const place = placeAt(text, cursor);
      if (place === undefined) return;
      expect(place.replaces.from).toBeLessThanOrEqual(cursor);
      expect(place.replaces.to).toBeGreaterThanOrEqual(cursor);
      for (const { insert } of suggest(place, known)) {
        const applied = applySuggestion(text, place.replaces, insert);
        expect(applied.text).toContain(insert.trimEnd());
        expect(applied.cursor).toBeLessThanOrEqual(applied.text.length);
      }
    }),
  );
});

test.each([
  ["", "model:a"],
  ["model:a", ""],
  ["model:b", "model:b,a"],
  ["model:a,b cost>1", "model:b cost>1"],
  ["cost>1 model:a status:error", "cost>1 status:error"],
  ["-model:a cost>1", "cost>1 model:a"],
  ['"words" model:', '"words" model: model:a'],
])("choosing the model a in %j gives %j", (text, result) => {
  expect(toggleValue(text, { field: "model", value: "a" })).toBe(result);
});

test("a value can be excluded, and counts as chosen under any of its names", () => {
  expect(toggleValue("status:error", { field: "status", value: "success", negated: true })).toBe(
    "status:error -status:success",
  );
  expect(valueState("status:error", "status", "failed")).toBe("included");
  expect(valueState("-status:ok", "status", "success")).toBe("excluded");
  expect(toggleValue("", { field: "status", value: "failed" })).toBe("status:error");
});

test("toggling a value twice leaves the query unchanged, for any value", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary", minLength: 1 }), fc.boolean(), (raw, negated) => {
      const value = raw.toWellFormed().replaceAll("\0", "");
      if (value === "") return;
      const change = { field: "metadata__plan", value, negated };
      const once = toggleValue("cost>1", change);
      expect(parseQuery(once).problems).toEqual([]);
      expect(valueState(once, "metadata__plan", value)).toBe(negated ? "excluded" : "included");
      expect(toggleValue(once, change)).toBe("cost>1");
    }),
  );
});

test("the conditions on a field can be removed, and a term is added only once", () => {
  expect(withoutField("model:a cost>1 -model:b has:model", "model")).toBe("cost>1");
  const term = { type: "field", field: "cost", operator: "gt", values: ["1"], negated: false } as const;
  expect(addTerm("model:a", term)).toBe("model:a cost>1");
  expect(addTerm("model:a cost>1", term)).toBe("model:a cost>1");
});
