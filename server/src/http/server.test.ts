import { connect } from "node:net";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { endpoint } from "./endpoint.ts";
import { startServer, until } from "./test-support.ts";

/** An endpoint that responds once it is opened, and records whether it was reached and its signal was aborted. */
function gate() {
  const state = { reached: false, aborted: false, open: () => {} };
  const opened = new Promise<void>((resolve) => (state.open = resolve));
  const endpoints = [
    endpoint({
      id: "gate",
      method: "GET",
      path: "/gate",
      summary: "A demo",
      tags: ["Demo"],
      auth: "none",
      errors: [],
      success: { status: 200, schema: z.string() },
      async handler({ signal }) {
        state.reached = true;
        signal.addEventListener("abort", () => (state.aborted = true));
        await opened;
        return "through";
      },
    }),
  ];
  return { state, endpoints };
}

const settled = (promise: Promise<unknown>) =>
  promise.then(
    () => "answered",
    () => "refused",
  );

describe("close", () => {
  test("lets requests in flight finish and accepts no new ones", async () => {
    const { state, endpoints } = gate();
    const server = await startServer({ endpoints });
    const inFlight = fetch(`${server.url}/gate`);
    await until(() => state.reached);
    const closed = server.close();
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(await settled(fetch(`${server.url}/gate`))).toBe("refused");
    state.open();
    const response = await inFlight;
    expect(await response.json()).toBe("through");
    expect(response.headers.get("connection")).toBe("close");
    await closed;
  });

  test("aborts requests that are still in flight after the grace period", async () => {
    const { state, endpoints } = gate();
    const server = await startServer({ endpoints, bounds: { shutdownGraceMs: 50 } });
    const inFlight = settled(fetch(`${server.url}/gate`));
    await until(() => state.reached);
    await server.close();
    expect(await inFlight).toBe("refused");
    await until(() => state.aborted);
  });

  test("does not wait for idle connections, and may be called twice", async () => {
    const { endpoints } = gate();
    const server = await startServer({ endpoints });
    const { hostname, port } = new URL(server.url);
    const idle = connect(Number(port), hostname);
    await new Promise((resolve) => idle.once("connect", resolve));
    const startedMs = performance.now();
    await Promise.all([server.close(), server.close()]);
    await server.close();
    expect(performance.now() - startedMs).toBeLessThan(1_000);
    idle.destroy();
  });
});
