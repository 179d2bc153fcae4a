import { parseArgs } from "node:util";
import { DemoError, type Target } from "./send-spans.ts";

/**
 * Runs a demo against the server given by arguments and environment, and reports errors without a stack trace. `counts`
 * are the demo's own options: whole numbers, with their defaults.
 */
export async function runDemo<C extends Record<string, number>>(
  usage: string,
  run: (target: Target, counts: C) => Promise<void>,
  counts: C = {} as C,
): Promise<void> {
  try {
    const target = readTarget(counts);
    if (target) await run(target.target, target.counts);
    else console.log(usage);
  } catch (error) {
    const isUsage = error instanceof TypeError && "code" in error;
    console.error(error instanceof DemoError ? error.message : isUsage ? `${error.message}\n\n${usage}` : error);
    process.exitCode = 1;
  }
}

/** Undefined if help is requested. */
function readTarget<C extends Record<string, number>>(defaults: C): { target: Target; counts: C } | undefined {
  const text = { type: "string" } as const;
  const own = Object.fromEntries(Object.keys(defaults).map((name) => [name, text]));
  const { values } = parseArgs({
    options: { url: text, key: text, help: { type: "boolean", short: "h" }, ...own },
  });
  if (values.help === true) return undefined;
  const counts = Object.entries(defaults).map(([name, count]) => [
    name,
    readCount(name, (values as Record<string, string | boolean | undefined>)[name], count),
  ]);
  const here = `http://127.0.0.1:${process.env["SPANWAY_PORT"] || "8787"}`;
  const url = values.url ?? (process.env["SPANWAY_URL"] || here);
  const key = values.key ?? process.env["SPANWAY_PROD_KEY"];
  if (!URL.canParse(url)) throw new DemoError(`--url must be a URL such as http://127.0.0.1:8787, not "${url}"`);
  if (!key) {
    throw new DemoError(
      "An API key is needed: export SPANWAY_PROD_KEY, or pass --key. `npm start` printed a prod key at its first start;\n" +
        "`npm run admin -- keys create` makes another.",
    );
  }
  // The names are those of the defaults.
  return { target: { url, key }, counts: Object.fromEntries(counts) as C };
}

function readCount(name: string, text: string | boolean | undefined, count: number): number {
  if (text === undefined) return count;
  if (typeof text === "string" && /^[1-9]\d{0,6}$/.test(text)) return Number(text);
  throw new DemoError(`--${name} must be a whole number above 0, not "${String(text)}"`);
}
