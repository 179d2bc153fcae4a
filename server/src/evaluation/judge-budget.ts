import { evaluationLimits } from "./limits.ts";
import type { JudgementAdmission, JudgementRequest } from "../storage/control/judgement-ledger.ts";

/** The highest cost of a judgement, its automation, and the daily budget of that. Micro-dollars. */
export type JudgementEntry = { automationId: string; runId: number; attempt: number; most: number; budget: number };

/**
 * Keeps judges within the daily budgets of automations, on all nodes together: the highest cost of a judgement is
 * reserved in the control store before it, and settled with its result (`finish-runs.ts`). Judgements that must wait
 * queue, and the first of them are reserved together. No more are admitted than can be called, because a dead node's
 * reservations count as spent.
 */
export type JudgeBudget = {
  /** `go`: make the judgement, and call `made` afterwards. `spent`: the budget is used up. */
  enter(request: JudgementEntry, signal: AbortSignal): Promise<Entry>;
  /** The judge has answered, or was not called after all. */
  made(request: JudgementEntry): void;
  /** Results of the automation are stored: part of its reservations may be available again. */
  recorded(automationId: string): void;
};

type Entry = "go" | "spent" | "stopped";

type Waiting = {
  request: JudgementEntry;
  signal: AbortSignal;
  resolve: (entry: Entry) => void;
  reject: (error: unknown) => void;
};

type Line = { waiting: Waiting[]; inFlight: number; isWorked: boolean; changes: number; wake: () => void };

/** @param reserve reserves in a transaction, for the current day */
export function createJudgeBudget(
  reserve: (request: Omit<JudgementRequest, "day">) => Promise<JudgementAdmission>,
): JudgeBudget {
  const lines = new Map<string, Line>();

  const change = (automationId: string, inFlight = 0): void => {
    const line = lines.get(automationId);
    if (line === undefined) return;
    line.inFlight += inFlight;
    line.changes += 1;
    line.wake();
    if (line.inFlight === 0 && !line.isWorked) lines.delete(automationId);
  };

  /** Admits or refuses as many of the first as possible now. False: they wait. */
  const admit = async (line: Line): Promise<boolean> => {
    const first = line.waiting.slice(0, evaluationLimits.judgesPerOrganization - line.inFlight);
    const [{ request } = {}] = first;
    if (request === undefined) return false;
    const leave = (waiting: readonly Waiting[]) => line.waiting.splice(0, waiting.length);
    try {
      const { automationId, budget } = request;
      const judgements = first.map(({ request: { runId, attempt, most } }) => ({ runId, attempt, most }));
      const { admitted, isSpent } = await reserve({ automationId, budget, judgements });
      line.inFlight += admitted.length;
      for (const { resolve } of leave(first.slice(0, admitted.length))) resolve("go");
      if (isSpent) for (const { resolve } of leave(first)) resolve("spent");
      return isSpent || admitted.length > 0;
    } catch (error) {
      for (const { reject } of leave(first)) reject(error);
      return true;
    }
  };

  const work = async (automationId: string, line: Line): Promise<void> => {
    while (line.waiting.length > 0) {
      const stopped = line.waiting.findIndex(({ signal }) => signal.aborted);
      if (stopped >= 0) line.waiting.splice(stopped, 1)[0]?.resolve("stopped");
      else {
        const { changes } = line;
        if (!(await admit(line)) && line.changes === changes) await nextChange(line);
      }
    }
    line.isWorked = false;
    change(automationId);
  };

  return {
    enter: (request, signal) =>
      new Promise((resolve, reject) => {
        const line = lines.get(request.automationId) ?? newLine();
        lines.set(request.automationId, line);
        line.waiting.push({ request, signal, resolve, reject });
        // Judgements of the same turn of the event loop are handled together.
        if (!line.isWorked) setImmediate(() => void work(request.automationId, line));
        line.isWorked = true;
      }),
    made: ({ automationId }) => change(automationId, -1),
    recorded: (automationId) => change(automationId),
  };
}

function newLine(): Line {
  return { waiting: [], inFlight: 0, isWorked: false, changes: 0, wake: () => undefined };
}

/**
 * Resolves after a change or a timeout, because changes on other nodes and the stop of the server are not signalled
 * here.
 */
function nextChange(line: Line): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, evaluationLimits.evaluationPollMs);
    line.wake = () => {
      clearTimeout(timer);
      resolve();
    };
  });
}
