import { useQueryClient } from "@tanstack/react-query";
import { useRouter, useSearch } from "@tanstack/react-router";
import { useEffect, type ReactNode } from "react";
import { useSessionWatch } from "../api/session-watch.ts";
import { useIsSignedIn } from "../api/use-me.ts";
import { SignInForm } from "../features/session/sign-in-form.tsx";
import { Brand } from "../ui/brand.tsx";

const linkProblems = {
  used: "The sign-in link was used before or has expired. Sign in with the password.",
  throttled:
    "Too many wrong sign-in links were opened. Sign in with the password, or open the link again in 15 minutes.",
};

export function SignInScreen(): ReactNode {
  const { to, link } = useSearch({ from: "/login" });
  const router = useRouter();
  const queries = useQueryClient();
  const watch = useSessionWatch();
  const isSignedIn = useIsSignedIn();
  useEffect(() => {
    if (isSignedIn) router.history.replace(to ?? "/");
  }, [isSignedIn, router, to]);
  return (
    <main className="flex min-h-full items-start justify-center px-4 pt-[16vh] pb-8">
      <div className="w-full max-w-[340px]">
        <div className="mb-4 flex justify-center">
          <Brand />
        </div>
        <div className="rounded-lg border border-line bg-panel p-5">
          <h1 className="mb-3 text-lg font-semibold">Sign in</h1>
          {link !== undefined && (
            <p role="status" className="mb-3 text-sm text-muted">
              {linkProblems[link]}
            </p>
          )}
          <SignInForm
            onSignedIn={() => {
              watch.resume();
              queries.clear();
              router.history.replace(to ?? "/");
            }}
          />
        </div>
        <p className="mt-3 text-center text-xs text-faint">
          The first start of the server printed the administrator's password and a link that signs in once. The{" "}
          <a href="/docs" className="text-accent hover:underline">
            API reference
          </a>{" "}
          is open to all.
        </p>
      </div>
    </main>
  );
}
