import type { ReactNode } from "react";
import { useCan } from "../../api/use-me.ts";
import { visibleLine } from "../../lib/visible-text.ts";
import { Dot } from "../../ui/badge.tsx";
import { IconButton } from "../../ui/button.tsx";
import { Cell, HeadCell, Table } from "../../ui/table.tsx";
import { eventLabels } from "./events.ts";
import type { Webhook } from "./queries.ts";

type TableProps = {
  webhooks: readonly Webhook[];
  onOpen: (webhook: Webhook) => void;
  onEdit: (webhook: Webhook) => void;
  onToggle: (webhook: Webhook) => void;
  onRotate: (webhook: Webhook) => void;
  onDelete: (webhook: Webhook) => void;
};

export function WebhooksTable({ webhooks, ...actions }: TableProps): ReactNode {
  return (
    <Table
      label="Webhooks"
      head={
        <>
          <HeadCell>State</HeadCell>
          <HeadCell>Name</HeadCell>
          <HeadCell>Event</HeadCell>
          <HeadCell>URL</HeadCell>
          <HeadCell>Environment</HeadCell>
          <HeadCell>
            <span className="sr-only">Actions</span>
          </HeadCell>
        </>
      }
    >
      {webhooks.map((webhook) => (
        <Row key={webhook.id} webhook={webhook} {...actions} />
      ))}
    </Table>
  );
}

function stateOf({ active, failing_since, disabled_reason }: Webhook) {
  if (!active) return { label: "off", tone: "neutral", title: disabled_reason ?? "Somebody switched it off." } as const;
  if (failing_since !== null) return { label: "failing", tone: "error", title: `Since ${failing_since}` } as const;
  return { label: "on", tone: "ok", title: undefined } as const;
}

function Row({
  webhook,
  onOpen,
  onEdit,
  onToggle,
  onRotate,
  onDelete,
}: Omit<TableProps, "webhooks"> & { webhook: Webhook }) {
  const mayWrite = useCan("webhooks:write");
  const { name, url, event_type: event, environment, active } = webhook;
  const { label, tone, title } = stateOf(webhook);
  return (
    <tr>
      <Cell title={title}>
        <span className="inline-flex items-center gap-2">
          <Dot tone={tone} />
          {label}
        </span>
      </Cell>
      <Cell className="max-w-40 min-w-28 sm:max-w-60">
        <button
          type="button"
          className="max-w-full truncate font-medium hover:text-accent"
          title="Its deliveries"
          onClick={() => onOpen(webhook)}
        >
          {visibleLine(name)}
        </button>
      </Cell>
      <Cell title={event}>{eventLabels[event]}</Cell>
      <Cell className="text-muted" title={url}>
        {visibleLine(url)}
      </Cell>
      <Cell className="text-muted">{environment ?? "both"}</Cell>
      <Cell className="text-right whitespace-nowrap">
        {mayWrite && (
          <>
            <IconButton
              size="sm"
              icon={active ? "pause" : "play"}
              label={`Turn ${active ? "off" : "on"} ${name}`}
              onClick={() => onToggle(webhook)}
            />
            <IconButton size="sm" icon="key" label={`New secret for ${name}`} onClick={() => onRotate(webhook)} />
            <IconButton size="sm" icon="edit" label={`Edit ${name}`} onClick={() => onEdit(webhook)} />
            <IconButton size="sm" icon="trash" label={`Delete ${name}`} onClick={() => onDelete(webhook)} />
          </>
        )}
      </Cell>
    </tr>
  );
}
