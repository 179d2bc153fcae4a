import type { ReactNode } from "react";
import { Badge, Dot } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import type { IconName } from "../../ui/icon.tsx";
import { Cell, HeadCell, Table } from "../../ui/table.tsx";
import { CallCells } from "./call-cells.tsx";
import type { Calls, Failure } from "./calls.ts";
import type { KnownProvider } from "./queries.ts";

type TableProps = {
  providers: readonly KnownProvider[];
  /** Undefined until loaded. */
  calls: ReadonlyMap<string, Calls> | undefined;
  failures: ReadonlyMap<string, Failure> | undefined;
  canCall: boolean;
  canWrite: boolean;
  onTry: (provider: string) => void;
  onAdd: (provider: string) => void;
};

export function ProvidersTable({ providers, ...rest }: TableProps): ReactNode {
  return (
    <Table
      label="Providers"
      head={
        <>
          <HeadCell>Provider</HeadCell>
          <HeadCell>Credential</HeadCell>
          <HeadCell isNumber className="max-md:hidden">
            Calls, 24 h
          </HeadCell>
          <HeadCell isNumber>Failed, 24 h</HeadCell>
          <HeadCell className="max-md:hidden">Last failure</HeadCell>
          {(rest.canCall || rest.canWrite) && (
            <HeadCell>
              <span className="sr-only">Actions</span>
            </HeadCell>
          )}
        </>
      }
    >
      {providers.map((known) => (
        <Row key={known.provider} known={known} {...rest} />
      ))}
    </Table>
  );
}

type RowProps = Omit<TableProps, "providers"> & { known: KnownProvider };

function Row({ known, calls, failures, canCall, canWrite, onTry, onAdd }: RowProps): ReactNode {
  const { provider, credential_source: source } = known;
  return (
    <tr>
      <Cell className="max-md:max-w-36" title={provider}>
        <span className={source === null ? "" : "font-medium"}>{provider}</span>
        {!known.is_built_in && (
          <Badge
            className="ml-2 align-text-bottom max-md:hidden"
            title="A stored credential brings it, with its address"
          >
            own server
          </Badge>
        )}
      </Cell>
      <Cell>
        <Source known={known} />
      </Cell>
      <CallCells provider={provider} calls={calls} failures={failures} />
      {(canCall || canWrite) && (
        <Cell className="text-right whitespace-nowrap">
          <span className="inline-flex gap-1">
            {canCall && source !== null && (
              <Action icon="send" does="Try" to={`one call of ${provider}`} onClick={() => onTry(provider)} />
            )}
            {canWrite && known.is_built_in && (
              <Action icon="plus" does="Add key" to={`for ${provider}`} onClick={() => onAdd(provider)} />
            )}
          </span>
        </Cell>
      )}
    </tr>
  );
}

/** Shows its label only if there is space. */
function Action({ icon, does, to, onClick }: { icon: IconName; does: string; to: string; onClick: () => void }) {
  return (
    <Button size="sm" icon={icon} title={`${does} ${to}`} onClick={onClick}>
      <span className="max-md:sr-only">
        {does}
        <span className="sr-only"> {to}</span>
      </span>
    </Button>
  );
}

function Source({ known }: { known: KnownProvider }): ReactNode {
  const { credential_source: source, server_variable: variable } = known;
  if (source === null) {
    const title = variable === null ? undefined : `${variable} in the environment of the server would give it one`;
    return (
      <span className="text-faint" title={title}>
        none
      </span>
    );
  }
  return (
    <span className="inline-flex items-center gap-2">
      <Dot tone="ok" />
      {source === "settings" ? (
        "stored"
      ) : (
        <span>
          server<span className="max-md:sr-only">'s environment</span>
        </span>
      )}
    </span>
  );
}
