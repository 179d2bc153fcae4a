import type { ReactNode } from "react";
import { useCan } from "../../api/use-me.ts";
import { visibleLine } from "../../lib/visible-text.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { ErrorPanel } from "../../ui/error-panel.tsx";
import { Panel } from "../../ui/panel.tsx";
import { Refusals } from "../../ui/refusals.tsx";
import { useTestAlert, type Alert, type Channel, type TestResult } from "./queries.ts";

const typeNames: Record<Channel["type"], string> = { webhook: "Webhook", slack: "Slack", email: "E-mail" };

/** The channels to notify, and the results of a test. */
export function ChannelsPanel({ alert }: { alert: Alert }): ReactNode {
  const mayWrite = useCan("alerts:write");
  const test = useTestAlert();
  const { channels } = alert;
  const button = mayWrite && channels.length > 0 && (
    <Button
      size="sm"
      icon="send"
      isBusy={test.isPending}
      title="Sends each channel an event that says it is a test"
      onClick={() => test.mutate(alert.id)}
    >
      Send a test
    </Button>
  );
  return (
    <Panel title="Channels" actions={button}>
      {channels.length === 0 ? (
        <EmptyState icon="bell" title="No channels">
          Its state is only shown here, and sent to webhooks that listen to alerts.
        </EmptyState>
      ) : (
        <>
          <Refusals of={channels.map((channel) => ({ ...channel, name: channel.url ?? "" }))} />
          <ul className="divide-y divide-line">
            {channels.map((channel) => (
              <ChannelLine
                key={channel.id}
                channel={channel}
                result={test.data?.results.find((result) => result.channel === channel.id)}
              />
            ))}
          </ul>
        </>
      )}
      {test.error !== null && <ErrorPanel error={test.error} />}
    </Panel>
  );
}

function ChannelLine({ channel, result }: { channel: Channel; result: TestResult | undefined }): ReactNode {
  const { type, url, to, active, disabled_reason: reason, failing_since: failingSince } = channel;
  return (
    <li className="flex min-h-row flex-wrap items-center gap-x-2 gap-y-1 px-3 py-1">
      <span className="w-16 shrink-0 text-muted">{typeNames[type]}</span>
      <span className="min-w-0 flex-1 truncate" title={url ?? to}>
        {visibleLine(url ?? to ?? "")}
      </span>
      {!active && (
        <Badge tone="error" title={reason ?? undefined}>
          off
        </Badge>
      )}
      {active && failingSince !== null && <Badge tone="warn">failing</Badge>}
      {result !== undefined && <TestOutcome result={result} />}
    </li>
  );
}

function TestOutcome({ result }: { result: TestResult }): ReactNode {
  const { is_delivered: isDelivered, response_status: status, response_body: body, error } = result;
  const answer = status === null ? "" : `, ${status}`;
  return (
    <span role="status" className="flex max-w-full min-w-0 basis-full items-center gap-2 text-sm">
      <Badge tone={isDelivered ? "ok" : "error"} title={body ?? undefined} className="shrink-0">
        {isDelivered ? `delivered${answer}` : `not delivered${answer}`}
      </Badge>
      {error !== null && <span className="min-w-0 break-words text-muted">{visibleLine(error)}</span>}
    </span>
  );
}
