export const spanTabs = ["conversation", "json", "request", "cost", "details"] as const;
export type SpanTab = (typeof spanTabs)[number];

export const tabNames: Readonly<Record<SpanTab, string>> = {
  conversation: "Conversation",
  json: "JSON",
  request: "Request",
  cost: "Cost",
  details: "Details",
};
