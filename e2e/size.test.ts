import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const dist = join(import.meta.dirname, "../web/dist");

test("a first visit loads at most 180 KB of JavaScript and CSS, by gzip", () => {
  const html = readFileSync(join(dist, "index.html"), "utf8");
  const names = [...html.matchAll(/(?:src|href)="\/(assets\/[^"]+\.(?:js|css))"/g)].map(([, name = ""]) => name);
  expect(names.length).toBeGreaterThan(1);
  const bytes = names.reduce((sum, name) => {
    const packed = statSync(join(dist, `${name}.gz`), { throwIfNoEntry: false }) ?? statSync(join(dist, name));
    return sum + packed.size;
  }, 0);
  expect(bytes).toBeLessThanOrEqual(180_000);
});
