/** Every screen, for the tests of all screens and for the screenshots. */
export type Screen = {
  name: string;
  path: string;
  /** The element to click there, for a screen whose own path has an id of the demo's data. */
  click?: string;
  /** The element that appears once the data is loaded. */
  shows: string;
};

const firstRow = "[role=grid] [role=row]:has([role=gridcell]) >> nth=0";

export const screens: readonly Screen[] = [
  { name: "overview", path: "/?range=7d", shows: "text=gpt-4o" },
  { name: "one figure large", path: "/?range=7d&chart=cost&by=customer", shows: "text=sophia_silva_7557" },
  { name: "logs", path: "/logs?range=30d&q=type:chat", shows: firstRow },
  {
    name: "span",
    path: '/logs?range=30d&q=name:"assistant turn"',
    click: firstRow,
    shows: "[aria-label=Conversation]",
  },
  { name: "traces", path: "/traces?range=30d", shows: "text=travel-desk" },
  { name: "trace", path: "/traces?range=30d&sort=-total_cost", click: firstRow, shows: "[role=treegrid] [role=row]" },
  { name: "threads", path: "/threads?range=30d", shows: "text=airline-agent/emma_kim_9957" },
  { name: "customers", path: "/customers?range=30d", shows: "text=harbor-hotels" },
  { name: "customer", path: "/customers/harbor-hotels?range=7d", shows: "text=harbor-hotels" },
  { name: "playground", path: "/playground", shows: "text=Add message" },
  { name: "alerts", path: "/alerts", shows: "main >> text=New alert" },
  { name: "webhooks", path: "/webhooks", shows: "main >> text=New webhook" },
  { name: "evaluators", path: "/evaluation", shows: "text=New evaluator" },
  { name: "new evaluator", path: "/evaluation?evaluator=new", shows: "text=Save and try" },
  { name: "conditions", path: "/evaluation?tab=conditions", shows: "text=New condition" },
  { name: "new condition", path: "/evaluation?tab=conditions&condition=new", shows: "text=of this range match" },
  { name: "automations", path: "/evaluation?tab=automations", shows: "text=New automation" },
  { name: "new automation", path: "/evaluation?tab=automations&automation=new", shows: "text=Create automation" },
  { name: "providers", path: "/providers", shows: "table >> text=openrouter" },
  {
    name: "new credential",
    path: "/providers",
    click: "button:has-text('Add key for bedrock')",
    shows: "text=Secret access key",
  },
  { name: "try a provider", path: "/providers?try=spanway", shows: "text=It is recorded as a span" },
  { name: "models", path: "/catalogue?find=gpt-4o", shows: "table >> text=chatgpt-4o-latest" },
  { name: "settings", path: "/settings", shows: "main >> text=Members" },
  { name: "audit log", path: "/settings?tab=audit", shows: "main >> tbody tr >> nth=0" },
  { name: "your account", path: "/settings?tab=account", shows: "text=this one" },
];
