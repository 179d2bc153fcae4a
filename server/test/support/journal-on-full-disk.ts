// Usage: journal-on-full-disk.ts <folder> <seed>, with a limit on the size of files. Appends, quarantines and removes at random, in total
// far more than the limit, and prints the outcome.
import { join } from "node:path";
import { openJournal } from "../../src/storage/journal/journal.ts";
import { openPendingLogRecords } from "../../src/storage/journal/pending-log-records.ts";

const [folder = "", seed = "1"] = process.argv.slice(2);
const journal = openJournal({
  path: join(folder, "journal"),
  maxBytes: 1e9,
  maxEntries: 1e6,
  identityMemoryMs: 1e9,
  now: Date.now,
});
const events = openPendingLogRecords({ path: join(folder, "events"), maxBytes: 1e9, partyOf: () => "", now: Date.now });

let state = Number(seed);
/** Park and Miller's generator: from 0 to 1, exclusive. */
const random = (): number => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647;
const below = (bound: number): number => Math.floor(random() * bound);
const lengths = [3_000, 100_000, 600_000, 2_000_000];
const text = (lengthMax = lengths[below(lengths.length)] ?? 1): string =>
  `${below(1e9)}\n`.padStart(below(lengthMax), "x");
const identities = () =>
  Array.from({ length: below(20) }, () => ({
    identity: Buffer.from(Array.from({ length: 16 }, () => below(256))),
    timestampNs: 1n,
    version: 1n,
    firstReceivedNs: 1n,
  }));

const live = new Map<number, string>();
const waiting: string[] = [];
const counts = { taken: 0, refused: 0, wrong: 0 };
const attempt = async (write: () => Promise<void>): Promise<boolean> => {
  try {
    await write();
    counts.taken += 1;
    return true;
  } catch {
    counts.refused += 1;
    return false;
  }
};
const append = (payload = text()) =>
  attempt(async () => {
    const entry = await journal.append({ payload: Buffer.from(payload), rows: 1, identities: identities() });
    live.set(entry.seq, payload);
  });
const addEvent = () =>
  attempt(async () => {
    const entry = { key: `${below(1e9)}`, text: text() };
    await events.add([entry]);
    waiting.push(entry.key);
  });
const remove = async (count: number): Promise<void> => {
  const seqs = [...live.keys()].sort(() => random() - 0.5).slice(0, count);
  for (const seq of seqs) if (journal.read(seq)?.toString() !== live.get(seq)) counts.wrong += 1;
  for (const seq of seqs) live.delete(seq);
  await journal.remove(seqs);
};
const removeEvents = async (count: number): Promise<void> => {
  for (const key of waiting.splice(0, count)) await events.remove(key, 1);
};

const operations = [
  () => append(),
  () => append(),
  addEvent,
  addEvent,
  () => remove(1 + below(3)),
  () => removeEvents(1 + below(3)),
  () => Promise.all([append(), append(), append(), remove(2)]),
  () => attempt(() => journal.quarantine(Buffer.from(text(100_000)), "no")),
];
for (let round = 0; round < 4; round += 1) {
  for (let i = 0; i < 30; i += 1) await operations[below(operations.length)]?.();
  while (await append(text(200_000)));
  await append(text(3_000));
  // Space that was just freed is used immediately.
  await remove(live.size);
  await Promise.all([append(text(2_000_000)), append(text(2_000_000)), removeEvents(waiting.length)]);
  await Promise.all([append(), addEvent()]);
}

await remove(live.size);
await removeEvents(waiting.length);
const payload = Buffer.alloc(1_000_000, "x");
const last = await journal.append({ payload, rows: 1, identities: [] });
await events.add([{ key: "last", text: payload.toString() }]);
const isBack =
  journal.read(last.seq)?.equals(payload) === true && events.textsOf("last").join("") === payload.toString();
process.stdout.write(JSON.stringify({ ...counts, isBack }));
await journal.close();
await events.close();
