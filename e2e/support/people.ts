import type { Page } from "playwright-core";
import { expect } from "vitest";
import { unique } from "./unique.ts";

/** Headers of a request that the browser sends as the page does. */
export const pageHeaders = (page: Page) => ({ origin: new URL(page.url()).origin, "x-spanway-environment": "prod" });

/** Invites a viewer as `NAME@example.com`. @returns the token of the invitation */
export async function invite(page: Page, name = unique("invited")): Promise<string> {
  const data = { email: `${name}@example.com`, role: "viewer" };
  const invited = await page.request.post("/api/members/", { headers: pageHeaders(page), data });
  expect(invited.status()).toBe(201);
  return ((await invited.json()) as { invite_token: string }).invite_token;
}

/** Another user of the organization, who can only read. */
export async function newViewer(page: Page, name = unique("viewer")): Promise<{ email: string; password: string }> {
  const token = await invite(page, name);
  const password = "reads and nothing else";
  const headers = pageHeaders(page);
  const accepted = await page.request.post(`/api/invitations/${token}/`, { headers, data: { password } });
  expect(accepted.status()).toBe(201);
  return { email: `${name}@example.com`, password };
}
