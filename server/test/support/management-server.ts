import { pino } from "pino";
import { createApiKey } from "../../src/api/api-keys/create-api-key.ts";
import { deleteApiKey } from "../../src/api/api-keys/delete-api-key.ts";
import { listApiKeys } from "../../src/api/api-keys/list-api-keys.ts";
import { updateApiKey } from "../../src/api/api-keys/update-api-key.ts";
import { listAuditLog } from "../../src/api/audit-log/list-audit-log.ts";
import { logout } from "../../src/api/auth/logout.ts";
import { acceptInvitationRoute } from "../../src/api/invitations/accept-invitation.ts";
import { retrieveInvitation } from "../../src/api/invitations/retrieve-invitation.ts";
import { createMember } from "../../src/api/members/create-member.ts";
import { deleteMember } from "../../src/api/members/delete-member.ts";
import { listMembers } from "../../src/api/members/list-members.ts";
import { updateMember } from "../../src/api/members/update-member.ts";
import { changePassword } from "../../src/api/auth/change-password.ts";
import { endSession } from "../../src/api/auth/end-session.ts";
import { listSessions } from "../../src/api/auth/list-sessions.ts";
import { getMe } from "../../src/api/auth/get-me.ts";
import { login } from "../../src/api/auth/login.ts";
import { refresh } from "../../src/api/auth/refresh.ts";
import { signInByCode } from "../../src/api/auth/sign-in-by-code.ts";
import { createOrganization } from "../../src/api/organizations/create-organization.ts";
import { updateOrganization } from "../../src/api/organizations/update-organization.ts";
import { createTemporaryKey } from "../../src/api/temporary-keys/create-temporary-key.ts";
import { createAudit } from "../../src/auth/audit-trail.ts";
import { createBrowserSessions } from "../../src/auth/browser-sessions.ts";
import { createSessions } from "../../src/auth/sessions.ts";
import { createAuthenticator } from "../../src/auth/authenticator.ts";
import { createFailedLogins } from "../../src/auth/failed-logins.ts";
import { createLoginThrottle } from "../../src/auth/login-throttle.ts";
import { makeOrganization, makeUser } from "../../src/auth/make-organization.ts";
import { createPasswords } from "../../src/auth/passwords.ts";
import { createTokens, type TokenPair } from "../../src/auth/tokens.ts";
import type { Role } from "../../src/domain/permissions.ts";
import { endpoint } from "../../src/http/endpoint.ts";
import { createRateLimiter } from "../../src/http/rate-limit.ts";
import { createHttpServer } from "../../src/http/server.ts";
import { Secret } from "../../src/lib/secret.ts";
import { authLimits } from "../../src/auth/limits.ts";
import { controlUp, staleMs } from "./control-up.ts";
import { openMemoryControl } from "./memory-control.ts";

export type Answer = { status: number; headers: Headers; body: unknown };

/** Shows the caller as the server sees it. */
const probe = endpoint({
  id: "probe",
  method: "GET",
  path: "/probe/",
  summary: "Who is calling",
  tags: [],
  auth: "key_or_user",
  success: { status: 200 },
  errors: [],
  handler: ({ principal }) => JSON.parse(JSON.stringify({ ...principal, permissions: [...principal.permissions] })),
});

/** The management routes over HTTP, with real stores, fast password hashes and a clock that tests can move. */
export async function startManagementServer() {
  const { stores, close: closeStores } = await openMemoryControl();
  const clock = { ms: Date.parse("2026-03-01T10:00:00.000Z") };
  const nowMs = () => clock.ms;
  const passwords = createPasswords({ n: 2 ** 10, r: 8, p: 1 });
  const tokens = createTokens(new Secret("a secret of the instance"), nowMs);
  const lifetimes = { idleMs: authLimits.browserSessionIdleMs, maxMs: authLimits.browserSessionMs };
  const browsers = createBrowserSessions({ ...stores, lifetimes, nowMs });
  const signedIn = createSessions({ ...stores, tokens, nowMs });
  const authenticator = createAuthenticator({ ...stores, control: controlUp(), staleMs, tokens, browsers, nowMs });
  const logger = pino({ level: "silent" });
  const audit = createAudit({ ...stores, nowMs, logger });
  const deps = {
    ...stores,
    stores,
    authenticator,
    passwords,
    signedIn,
    browsers,
    audit,
    nowMs,
    throttle: createLoginThrottle(nowMs),
    noteFailedLogin: createFailedLogins({ audit, nowMs }),
  };
  const server = createHttpServer({
    endpoints: [
      login(deps),
      refresh(deps),
      logout(deps),
      signInByCode(deps),
      getMe(deps),
      changePassword(deps),
      listSessions(deps),
      endSession(deps),
      listApiKeys(deps),
      createApiKey(deps),
      updateApiKey(deps),
      deleteApiKey(deps),
      createTemporaryKey(deps),
      createOrganization(deps),
      updateOrganization({ ...deps, settingsChanged: () => undefined }),
      listMembers(deps),
      createMember(deps),
      updateMember(deps),
      deleteMember(deps),
      retrieveInvitation(deps),
      acceptInvitationRoute(deps),
      listAuditLog(deps),
      probe,
    ],
    authenticator,
    rateLimiter: createRateLimiter({ perMinute: { bulk_create: 0, bulk_delete: 0, public_trace: 0, api: 0 } }),
    logger,
    audit,
  });
  const url = await server.listen({ host: "127.0.0.1", port: 0 });

  const call = async (method: string, path: string, token?: string, body?: unknown): Promise<Answer> => {
    const response = await fetch(url + path, {
      method,
      headers: {
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...(body !== undefined && { "content-type": "application/json" }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, body: text === "" ? undefined : JSON.parse(text) };
  };

  /** An organisation with one signed-in user. */
  const newTenant = async (role: Role = "admin", is_instance_admin = false) => {
    const { organization, keys } = await makeOrganization(stores, { name: "Acme", nowMs: nowMs() });
    const { unique_organization_id } = organization;
    const password = "correct horse";
    const password_hash = await passwords.hash(password);
    const user = await makeUser(stores, {
      unique_organization_id,
      email: `user-${organization.id}@example.com`,
      password_hash,
      role,
      is_instance_admin,
      nowMs: nowMs(),
    });
    const pair: TokenPair = await signedIn.begin({ ...user, password_hash });
    return { ...pair, organization, keys, user, password, id: unique_organization_id };
  };

  const close = async () => {
    await server.close();
    await closeStores();
  };
  return { url, stores, passwords, audit, clock, call, newTenant, close };
}

export type ManagementServer = Awaited<ReturnType<typeof startManagementServer>>;
