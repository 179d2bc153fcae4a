import type { DisplayMessage, DisplayPart, ToolCallPart, ToolResultPart } from "./display-part.ts";

type OpenCall = { call: ToolCallPart; place: number };

/**
 * Attaches tool results to their calls. If both are on the same side of `border` (an index among the messages), the
 * result moves to the call and its own message is removed. If the call is before the border and the result after it,
 * the result stays, with the call's name and arguments, because it is new. A result without a call is left unchanged.
 * A result belongs to the last preceding call with its id that has no result yet: some models reuse ids. Without ids,
 * name and order decide.
 */
export function pairTools(messages: readonly DisplayMessage[], border: number): DisplayMessage[] {
  const open: OpenCall[] = [];
  const byId = new Map<string, OpenCall[]>();
  const results = new Map<ToolCallPart, Partial<ToolCallPart>>();
  const replaced = new Map<ToolResultPart, ToolResultPart | undefined>();
  for (const { place, parts } of messages) {
    for (const part of parts) {
      if (part.kind === "tool-call") {
        const entry = { call: part, place };
        open.push(entry);
        if (part.id !== undefined) byId.set(part.id, [...(byId.get(part.id) ?? []).slice(-openPerId), entry]);
      }
      if (part.kind !== "tool-result") continue;
      const found = addCall(part, open, byId);
      if (found === undefined) continue;
      const isApart = found.place < border && place >= border;
      const { name, arguments: given } = found.call;
      results.set(found.call, isApart ? { isAnsweredLater: true } : { result: part });
      replaced.set(part, isApart ? { ...part, call: { name, arguments: given } } : undefined);
    }
  }
  return messages.flatMap((message) => withPairs(message, results, replaced));
}

const openPerId = 16;

function addCall(result: ToolResultPart, open: OpenCall[], byId: Map<string, OpenCall[]>): OpenCall | undefined {
  if (result.id !== undefined) {
    const found = byId.get(result.id)?.pop();
    if (found !== undefined) remove(open, found);
    return found;
  }
  const at = open.findIndex(({ call }) => result.name === undefined || call.name === result.name);
  const [found] = at === -1 ? [] : open.splice(at, 1);
  if (found?.call.id !== undefined) byId.get(found.call.id)?.pop();
  return found;
}

/** Results follow soon after their calls, so the search from the end is short. */
function remove(open: OpenCall[], entry: OpenCall): void {
  const at = open.lastIndexOf(entry);
  if (at !== -1) open.splice(at, 1);
}

function withPairs(
  message: DisplayMessage,
  results: ReadonlyMap<ToolCallPart, Partial<ToolCallPart>>,
  replaced: ReadonlyMap<ToolResultPart, ToolResultPart | undefined>,
): DisplayMessage[] {
  const isTouched = message.parts.some(
    (part) => (part.kind === "tool-call" && results.has(part)) || (part.kind === "tool-result" && replaced.has(part)),
  );
  if (!isTouched) return [message];
  const parts = message.parts.flatMap((part): DisplayPart[] => {
    if (part.kind === "tool-call") return [{ ...part, ...results.get(part) }];
    if (part.kind !== "tool-result" || !replaced.has(part)) return [part];
    const instead = replaced.get(part);
    return instead === undefined ? [] : [instead];
  });
  return parts.length === 0 ? [] : [{ ...message, parts }];
}
