import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { extname, join } from "node:path";

/** A file of the built web application, in every coding that the build produced. */
export type PageFile = {
  readonly contentType: string;
  /** A hash of the content; hash and coding together form the ETag. */
  readonly hash: string;
  readonly identity: Buffer;
  readonly br: Buffer | undefined;
  readonly gzip: Buffer | undefined;
};

/** All files by URL path, including `/index.html`: requests never reach the file system. */
export type BuiltPage = ReadonlyMap<string, PageFile>;

const contentTypes: Readonly<Record<string, string>> = {
  ".css": "text/css; charset=utf-8",
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".json": "application/json; charset=utf-8",
  ".png": "image/png",
  ".svg": "image/svg+xml",
  ".txt": "text/plain; charset=utf-8",
  ".woff2": "font/woff2",
};

/** Undefined if there is no build: the folder or its index.html is missing. Files of other types are not served. */
export async function loadBuiltPage(folder: string): Promise<BuiltPage | undefined> {
  const names = await readdir(folder, { recursive: true }).catch((): string[] => []);
  if (!names.includes("index.html")) return undefined;
  const all = new Set(names);
  const read = (name: string): Promise<Buffer> => readFile(join(folder, name));
  const files = new Map<string, PageFile>();
  for (const name of names) {
    const contentType = contentTypes[extname(name)];
    if (contentType === undefined) continue;
    const identity = await read(name);
    files.set(`/${name.replaceAll("\\", "/")}`, {
      contentType,
      hash: createHash("sha256").update(identity).digest("base64url").slice(0, 22),
      identity,
      br: all.has(`${name}.br`) ? await read(`${name}.br`) : undefined,
      gzip: all.has(`${name}.gz`) ? await read(`${name}.gz`) : undefined,
    });
  }
  return files;
}
