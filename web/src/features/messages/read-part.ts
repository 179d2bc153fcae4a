import { isRecord } from "../../lib/exact-json.ts";
import { arrayIn, firstText, recordIn, textIn } from "./members.ts";
import type { DisplayPart, Source } from "./display-part.ts";
import { readMediaBlock } from "./read-media-block.ts";
import { readCall, readResult } from "./read-tool.ts";

type Block = Record<string, unknown>;
type ReadBlock = (block: Block) => DisplayPart[];

const readText: ReadBlock = (block) => {
  // Gemini marks reasoning with a flag; the Assistants API has an object in place of the text.
  const given = block["text"] ?? block["content"];
  const text = typeof given === "string" ? given : textIn(recordIn({ given }, "given") ?? {}, "value");
  if (text === undefined) return [unknownBlock(block)];
  if (block["thought"] === true) return [{ kind: "reasoning", text }];
  const sources = sourcesOf([...arrayIn(block, "annotations"), ...arrayIn(block, "citations")]);
  return [{ kind: "text", text, ...(sources.length > 0 && { sources }) }];
};

const readReasoning: ReadBlock = (block) => {
  const members = ["thinking", "text", "reasoning", "content", "summary"];
  const texts = members.map((member) => plainText(block[member]));
  return [{ kind: "reasoning", text: texts.find((text) => text !== "") ?? "" }];
};

const readRefusal: ReadBlock = (block) => [
  { kind: "refusal", text: firstText(block, "refusal", "content", "text") ?? "" },
];

const readSearchResult: ReadBlock = (block) => [
  { kind: "text", text: plainText(block["content"]), sources: sourcesOf([block]) },
];

const readers: ReadonlyMap<string, ReadBlock> = new Map<string, ReadBlock>([
  ...["text", "input_text", "output_text", "summary_text"].map((type) => [type, readText] as const),
  ...["reasoning", "thinking", "redacted_thinking", "reasoning.text", "reasoning.summary", "reasoning.encrypted"].map(
    (type) => [type, readReasoning] as const,
  ),
  ["refusal", readRefusal],
  ["search_result", readSearchResult],
]);

const callTypes = /^(?:tool[_-]?(?:use|call)|(?:server|mcp)_tool_(?:use|call)|toolUse|\w*_call)$/;
const resultTypes = /^(?:\w*tool[_-]?result|toolResult|tool_call_response|server_tool_call_response|\w+_call_output)$/;

/** The display parts of a content block. Nothing is dropped: an unknown block is shown as a value. */
export function readPart(block: unknown): DisplayPart[] {
  if (typeof block === "string") return block === "" ? [] : [{ kind: "text", text: block }];
  if (block === null || block === undefined) return [];
  if (!isRecord(block)) return [{ kind: "value", label: "content", value: block }];
  const type = textIn(block, "type") ?? "";
  const known = readers.get(type);
  if (known !== undefined) return known(block);
  if (resultTypes.test(type)) return [readResult(block, readParts)];
  if (callTypes.test(type)) return [readCall(block)];
  const media = readMediaBlock(block, type);
  if (media !== undefined) return media;
  return type === "" || type === "message" ? readUntyped(block) : [unknownBlock(block)];
}

/** The parts of a content: a text, a block, or a list of them. */
export function readParts(content: unknown): DisplayPart[] {
  return Array.isArray(content) ? (content as unknown[]).flatMap(readPart) : readPart(content);
}

/** Blocks of Bedrock and Gemini have no type: the member name identifies them. */
function readUntyped(block: Block): DisplayPart[] {
  const call = recordIn(block, "toolUse") ?? recordIn(block, "functionCall") ?? recordIn(block, "function_call");
  if (call !== undefined) return [readCall(call)];
  const result =
    recordIn(block, "toolResult") ?? recordIn(block, "functionResponse") ?? recordIn(block, "function_response");
  if (result !== undefined) return [readResult(result, readParts)];
  const reasoning = recordIn(block, "reasoningContent");
  if (reasoning !== undefined) return readReasoning(recordIn(reasoning, "reasoningText") ?? {});
  const code = recordIn(block, "executableCode") ?? recordIn(block, "executable_code");
  if (code !== undefined)
    return [
      { kind: "code", language: textIn(code, "language")?.toLowerCase() ?? "", text: textIn(code, "code") ?? "" },
    ];
  const outcome = recordIn(block, "codeExecutionResult") ?? recordIn(block, "code_execution_result");
  if (outcome !== undefined) return [{ kind: "code", language: "output", text: textIn(outcome, "output") ?? "" }];
  if (typeof block["text"] === "string") return readText(block);
  if ("json" in block && Object.keys(block).length === 1)
    return [{ kind: "value", label: "json", value: block["json"] }];
  if (Array.isArray(block["parts"]) || typeof block["content"] === "string" || Array.isArray(block["content"])) {
    return readParts(block["parts"] ?? block["content"]);
  }
  return [unknownBlock(block)];
}

const unknownBlock = (block: Block): DisplayPart => ({
  kind: "value",
  label: textIn(block, "type")?.slice(0, 60) ?? "content",
  value: block,
});

/** The text of a string, or of a list of blocks with texts. */
export function plainText(value: unknown): string {
  if (typeof value === "string") return value;
  if (Array.isArray(value))
    return (value as unknown[])
      .map(plainText)
      .filter((text) => text !== "")
      .join("\n");
  return isRecord(value) ? (firstText(value, "text", "summary", "thinking", "content") ?? "") : "";
}

/** The cited pages of an answer, in the formats of OpenAI, Anthropic and Perplexity. */
export function sourcesOf(given: readonly unknown[]): Source[] {
  const sources = given.flatMap((item) => {
    if (typeof item === "string") return [{ title: item, url: item }];
    if (!isRecord(item)) return [];
    const inner = recordIn(item, "url_citation") ?? item;
    const url = firstText(inner, "url", "uri", "source");
    return url === undefined ? [] : [{ title: firstText(inner, "title", "document_title") ?? url, url }];
  });
  return [...Map.groupBy(sources, ({ url }) => url).values()].flatMap(([first]) => first ?? []);
}
