import { parseArgs } from "node:util";
import { DemoError, type Target } from "./send-spans.ts";

/** Runs a demo against the server that arguments and environment name, and says what went wrong without a stack. */
export async function runDemo(usage: string, run: (target: Target) => Promise<void>): Promise<void> {
  try {
    const target = readTarget();
    if (target) await run(target);
    else console.log(usage);
  } catch (error) {
    const isUsage = error instanceof TypeError && "code" in error;
    console.error(error instanceof DemoError ? error.message : isUsage ? `${error.message}\n\n${usage}` : error);
    process.exitCode = 1;
  }
}

/** Undefined where help is asked for. */
function readTarget(): Target | undefined {
  const { values } = parseArgs({
    options: { url: { type: "string" }, key: { type: "string" }, help: { type: "boolean", short: "h" } },
  });
  if (values.help === true) return undefined;
  const here = `http://127.0.0.1:${process.env["SPANWAY_PORT"] || "8787"}`;
  const url = values.url ?? (process.env["SPANWAY_URL"] || here);
  const key = values.key ?? process.env["SPANWAY_PROD_KEY"];
  if (!URL.canParse(url)) throw new DemoError(`--url must be an address such as http://127.0.0.1:8787, not "${url}"`);
  if (!key) {
    throw new DemoError(
      "An API key is needed: export SPANWAY_PROD_KEY, or pass --key. `npm start` printed a prod key at its first start;\n" +
        "`npm run admin -- keys create` makes another.",
    );
  }
  return { url, key };
}
