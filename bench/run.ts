import { parseArgs } from "node:util";

/** `npm run bench -- NAME [--option value …]`: runs one bench; its last line is a line of JSON with its figures. */
const benches: Record<string, readonly string[]> = {
  alerts: ["rules", "distinct", "rounds"],
  analytics: ["rows", "many", "times", "data"],
  "agent-hour": ["rows", "times", "data"],
  evaluation: ["rows", "judged", "repeats"],
  export: ["rows", "times", "data", "ingest", "formats"],
  gateway: ["rounds", "seconds", "connections", "portkey"],
  identity: ["rows", "rounds", "nodes", "spans-url", "stored"],
  ingest: ["rows", "concurrency", "spans-url"],
  live: ["listeners", "rate", "seconds", "spans-url"],
  nodes: ["rows", "rounds", "share", "spans-url"],
  otlp: ["batches", "concurrency", "spans-url"],
  query: ["rows", "times", "data", "spans-url"],
  start: ["starts"],
  streams: [
    "rates",
    "streams",
    "rounds",
    "seconds",
    "burst",
    "burst-seconds",
    "paced",
    "paced-seconds",
    "paced-warm-seconds",
  ],
  traces: ["rows", "times", "data", "wrapped"],
  web: ["times"],
  webhooks: ["deliveries", "webhooks"],
};

const [name = "", ...args] = process.argv.slice(2);
const options = optionsOf(name);
const { run } = (await import(`./${name}.ts`)) as { run: (options: Map<string, string>) => Promise<object> };
const figures = await run(options);
console.log(JSON.stringify({ bench: name, ...figures }));
process.exit(0);

function optionsOf(bench: string): Map<string, string> {
  const known = benches[bench];
  if (known === undefined) return usage();
  try {
    const { values } = parseArgs({
      args,
      options: Object.fromEntries(known.map((option) => [option, { type: "string" as const }])),
    });
    return new Map(Object.entries(values).map(([option, value]) => [option, String(value)]));
  } catch (error) {
    return usage(error);
  }
}

function usage(problem?: unknown): never {
  if (problem instanceof Error) console.error(problem.message);
  for (const [bench, known] of Object.entries(benches)) {
    console.error(`npm run bench -- ${bench} ${known.map((option) => `[--${option} …]`).join(" ")}`);
  }
  process.exit(2);
}
