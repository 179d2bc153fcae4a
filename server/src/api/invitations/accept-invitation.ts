import { z } from "zod";
import { userPrincipal } from "../../auth/authenticator.ts";
import { acceptInvitation, findInvitation, invitationNotFound } from "../../auth/members.ts";
import type { Passwords } from "../../auth/passwords.ts";
import type { Sessions } from "../../auth/sessions.ts";
import type { Audit } from "../../http/audit.ts";
import { endpoint } from "../../http/endpoint.ts";
import type { ControlStores } from "../../storage/control/control-stores.ts";
import { newPasswordSchema, tokenPairSchema } from "../auth/schemas.ts";

export const acceptInvitationRoute = (deps: {
  stores: ControlStores;
  passwords: Pick<Passwords, "hash">;
  signedIn: Pick<Sessions, "begin">;
  audit: Audit;
  nowMs: () => number;
}) =>
  endpoint({
    id: "accept_invitation",
    method: "POST",
    path: "/api/invitations/{token}/",
    summary: "Accept an invitation",
    description: "Creates the account with this password, and signs in. The link works once.",
    tags: ["Members"],
    auth: "none",
    limit: "public_trace",
    body: {
      kind: "json",
      schema: z.object({ password: newPasswordSchema }),
      example: { password: "a long enough password" },
    },
    success: { status: 201, schema: tokenPairSchema },
    errors: ["unauthorized", "not_found", "conflict", "unavailable"],
    handler: async ({ params, body, ip, requestId, signal }) => {
      const { token } = params;
      const nowMs = deps.nowMs();
      // Checked before the cost of hashing.
      const invitation = await findInvitation(deps.stores, token, nowMs);
      if (invitation === undefined) throw invitationNotFound();
      const turn = { party: invitation.unique_organization_id, signal };
      const password_hash = await deps.passwords.hash(body.password, turn);
      const user = await acceptInvitation(deps.stores, { token, password_hash, nowMs });
      const organizationId = user.unique_organization_id;
      const entry = { principal: userPrincipal(user), action: "accept_invitation", target: user.id, organizationId };
      await deps.audit({ ...entry, sent: undefined, ip, requestId });
      return deps.signedIn.begin({ ...user, password_hash });
    },
  });
