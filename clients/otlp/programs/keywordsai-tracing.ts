import { KeywordsAITelemetry, withKeywordsAISpanAttributes } from "@keywordsai/tracing";
import OpenAI from "openai";
import { key, modelUrl, serverUrl } from "../../support/environment.ts";
import { requestWeather, weather } from "../../support/weather.ts";

/** An agent with the product's own SDK: decorated spans, OpenAI calls, a customer, a thread and metadata. */
const telemetry = new KeywordsAITelemetry({
  apiKey: key,
  baseURL: serverUrl,
  appName: "weather",
  disableBatch: true,
  instrumentModules: { openAI: OpenAI as never },
});
await telemetry.initialize();
const openai = new OpenAI({ apiKey: "unused", baseURL: `${modelUrl}/v1` });

const params = {
  customer_identifier: "user-42",
  thread_identifier: "sess-1",
  metadata: { plan: "pro", seats: 3 },
};
await telemetry.withWorkflow({ name: "weather_workflow", version: 1 }, () =>
  telemetry.withAgent({ name: "weather_agent" }, () =>
    withKeywordsAISpanAttributes(async () => {
      await telemetry.withTask({ name: "plan" }, () => Promise.resolve({ steps: ["weather"] }));
      return requestWeather(openai, (city) =>
        telemetry.withTool({ name: "get_weather", inputParameters: [city] }, () => Promise.resolve(weather)),
      );
    }, params),
  ),
);
await telemetry.shutdown();
