import OpenAI from "openai";
import { gateway } from "./cases.ts";
import { runOpenaiCases } from "./openai-cases.ts";

await runOpenaiCases(new OpenAI(gateway).chat.completions);
