import { fork } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { benchFolder } from "./bench-server.ts";

/** A data folder with the spans of `fill-traces-process.ts`. A `kept` folder is filled once and stays. */
export async function traceFolder({
  reused,
  rows,
  isWrapped,
}: {
  reused: string | undefined;
  rows: number;
  isWrapped: boolean;
}): Promise<{ path: string; remove(): void }> {
  const folder = reused === undefined ? benchFolder() : { path: reused, remove: () => undefined };
  if (!existsSync(join(folder.path, "spans"))) await fill(folder.path, rows, isWrapped);
  return folder;
}

async function fill(path: string, rows: number, isWrapped: boolean): Promise<void> {
  mkdirSync(path, { recursive: true });
  const args = [join(path, "spans"), String(rows), isWrapped ? "1" : "0"];
  const child = fork(join(import.meta.dirname, "fill-traces-process.ts"), args);
  const [code] = (await once(child, "exit")) as [number];
  if (code !== 0) throw new Error("the table could not be filled");
}
