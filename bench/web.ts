import { readdirSync, readFileSync, statSync } from "node:fs";
import { Agent } from "node:http";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { largeTrace } from "../scripts/demo/large-trace.ts";
import { benchFolder, startBenchServer, type BenchServer } from "./lib/bench-server.ts";
import { machine, percentile } from "./lib/figures.ts";
import { benchAdmin, framesWhile, heapMb, launchBrowser, navigate, signedInPage, type Frames } from "./lib/page.ts";
import { post } from "./lib/post.ts";

/**
 * The web application in a real browser, on the machine of its server: the size of a first visit, the time until
 * screens are drawn, and frames while large traces and wide lists are scrolled.
 */
export async function run(options: Map<string, string>): Promise<object> {
  const times = Number(options.get("times") ?? 5);
  const folder = benchFolder();
  const server = await startBenchServer(folder.path, {
    SPANWAY_ADMIN_EMAIL: benchAdmin.email,
    SPANWAY_ADMIN_PASSWORD: benchAdmin.password,
  });
  const browser = await launchBrowser();
  try {
    const ids = await fill(server);
    const first = await firstVisits(browser, server.url, times);
    const atOnce = await screenAtOnce(browser, server.url);
    const page = await signedInPage(browser, server.url);
    const screens = await laterScreens(page);
    const list = await wideList(page);
    const span = await largeSpan(page, ids.largeSpan);
    const trace = await largeTraceFigures(browser, server.url);
    return { machine: machine(), ...first, ...atOnce, ...screens, ...list, ...span, ...trace };
  } finally {
    await browser.close();
    await server.stop();
    folder.remove();
  }
}

const spans = 45_000;
const metadataKeys = 100;
const keyOf = (index: number): string => `key_${String(index).padStart(2, "0")}`;

async function fill(server: BenchServer): Promise<{ largeSpan: string }> {
  const agent = new Agent({ keepAlive: true });
  const send = async (path: string, body: unknown): Promise<unknown> => {
    const { status, text } = await post(agent, server.url + path, Buffer.from(JSON.stringify(body)));
    if (status >= 300) throw new Error(`${path} answered ${status}: ${text.slice(0, 300)}`);
    return JSON.parse(text);
  };
  const metadata = Object.fromEntries(Array.from({ length: metadataKeys }, (_, key) => [keyOf(key), `value ${key}`]));
  const rows = Array.from({ length: 1_000 }, (_, row) => ({
    span_name: `row ${row}`,
    model: "gpt-4o",
    log_type: "chat",
    customer_identifier: "wide",
    prompt_tokens: row,
    metadata: { ...metadata, key_00: row },
  }));
  for (let at = 0; at < rows.length; at += 500)
    await send("/api/request-logs/bulk/", { logs: rows.slice(at, at + 500) });
  const words = "All happy families are alike; each unhappy family is unhappy in its own way. ".repeat(130);
  const messages = Array.from({ length: 1_000 }, (_, turn) => ({
    role: turn % 2 === 0 ? "user" : "assistant",
    content: `${turn} ${words}`,
  }));
  const { unique_id: largeSpan } = (await send("/api/request-logs/", {
    model: "gpt-4o",
    log_type: "chat",
    span_name: "ten megabytes",
    prompt_messages: messages,
    completion_message: { role: "assistant", content: "done" },
  })) as { unique_id: string };
  const trace = largeTrace({ trace: "large", spans, levels: 5_000, endMs: Date.now() });
  for (let at = 0; at < trace.length; at += 5_000) await send("/api/v1/traces/ingest", trace.slice(at, at + 5_000));
  agent.destroy();
  await untilStored(server);
  return { largeSpan };
}

async function untilStored(server: BenchServer): Promise<void> {
  for (let tries = 0; tries < 600; tries += 1) {
    const { rows } = await server.send({
      kind: "sql",
      sql: "SELECT 1 FROM spans WHERE trace_unique_id = 'large'",
    });
    if ((rows ?? 0) >= spans) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error("the spans were not stored within a minute");
}

/** Each visit has an empty cache. Bytes are counted on the wire. */
async function firstVisits(browser: Browser, url: string, times: number): Promise<object> {
  const paints: number[] = [];
  let bytes = 0;
  for (let visit = 0; visit < times; visit += 1) {
    const page = await signedInPage(browser, url);
    await page.goto("/", { waitUntil: "load" });
    await page.getByText("gpt-4o").first().waitFor();
    const { paint, loaded } = await page.evaluate(() => ({
      paint: performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? Number.NaN,
      loaded: performance
        .getEntriesByType("resource")
        .filter(({ name }) => /\.(?:js|css)$/.test(name))
        .reduce((sum, entry) => sum + (entry as PerformanceResourceTiming).encodedBodySize, 0),
    }));
    paints.push(paint);
    bytes = loaded;
    await page.context().close();
  }
  return {
    first_paint_ms_p50: Math.round(percentile(paints, 0.5)),
    overview_transferred_kb: Math.round(bytes / 1000),
    first_load_gzip_kb: Math.round(firstLoadBytes() / 1000),
  };
}

/** JavaScript and CSS that the page itself references, with gzip; parts of screens are loaded later. */
function firstLoadBytes(): number {
  const dist = join(import.meta.dirname, "../web/dist");
  const html = readFileSync(join(dist, "index.html"), "utf8");
  const names = [...html.matchAll(/(?:src|href)="\/(assets\/[^"]+\.(?:js|css))"/g)].map(([, name = ""]) => name);
  const known = new Set(readdirSync(join(dist, "assets")).map((name) => `assets/${name}`));
  return names.reduce((sum, name) => sum + statSync(join(dist, known.has(`${name}.gz`) ? `${name}.gz` : name)).size, 0);
}

/** Like a user who reads before the next click: the screen has its data, and the page has loaded the code of other screens. */
async function untilRest(page: Page, sign: string): Promise<void> {
  await page.locator(sign).first().waitFor();
  await page.waitForTimeout(4_000);
}

/** A click as soon as the page is drawn, while the overview still loads its figures. */
async function screenAtOnce(browser: Browser, url: string): Promise<object> {
  const page = await signedInPage(browser, url);
  await page.goto("/");
  const ms = await screenMs(page, "logs");
  await page.context().close();
  return { screen_logs_at_once_ms: ms };
}

async function laterScreens(page: Page): Promise<object> {
  const figures: Record<string, number> = {};
  await page.goto("/");
  await untilRest(page, "text=gpt-4o");
  for (const name of ["logs", "customers", "threads"]) {
    figures[`screen_${name}_ms`] = await screenMs(page, name);
    await page.waitForLoadState("networkidle");
  }
  return figures;
}

/** From the click until the heading of the screen is drawn. */
async function screenMs(page: Page, name: string): Promise<number> {
  const started = performance.now();
  await navigate(page, `/${name}`);
  await page
    .locator(`h1:text-is("${name[0]?.toUpperCase()}${name.slice(1)}")`)
    .first()
    .waitFor({ state: "attached" });
  return Math.round(performance.now() - started);
}

async function wideList(page: Page): Promise<object> {
  const columns = [
    "timestamp",
    "span_name",
    ...Array.from({ length: metadataKeys }, (_, key) => `metadata.${keyOf(key)}`),
  ];
  await page.goto(`/logs?range=24h&q=customer:wide&cols=${columns.join(",")}`);
  await page.locator("[role=gridcell]").first().waitFor();
  await page.waitForFunction(() => {
    const grid = document.querySelector("[role=grid]");
    const scroller = grid?.parentElement;
    if (scroller) scroller.scrollTop = scroller.scrollHeight;
    return Number(grid?.getAttribute("aria-rowcount")) > 1_000;
  });
  await page.evaluate(() => document.querySelector("[role=grid]")?.parentElement?.scrollTo(0, 0));
  await page.waitForTimeout(500);
  const frames = await framesWhile(page, () =>
    page.evaluate(async () => {
      const scroller = document.querySelector("[role=grid]")?.parentElement;
      const steps: readonly (readonly [number, number])[] = [
        [0, 110],
        [55, 0],
        [0, -400],
        [-50, 90],
      ];
      for (const [x, y] of steps) {
        for (let step = 0; step < 150; step += 1) {
          scroller?.scrollBy(x, y);
          await new Promise(requestAnimationFrame);
        }
      }
    }),
  );
  return prefixed("list", frames);
}

async function largeSpan(page: Page, id: string): Promise<object> {
  await page.goto("/logs");
  await untilRest(page, "[role=gridcell]");
  const started = performance.now();
  let openedMs = Number.NaN;
  const frames = await framesWhile(page, async () => {
    await navigate(page, `/spans/${id}`);
    await page.getByText("done", { exact: true }).first().waitFor({ timeout: 60_000 });
    openedMs = performance.now() - started;
    await page.waitForTimeout(500);
  });
  return { span_10mb_opened_ms: Math.round(openedMs), span_10mb_longest_frame_ms: frames.longestMs };
}

async function largeTraceFigures(browser: Browser, url: string): Promise<object> {
  const page = await signedInPage(browser, url);
  await page.goto("/logs");
  await untilRest(page, "[role=gridcell]");
  const started = performance.now();
  await navigate(page, "/traces/large");
  await page.waitForFunction(
    () => Number(document.querySelector("[role=treegrid]")?.getAttribute("aria-rowcount")) > 1_000,
    undefined,
    { timeout: 120_000 },
  );
  const drawnMs = Math.round(performance.now() - started);
  await page.waitForTimeout(1_000);
  await page.mouse.move(500, 600);
  const wheel = await framesWhile(page, async () => {
    for (let turn = 0; turn < 150; turn += 1) {
      await page.mouse.wheel(0, 600);
      await page.waitForTimeout(16);
    }
  });
  const jumps = await framesWhile(page, () =>
    page.evaluate(async () => {
      const tree = document.querySelector("[role=treegrid]");
      for (let step = 0; step < 120; step += 1) {
        tree?.scrollTo(0, (step / 120) * tree.scrollHeight);
        await new Promise(requestAnimationFrame);
      }
    }),
  );
  return {
    trace_45000_drawn_ms: drawnMs,
    ...prefixed("trace_wheel", wheel),
    ...prefixed("trace_jumps", jumps),
    trace_heap_mb: await heapMb(page),
  };
}

function prefixed(name: string, { p99Ms, longestMs, over50Ms }: Frames): Record<string, number> {
  return {
    [`${name}_frame_ms_p99`]: p99Ms,
    [`${name}_frame_ms_longest`]: longestMs,
    [`${name}_frames_over_50_ms`]: over50Ms,
  };
}
