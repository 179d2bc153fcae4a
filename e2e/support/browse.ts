import { chromium, type Browser, type BrowserContext, type Page } from "playwright-core";
import { expect, inject, test } from "vitest";
import { testAdmin } from "../../server/test/support/test-app.ts";

/** Without a browser, tests that need one are skipped. */
const site = inject("site");
const siteUrl = site?.url ?? "http://unused.invalid";

export type Theme = "light" | "dark";

export type OpenOptions = {
  theme?: Theme;
  width?: number;
  height?: number;
  /** The person whose session the browser has; null for none. Default: the administrator. */
  as?: { email: string; password: string } | null;
  /** A server other than the one with the demo's data. */
  url?: string;
  /** The test changes its context permanently, such as its clock: no later test gets this context. */
  isChanged?: boolean;
  /** Console errors that the test causes, such as that of a refused request. All others fail it. */
  expected?: RegExp;
};

/** One for all files of a process, until the process ends. */
let browser: Browser | undefined;
/** The contexts of the running test, and whether a later test may reuse them. */
const contexts = new Map<BrowserContext, { isReusable: boolean }>();
/** Empty contexts for the server with the demo's data, each with a page that has loaded its code. */
const spare: BrowserContext[] = [];
/** The administrator's session at each server, because each sign-in hashes a password. */
const sessions = new Map<string, Awaited<ReturnType<BrowserContext["storageState"]>>>();
let faults: string[] = [];

/**
 * Closes what a test opened, and fails the test for errors of its pages. Files share a process and this module: `browse-setup.ts` runs this
 * in each of them.
 */
export async function endTest(): Promise<void> {
  const used = [...contexts];
  contexts.clear();
  const found = [...faults];
  await Promise.all(used.map(([context, { isReusable }]) => (isReusable ? empty(context) : context.close())));
  faults = [];
  expect(found, "console errors, refused content and requests to other hosts").toEqual([]);
}

/** Clears a context after a test. Its page stays: for another page, the browser starts a process and reads all code again. */
async function empty(context: BrowserContext): Promise<void> {
  try {
    const [page, ...others] = context.pages();
    if (page === undefined) throw new Error("the test closed its page");
    await Promise.all(others.map((other) => other.close()));
    for (const event of ["console", "pageerror", "request", "dialog"]) page.removeAllListeners(event);
    await page.unrouteAll({ behavior: "ignoreErrors" });
    // Of the same site: for any other, the browser starts another process.
    await page.goto("/livez");
    await page.evaluate(() => {
      localStorage.clear();
      sessionStorage.clear();
    });
    await page.mouse.move(0, 0);
    const devtools = await context.newCDPSession(page);
    await devtools.send("Storage.clearDataForOrigin", { origin: siteUrl, storageTypes: "all" });
    await devtools.send("Page.resetNavigationHistory");
    await devtools.detach();
    await context.clearCookies();
    spare.push(context);
  } catch {
    await context.close();
  }
}

/** A test in a real browser. It fails on any console error, any content that the policy refuses and any request to another host. */
export function browserTest(name: string, run: () => Promise<void>, timeoutMs = 120_000): void {
  test.skipIf(site === null)(
    `${name}${site === null ? " (skipped: there is no Chromium)" : ""}`,
    async ({ onTestFailed }) => {
      onTestFailed(({ task }) => printFailure(task.result?.retryCount ?? 0, task.fullTestName, task.result?.errors));
      await run();
    },
    timeoutMs,
  );
}

/** Reporters print only the final result: a test that passes at its second try looks like all others there. */
function printFailure(triesBefore: number, name: string, errors: readonly { stack?: string }[] = []): void {
  console.error(`Try ${triesBefore + 1} of “${name}” failed:\n${errors.map(({ stack }) => stack).join("\n")}`);
}

/** A new window at `path`, in a context that no other window of the test uses. */
export async function open(path: string, options: OpenOptions = {}): Promise<Page> {
  const {
    theme = "light",
    width = 1400,
    height = 900,
    as = testAdmin,
    url = siteUrl,
    isChanged = false,
    expected,
  } = options;
  browser ??= await chromium.launch({ executablePath: site?.browser ?? "", args: ["--no-sandbox"] });
  const context = (url === siteUrl ? spare.pop() : undefined) ?? (await browser.newContext({ baseURL: url }));
  contexts.set(context, { isReusable: url === siteUrl && !isChanged });
  // For a busy machine.
  context.setDefaultTimeout(45_000);
  if (as !== null) await signIn(context, url, as);
  const page = context.pages()[0] ?? (await context.newPage());
  await page.setViewportSize({ width, height });
  await page.emulateMedia({ colorScheme: theme });
  watch(page, url, expected);
  await page.goto(path);
  return page;
}

/** Gives the context the session of a person, as the form does. */
async function signIn(context: BrowserContext, url: string, as: NonNullable<OpenOptions["as"]>): Promise<void> {
  const known = as === testAdmin ? sessions.get(url) : undefined;
  if (known !== undefined) {
    await context.addCookies(known.cookies);
    // A test may have ended the session.
    if ((await context.request.get(`${url}/api/auth/me/`)).ok()) return;
  }
  const { email, password } = as;
  const answer = await context.request.post(`${url}/api/auth/login/`, {
    data: { email, password, session: true },
    headers: { origin: url },
  });
  if (!answer.ok()) throw new Error(`signing in as ${email} answered ${answer.status()}: ${await answer.text()}`);
  if (as === testAdmin) sessions.set(url, await context.storageState());
}

function watch(page: Page, url: string, expected: RegExp | undefined): void {
  const note = (text: string): void => {
    if (expected?.test(text) !== true) faults.push(text);
  };
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") note(`${message.type()}: ${message.text()}`);
  });
  page.on("pageerror", (error) => note(`uncaught: ${String(error)}`));
  page.on("request", (request) => {
    const address = request.url();
    if (!address.startsWith(url) && !/^(?:data|blob):/.test(address)) faults.push(`asked another host: ${address}`);
  });
}
