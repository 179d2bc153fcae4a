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

/** `isRefused`: there was no room to start it. `isTransient`: not the evaluator's fault, and a retry may succeed. */
export type SandboxResult = SandboxOutcome | { ok: false; error: string; isTransient: true; isRefused?: boolean };

/**
 * Runs untrusted code and rules on a few separate threads, so that no evaluator blocks the event loop. A thread that
 * does not respond in time is terminated and replaced, and so is one whose memory has grown; the others continue.
 */
export type Sandbox = {
  /**
   * Organizations take turns, so that endless tasks of one delay another by at most one of them.
   * @param signal of the caller: its waiting tasks are not run once it is aborted
   */
  run(task: SandboxTask, organizationId: string, signal: AbortSignal): Promise<SandboxResult>;
  /** Tasks that wait for a thread. */
  waiting(): number;
  /** Threads in use, and tasks that wait. */
  limits(): Pick<FairGate, "places" | "queue">;
  /** Terminates the threads; waiting tasks fail. */
  stop(): Promise<void>;
};

export type SandboxOptions = SandboxBounds & {
  threads: number;
  queued: number;
  /** Wall time on top of `timeMs` of CPU time, before a thread counts as lost. */
  graceMs: number;
  onOutcome?: (outcome: "ok" | "failed" | "refused" | "lost") => void;
};

type Thread = {
  worker: Worker;
  isReady: boolean;
  /** Ends the current task. */
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
      return await this.#gate.run(organizationId, signal, () => this.#send(task));
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

  limits(): Pick<FairGate, "places" | "queue"> {
    return this.#gate;
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await Promise.all(Array.from(this.#threads, (thread) => this.#end(thread, serverStops)));
  }

  #send(task: SandboxTask): Promise<SandboxResult> {
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
      // The evaluator gets no environment variables, and the messages of an aborting engine are not logged.
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

  /**
   * Terminates the thread if the engine does not end its task: schemas and the patterns in them run outside the engine.
   */
  #watch(thread: Thread): void {
    const { timeMs, graceMs } = this.#options;
    const startedMs = performance.now();
    let cpuStartMs: number | undefined;
    const check = async (): Promise<void> => {
      const late = () => this.#lost(thread, { ok: false, error: `the evaluator ran longer than ${timeMs} ms` });
      if (performance.now() - startedMs > timeMs + graceMs) return late();
      if (!thread.isReady) return;
      const { user, system } = await thread.worker.cpuUsage();
      const cpuMs = (user + system) / 1_000;
      cpuStartMs ??= cpuMs;
      if (thread.watch === watch && cpuMs - cpuStartMs > timeMs) late();
    };
    const watch = setInterval(() => void check().catch(() => undefined), Math.min(timeMs, watchEveryMs));
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

  /** Replaces a thread that has ended or must be ended. */
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
/** If memory or file descriptors run out. */
const noThread: SandboxResult = {
  ok: false,
  error: "no thread could be started for it",
  isTransient: true,
  isRefused: true,
};
const serverStops: SandboxResult = { ok: false, error: "the server stops", isTransient: true };

// How often the CPU time of a task is checked.
const watchEveryMs = 100;

// For the work of rules outside the engine, whose memory is not in this heap.
const hostHeapMiB = 128;
