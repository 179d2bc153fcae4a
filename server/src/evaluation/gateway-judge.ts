import { judgeLogMethod } from "../domain/span.ts";
import { once } from "node:events";
import { IncomingMessage, ServerResponse } from "node:http";
import { Socket } from "node:net";
import { ServiceError } from "../domain/errors.ts";
import type { Permission } from "../domain/permissions.ts";
import type { GatewayCall } from "../gateway/call/operation.ts";
import { isObject } from "../lib/json.ts";
import { JudgeError, type JudgeAnswer, type JudgeContext, type JudgeModel } from "./judge.ts";

/**
 * Judges are called through this gateway, like any caller's chat: routed, priced and recorded. The gateway records into
 * the intake, whose spans reach evaluation, so it is connected after both exist.
 */
export type GatewayJudge = { complete: JudgeModel; connect(chat: CallChat): void };

/** Serves a chat, as the gateway does. */
type CallChat = (call: GatewayCall) => Promise<void>;

export function createGatewayJudge(now: () => number): GatewayJudge {
  let gateway: CallChat | undefined;
  return {
    connect(chat) {
      gateway = chat;
    },
    complete: async (request, context) => {
      if (gateway === undefined) throw new JudgeError("the gateway is starting", { isTransient: true });
      const { status, body } = await complete(gateway, request, context, now());
      const answer = parsed(body);
      if (status === 200) return readAnswer(answer);
      const { message } = isObject(answer["error"]) ? answer["error"] : {};
      const reason = typeof message === "string" ? message : "no reason was given";
      throw new JudgeError(`the judge answered ${status}: ${reason}`, { isTransient: status !== 400 });
    },
  };
}

async function complete(
  chat: CallChat,
  request: Record<string, unknown>,
  { organizationId, environment, signal }: JudgeContext,
  startedAtMs: number,
): Promise<{ status: number; body: string }> {
  const response = new CollectedResponse();
  const startedMs = performance.now();
  try {
    await chat({
      origin: {
        organization_id: organizationId,
        environment,
        organization_key_id: "",
        organization_key_name: "",
        log_method: judgeLogMethod,
      },
      permissions: noPermissions,
      // The cost comes with the breakdown.
      bytes: Buffer.from(JSON.stringify({ ...request, request_breakdown: true })),
      headers: {},
      search: "",
      requestId: "",
      signal,
      startedAtMs,
      elapsedMs: () => performance.now() - startedMs,
      response,
    });
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    throw new JudgeError(error.message, { isTransient: error.code === "unavailable", cause: error });
  }
  await response.whole(signal);
  if (!response.isComplete) throw new JudgeError("the judge's call was cut off", { isTransient: true });
  return { status: response.statusCode, body: response.body };
}

const noPermissions: ReadonlySet<Permission> = new Set();

/** Collects the response instead of sending it to a caller. */
class CollectedResponse extends ServerResponse {
  body = "";
  isComplete = false;

  constructor() {
    super(new IncomingMessage(new Socket()));
  }

  /** Resolves once the response has ended, or `signal` is aborted: responses end after the call, with its record. */
  async whole(signal: AbortSignal): Promise<void> {
    if (this.isComplete || signal.aborted) return;
    await once(this, "finish", { signal }).catch(() => undefined);
  }

  override writeHead(status: number): this {
    this.statusCode = status;
    return this;
  }

  override write(chunk: unknown): boolean {
    if (typeof chunk === "string" || Buffer.isBuffer(chunk)) this.body += chunk.toString();
    return true;
  }

  override end(chunk?: unknown): this {
    this.write(chunk);
    this.isComplete = true;
    this.emit("finish");
    this.emit("close");
    return this;
  }
}

function readAnswer(answer: Record<string, unknown>): JudgeAnswer {
  const { choices, request_breakdown: breakdown } = answer;
  const [choice] = Array.isArray(choices) ? (choices as unknown[]) : [];
  const message = isObject(choice) ? choice["message"] : undefined;
  const content = isObject(message) ? message["content"] : undefined;
  const cost = isObject(breakdown) ? breakdown["cost"] : undefined;
  return {
    content: typeof content === "string" ? content : "",
    costUsd: typeof cost === "number" ? cost : null,
  };
}

function parsed(body: string): Record<string, unknown> {
  try {
    const value = JSON.parse(body) as unknown;
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}
