import { useQueryClient } from "@tanstack/react-query";
import { useNavigate, useRouter } from "@tanstack/react-router";
import { useEffect, useRef, type ReactNode } from "react";
import { ApiError } from "../api/api-error.ts";
import { useIsSessionEnded, useSessionWatch } from "../api/session-watch.ts";
import { identityOf, useMe, type Me } from "../api/use-me.ts";
import { ErrorPanel } from "../ui/error-panel.tsx";
import { lazyPart } from "../ui/lazy-part.tsx";
import { SkeletonRows } from "../ui/skeleton.tsx";

const SessionDialog = lazyPart(async () => (await import("../features/session/session-dialog.tsx")).SessionDialog);

/** Shows the screen to signed-in people only, and never one person's data to the next. */
export function SessionGate({ children }: { children: ReactNode }): ReactNode {
  const me = useMe();
  const isEnded = useIsSessionEnded();
  const first = useFirst(me.data);
  useClearOthersData(first, me.data);
  const isSignedOut = first === undefined && me.error instanceof ApiError && me.error.status === 401;
  useLeaveFor(isSignedOut);
  if (first === undefined) {
    if (me.error === null || isSignedOut) return <SkeletonRows rows={12} />;
    return <ErrorPanel error={me.error} onRetry={() => void me.refetch()} />;
  }
  return (
    <>
      {children}
      {isEnded && <SessionDialog before={first} />}
    </>
  );
}

/** The person who was signed in when the page loaded. */
function useFirst(me: Me | undefined): Me | undefined {
  const first = useRef<Me>(undefined);
  first.current ??= me;
  return first.current;
}

function useClearOthersData(first: Me | undefined, now: Me | undefined): void {
  const queries = useQueryClient();
  const watch = useSessionWatch();
  const identity = first && identityOf(first);
  useEffect(() => {
    const startAnew = (path: string): void => {
      queries.clear();
      location.assign(path);
    };
    if (identity !== undefined && now !== undefined && identityOf(now) !== identity) startAnew("/");
    return watch.onOtherTab((message) => {
      if (message.kind === "signed-out") startAnew("/login");
      else if (identity !== undefined && message.identity !== identity) startAnew("/");
      else {
        watch.resume();
        void queries.invalidateQueries();
      }
    });
  }, [identity, now, queries, watch]);
}

function useLeaveFor(isSignedOut: boolean): void {
  const navigate = useNavigate();
  const router = useRouter();
  useEffect(() => {
    const { href, pathname } = router.history.location;
    // The code of the sign-in form may still be loading.
    if (!isSignedOut || pathname === "/login") return;
    void navigate({ to: "/login", search: href === "/" ? {} : { to: href }, replace: true });
  }, [isSignedOut, navigate, router]);
}
