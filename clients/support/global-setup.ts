import type { TestProject } from "vitest/node";
import { newDataDir, startServerProcess } from "../../server/test/support/server-process.ts";
import { startMockModel } from "./mock-model.ts";

declare module "vitest" {
  interface ProvidedContext {
    serverUrl: string;
    modelUrl: string;
  }
}

/** One server, as users run it, and one mock model for all tests; each run of a client has an organization of its own. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const model = await startMockModel();
  const dataDir = newDataDir();
  const server = await startServerProcess(dataDir.path);
  project.provide("serverUrl", server.url);
  project.provide("modelUrl", model.url);
  return async () => {
    await server.kill("SIGTERM");
    await model.stop();
    await dataDir.remove();
  };
}
