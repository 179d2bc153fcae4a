import { extname } from "node:path";
import { Worker } from "node:worker_threads";
import { FairGate, GateRefusal } from "../../lib/fair-gate.ts";
import {
  sandboxIsReady,
  type SandboxBounds,
  type SandboxOutcome,
  type SandboxReply,
  type SandboxTask,
} from "./sandbox-task.ts";

/** `isRefused`: there was no room to try it. `isTransient`: not the evaluator's fault, and worth another try. */
export type SandboxResult = SandboxOutcome | { ok: false; error: string; isTransient: true; isRefused?: boolean };

/**
 * Runs untrusted code and rules on a few threads of their own, so that no evaluator holds up the event loop. A thread that
 * does not answer in time is ended and replaced, as is one whose memory has grown; the others go on.
 */
export type Sandbox = {
  /**
   * Those for whom tasks are run take turns, so that endless ones of one hold up another by no more than one of them.
   * @param signal of the caller: what still waits when it leaves is not run.
   */
  run(task: SandboxTask, organizationId: string, signal: AbortSignal): Promise<SandboxResult>;
  /** Tasks that wait for a thread. */
  waiting(): number;
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

type Thread = {
  worker: Worker;
  isReady: boolean;
  /** Ends the task that it is given. */
  finish: ((result: SandboxResult) => void) | undefined;
  watch: NodeJS.Timeout | undefined;
};

export function createSandbox(options: SandboxOptions): Sandbox {
  return new ThreadPool(options);
}

class ThreadPool implements Sandbox {
  readonly #options: SandboxOptions;
  readonly #bounds: SandboxBounds;
  readonly #threads = new Set<Thread>();
  readonly #gate: FairGate;
  #isStopped = false;

  constructor(options: SandboxOptions) {
    this.#options = options;
    const { timeMs, memoryBytes, stackBytes, resultChars } = options;
    this.#bounds = { timeMs, memoryBytes, stackBytes, resultChars };
    this.#gate = new FairGate({ maxInFlight: options.threads, maxWaiting: options.queued });
  }

  async run(task: SandboxTask, organizationId: string, signal: AbortSignal): Promise<SandboxResult> {
    try {
      return await this.#gate.run(organizationId, signal, () => this.#give(task));
    } catch (error) {
      if (signal.aborted) return { ok: false, error: "the caller left", isTransient: true };
      if (!(error instanceof GateRefusal)) throw error;
      this.#options.onOutcome?.("refused");
      return { ok: false, error: "too many evaluators wait for their turn", isTransient: true, isRefused: true };
    }
  }

  waiting(): number {
    return this.#gate.waiting;
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await Promise.all(Array.from(this.#threads, (thread) => this.#end(thread, serverStops)));
  }

  #give(task: SandboxTask): Promise<SandboxResult> {
    if (this.#isStopped) return Promise.resolve(serverStops);
    const thread = this.#idleThread();
    return new Promise((resolve) => {
      thread.finish = resolve;
      thread.worker.ref();
      this.#watch(thread);
      thread.worker.postMessage(task);
    });
  }

  #idleThread(): Thread {
    for (const thread of this.#threads) if (thread.finish === undefined) return thread;
    return this.#start();
  }

  #start(): Thread {
    const worker = new Worker(new URL(`sandbox-worker${extname(import.meta.url)}`, import.meta.url), {
      // What an engine that aborts says to the console is nobody's business, nor are our variables the evaluator's.
      env: {},
      workerData: this.#bounds,
      stdout: true,
      stderr: true,
      resourceLimits: { maxOldGenerationSizeMb: hostHeapMiB },
    });
    const thread: Thread = { worker, isReady: false, finish: undefined, watch: undefined };
    worker.on("message", (reply: SandboxReply | typeof sandboxIsReady) => {
      if (reply === sandboxIsReady) thread.isReady = true;
      else this.#answered(thread, reply);
    });
    const onEnd = () => this.#lost(thread, thread.isReady ? brokeIt : noThread);
    worker.on("error", onEnd);
    worker.on("exit", onEnd);
    worker.unref();
    this.#threads.add(thread);
    return thread;
  }

  /** Ends the thread where no engine ends its task: schemas, and the patterns in them, are tried outside of it. */
  #watch(thread: Thread): void {
    const { timeMs, graceMs } = this.#options;
    const startedMs = performance.now();
    let cpuStartMs: number | undefined;
    const look = async (): Promise<void> => {
      const late = () => this.#lost(thread, { ok: false, error: `the evaluator ran longer than ${timeMs} ms` });
      if (performance.now() - startedMs > timeMs + graceMs) return late();
      if (!thread.isReady) return;
      const { user, system } = await thread.worker.cpuUsage();
      const cpuMs = (user + system) / 1_000;
      cpuStartMs ??= cpuMs;
      if (thread.watch === watch && cpuMs - cpuStartMs > timeMs) late();
    };
    const watch = setInterval(() => void look().catch(() => undefined), Math.min(timeMs, watchEveryMs));
    thread.watch = watch;
  }

  #answered(thread: Thread, { outcome, isSpent }: SandboxReply): void {
    this.#options.onOutcome?.(outcome.ok ? "ok" : "failed");
    if (isSpent) {
      void this.#end(thread, outcome);
    } else {
      thread.worker.unref();
      this.#finish(thread, outcome);
    }
  }

  /** A thread that is gone, or is as good as gone. */
  #lost(thread: Thread, result: SandboxResult): void {
    if (!this.#threads.has(thread)) return;
    this.#options.onOutcome?.("lost");
    void this.#end(thread, result);
  }

  async #end(thread: Thread, result: SandboxResult): Promise<void> {
    this.#threads.delete(thread);
    this.#finish(thread, result);
    await thread.worker.terminate();
  }

  #finish(thread: Thread, result: SandboxResult): void {
    clearInterval(thread.watch);
    const { finish } = thread;
    thread.watch = undefined;
    thread.finish = undefined;
    finish?.(result);
  }
}

const brokeIt: SandboxResult = { ok: false, error: "the evaluator broke its sandbox" };
/** For want of memory or file descriptors. */
const noThread: SandboxResult = {
  ok: false,
  error: "no thread could be started for it",
  isTransient: true,
  isRefused: true,
};
const serverStops: SandboxResult = { ok: false, error: "the server stops", isTransient: true };

// How often the time of the processor is looked at that a task has used.
const watchEveryMs = 100;

// For what rules need outside of the engine, whose memory is not in this heap.
const hostHeapMiB = 128;
