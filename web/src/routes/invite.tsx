import { getRouteApi } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { AcceptInvitation } from "../features/session/accept-invitation.tsx";
import { Brand } from "../ui/brand.tsx";

const route = getRouteApi("/invite/$token");

export function InviteScreen(): ReactNode {
  const { token } = route.useParams();
  return (
    <main className="flex min-h-full items-start justify-center px-4 pt-[16vh] pb-8">
      <div className="w-full max-w-[340px]">
        <div className="mb-4 flex justify-center">
          <Brand />
        </div>
        <div className="rounded-lg border border-line bg-panel p-5">
          <AcceptInvitation token={token} />
        </div>
      </div>
    </main>
  );
}
