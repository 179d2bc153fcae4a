/** A request to the model, independent of its wire format. */
export type UpstreamRequest = {
  /** The text of the last user message. */
  text: string;
  image: { mediaType: string; bytes: number } | undefined;
  /** The names of the offered tools. */
  tools: string[];
  /** Results of the preceding calls, if any. `call` is the call's id, or its index if the wire format has no ids. */
  results: Array<{ call: string; text: string }>;
  /** Whether the answer must be JSON. */
  isJson: boolean;
};

export type Call = { id: string; name: string; args: Record<string, unknown> };

export type Answer =
  | { kind: "text"; text: string }
  | { kind: "calls"; calls: Call[] }
  /** One word after another until the client disconnects. */
  | { kind: "count" }
  | { kind: "refusal"; message: string };

export const capital = "Hello! The capital of France is Paris — ça va? 🌍";
export const person = { name: "Ada Lovelace", age: 36 };
export const forecast = "It is 18°C in Paris and 24°C in Rome.";
export const refusal = "temperature is not to be had with this model";

const cities = ["Paris", "Rome"];

/**
 * The answer of the scripted model: two calls at once to a question about the weather if a tool is offered, the
 * forecast after each call's own result, a person as JSON or by any other tool, a description of an image, a refusal,
 * an endless count; otherwise a capital.
 */
export function answerTo({ text, image, tools, results, isJson }: UpstreamRequest): Answer {
  if (results.length > 0) {
    const temperatures = cities.map((city, index) =>
      results.find(({ call }) => call === callId(city) || call === `${index}`),
    );
    const [paris, rome] = temperatures.map((result) => /"tempC":(\d+)/.exec(result?.text ?? "")?.[1] ?? "?");
    return { kind: "text", text: `It is ${paris ?? ""}°C in Paris and ${rome ?? ""}°C in Rome.` };
  }
  if (image !== undefined) return { kind: "text", text: `An ${image.mediaType} of ${image.bytes} bytes.` };
  if (text.startsWith("Count")) return { kind: "count" };
  if (text.startsWith("Refuse")) return { kind: "refusal", message: refusal };
  if (tools.includes("get_weather")) {
    return { kind: "calls", calls: cities.map((city) => ({ id: callId(city), name: "get_weather", args: { city } })) };
  }
  const [tool] = tools;
  if (tool !== undefined) return { kind: "calls", calls: [{ id: callId("person"), name: tool, args: person }] };
  return { kind: "text", text: isJson ? JSON.stringify(person) : capital };
}

function callId(of: string): string {
  return `call_${of.toLowerCase()}`;
}

/** Splits text as a model streams it: words, and JSON in pieces that do not end where its values do. */
export function piecesOf(text: string): string[] {
  return text.match(/[\s\S]{1,7}/gu) ?? [];
}
