import { startScriptedUpstream, type ScriptedUpstream } from "./scripted-upstream.ts";
import { startTestApp, type TestApp } from "./test-app.ts";

/** A server whose OpenAI and Anthropic are one scripted upstream. */
export type TestGateway = {
  app: TestApp;
  upstream: ScriptedUpstream;
  stop(): Promise<void>;
};

export const upstreamKey = "sk-upstream-0123456789";

export async function startTestGateway(overrides: Record<string, string> = {}): Promise<TestGateway> {
  const upstream = await startScriptedUpstream();
  const app = await startTestApp({
    OPENAI_API_KEY: upstreamKey,
    OPENAI_BASE_URL: `${upstream.url}/v1`,
    ANTHROPIC_API_KEY: upstreamKey,
    ANTHROPIC_BASE_URL: upstream.url,
    ...overrides,
  });
  return {
    app,
    upstream,
    async stop() {
      await app.stop();
      await upstream.stop();
    },
  };
}
