export type Language = "curl" | "python" | "node";

export type Call = { origin: string; environment: "prod" | "test"; body: Readonly<Record<string, unknown>> };

type Writer = (url: string, key: string, body: Call["body"]) => readonly string[];

const writers: Record<Language, Writer> = {
  curl: (url, key, body) => [
    `curl ${url}/chat/completions \\`,
    `  -H "Authorization: Bearer $${key}" \\`,
    `  -H 'Content-Type: application/json' \\`,
    `  -d '${JSON.stringify(body, null, 2).replaceAll("'", String.raw`'\''`)}'`,
  ],
  python: (url, key, body) => [
    "import os",
    "from openai import OpenAI",
    "",
    `client = OpenAI(base_url="${url}", api_key=os.environ["${key}"])`,
    `answer = client.chat.completions.create(${pythonArguments(body)})`,
    "print(answer.choices[0].message.content)",
  ],
  node: (url, key, body) => [
    `import OpenAI from "openai";`,
    "",
    `const client = new OpenAI({ baseURL: "${url}", apiKey: process.env.${key} });`,
    `const answer = await client.chat.completions.create(${JSON.stringify(body, null, 2)});`,
    "console.log(answer.choices[0].message.content);",
  ],
};

/** The call as code. The key is read from an environment variable and never inserted. */
export function snippetOf(language: Language, { origin, environment, body }: Call): string {
  const key = environment === "prod" ? "SPANWAY_PROD_KEY" : "SPANWAY_TEST_KEY";
  return `${writers[language](`${origin}/v1`, key, body).join("\n")}\n`;
}

/** Named parameters of the Python SDK; it rejects all others outside of `extra_body`. */
const named = new Set(
  `model messages tools tool_choice parallel_tool_calls temperature top_p max_tokens max_completion_tokens n stop seed
  frequency_penalty presence_penalty response_format reasoning_effort logprobs top_logprobs user metadata`.split(/\s+/),
);

function pythonArguments(body: Call["body"]): string {
  const known = Object.entries(body).filter(([name]) => named.has(name));
  const extra = Object.entries(body).filter(([name]) => !named.has(name));
  const all = extra.length === 0 ? known : [...known, ["extra_body", Object.fromEntries(extra)] as const];
  return `\n${all.map(([name, value]) => `    ${name}=${python(JSON.parse(JSON.stringify(value)), 1)},\n`).join("")}`;
}

function python(value: unknown, depth: number): string {
  const indent = "    ".repeat(depth + 1);
  const end = `\n${"    ".repeat(depth)}`;
  if (value === null || value === undefined) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (typeof value !== "object") return JSON.stringify(value);
  const items = Array.isArray(value)
    ? (value as unknown[]).map((each) => python(each, depth + 1))
    : Object.entries(value).map(([name, each]) => `${JSON.stringify(name)}: ${python(each, depth + 1)}`);
  const [open, close] = Array.isArray(value) ? ["[", "]"] : ["{", "}"];
  if (items.length === 0) return `${open}${close}`;
  return `${open}${items.map((item) => `\n${indent}${item},`).join("")}${end}${close}`;
}
