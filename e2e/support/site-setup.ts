import { existsSync } from "node:fs";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { TestProject } from "vitest/node";
import { newDataDir, programEnvironment, startServerProcess } from "../../server/test/support/server-process.ts";
import { testKeys } from "../../server/test/support/test-app.ts";

/** Shared by all files: a server with the demo's data, and a browser. */
export type Site = { url: string; browser: string };

declare module "vitest" {
  interface ProvidedContext {
    site: Site | null;
  }
}

/** The headless shell takes half the processor time of a complete Chromium. */
const places = ["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"].map(
  (name) => `/usr/bin/${name}`,
);

/** Without a browser, tests are skipped, and the run prints how many. `SPANWAY_TEST_BROWSER` names a browser at another path. */
function findBrowser(): string | undefined {
  const named = process.env["SPANWAY_TEST_BROWSER"];
  if (named !== undefined && !existsSync(named)) throw new Error(`SPANWAY_TEST_BROWSER: there is no ${named}`);
  return named ?? places.find((path) => existsSync(path));
}

export async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  const browser = findBrowser();
  if (browser === undefined) {
    project.provide("site", null);
    return undefined;
  }
  const folder = newDataDir();
  const server = await startServerProcess(folder.path, { SPANWAY_API_PER_MINUTE: "0" });
  await loadDemo(server.url);
  project.provide("site", { url: server.url, browser });
  return async () => {
    await server.kill("SIGTERM");
    await folder.remove();
  };
}

async function loadDemo(url: string): Promise<void> {
  const script = fileURLToPath(new URL("../../scripts/demo.ts", import.meta.url));
  const child = spawn(process.execPath, [script, "--url", url, "--key", testKeys.prod], {
    env: programEnvironment(),
    stdio: ["ignore", "ignore", "inherit"],
  });
  const [code] = (await once(child, "exit")) as [number | null];
  if (code !== 0) throw new Error(`the demo ended with ${code}`);
}
