import { existsSync } from "node:fs";
import { chromium, type Browser, type CDPSession, type Page } from "playwright-core";

export const benchAdmin = { email: "admin@example.com", password: "a long enough password" };

/** Chromium from Debian's package, or the browser in `SPANWAY_TEST_BROWSER`. */
export async function launchBrowser(): Promise<Browser> {
  const executablePath = process.env["SPANWAY_TEST_BROWSER"] ?? "/usr/bin/chromium";
  if (!existsSync(executablePath)) throw new Error(`there is no browser at ${executablePath}`);
  return chromium.launch({ executablePath, args: ["--no-sandbox", "--enable-precise-memory-info"] });
}

/** A page with an empty cache and the administrator's session; nothing of the application is loaded yet. */
export async function signedInPage(browser: Browser, url: string): Promise<Page> {
  const context = await browser.newContext({ baseURL: url, viewport: { width: 1400, height: 900 } });
  const answer = await context.request.post(`${url}/api/auth/login/`, {
    data: { ...benchAdmin, session: true },
    headers: { origin: url },
  });
  if (!answer.ok()) throw new Error(`signing in got status ${answer.status()}`);
  return context.newPage();
}

/** Navigates like a click on a link: without reloading the application. */
export async function navigate(page: Page, path: string): Promise<void> {
  await page.evaluate((to) => {
    history.pushState({}, "", to);
    dispatchEvent(new PopStateEvent("popstate"));
  }, path);
}

export type Frames = { frames: number; p50Ms: number; p99Ms: number; longestMs: number; over50Ms: number };

/** The times of all frames while `act` runs in the test's process. */
export async function framesWhile(page: Page, act: () => Promise<void>): Promise<Frames> {
  await page.evaluate(() => {
    const seen: number[] = [];
    let last = performance.now();
    const state = { seen, isRunning: true };
    (globalThis as unknown as { frames: typeof state }).frames = state;
    const tick = (now: number): void => {
      seen.push(now - last);
      last = now;
      if (state.isRunning) requestAnimationFrame(tick);
    };
    requestAnimationFrame(tick);
  });
  await act();
  const times = await page.evaluate(() => {
    const { frames } = globalThis as unknown as { frames: { seen: number[]; isRunning: boolean } };
    frames.isRunning = false;
    return frames.seen.slice(1).sort((a, b) => a - b);
  });
  const at = (fraction: number): number => times[Math.min(times.length - 1, Math.floor(times.length * fraction))] ?? 0;
  return {
    frames: times.length,
    p50Ms: Math.round(at(0.5)),
    p99Ms: Math.round(at(0.99)),
    longestMs: Math.round(at(1)),
    over50Ms: times.filter((time) => time > 50).length,
  };
}

/** After a garbage collection. */
export async function heapMb(page: Page): Promise<number> {
  const session: CDPSession = await page.context().newCDPSession(page);
  await session.send("HeapProfiler.collectGarbage");
  await session.send("Performance.enable");
  const { metrics } = await session.send("Performance.getMetrics");
  await session.detach();
  return Math.round((metrics.find(({ name }) => name === "JSHeapUsedSize")?.value ?? Number.NaN) / 1e6);
}
