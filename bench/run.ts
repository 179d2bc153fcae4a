/** `npm run bench -- NAME [--option value …]`: runs one bench; its last line is one line of JSON with its figures. */
const benches = ["evaluation", "gateway", "ingest", "otlp", "query", "start", "streams", "traces", "webhooks"] as const;

const [name, ...args] = process.argv.slice(2);
const known = benches.find((bench) => bench === name);
if (known === undefined) {
  console.error(`usage: npm run bench -- ${benches.join("|")} [--option value …]`);
  process.exit(2);
}

const options = new Map<string, string>();
for (let i = 0; i + 1 < args.length; i += 2) options.set(String(args[i]).replace(/^--/, ""), String(args[i + 1]));

const { run } = (await import(`./${known}.ts`)) as { run: (options: Map<string, string>) => Promise<object> };
const figures = await run(options);
console.log(JSON.stringify({ bench: known, ...figures }));
process.exit(0);
