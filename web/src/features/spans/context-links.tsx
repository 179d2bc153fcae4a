import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { visibleLine } from "../../lib/visible-text.ts";
import { Icon, type IconName } from "../../ui/icon.tsx";
import { useNeighbours, type Neighbour } from "./neighbour-queries.ts";
import { textOf, type Span } from "./span-record.ts";

const modelTypes = /^(?:chat|completion|text|response|generation)$/;

/** Links to the trace, thread and other context of the span, and actions on it. */
export function ContextLinks({ id, span }: { id: string; span: Span }): ReactNode {
  const trace = textOf(span, "trace_unique_id");
  const thread = textOf(span, "thread_identifier");
  const customer = textOf(span, "customer_identifier");
  const gateway = textOf(span, "gateway_log_id");
  const isCall = textOf(span, "model") !== undefined && modelTypes.test(textOf(span, "log_type") ?? "");
  const neighbours = useNeighbours(id, span);
  return (
    <ul className="flex flex-wrap gap-x-4 gap-y-1">
      {trace !== undefined && (
        <Item icon="trace" label="Trace" value={trace}>
          {(content) => (
            <Link to="/traces/$traceId" params={{ traceId: trace }} search={{ span: id }} className={linkClass}>
              {content}
            </Link>
          )}
        </Item>
      )}
      {thread !== undefined && (
        <Item icon="thread" label="Thread" value={thread}>
          {(content) => (
            <Link to="/threads" search={{ thread }} className={linkClass}>
              {content}
            </Link>
          )}
        </Item>
      )}
      {customer !== undefined && (
        <Item icon="customers" label="Customer" value={textOf(span, "customer_name") ?? customer}>
          {(content) => (
            <Link to="/customers/$customerId" params={{ customerId: customer }} className={linkClass}>
              {content}
            </Link>
          )}
        </Item>
      )}
      {gateway !== undefined && (
        <SpanLink icon="link" label="Gateway's span" neighbour={{ id: gateway, name: gateway }} />
      )}
      <SpanLink
        icon="arrowLeft"
        label={`Before in the ${neighbours.data?.within ?? "trace"}`}
        neighbour={neighbours.data?.before}
      />
      <SpanLink icon="arrowRight" label="After it" neighbour={neighbours.data?.after} />
      {isCall && (
        <li>
          <Link to="/playground" search={({ env }) => ({ env, span: id })} className={linkClass}>
            <Icon name="playground" size={14} />
            Open in playground
          </Link>
        </li>
      )}
    </ul>
  );
}

const linkClass = "inline-flex max-w-full items-center gap-1.5 text-accent hover:underline";

type ItemProps = { icon: IconName; label: string; value: string; children: (content: ReactNode) => ReactNode };

function Item({ icon, label, value, children }: ItemProps): ReactNode {
  return (
    <li className="max-w-full min-w-0" title={`${label} ${visibleLine(value)}`}>
      {children(
        <>
          <Icon name={icon} size={14} />
          <span className="shrink-0">{label}</span>
          <bdi className="truncate font-mono text-xs">{visibleLine(value).slice(0, 80)}</bdi>
        </>,
      )}
    </li>
  );
}

function SpanLink({
  icon,
  label,
  neighbour,
}: {
  icon: IconName;
  label: string;
  neighbour: Neighbour | undefined;
}): ReactNode {
  if (neighbour === undefined) return null;
  return (
    <Item icon={icon} label={label} value={neighbour.name}>
      {(content) => (
        <Link to="/spans/$spanId" params={{ spanId: neighbour.id }} className={linkClass}>
          {content}
        </Link>
      )}
    </Item>
  );
}
