import { limits } from "../limits.ts";

/** What a judgement may cost, of which automation's day, and how much that may spend. Micro-dollars. */
export type JudgementAsk = { automationId: string; runId: number; most: number; budget: number };

/**
 * Keeps judges within the daily budgets of automations: what a judgement may cost at most is set aside before it, and what it did
 * cost counts until it is on record. One that may cost more than is left goes alone, so that only it can cost more. Those that
 * must wait do so in line. Each node counts what is on record and its own: of others it learns at their record.
 */
export type JudgeBudget = {
  /** `go`: make it, and `settle` it then. `spent`: the budget is. */
  enter(ask: JudgementAsk, signal: AbortSignal): Promise<Entry>;
  /** What it did cost. */
  settle(runId: number, microUsd: number): void;
  /** Its result is on record, or was given up. */
  recorded(runId: number): void;
};

type Entry = "go" | "spent" | "stopped";

type Purse = {
  /** Set aside for judgements that are made now. */
  underWay: Map<number, number>;
  /** What those did cost that are not yet on record. */
  unrecorded: Map<number, number>;
  line: Promise<unknown>;
  waiting: number;
  /** Told of every change, to whoever is first in line. */
  changed: () => void;
};

/** @param spentOf what is on record of an automation's day */
export function createJudgeBudget(spentOf: (automationId: string) => Promise<number>): JudgeBudget {
  const purses = new Map<string, Purse>();
  const purseOf = new Map<number, string>();

  const change = (runId: number, apply: (purse: Purse) => void): void => {
    const automationId = purseOf.get(runId) ?? "";
    const purse = purses.get(automationId);
    if (purse === undefined) return;
    apply(purse);
    purse.changed();
    const isIdle = purse.waiting + purse.underWay.size + purse.unrecorded.size === 0;
    if (isIdle) purses.delete(automationId);
  };

  /** Its turn has come: waits until it fits, or nothing is left and nothing may come back. */
  const wait = async (purse: Purse, ask: JudgementAsk, signal: AbortSignal): Promise<Entry> => {
    while (!signal.aborted) {
      const changed = nextChange(purse);
      const spent = await spentOf(ask.automationId);
      const left = ask.budget - spent - sumOf(purse.unrecorded) - sumOf(purse.underWay);
      const isAlone = purse.underWay.size === 0;
      if (left > 0 && (left >= ask.most || isAlone)) {
        purse.underWay.set(ask.runId, Math.min(ask.most, left));
        purseOf.set(ask.runId, ask.automationId);
        return "go";
      }
      // What is put on record just now may have been counted twice.
      if (isAlone && purse.unrecorded.size === 0) return "spent";
      await changed;
    }
    return "stopped";
  };

  return {
    async enter(ask, signal) {
      const purse = purses.get(ask.automationId) ?? newPurse();
      purses.set(ask.automationId, purse);
      purse.waiting += 1;
      const turn = purse.line.then(() => wait(purse, ask, signal));
      purse.line = turn.catch(() => undefined);
      try {
        return await turn;
      } finally {
        purse.waiting -= 1;
        if (purse.waiting + purse.underWay.size + purse.unrecorded.size === 0) purses.delete(ask.automationId);
      }
    },
    settle: (runId, microUsd) =>
      change(runId, ({ underWay, unrecorded }) => {
        underWay.delete(runId);
        unrecorded.set(runId, microUsd);
      }),
    recorded(runId) {
      change(runId, ({ underWay, unrecorded }) => {
        underWay.delete(runId);
        unrecorded.delete(runId);
      });
      purseOf.delete(runId);
    },
  };
}

function newPurse(): Purse {
  return {
    underWay: new Map(),
    unrecorded: new Map(),
    line: Promise.resolve(),
    waiting: 0,
    changed: () => undefined,
  };
}

/** Or a while, as what goes on record elsewhere is not told, nor that the server stops. */
function nextChange(purse: Purse): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, limits.evaluationPollMs);
    purse.changed = () => {
      clearTimeout(timer);
      resolve();
    };
  });
}

function sumOf(amounts: ReadonlyMap<number, number>): number {
  let sum = 0;
  for (const amount of amounts.values()) sum += amount;
  return sum;
}
