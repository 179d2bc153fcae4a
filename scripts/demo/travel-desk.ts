import { hash } from "node:crypto";
import { companies, providerOf, type Company } from "./companies.ts";
import { questions, type Question } from "./questions.ts";
import { seededRandom } from "./seeded-random.ts";
import type { SpanBody } from "./to-spans.ts";
import { lastEvening, spread } from "./spread.ts";

const workflow = "travel-desk";
const fallbackModel = "gpt-4o";
/** The time between an answer and the next question of a conversation. */
const readingMs = 90_000;
/** Between the last answers of two companies; no multiple of it is one of `readingMs`. */
const lastAnswersApartMs = 427_000;
const outageConversations = 24;

/** One question and its answer: a trace. */
type Turn = {
  company: Company;
  /** Identifies the company's conversation. */
  thread: string;
  question: Question;
  earlier: readonly Question[];
  model: string;
  endMs: number;
  failure?: "overloaded" | "answered by another model" | "search timed out";
};

/**
 * The questions of companies to a travel desk in the 14 days before `endMs`: conversations of one to three questions,
 * each of which is a trace. During one evening a provider was overloaded. Ids, texts and durations depend only on the
 * companies, as in `toSpans`.
 */
export function travelDeskSpans(endMs: number): SpanBody[] {
  const evening = lastEvening(endMs);
  const stepMs = (evening.endMs - evening.startMs) / outageConversations;
  const usual = companies.flatMap((company, at) =>
    spread(company.conversations, endMs - (at + 1) * lastAnswersApartMs, company.growthPerDay).flatMap(
      (lastMs, index) => conversation(company, `${index}`, lastMs),
    ),
  );
  const outage = Array.from({ length: outageConversations }, (_, index): Turn[] => {
    const company = companies[index % 3] as Company;
    const turns = conversation(company, `evening ${index}`, evening.startMs + (index + 1) * stepMs);
    const failure = index % 4 === 3 ? "answered by another model" : "overloaded";
    return turns.slice(-1).map((turn) => ({ ...turn, earlier: [], model: "claude-sonnet-4-6", failure }));
  });
  return [...usual, ...outage.flat()].flatMap(spansOf);
}

function conversation(company: Company, name: string, lastMs: number): Turn[] {
  const random = seededRandom(`${company.id}/${name}`);
  const requested = Array.from(
    { length: 1 + Math.floor(random() * 3) },
    () => questions[Math.floor(random() * questions.length)] as Question,
  );
  const model = company.models[Math.floor(random() * company.models.length)] ?? fallbackModel;
  return requested.map((question, index): Turn => ({
    company,
    thread: name,
    question,
    earlier: requested.slice(0, index),
    model,
    endMs: lastMs - (requested.length - 1 - index) * readingMs,
    ...(random() < 0.03 && { failure: "search timed out" }),
  }));
}

function spansOf(turn: Turn): SpanBody[] {
  const { company, question, failure } = turn;
  const thread = `${workflow}/${company.id}/${turn.thread}`;
  const trace = hash("sha256", `${thread}/${turn.earlier.length}`, "hex").slice(0, 32);
  const random = seededRandom(trace);
  const spanId = (name: string): string => hash("sha256", `${trace}/${name}`, "hex").slice(0, 16);
  const steps = stepsOf(turn, random);
  const durationMs = steps.reduce((sum, step) => sum + step.durationMs, 0);
  let nowMs = turn.endMs - durationMs;
  const span = (name: string, type: string, startMs: number, lastsMs: number, fields: object): SpanBody => ({
    log_type: type,
    span_name: name,
    trace_unique_id: trace,
    span_unique_id: spanId(name),
    span_workflow_name: workflow,
    customer_identifier: company.id,
    customer_name: company.name,
    thread_identifier: thread,
    start_time: new Date(startMs).toISOString(),
    timestamp: new Date(startMs + lastsMs).toISOString(),
    latency: lastsMs / 1000,
    metadata: { plan: company.plan, region: company.region, feature: question.feature },
    ...fields,
  });
  const root = span(workflow, "workflow", nowMs, durationMs, {
    input: question.text,
    ...(failure === "overloaded" ? overloaded : { output: question.answer }),
  });
  const children = steps.map(({ name, type, durationMs: lastsMs, fields }) => {
    const startMs = nowMs;
    nowMs += lastsMs;
    return span(name, type, startMs, lastsMs, { span_parent_id: spanId(workflow), ...fields });
  });
  return [root, ...children];
}

const overloaded = { status: "error", status_code: 529, error_message: "overloaded_error: Overloaded" };

type Step = { name: string; type: string; durationMs: number; fields: object };

function stepsOf(turn: Turn, random: () => number): Step[] {
  const { question, failure, model } = turn;
  const search: Step[] = [
    {
      name: "embed question",
      type: "embedding",
      durationMs: Math.round(60 + random() * 90),
      fields: {
        model: "text-embedding-3-small",
        provider_id: "openai",
        input: question.text,
        prompt_tokens: tokensOf(question.text),
      },
    },
    {
      name: "find policy",
      type: "task",
      durationMs: failure === "search timed out" ? 5_000 : Math.round(20 + random() * 160),
      fields: {
        input: question.text,
        ...(failure === "search timed out"
          ? { status: "error", error_message: "The policy index did not answer within 5 s." }
          : { output: [{ rank: 1, score: Math.round((0.7 + random() * 0.29) * 100) / 100, text: question.policy }] }),
      },
    },
  ];
  if (failure === "overloaded") return [...search, refusedStep(turn, random)];
  if (failure !== "answered by another model") return [...search, answerStep(turn, model, random)];
  return [...search, refusedStep(turn, random), answerStep(turn, fallbackModel, random)];
}

const instructions =
  "You are the travel desk of a company. Answer questions about flights, trains, hotels, visas and expenses by the travel policy " +
  "below, and by nothing else. Be brief and friendly. Answer in the language of the question. Name amounts and deadlines. If the " +
  "policy does not say, pass the question on to a colleague and say so. Never invent bookings, and never ask for card numbers.";

function refusedStep(turn: Turn, random: () => number): Step {
  const durationMs = Math.round(300 + random() * 900);
  // A provider does not charge for a failed call.
  const usage = { prompt_tokens: 0, completion_tokens: 0 };
  const fields = {
    model: turn.model,
    provider_id: providerOf[turn.model],
    prompt_messages: messagesOf(turn),
    ...usage,
  };
  return { name: `answer with ${turn.model}`, type: "chat", durationMs, fields: { ...fields, ...overloaded } };
}

function answerStep(turn: Turn, model: string, random: () => number): Step {
  const messages = messagesOf(turn);
  const promptTokens = messages.reduce((sum, { content }) => sum + tokensOf(content), 0);
  const completionTokens = tokensOf(turn.question.answer);
  const firstTokenMs = Math.round(220 + random() * 500);
  const isRated = random() < 0.25;
  const fields = {
    model,
    provider_id: providerOf[model],
    stream: true,
    temperature: 0.2,
    prompt_messages: messages,
    completion_message: { role: "assistant", content: turn.question.answer },
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    ...(turn.earlier.length > 0 && { prompt_cache_hit_tokens: Math.floor(promptTokens * 0.6) }),
    time_to_first_token: firstTokenMs / 1000,
    ...(isRated && { positive_feedback: random() < 0.8 }),
  };
  const durationMs = firstTokenMs + Math.round(completionTokens * (8 + random() * 14));
  return { name: "answer", type: "chat", durationMs, fields };
}

function messagesOf({ question, earlier }: Turn): Array<{ role: string; content: string }> {
  return [
    { role: "system", content: `${instructions}\n\n${question.policy}` },
    ...earlier.flatMap(({ text, answer }) => [
      { role: "user", content: text },
      { role: "assistant", content: answer },
    ]),
    { role: "user", content: question.text },
  ];
}

/** A quarter of the characters, as for the recorded conversations. */
function tokensOf(text: string): number {
  return Math.ceil(text.length / 4);
}
