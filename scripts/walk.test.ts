import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const script = fileURLToPath(new URL("walk.ts", import.meta.url));

/** The part of the output below a title: the listed files, in order. */
function filesBelow(output: string, title: string): string[] {
  const [, part = ""] = output.split(`${title}: `);
  return part.split(/\n(?=\S)/)[0]?.match(/(?<=^ {2})\S+(?=:)/gm) ?? [];
}

test("the walk of a span lists its files in order, and the work after the response", async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [script, "span"]);
  expect(stdout).not.toMatch(/<|\(closure\)|: *,|, *,/);
  const before = filesBelow(stdout, "Before the response");
  const path = [
    "http/serve.ts",
    "api/request-logs/create-span.ts",
    "ingest/normalize/normalize.ts",
    "storage/journal/journal-database.ts",
  ];
  expect(before.filter((file) => path.includes(file))).toEqual(path);
  expect(filesBelow(stdout, "After it")).toContain("storage/spans/clickhouse-span-store.ts");
});

test("an unknown walk prints the known ones", async () => {
  await expect(promisify(execFile)(process.execPath, [script, "toString"])).rejects.toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/^Usage: npm run walk -- span\|chat\|stream\|otlp\n[^]*server of its own/),
  });
});
