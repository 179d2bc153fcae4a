import type { ReactNode } from "react";
import { Button, IconButton } from "../../ui/button.tsx";
import { Input } from "../../ui/input.tsx";
import { Select } from "../../ui/select.tsx";
import type { ChannelForm } from "./alert-form.ts";

const channelsMax = 5;

const types = [
  { value: "webhook", label: "Webhook" },
  { value: "slack", label: "Slack" },
  { value: "email", label: "E-mail" },
] as const;

const examples = {
  webhook: "https://example.com/alerts",
  slack: "https://hooks.slack.com/services/…",
  email: "ops@example.com",
};

type ChannelsProps = {
  channels: readonly ChannelForm[];
  onChange: (channels: readonly ChannelForm[]) => void;
  /** The error message for the channel at an index. */
  errorOf: (place: number) => string | undefined;
};

/** The channels to notify. */
export function ChannelFields({ channels, onChange, errorOf }: ChannelsProps): ReactNode {
  const set = (place: number, more: Partial<ChannelForm>) =>
    onChange(channels.map((channel, at) => (at === place ? { ...channel, ...more } : channel)));
  return (
    <fieldset className="flex flex-col gap-1.5">
      <legend className="mb-1 text-sm font-medium text-muted">Channels</legend>
      {channels.map(({ id, type, target }, place) => (
        <div key={place}>
          <div className="flex items-center gap-1.5">
            <Select
              aria-label={`Type of channel ${place + 1}`}
              className="w-28 shrink-0"
              value={type}
              options={types}
              disabled={id !== undefined}
              onValueChange={(next) => set(place, { type: next })}
            />
            <Input
              aria-label={`${type === "email" ? "Address" : "URL"} of channel ${place + 1}`}
              aria-invalid={errorOf(place) !== undefined || undefined}
              placeholder={examples[type]}
              value={target}
              onChange={({ target: input }) => set(place, { target: input.value })}
            />
            <IconButton
              icon="trash"
              label={`Remove channel ${place + 1}`}
              onClick={() => onChange(channels.filter((_channel, at) => at !== place))}
            />
          </div>
          {errorOf(place) !== undefined && (
            <p role="alert" className="mt-1 text-xs text-error">
              {errorOf(place)}
            </p>
          )}
        </div>
      ))}
      {channels.length < channelsMax && (
        <Button
          size="sm"
          icon="plus"
          className="self-start"
          onClick={() => onChange([...channels, { type: "webhook", target: "" }])}
        >
          Add a channel
        </Button>
      )}
    </fieldset>
  );
}
