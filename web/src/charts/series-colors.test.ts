import { readFileSync } from "node:fs";
import fc from "fast-check";
import { expect, test } from "vitest";
import { colorCount, colorsOf } from "./series-colors.ts";

test("a name has the same colour whatever names precede it", () => {
  expect(colorsOf(["gpt-4o"])).toEqual(colorsOf(["gpt-4o", "claude-sonnet-4-6"]).slice(0, 1));
});

test("as many series as there are colours all differ", () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.string(), { maxLength: colorCount }), (names) => {
      expect(new Set(colorsOf(names)).size).toBe(names.length);
    }),
  );
});

const css = readFileSync(new URL("charts.css", import.meta.url), "utf8");

/** Every block that sets the palette: light, dark by system setting, dark by choice. */
const palettes = css
  .split("}")
  .map((block) => Array.from(block.matchAll(/--chart-\d: (#[0-9a-f]{6})/g), ([, hex = ""]) => hex))
  .filter((colors) => colors.length > 0);

test("the colours of both themes differ for people with protanopia and deuteranopia", () => {
  expect(palettes).toHaveLength(3);
  expect(palettes[1]).toEqual(palettes[2]);
  for (const colors of palettes) {
    expect(colors).toHaveLength(colorCount);
    for (const see of [seen.normally, seen.protanopia, seen.deuteranopia]) {
      const labs = colors.map((hex) => oklab(see(linear(hex))));
      const distances = labs.flatMap((one, at) => labs.slice(at + 1).map((other) => distance(one, other)));
      expect(Math.min(...distances)).toBeGreaterThan(0.09);
    }
  }
});

type Triple = [number, number, number];

function linear(hex: string): Triple {
  const channel = (at: number) => {
    const value = Number.parseInt(hex.slice(at, at + 2), 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  };
  return [channel(1), channel(3), channel(5)];
}

const times =
  (...rows: Triple[]) =>
  ([r, g, b]: Triple) =>
    rows.map((row) => Math.max(0, row[0] * r + row[1] * g + row[2] * b)) as Triple;

/** Machado, Oliveira and Fernandes, 2009: severity 1. */
const seen = {
  normally: (color: Triple) => color,
  protanopia: times([0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]),
  deuteranopia: times([0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]),
};

function oklab(color: Triple): Triple {
  const toLms = times(
    [0.4122214708, 0.5363325363, 0.0514459929],
    [0.2119034982, 0.6806995451, 0.1073969566],
    [0.0883024619, 0.2817188376, 0.6299787005],
  );
  const [l, m, s] = toLms(color).map(Math.cbrt) as Triple;
  return [
    0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s,
    1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s,
    0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s,
  ];
}

const distance = (one: Triple, other: Triple): number =>
  Math.hypot(one[0] - other[0], one[1] - other[1], one[2] - other[2]);
