import type { SelectOption } from "../../ui/select.tsx";

/** The choices, with the chosen value added if it is not among them: the API accepts more values. */
export function withChosen(options: readonly SelectOption<string>[], chosen: string): readonly SelectOption<string>[] {
  return options.some(({ value }) => value === chosen) ? options : [...options, { value: chosen, label: chosen }];
}

const spelled = (text: string): SelectOption<string> => ({ value: text, label: durationWords(text) });

/** `15m` in words: `15 minutes`. */
function durationWords(text: string): string {
  const [, amount = "", unit = ""] = /^(\d+)([mhd])$/.exec(text) ?? [];
  const noun = { m: "minute", h: "hour", d: "day" }[unit];
  if (noun === undefined) return text;
  return `${amount} ${noun}${amount === "1" ? "" : "s"}`;
}

export const windowOptions = ["5m", "15m", "30m", "1h", "3h", "6h", "12h", "1d", "7d", "30d"].map(spelled);
export const cooldownOptions = [
  { value: "0m", label: "none: notify each time" },
  ...["5m", "15m", "30m", "1h", "3h", "6h", "12h", "1d"].map(spelled),
];

const groupFields = [
  ["customer_identifier", "customer"],
  ["model", "model"],
  ["provider_id", "provider"],
  ["span_name", "span name"],
  ["span_workflow_name", "workflow"],
  ["log_type", "kind of span"],
  ["status_code", "status code"],
  ["organization_key_id", "API key"],
  ["deployment_name", "deployment"],
  ["prompt_id", "prompt"],
  ["custom_identifier", "custom id"],
  ["session_identifier", "session"],
  ["thread", "thread"],
] as const;

/** Choices to group by: fields, and the metadata keys of spans. */
export function groupOptions(metadataKeys: readonly string[]): SelectOption<string>[] {
  return [
    { value: "", label: "nothing" },
    ...groupFields.map(([value, label]) => ({ value, label })),
    ...metadataKeys.map((key) => ({ value: `metadata__${key}`, label: `metadata.${key}` })),
  ];
}
