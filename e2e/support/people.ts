import type { Page } from "playwright-core";
import { expect } from "vitest";
import { unique } from "./unique.ts";

/** Of a request that the browser sends as the page would. */
export const pageHeaders = (page: Page) => ({ origin: new URL(page.url()).origin, "x-spanway-environment": "prod" });

/** Somebody else of the organization, who can read and nothing else. */
export async function newViewer(page: Page): Promise<{ email: string; password: string }> {
  const headers = pageHeaders(page);
  const email = `${unique("viewer")}@example.com`;
  const invited = await page.request.post("/api/members/", { headers, data: { email, role: "viewer" } });
  const { invite_token: token } = (await invited.json()) as { invite_token: string };
  const password = "reads and nothing else";
  const accepted = await page.request.post(`/api/invitations/${token}/`, { headers, data: { password } });
  expect(accepted.status()).toBe(201);
  return { email, password };
}
