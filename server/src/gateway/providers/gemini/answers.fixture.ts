/**
 * Responses of Gemini with shortened signatures. Their shapes are from payloads recorded by the tests of the Vercel AI
 * SDK (github.com/vercel/ai, packages/google/src/__fixtures__, Apache-2.0), and from the reference of
 * GenerateContentResponse (ai.google.dev/api/generate-content).
 */

/** From `google-tool-call-gemini3.chunks.txt`: a call, then an empty text with the finish. */
export const callThenStop = [
  {
    candidates: [
      {
        content: {
          parts: [
            {
              functionCall: { name: "weather", args: { location: "San Francisco" } },
              thoughtSignature: "EpEgCo4gAb4+",
            },
          ],
          role: "model",
        },
        index: 0,
      },
    ],
    usageMetadata: {
      promptTokenCount: 29,
      candidatesTokenCount: 15,
      totalTokenCount: 848,
      promptTokensDetails: [{ modality: "TEXT", tokenCount: 29 }],
      thoughtsTokenCount: 804,
    },
    modelVersion: "gemini-3-pro-preview",
    responseId: "QHiLaa6LBrb8vdIPoNztsAg",
  },
  {
    candidates: [{ content: { parts: [{ text: "" }], role: "model" }, finishReason: "STOP", index: 0 }],
    usageMetadata: { promptTokenCount: 29, candidatesTokenCount: 15, totalTokenCount: 848, thoughtsTokenCount: 804 },
    modelVersion: "gemini-3-pro-preview",
    responseId: "QHiLaa6LBrb8vdIPoNztsAg",
  },
];

/** From `issue-19758-prompt-block.chunks.txt`. */
export const blockedPrompt = {
  promptFeedback: { blockReason: "PROHIBITED_CONTENT" },
  usageMetadata: {
    promptTokenCount: 9,
    totalTokenCount: 9,
    promptTokensDetails: [{ modality: "TEXT", tokenCount: 9 }],
    serviceTier: "standard",
  },
  modelVersion: "gemini-3.7-flash",
  responseId: "EXCPatOAKMrQjMcPteHVmQo",
};

/** From `google-tool-use-usage.json`: Gemini's own tool has read input. */
export const usageOfOwnTool = {
  promptTokenCount: 55,
  candidatesTokenCount: 51,
  totalTokenCount: 251,
  promptTokensDetails: [{ modality: "TEXT", tokenCount: 55 }],
  toolUsePromptTokenCount: 89,
  toolUsePromptTokensDetails: [{ modality: "TEXT", tokenCount: 89 }],
  thoughtsTokenCount: 56,
  serviceTier: "standard",
};

/**
 * A response grounded in the web, as in ai.google.dev/gemini-api/docs/google-search: `startIndex` is omitted if it is
 * 0, and indices are bytes.
 */
export const groundedText = "España ganó. It was their fourth title.";
export const groundingMetadata = {
  webSearchQueries: ["UEFA Euro 2024 winner", "who won euro 2024"],
  searchEntryPoint: { renderedContent: "<div></div>" },
  groundingChunks: [
    { web: { uri: "https://vertexaisearch.cloud.google.com/a", title: "aljazeera.com" } },
    { web: { uri: "https://vertexaisearch.cloud.google.com/b", title: "uefa.com" } },
    { retrievedContext: { uri: "gs://bucket/own", title: "own" } },
  ],
  groundingSupports: [
    { segment: { endIndex: 14, text: "España ganó." }, groundingChunkIndices: [0] },
    {
      segment: { startIndex: 15, endIndex: 41, text: "It was their fourth title." },
      groundingChunkIndices: [0, 1, 2, 9],
      confidenceScores: [0.9, 0.8, 0.7, 0.6],
    },
    // The text differs from the response's text at this place.
    { segment: { startIndex: 15, endIndex: 41, text: "It was their fifth title." }, groundingChunkIndices: [1] },
  ],
};
export const citations = [
  ["a", "aljazeera.com", 0, 12],
  ["a", "aljazeera.com", 13, 39],
  ["b", "uefa.com", 13, 39],
].map(([page, title, start_index, end_index]) => ({
  type: "url_citation",
  url_citation: { url: `https://vertexaisearch.cloud.google.com/${page}`, title, start_index, end_index },
}));

/** From `google-429-retry-info.json`. */
export const quotaExceeded = {
  error: {
    code: 429,
    message: "You exceeded your current quota, please check your plan.",
    status: "RESOURCE_EXHAUSTED",
    details: [
      {
        "@type": "type.googleapis.com/google.rpc.QuotaFailure",
        violations: [{ quotaId: "GenerateRequestsPerMinutePerProjectPerModel-FreeTier" }],
      },
      { "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "34.4s" },
    ],
  },
};

/** The google.rpc.ErrorInfo of an invalid key. */
export const badKey = {
  error: {
    code: 400,
    message: "API key not valid. Please pass a valid API key.",
    status: "INVALID_ARGUMENT",
    details: [
      {
        "@type": "type.googleapis.com/google.rpc.ErrorInfo",
        reason: "API_KEY_INVALID",
        domain: "googleapis.com",
        metadata: { service: "generativelanguage.googleapis.com" },
      },
    ],
  },
};
