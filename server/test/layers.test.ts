import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { expect, test } from "vitest";

/** Compares the diagram of layers in ARCHITECTURE.md with the imports of the sources. */

const root = new URL("../..", import.meta.url).pathname;
const sources = join(root, "server/src");

const [diagram = ""] = /```mermaid\n[\s\S]*?```/.exec(readFileSync(join(root, "ARCHITECTURE.md"), "utf8")) ?? [];

/** The layer of each folder, and of top-level files by the pattern in the diagram. */
const layers = Array.from(diagram.matchAll(/subgraph (\w+)\n([\s\S]*?)\n {2}end/g), ([, layer = "", inner = ""]) =>
  inner.split("\n").flatMap((line) => {
    const [, name = "", files] = /^\s*(\w+)(?:\["(.*)"\])?$/.exec(line) ?? [];
    const patterns = files
      ?.split(", ")
      .map((file) => new RegExp(`^${file.replaceAll(".", "\\.").replace("*", ".*")}$`));
    return [{ layer, name, patterns }];
  }),
).flat();
const arrows = Array.from(diagram.matchAll(/(\w+) --> (\w+)/g), ([, from = "", to = ""]) => ({ from, to }));

function layerOf(path: string): string | undefined {
  const [first = "", ...rest] = path.split("/");
  const isAtTop = rest.length === 0;
  return layers.find(({ name, patterns }) =>
    isAtTop ? patterns?.some((pattern) => pattern.test(first)) : patterns === undefined && name === first,
  )?.layer;
}

function reaches(from: string, to: string): boolean {
  return from === to || arrows.some((arrow) => arrow.from === from && reaches(arrow.to, to));
}

const files = readdirSync(sources, { recursive: true, encoding: "utf8" }).filter(
  (path) => path.endsWith(".ts") && !/\.test\.ts$|\.fixture\.ts$|-contract\.ts$|\/test-support\.ts$/.test(path),
);

const imports = files.flatMap((path) =>
  Array.from(
    readFileSync(join(sources, path), "utf8").matchAll(/\bfrom "(\.[^"]+)"|\bimport\("(\.[^"]+)"\)/g),
    ([, named, dynamic]) => ({
      from: path,
      to: relative(sources, join(sources, dirname(path), named ?? dynamic ?? "")),
    }),
  ),
);

test("every source is in the diagram of layers", () => {
  expect(files.length).toBeGreaterThan(500);
  expect(files.filter((path) => layerOf(path) === undefined)).toEqual([]);
});

test("imports follow the arrows of the diagram", () => {
  const upward = imports
    .map(({ from, to }) => ({ from, to, layers: [layerOf(from), layerOf(to)] as const }))
    .filter(({ layers: [above, below] }) => above !== undefined && below !== undefined && !reaches(above, below));
  expect(upward.map(({ from, to }) => `${from} → ${to}`)).toEqual([]);
});

test("each arrow of the diagram has an import", () => {
  const used = new Set(imports.map(({ from, to }) => `${layerOf(from)} ${layerOf(to)}`));
  expect(arrows.length).toBeGreaterThan(3);
  expect(arrows.filter(({ from, to }) => !used.has(`${from} ${to}`))).toEqual([]);
});

test("no two folders import each other", () => {
  const folderOf = (path: string): string => path.split("/")[0] ?? "";
  const between = new Set(
    imports.flatMap(({ from, to }) => (folderOf(from) === folderOf(to) ? [] : [`${folderOf(from)} ${folderOf(to)}`])),
  );
  const mutual = [...between].filter((pair) => between.has(pair.split(" ").toReversed().join(" ")));
  expect(mutual).toEqual([]);
});
