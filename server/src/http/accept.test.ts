import fc from "fast-check";
import { expect, test } from "vitest";
import { prefersHtml } from "./accept.ts";

test.each<[accept: string | undefined, isNamed: boolean, isAny: boolean]>([
  [undefined, false, true],
  ["", false, false],
  ["*/*", false, true],
  ["*/*;q=0", false, false],
  ["text/*;q=0.2, application/json;q=0.1", false, true],
  ["application/json, */*;q=0.1", false, false],
  ["text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", true, true],
  ["TEXT/HTML ; Q = 0.5", true, true],
  ["text/html;q=0, */*", false, false],
  ["text/html;level=1;q=0", false, false],
  ["text/html;q=0.5, application/json", false, false],
  ["application/json;q=0.4, text/html;q=0.5", true, true],
  ["application/json, text/html", true, true],
  ["application/json", false, false],
  ["text/html;q=x", false, false],
])("Accept: %s", (accept, isNamed, isAny) => {
  expect([prefersHtml(accept, "named"), prefersHtml(accept, "any")]).toEqual([isNamed, isAny]);
});

test("the type with the greater weight wins, in any order", () => {
  const weight = fc.integer({ min: 0, max: 1_000 });
  fc.assert(
    fc.property(weight, weight, fc.boolean(), (html, json, isFirst) => {
      const parts = [`text/html;q=${html / 1_000}`, `application/json;q=${json / 1_000}`];
      const accept = (isFirst ? parts : parts.toReversed()).join(", ");
      expect(prefersHtml(accept, "named")).toBe(html > 0 && html >= json);
    }),
  );
});
