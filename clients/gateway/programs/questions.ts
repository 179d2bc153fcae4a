/** A model of a provider that rejects our key. */
export const refusingModel = "groq/llama-3.3-70b-versatile";

export const questions = {
  capital: "What is the capital of France?",
  weather: "What is the weather in Paris and in Rome?",
  person: "Who wrote the first program?",
  image: "What is this?",
  count: "Count to three thousand.",
  refused: "Refuse.",
} as const;
