import type { TestProject } from "vitest/node";
import { newDataDir, startServerProcess } from "../../server/test/support/server-process.ts";
import { startUpstream, upstreamVariables } from "../gateway/upstream/start-upstream.ts";
import { startMockModel } from "./mock-model.ts";

declare module "vitest" {
  interface ProvidedContext {
    serverUrl: string;
    modelUrl: string;
    upstreamUrl: string;
  }
}

/**
 * One server as users run it, one mock model and one upstream of the gateway for all tests; each run of a client has
 * its own organization.
 */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const model = await startMockModel();
  const upstream = await startUpstream();
  const dataDir = newDataDir();
  const server = await startServerProcess(dataDir.path, upstreamVariables(upstream.url));
  project.provide("serverUrl", server.url);
  project.provide("modelUrl", model.url);
  project.provide("upstreamUrl", upstream.url);
  return async () => {
    await server.kill("SIGTERM");
    await model.stop();
    await upstream.stop();
    await dataDir.remove();
  };
}
