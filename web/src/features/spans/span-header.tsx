import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { formatCost, formatCount, formatDuration, formatExactCost, formatInteger } from "../../lib/format.ts";
import { formatExactTime, formatTime } from "../../lib/time.ts";
import { visibleLine } from "../../lib/visible-text.ts";
import { IconButton } from "../../ui/button.tsx";
import { CopyButton } from "../../ui/copy-button.tsx";
import { Icon } from "../../ui/icon.tsx";
import { Unknown, useTimeZone } from "../../ui/value.tsx";
import { nameOf, numberOf, textOf, type Span } from "./span-record.ts";
import { whyNoCost, whyNoTokens } from "./unknown-reasons.ts";

type Props = { id: string; span: Span; onClose: (() => void) | undefined };

/** The name, status and figures of a span. */
export function SpanHeader({ id, span, onClose }: Props): ReactNode {
  const name = visibleLine(nameOf(span)).slice(0, 200);
  const type = textOf(span, "log_type") ?? "span";
  return (
    <header className="shrink-0 border-b border-line px-3 pt-2 pb-2">
      <div className="flex h-7 min-w-0 items-center gap-2">
        <Status span={span} />
        <h2 className="truncate text-base font-semibold" title={name}>
          <bdi>{name}</bdi>
        </h2>
        <span className="shrink-0 rounded-sm bg-raised px-1.5 text-xs text-muted">{visibleLine(type)}</span>
        {span["is_pinned"] === true && <Icon name="pin" size={14} title="Pinned" className="text-accent" />}
        <span className="ml-auto flex shrink-0 items-center gap-0.5">
          <CopyButton label="Copy id" text={id} icon="hash" />
          <CopyButton label="Copy link" text={() => linkOf(id)} icon="link" />
          {onClose !== undefined && <IconButton icon="close" label="Close (Esc)" onClick={onClose} />}
        </span>
      </div>
      <Figures span={span} />
    </header>
  );
}

/** The URL of the span's page, in the current environment. */
function linkOf(id: string): string {
  const url = new URL(`/spans/${encodeURIComponent(id)}`, location.origin);
  const env = new URLSearchParams(location.search).get("env");
  if (env !== null) url.searchParams.set("env", env);
  return url.href;
}

function Status({ span }: { span: Span }): ReactNode {
  const code = numberOf(span, "status_code");
  const isFailed = span["failed"] === true;
  const title = `${isFailed ? "Failed" : "Success"}${code === undefined ? "" : `, status ${code}`}`;
  return (
    <span
      title={title}
      className={`figures shrink-0 rounded-sm px-1.5 ${isFailed ? "bg-error-soft text-error" : "bg-ok-soft text-ok"}`}
    >
      {code ?? (isFailed ? "failed" : "ok")}
    </span>
  );
}

function Figures({ span }: { span: Span }): ReactNode {
  const zone = useTimeZone();
  const cost = numberOf(span, "cost");
  const tokens = numberOf(span, "total_tokens");
  const latency = numberOf(span, "latency");
  const model = textOf(span, "model");
  const provider = textOf(span, "provider_id");
  const start = textOf(span, "start_time");
  const customer = textOf(span, "customer_identifier");
  return (
    <dl className="mt-1 flex flex-wrap items-baseline gap-x-4 gap-y-0.5 text-sm">
      {model !== undefined && (
        <Figure label="Model" title={visibleLine(provider === undefined ? model : `${model} at ${provider}`)}>
          {visibleLine(model)}
        </Figure>
      )}
      {customer !== undefined && (
        <Figure label="Customer" title={visibleLine(customer)}>
          <Link
            to="/customers/$customerId"
            params={{ customerId: customer }}
            className="block max-w-48 truncate text-accent hover:underline"
          >
            <bdi>{visibleLine(customer).slice(0, 200)}</bdi>
          </Link>
        </Figure>
      )}
      <Figure label="Cost" title={cost === undefined ? whyNoCost(span) : formatExactCost(cost)}>
        {cost === undefined ? <Unknown why={whyNoCost(span)} /> : formatCost(cost)}
      </Figure>
      <Figure label="Tokens" title={tokens === undefined ? whyNoTokens(span) : tokensTitle(span)}>
        {tokens === undefined ? <Unknown why={whyNoTokens(span)} /> : formatCount(tokens)}
      </Figure>
      <Figure label="Latency" title={latencyTitle(span)}>
        {latency === undefined ? <Unknown why="No latency is known." /> : formatDuration(latency)}
      </Figure>
      <Figure
        label="Started"
        title={`Started ${formatExactTime(start, zone)}\nEnded ${formatExactTime(textOf(span, "timestamp"), zone)}`}
      >
        {formatTime(start, zone)}
      </Figure>
    </dl>
  );
}

function Figure({ label, title, children }: { label: string; title: string; children: ReactNode }): ReactNode {
  return (
    <div className="flex min-w-0 items-baseline gap-1.5" title={title}>
      <dt className="text-xs text-faint">{label}</dt>
      <dd className="figures truncate">{children}</dd>
    </div>
  );
}

function tokensTitle(span: Span): string {
  const parts = [
    ["input", "prompt_tokens"],
    ["output", "completion_tokens"],
    ["read from a cache", "prompt_cache_hit_tokens"],
    ["reasoning", "reasoning_tokens"],
  ].flatMap(([label = "", member = ""]) => {
    const count = numberOf(span, member);
    return count === undefined ? [] : [`${formatInteger(count)} ${label}`];
  });
  return `${formatInteger(numberOf(span, "total_tokens"))} tokens\n${parts.join("\n")}`;
}

function latencyTitle(span: Span): string {
  const first = numberOf(span, "time_to_first_token");
  return `From start to end${first === undefined ? "" : `\nFirst token after ${formatDuration(first)}`}`;
}
