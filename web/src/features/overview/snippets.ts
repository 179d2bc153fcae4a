export const languages = ["curl", "python", "node", "otlp"] as const;
export type Language = (typeof languages)[number];

export const languageNames: Readonly<Record<Language, string>> = {
  curl: "curl",
  python: "Python",
  node: "Node",
  otlp: "OpenTelemetry",
};

/**
 * Code that sends a first request and runs unchanged. The model `spanway/echo` repeats its prompt and needs no provider
 * key.
 *
 * @param origin the URL of this server
 */
export function snippet(language: Language, origin: string, key: string): string {
  switch (language) {
    case "curl":
      return `curl ${origin}/v1/chat/completions \\
  -H "Authorization: Bearer ${key}" \\
  -H "Content-Type: application/json" \\
  -d '{
    "model": "spanway/echo",
    "user": "acme",
    "messages": [{"role": "user", "content": "Hello, Spanway"}]
  }'`;
    case "python":
      return `# pip install openai
from openai import OpenAI

client = OpenAI(base_url="${origin}/v1", api_key="${key}")
answer = client.chat.completions.create(
    model="spanway/echo",
    user="acme",
    messages=[{"role": "user", "content": "Hello, Spanway"}],
)
print(answer.choices[0].message.content)`;
    case "node":
      return `// npm install openai
import OpenAI from "openai";

const client = new OpenAI({ baseURL: "${origin}/v1", apiKey: "${key}" });
const answer = await client.chat.completions.create({
  model: "spanway/echo",
  user: "acme",
  messages: [{ role: "user", content: "Hello, Spanway" }],
});
console.log(answer.choices[0].message.content);`;
    case "otlp":
      return `# Any OTLP/HTTP exporter sends to Spanway with these variables
export OTEL_EXPORTER_OTLP_ENDPOINT=${origin}
export OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf
export OTEL_EXPORTER_OTLP_HEADERS="Authorization=Bearer%20${key}"`;
  }
  return language satisfies never;
}
