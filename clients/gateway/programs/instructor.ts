import Instructor from "@instructor-ai/instructor";
import OpenAI from "openai";
import { z } from "zod";
import { attempt, gateway, whose } from "./cases.ts";
import { asking, runOpenaiCases } from "./openai-cases.ts";
import { questions } from "./questions.ts";

/** Without a response model it passes calls through; with one it makes a tool of it, or requests JSON. */
const client = new OpenAI(gateway);
const person = { schema: z.object({ name: z.string(), age: z.number() }), name: "Person" };

const { completions }: { completions: unknown } = Instructor({ client, mode: "TOOLS" }).chat;
await runOpenaiCases(completions as OpenAI.Chat.Completions);

for (const mode of ["TOOLS", "JSON"] as const) {
  const instructor = Instructor({ client, mode });
  const requestOf = (name: string) => ({ ...asking(name, questions.person), response_model: person, max_retries: 0 });
  await attempt(`person by ${mode}`, async () => {
    const value = await instructor.chat.completions.create(requestOf(`person by ${mode}`), { headers: whose });
    return { value };
  });
  await attempt(`streamed person by ${mode}`, async () => {
    const name = `streamed person by ${mode}`;
    const parts = await instructor.chat.completions.create({ ...requestOf(name), stream: true }, { headers: whose });
    let count = 0;
    let value: unknown;
    for await (const part of parts) {
      count += 1;
      value = { name: part.name, age: part.age };
    }
    return { value, isPiecemeal: count > 2 };
  });
}
