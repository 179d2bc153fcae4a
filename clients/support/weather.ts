import type OpenAI from "openai";

/** The conversation of most programs: a question, a tool call, its result, the answer. */
export const question = "What is the weather in Paris?";
export const weather = { tempC: 18, sky: "cloudy" };

export const weatherParameters = {
  type: "object",
  properties: { city: { type: "string" } },
  required: ["city"],
  additionalProperties: false,
} as const;

export const weatherTool: OpenAI.ChatCompletionFunctionTool = {
  type: "function",
  function: { name: "get_weather", description: "The weather in a city", parameters: weatherParameters },
};

/** Sends the question, runs the requested tool, and sends its result. */
export async function requestWeather(openai: OpenAI, getWeather: (city: string) => Promise<unknown>): Promise<string> {
  const messages: OpenAI.ChatCompletionMessageParam[] = [
    { role: "system", content: "You are a helpful assistant." },
    { role: "user", content: question },
  ];
  const request = { model: "gpt-4o-mini", temperature: 0.2, tools: [weatherTool] };
  const first = await openai.chat.completions.create({ ...request, messages });
  const message = first.choices[0]?.message;
  const call = message?.tool_calls?.[0];
  if (!message || call?.type !== "function") throw new Error("the model called no tool");
  const { city } = JSON.parse(call.function.arguments) as { city: string };
  const result = await getWeather(city);
  messages.push(message, { role: "tool", tool_call_id: call.id, content: JSON.stringify(result) });
  const second = await openai.chat.completions.create({ ...request, messages });
  return second.choices[0]?.message.content ?? "";
}
