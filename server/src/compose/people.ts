import type { Logger } from "pino";
import type { Registry } from "prom-client";
import { adminLimits } from "../admin/limits.ts";
import { createAudit } from "../auth/audit-trail.ts";
import { type CachingAuthenticator, createAuthenticator, createBlockedOrganizations } from "../auth/authenticator.ts";
import { type BrowserSessions, createBrowserSessions } from "../auth/browser-sessions.ts";
import { createFailedLogins, type NoteFailedLogin } from "../auth/failed-logins.ts";
import { authLimits } from "../auth/limits.ts";
import { createLoginThrottle, type LoginThrottle } from "../auth/login-throttle.ts";
import type { Passwords } from "../auth/passwords.ts";
import { createSessions, type Sessions } from "../auth/sessions.ts";
import { createTokens } from "../auth/tokens.ts";
import type { Config } from "../config/config.ts";
import type { Audit } from "../http/audit.ts";
import { noteKeyUses } from "../jobs/note-key-uses.ts";
import { scheduleJob } from "../jobs/schedule.ts";
import type { WatchLimits } from "../lib/fair-share.ts";
import type { Secret } from "../lib/secret.ts";
import type { ControlStores } from "../storage/control/control-stores.ts";
import type { ControlWatch } from "../storage/control/control-watch.ts";
import { watchPasswords } from "../telemetry/node-metrics.ts";

export type People = {
  authenticator: CachingAuthenticator;
  signedIn: Sessions;
  browsers: BrowserSessions;
  audit: Audit;
  throttle: LoginThrottle;
  noteFailedLogin: NoteFailedLogin;
  isBlocked: (organizationId: string) => boolean;
};

/** Authentication, and the audit log. */
export async function composePeople({
  config,
  stores,
  control,
  secretKey,
  passwords,
  registry,
  watchLimits,
  logger,
  cleanup,
  now,
}: {
  config: Pick<Config, "sessionIdleHours" | "sessionMaxDays" | "staleS">;
  stores: ControlStores;
  control: ControlWatch;
  secretKey: Secret;
  passwords: Pick<Passwords, "stats" | "limits">;
  registry: Registry;
  watchLimits: WatchLimits;
  logger: Logger;
  cleanup: Array<() => Promise<void> | void>;
  now: () => number;
}): Promise<People> {
  watchPasswords(registry, passwords);
  const { places, queue } = passwords.limits;
  watchLimits({ passwordHashesInFlight: places, passwordHashesQueued: queue });
  const tokens = createTokens(secretKey, now);
  const lifetimes = { idleMs: config.sessionIdleHours * 3_600_000, maxMs: config.sessionMaxDays * 86_400_000 };
  const browsers = createBrowserSessions({ ...stores, lifetimes, nowMs: now });
  const authenticator = createAuthenticator({
    ...stores,
    control,
    staleMs: config.staleS * 1000,
    tokens,
    browsers,
    nowMs: now,
  });
  const uses = { authenticator, apiKeys: stores.apiKeys };
  const noting = scheduleJob({ name: "key uses", everyMs: authLimits.keyUseFlushMs, logger }, () => noteKeyUses(uses));
  cleanup.push(async () => {
    await noting.stop();
    await noteKeyUses(uses);
  });

  const blocked = createBlockedOrganizations(stores.organizations);
  // Every node loads the organizations that an operator blocked within seconds.
  await blocked.refresh();
  const everyMs = adminLimits.blockedOrganizationsEveryMs;
  const watch = scheduleJob({ name: "blocked organizations", everyMs, logger }, () => blocked.refresh());
  cleanup.push(() => watch.stop());

  const audit = createAudit({ ...stores, logger, nowMs: now });
  return {
    authenticator,
    browsers,
    signedIn: createSessions({ ...stores, tokens, nowMs: now }),
    audit,
    noteFailedLogin: createFailedLogins({ audit, nowMs: now }),
    throttle: createLoginThrottle(now),
    isBlocked: blocked.has,
  };
}
