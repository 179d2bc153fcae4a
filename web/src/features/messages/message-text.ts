import type { DisplayMessage, DisplayPart } from "./display-part.ts";

/** A message as plain text, for copying. */
export function messageText({ parts }: Pick<DisplayMessage, "parts">): string {
  return parts
    .map(textOfPart)
    .filter((text) => text !== "")
    .join("\n\n");
}

function textOfPart(part: DisplayPart): string {
  switch (part.kind) {
    case "text":
    case "reasoning":
    case "refusal":
    case "code":
      return part.text;
    case "tool-call":
      return [`${part.name}(${jsonOf(part.arguments)})`, part.result === undefined ? "" : messageText(part.result)]
        .filter(Boolean)
        .join("\n");
    case "tool-result":
      return messageText(part);
    case "value":
      return jsonOf(part.value);
    case "file":
      return part.name;
    case "media":
    default:
      return part.caption ?? "";
  }
}

const jsonOf = (value: unknown): string => (typeof value === "string" ? value : (JSON.stringify(value) ?? ""));
