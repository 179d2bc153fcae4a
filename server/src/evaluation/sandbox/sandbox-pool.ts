import { Worker } from "node:worker_threads";
import type { SandboxBounds, SandboxOutcome, SandboxReply, SandboxTask } from "./sandbox-task.ts";

/** `isTransient`: not the evaluator's fault, and worth another try. */
export type SandboxResult = SandboxOutcome | { ok: false; error: string; isTransient: true };

/**
 * Runs untrusted code and rules on a few threads of their own, so that no evaluator holds up the event loop. A thread that
 * does not answer in time is ended and replaced; the others go on.
 */
export type Sandbox = {
  /** Those for whom tasks are run take turns, so that endless ones of one hold up another by no more than one of them. */
  run(task: SandboxTask, organizationId: string): Promise<SandboxResult>;
  /** Ends the threads; what waits fails. */
  stop(): Promise<void>;
};

export type SandboxOptions = SandboxBounds & {
  threads: number;
  queued: number;
  /** By the clock, on top of `timeMs` of the processor, before a thread is taken for lost. */
  graceMs: number;
  onOutcome?: (outcome: "ok" | "failed" | "refused" | "lost") => void;
};

type Job = { task: SandboxTask; resolve: (result: SandboxResult) => void };
type Thread = { worker: Worker; job: Job | undefined; timer: NodeJS.Timeout | undefined };

export function createSandbox(options: SandboxOptions): Sandbox {
  return new ThreadPool(options);
}

class ThreadPool implements Sandbox {
  readonly #options: SandboxOptions;
  readonly #bounds: SandboxBounds;
  readonly #threads = new Set<Thread>();
  /** What waits, by organisation, the one whose turn is next first. */
  readonly #queues = new Map<string, Job[]>();
  #queued = 0;
  #isStopped = false;

  constructor(options: SandboxOptions) {
    this.#options = options;
    const { timeMs, memoryBytes, stackBytes, resultChars } = options;
    this.#bounds = { timeMs, memoryBytes, stackBytes, resultChars };
  }

  run(task: SandboxTask, organizationId: string): Promise<SandboxResult> {
    if (this.#isStopped || this.#queued >= this.#options.queued) {
      this.#options.onOutcome?.("refused");
      return Promise.resolve({ ok: false, error: "too many evaluators wait for their turn", isTransient: true });
    }
    return new Promise((resolve) => {
      const queue = this.#queues.get(organizationId) ?? [];
      queue.push({ task, resolve });
      this.#queues.set(organizationId, queue);
      this.#queued += 1;
      this.#advance();
    });
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    const result: SandboxResult = { ok: false, error: "the server stops", isTransient: true };
    for (let job = this.#next(); job !== undefined; job = this.#next()) job.resolve(result);
    await Promise.all(Array.from(this.#threads, (thread) => this.#end(thread, result)));
  }

  #advance(): void {
    while (this.#queued > 0) {
      const thread = this.#idleThread();
      if (thread === undefined) return;
      const job = this.#next();
      if (job !== undefined) this.#give(thread, job);
    }
  }

  #next(): Job | undefined {
    const [turn] = this.#queues;
    if (turn === undefined) return undefined;
    const [organizationId, queue] = turn;
    const job = queue.shift();
    this.#queued -= 1;
    this.#queues.delete(organizationId);
    if (queue.length > 0) this.#queues.set(organizationId, queue);
    return job;
  }

  #idleThread(): Thread | undefined {
    for (const thread of this.#threads) if (thread.job === undefined) return thread;
    return this.#threads.size < this.#options.threads ? this.#start() : undefined;
  }

  #start(): Thread {
    const worker = new Worker(new URL("sandbox-worker.ts", import.meta.url), {
      // What an engine that aborts says to the console is nobody's business, nor are our variables the evaluator's.
      env: {},
      stdout: true,
      stderr: true,
      resourceLimits: { maxOldGenerationSizeMb: hostHeapMiB },
    });
    const thread: Thread = { worker, job: undefined, timer: undefined };
    worker.on("message", (reply: SandboxReply) => this.#answered(thread, reply));
    worker.on("error", () => this.#lost(thread, "the evaluator broke its sandbox"));
    worker.on("exit", () => this.#lost(thread, "the evaluator broke its sandbox"));
    worker.unref();
    this.#threads.add(thread);
    return thread;
  }

  #give(thread: Thread, job: Job): void {
    const { timeMs, graceMs } = this.#options;
    thread.job = job;
    thread.worker.ref();
    thread.timer = setTimeout(() => this.#lost(thread, `the evaluator ran longer than ${timeMs} ms`), timeMs + graceMs);
    thread.worker.postMessage({ task: job.task, bounds: this.#bounds });
  }

  #answered(thread: Thread, { outcome, isSpent }: SandboxReply): void {
    if (isSpent) {
      void this.#end(thread, outcome);
    } else {
      this.#finish(thread, outcome);
      thread.worker.unref();
    }
    this.#options.onOutcome?.(outcome.ok ? "ok" : "failed");
    this.#advance();
  }

  /** A thread that is gone, or is as good as gone. */
  #lost(thread: Thread, error: string): void {
    if (!this.#threads.has(thread)) return;
    this.#options.onOutcome?.("lost");
    void this.#end(thread, { ok: false, error });
    this.#advance();
  }

  async #end(thread: Thread, result: SandboxResult): Promise<void> {
    this.#threads.delete(thread);
    this.#finish(thread, result);
    await thread.worker.terminate();
  }

  #finish(thread: Thread, result: SandboxResult): void {
    clearTimeout(thread.timer);
    const { job } = thread;
    thread.job = undefined;
    job?.resolve(result);
  }
}

// For what rules need outside of the engine, whose memory is not in this heap.
const hostHeapMiB = 128;
