import { randomUUID } from "node:crypto";
import { isObject } from "../../lib/json.ts";
import { gatewayLimits } from "../limits.ts";

type Members = Record<string, unknown>;

type Call = {
  /** The index that the caller receives. */
  index: number;
  id: string | undefined;
  name: string | undefined;
  type: "function" | "custom";
  /** All arguments so far, up to the recorded length. */
  args: string;
  /** Other members of buffered deltas. */
  rest: Members;
  /** Whether its first delta, with id and name, was sent. */
  isOpen: boolean;
};

type Piece = { id: string | undefined; name: string | undefined; args: string; isCustom: boolean; rest: Members };

/**
 * The tool calls of one choice of a stream. The first delta of a call has index, id, type and name; later ones have the
 * index and more arguments. A call whose id or name comes late is buffered until both are known or the choice ends.
 */
export class ToolCallRepair {
  readonly #calls: Call[] = [];
  /** By the server's own index. */
  readonly #byIndex = new Map<number, Call>();
  #last: Call | undefined;

  /** Whether a call is buffered. */
  get isHolding(): boolean {
    return this.#calls.some(({ isOpen }) => !isOpen);
  }

  /** Returns the same items if nothing in them has to change. @param isFinish the choice ends with this delta */
  repair(items: readonly unknown[], isFinish: boolean): readonly unknown[] {
    let isChanged = false;
    const repaired: unknown[] = [];
    for (const [position, item] of items.entries()) {
      const better = isObject(item) ? this.#take(item, items.length > 1 ? position : undefined) : undefined;
      if (better !== item) isChanged = true;
      if (better !== undefined) repaired.push(better);
    }
    if (isFinish) {
      for (const call of this.#calls) {
        if (call.isOpen) continue;
        isChanged = true;
        repaired.push(open(call));
      }
    }
    return isChanged ? repaired : items;
  }

  #take(item: Members, position: number | undefined): Members | undefined {
    const piece = readPiece(item);
    const call = this.#callOf(item["index"], piece, position);
    if (call === undefined) return undefined;
    this.#last = call;
    call.id ??= piece.id;
    call.name ??= piece.name;
    if (piece.isCustom) call.type = "custom";
    if (call.args.length <= gatewayLimits.recordedChars) call.args += piece.args;
    if (call.isOpen)
      return isMore(item, call) ? item : { index: call.index, ...piece.rest, ...called(call, piece.args) };
    Object.assign(call.rest, piece.rest);
    const isKnown = call.id !== undefined && call.name !== undefined;
    if (!isKnown && call.args.length <= gatewayLimits.bufferedStreamBytes) return undefined;
    const first = open(call);
    return isFirst(item, call) ? item : first;
  }

  #callOf(index: unknown, piece: Piece, position: number | undefined): Call | undefined {
    const given = typeof index === "number" ? index : position;
    if (given !== undefined) {
      const known = this.#byIndex.get(given);
      return known === undefined || isAnother(known, piece, true) ? this.#begin(given) : known;
    }
    const byId = piece.id === undefined ? undefined : this.#calls.find(({ id }) => id === piece.id);
    if (byId !== undefined) return byId;
    const last = this.#last;
    if (last === undefined) return this.#begin(undefined);
    const isNewId = piece.id !== undefined && last.id !== undefined && piece.name !== undefined;
    return isNewId || isAnother(last, piece, false) ? this.#begin(undefined) : last;
  }

  /** Undefined if there are too many. */
  #begin(given: number | undefined): Call | undefined {
    if (this.#calls.length >= gatewayLimits.recordedToolCalls) return undefined;
    const isFree = given !== undefined && given >= 0 && this.#calls.every(({ index }) => index !== given);
    const index = isFree ? given : this.#calls.reduce((next, call) => Math.max(next, call.index + 1), 0);
    const call: Call = { index, id: undefined, name: undefined, type: "function", args: "", rest: {}, isOpen: false };
    this.#calls.push(call);
    if (given !== undefined) this.#byIndex.set(given, call);
    return call;
  }
}

function readPiece(item: Members): Piece {
  const { index: _index, id, type, function: called, custom, ...rest } = item;
  const body = isObject(custom) ? custom : isObject(called) ? called : {};
  return {
    id: textOf(id),
    name: textOf(body["name"]),
    args: argumentsOf(body["input"] ?? body["arguments"]),
    isCustom: isObject(custom) || type === "custom",
    rest,
  };
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

function argumentsOf(value: unknown): string {
  if (value === undefined || value === null) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}

/**
 * Whether a piece begins another call than the one that it seems to belong to. Some servers give all calls the index 0,
 * or none; servers that give every piece a new id do not repeat the tool's name.
 */
function isAnother(call: Call, piece: Piece, hasIndex: boolean): boolean {
  if (piece.name === undefined || call.name === undefined) return false;
  if (piece.name !== call.name) return true;
  const isOtherId = piece.id !== undefined && call.id !== undefined && piece.id !== call.id;
  const mayBegin = piece.args === "" ? isOtherId || !hasIndex : piece.args.trimStart().startsWith("{");
  return mayBegin && isWhole(call.args);
}

function isWhole(args: string): boolean {
  try {
    return isObject(JSON.parse(args) as unknown);
  } catch {
    return false;
  }
}

function open(call: Call): Members {
  call.isOpen = true;
  const { index, type, args, rest } = call;
  call.id ??= `call_${randomUUID().replaceAll("-", "")}`;
  call.name ??= "";
  const head = { index, id: call.id, type, ...rest };
  if (type === "custom") return { ...head, custom: { name: call.name, input: args } };
  return { ...head, function: { name: call.name, arguments: args } };
}

function called({ type }: Call, args: string): Members {
  return type === "custom" ? { custom: { input: args } } : { function: { arguments: args } };
}

/** Whether a first delta needs no change. */
function isFirst(item: Members, { index, id, type, name, args }: Call): boolean {
  const body = item[type];
  if (!isObject(body)) return false;
  const input = type === "custom" ? body["input"] : body["arguments"];
  return (
    item["index"] === index && item["id"] === id && item["type"] === type && body["name"] === name && input === args
  );
}

/** Whether a delta of an open call needs no change. */
function isMore(item: Members, { index, type }: Call): boolean {
  const body = item[type];
  if (item["index"] !== index || item["id"] !== undefined || !isObject(body) || "name" in body) return false;
  const input = type === "custom" ? body["input"] : body["arguments"];
  return typeof input === "string" && (item["type"] === undefined || item["type"] === type);
}
