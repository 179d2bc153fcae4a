import type { ReactNode } from "react";
import { useSignOut } from "../../api/use-me.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { ErrorPanel } from "../../ui/error-panel.tsx";
import { Panel } from "../../ui/panel.tsx";
import { SkeletonRows } from "../../ui/skeleton.tsx";
import { Cell, HeadCell, Table } from "../../ui/table.tsx";
import { useToast } from "../../ui/toast.tsx";
import { Time } from "../../ui/value.tsx";
import { useEndSession, useSessions, type Session } from "./queries.ts";

/** The person's sessions. */
export function SessionsPanel(): ReactNode {
  const sessions = useSessions();
  return (
    <Panel title="Sessions">
      {sessions.error !== null && <ErrorPanel error={sessions.error} onRetry={() => void sessions.refetch()} />}
      {sessions.isPending && <SkeletonRows rows={2} />}
      {sessions.data !== undefined && (
        <Table
          label="Sessions"
          head={
            <>
              <HeadCell>Signed in</HeadCell>
              <HeadCell>With</HeadCell>
              <HeadCell className="max-sm:hidden" title="Each use extends it, up to its maximum lifetime">
                Expires if unused
              </HeadCell>
              <HeadCell>
                <span className="sr-only">Actions</span>
              </HeadCell>
            </>
          }
        >
          {sessions.data.results.map((session) => (
            <Row key={session.id} session={session} />
          ))}
        </Table>
      )}
    </Panel>
  );
}

function Row({ session }: { session: Session }): ReactNode {
  const toast = useToast();
  const end = useEndSession();
  const signOut = useSignOut();
  const isBrowser = session.kind === "browser";
  const onError = (error: Error): void => toast.failed("Could not sign out", error);
  return (
    <tr>
      <Cell>
        <Time at={session.created_at} />
      </Cell>
      <Cell>
        {isBrowser ? "a browser" : "an access token"} {session.is_current && <Badge tone="accent">this one</Badge>}
      </Cell>
      <Cell className="max-sm:hidden">
        <Time at={session.expires_at} />
      </Cell>
      <Cell className="text-right">
        <Button
          size="sm"
          isBusy={end.isPending || signOut.isPending}
          onClick={() =>
            session.is_current ? signOut.mutate(undefined, { onError }) : end.mutate(session.id, { onError })
          }
        >
          Sign out
        </Button>
      </Cell>
    </tr>
  );
}
