import { useState, type ReactNode } from "react";
import { useCan } from "../../api/use-me.ts";
import { visibleLine } from "../../lib/visible-text.ts";
import { Badge, type Tone } from "../../ui/badge.tsx";
import { Button, IconButton } from "../../ui/button.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { ErrorPanel } from "../../ui/error-panel.tsx";
import { Panel } from "../../ui/panel.tsx";
import { SkeletonRows } from "../../ui/skeleton.tsx";
import { Cell, HeadCell, Table } from "../../ui/table.tsx";
import { useToast } from "../../ui/toast.tsx";
import { Time } from "../../ui/value.tsx";
import { Pages } from "../../ui/pages.tsx";
import { deliveriesPageSize, useDeliveries, useRedeliver, type Delivery, type Webhook } from "./queries.ts";

/** The deliveries of a webhook, newest first. */
export function DeliveriesPanel({ webhook, onClose }: { webhook: Webhook; onClose: () => void }): ReactNode {
  const [page, setPage] = useState(1);
  const { data, error, refetch } = useDeliveries(webhook.id, page);
  const rows = data?.results;
  return (
    <Panel
      title={`Deliveries of ${visibleLine(webhook.name)}`}
      actions={<IconButton size="sm" icon="close" label="Close the deliveries" onClick={onClose} />}
    >
      {error !== null ? (
        <ErrorPanel error={error} onRetry={() => void refetch()} />
      ) : rows === undefined ? (
        <SkeletonRows rows={4} />
      ) : rows.length === 0 ? (
        <EmptyState icon="send" title="No deliveries">
          Events that wait, and those that ended within the last seven days, are listed here.
        </EmptyState>
      ) : (
        <Table
          label="Deliveries"
          head={
            <>
              <HeadCell>Time</HeadCell>
              <HeadCell>Status</HeadCell>
              <HeadCell isNumber>Attempts</HeadCell>
              <HeadCell>Answer</HeadCell>
              <HeadCell>Next attempt</HeadCell>
              <HeadCell>
                <span className="sr-only">Actions</span>
              </HeadCell>
            </>
          }
        >
          {rows.map((delivery) => (
            <Row key={delivery.id} delivery={delivery} webhook={webhook} />
          ))}
        </Table>
      )}
      <Pages page={page} pages={Math.ceil((data?.count ?? 0) / deliveriesPageSize)} onPage={setPage} />
    </Panel>
  );
}

const tones: Record<Delivery["status"], Tone> = { pending: "warn", delivered: "ok", failed: "error" };

function Row({ delivery, webhook }: { delivery: Delivery; webhook: Webhook }): ReactNode {
  const mayWrite = useCan("webhooks:write");
  const redeliver = useRedeliver();
  const say = useToast();
  const { id, status, attempts, response_status: code, response_body: body, error } = delivery;
  const answer = [code, error ?? body].filter((part) => part !== null && part !== "").join(" · ");
  return (
    <tr>
      <Cell className="text-muted" title={id}>
        <Time at={delivery.created_at} />
      </Cell>
      <Cell>
        <Badge tone={tones[status]}>{status}</Badge>
      </Cell>
      <Cell isNumber>{attempts}</Cell>
      <Cell className="text-muted" title={answer}>
        {answer === "" ? <span className="text-faint">none yet</span> : visibleLine(answer)}
      </Cell>
      <Cell className="text-muted">
        {delivery.next_attempt_at === null ? (
          <span className="text-faint">none</span>
        ) : (
          <Time at={delivery.next_attempt_at} />
        )}
      </Cell>
      <Cell className="text-right">
        {mayWrite && (
          <Button
            size="sm"
            icon="refresh"
            isBusy={redeliver.isPending}
            onClick={() =>
              redeliver.mutate(
                { id: webhook.id, delivery_id: id },
                {
                  onSuccess: () => say.done("The event is sent again"),
                  onError: (failure) => say.failed("The event was not sent again", failure),
                },
              )
            }
          >
            Send again
          </Button>
        )}
      </Cell>
    </tr>
  );
}
