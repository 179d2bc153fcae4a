import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { describe, expect, test } from "vitest";

/** Rules that the linter cannot check: the layout of the repository, and existing paths in documents. */

const root = new URL("../..", import.meta.url).pathname;

/** Generated files and folders, as in .gitignore. */
const made = new Set([".git", "node_modules", "data", "coverage", ".vitest", ".ci/results", "server/dist", "web/dist"]);

function filesBelow(folder: string): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = folder === "" ? entry.name : `${folder}/${entry.name}`;
    if (made.has(path) || entry.name === "node_modules" || entry.name.endsWith(".log")) return [];
    return entry.isDirectory() ? filesBelow(path) : [path];
  });
}

/** Paths from the root. */
const files = filesBelow("").sort();

const read = (path: string): string => readFileSync(join(root, path), "utf8");
const sources = files.filter((path) => /^(server|scripts|bench|integrations)\/.*\.ts$/.test(path));
const isOfTests = (path: string): boolean => /\.test\.ts$|\.fixture\.ts$|-contract\.ts$|\/test-support\.ts$/.test(path);
const serverSources = sources.filter((path) => path.startsWith("server/src/") && !isOfTests(path));
const documents = files.filter((path) => path.endsWith(".md"));
const ours = files.filter((path) => !/^examples\/|^package-lock\.json$|^LICENSE$|\.png$/.test(path));

/** The imports of a file, static or not. */
function importsOf(path: string): string[] {
  return Array.from(
    read(path).matchAll(/^\s*(?:import|export)\b[^;]*?from "([^"]+)"|\bimport\("([^"]+)"\)|^import "([^"]+)"/gm),
    ([, from, dynamic, bare]) => from ?? dynamic ?? bare ?? "",
  );
}

const offenders = (paths: readonly string[], isOffence: (path: string) => boolean): string[] =>
  paths.filter((path) => isOffence(path));

describe("files", () => {
  test("are named in kebab-case", () => {
    const kebab = /^[a-z0-9]+(?:-[a-z0-9]+)*(?:\.(?:test|fixture))?\.ts$/;
    expect(offenders(sources, (path) => !kebab.test(path.split("/").at(-1) ?? ""))).toEqual([]);
  });

  test("hold one concept: at most 400 lines of code, half of them under 100", () => {
    const lengths = new Map(serverSources.map((path) => [path, read(path).split("\n").length]));
    expect(offenders(serverSources, (path) => (lengths.get(path) ?? 0) > 400)).toEqual([]);
    const sorted = [...lengths.values()].sort((a, b) => a - b);
    expect(sorted[sorted.length >> 1]).toBeLessThan(100);
  });

  test("are no barrels: the only list is api/index.ts, and nothing is re-exported", () => {
    expect(sources.filter((path) => path.endsWith("/index.ts"))).toEqual(["server/src/api/index.ts"]);
    expect(offenders(sources, (path) => /^export (?:\*|(?:type )?\{[^}]*\}) from /m.test(read(path)))).toEqual([]);
  });

  test("contain no notes of unfinished work", () => {
    // Split, because this file is searched too.
    const later = new RegExp(
      `\\b(?:${["TO", "FIX", "XX", "HA"].map((word, i) => word + ["DO", "ME", "X", "CK"][i]).join("|")})\\b`,
    );
    expect(offenders(ours, (path) => later.test(read(path)))).toEqual([]);
  });
});

describe("tests in the browser", () => {
  const browserTests = files.filter((path) => /^e2e\/.*\.ts$/.test(path));

  test("wait for the page to draw: a single read depends on the speed of the machine", () => {
    const reads = "count|innerText|allInnerTexts|textContent|inputValue|isDisabled|isEnabled|isChecked|isVisible";
    const once = new RegExp(`expect\\(\\s*await [^;]*?\\.(?:${reads}|getAttribute|boundingBox)\\(|waitForTimeout\\(`);
    expect(browserTests.length).toBeGreaterThan(20);
    expect(offenders(browserTests, (path) => once.test(read(path)))).toEqual(["e2e/support/whole.ts"]);
  });
});

test("shared hooks run in each file: hooks at module level run only in the first file of a process", () => {
  const shared = files.filter((path) => /^(?:e2e|server\/test)\/support\/.*\.ts$/.test(path));
  const hook = /^(?:before|after)(?:Each|All)\(/m;
  expect(shared.length).toBeGreaterThan(20);
  expect(offenders(shared, (path) => hook.test(read(path)))).toEqual(["e2e/support/browse-setup.ts"]);
});

describe("layers", () => {
  test.each<[what: string, modules: RegExp, home: RegExp]>([
    ["the HTTP framework", /^fastify$|^@fastify\//, /^server\/src\/http\//],
    [
      "database clients",
      /^(?:pg|kysely(?:\/.*)?|lmdb|chdb(?:\/.*)?|@clickhouse\/.*|node:sqlite)$/,
      /^server\/src\/storage\//,
    ],
    ["the price table", /^@pydantic\//, /^server\/src\/(?:pricing|gateway\/models)\//],
  ])("%s is imported only in its own folder", (_what, modules, home) => {
    const users = serverSources.filter((path) => importsOf(path).some((module) => modules.test(module)));
    expect(users.length).toBeGreaterThan(0);
    expect(users.filter((path) => !home.test(path))).toEqual([]);
  });

  test("the environment is read only in config/config.ts", () => {
    // main.ts sets the engine's thread pool and allocator, which only the environment can set, and reads nothing else.
    const withoutEngine = (path: string) =>
      read(path).replaceAll(
        /process\.env(?:\["(?:UV_THREADPOOL_SIZE|JE_MALLOC_CONF)"\]|\.(?:UV_THREADPOOL_SIZE|JE_MALLOC_CONF))/g,
        "",
      );
    const readers = serverSources.filter((path) =>
      /\bprocess\s*\.\s*env\b|import [^;]*\b(?:env|process)\b[^;]* from "node:process"/.test(withoutEngine(path)),
    );
    expect(readers).toEqual(["server/src/config/config.ts"]);
  });

  test("no file of the server depends on tests, scripts or benchmarks", () => {
    const isStray = (module: string): boolean => /\/(?:test|scripts|bench)\//.test(module) || isOfTests(module);
    expect(offenders(serverSources, (path) => importsOf(path).some(isStray))).toEqual([]);
  });
});

describe("documents", () => {
  const isLocal = (target: string): boolean => !/^(?:https?:|mailto:|#|<)/.test(target);

  test.each(documents)("%s has no broken links", (path) => {
    const text = read(path).replace(/```[\s\S]*?```/g, "");
    const targets = Array.from(text.matchAll(/\]\(([^)\s]+)\)/g), ([, target = ""]) => target).filter(isLocal);
    const missing = targets.filter((target) => {
      const [file = "", anchor] = target.split("#");
      const resolved = normalize(join(dirname(path), decodeURI(file)));
      return !existsSync(join(root, resolved)) || (anchor !== undefined && !anchorsOf(resolved).includes(anchor));
    });
    expect(missing).toEqual([]);
  });

  test.each(documents)("%s names only files and folders that exist", (path) => {
    const named = Array.from(
      read(path).matchAll(/`([\w@.-]+(?:\/[\w@.-]+)+\/?|[\w-]+\.(?:ts|md|yaml))`/g),
      ([, name = ""]) => name,
    );
    expect(named.filter((name) => looksLikePath(name) && !isSomewhere(name, path))).toEqual([]);
  });

  test("name no single machine", () => {
    const machine = /\/(?:home|Users|root|work|private)\/[\w.-]|[A-Z]:\\\\|\b[Ii]ssue #?\d/;
    expect(offenders(ours, (path) => path !== "server/test/tidy.test.ts" && machine.test(read(path)))).toEqual([]);
  });

  test("AGENTS.md is at most 100 lines", () => {
    expect(read("AGENTS.md").split("\n").length).toBeLessThanOrEqual(100);
  });

  test("the list of decisions has each decision in force, with its title; the others are in the archive", () => {
    const isSuperseded = (path: string): boolean => /^Status: superseded by \[/m.test(read(path));
    const isArchived = (path: string): boolean => path.startsWith("docs/adr/archive/");
    const all = files.filter((path) => /^docs\/adr\/(?:archive\/)?\d{4}-.*\.md$/.test(path));
    expect(all.filter(isArchived)).not.toEqual([]);
    expect(offenders(all, (path) => isSuperseded(path) !== isArchived(path))).toEqual([]);
    const decisions = files.filter((path) => /^docs\/adr\/\d{4}-.*\.md$/.test(path)).sort();
    const titles = decisions.map((path) => {
      const [, number = "", title = ""] = /^# (\d{4}): (.+)$/m.exec(read(path)) ?? [];
      expect(path.split("/").at(-1)?.startsWith(`${number}-`)).toBe(true);
      return `| [${number}](${path.split("/").at(-1)}) | ${title} |`;
    });
    const rows = read("docs/adr/README.md").split("\n");
    expect(rows.filter((row) => /^\| \[\d{4}\]/.test(row))).toEqual(titles);
  });

  test("README.md has the two commands", () => {
    expect(read("README.md")).toContain("\nnpm ci && npm start\n");
    expect(read("README.md")).toContain("\nnpm ci && npm test\n");
  });
});

const anchorsOf = (path: string): string[] =>
  Array.from(read(path).matchAll(/^#+ (.+)$/gm), ([, heading = ""]) =>
    heading
      .toLowerCase()
      .replace(/[^\w\s-]/g, "")
      .replace(/\s/g, "-"),
  );

/** Media types, image names, modules and the like have slashes too. */
function looksLikePath(name: string): boolean {
  const first = name.split("/")[0] ?? "";
  return (
    /\.(?:ts|md|yaml|json|jsonl|sh)$/.test(name) || ["server", "docs", "scripts", "bench", "examples"].includes(first)
  );
}

/** Relative to the root, to the document, or to a folder in which readers of documents start. */
function isSomewhere(name: string, document: string): boolean {
  const bases = ["", dirname(document), "server/src", "server/src/api/request-logs"];
  const isTestName = name === "x.test.ts" || name === "verb-noun.ts";
  return isTestName || made.has(name) || bases.some((base) => existsSync(join(root, base, name)));
}
