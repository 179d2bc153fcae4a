import { expect, test } from "vitest";
import { rankOptions } from "./rank-options.ts";

const options = ["Overview", "Logs", "Models", "Providers", "Playground"].map((label) => ({ label }));
const ranked = (text: string): string[] => rankOptions(options, text).map(({ label }) => label);

test("all options without a text, otherwise those that contain its letters, the closest first", () => {
  expect(ranked(" ")).toHaveLength(5);
  expect(ranked("lo")).toEqual(["Logs", "Playground"]);
  expect(ranked("OV")).toEqual(["Overview", "Providers"]);
  expect(ranked("pg")).toEqual(["Playground"]);
  expect(ranked("zzz")).toEqual([]);
});
