import { expect } from "vitest";
import type { Page } from "playwright-core";
import { testAdmin } from "../../server/test/support/test-app.ts";
import { browserTest, open } from "../support/browse.ts";
import { invite, newViewer, pageHeaders } from "../support/people.ts";
import { unique } from "../support/unique.ts";
import { expectNone, whole } from "../support/whole.ts";

const refused = /status of 401/;

async function fillIn(page: Page, { email, password }: { email: string; password: string }): Promise<void> {
  await page.getByLabel("E-mail address").last().fill(email);
  await page.getByLabel("Password").fill(password);
  await page.getByRole("button", { name: "Sign in" }).click();
}

browserTest("a link leads to its screen after signing in; the form reports a wrong password", async () => {
  const page = await open("/settings?tab=organization&env=test", { as: null, expected: refused });
  await fillIn(page, { ...testAdmin, password: "something else entirely" });
  await page.getByText("The e-mail address or the password is wrong.").waitFor();
  await fillIn(page, testAdmin);
  await page.getByRole("tab", { name: "Organization", selected: true }).waitFor();
  expect(new URL(page.url()).search).toBe("?tab=organization&env=test");
  await page.getByRole("button", { name: "test", exact: true, pressed: true }).waitFor();
});

browserTest("if a session ends while somebody types, the text is kept until they sign in again", async () => {
  const page = await open("/settings", { expected: refused });
  const email = `${unique("typed")}@example.com`;
  await page.getByRole("button", { name: "Invite" }).click();
  await page.getByLabel("E-mail address").fill(email);
  await page.context().clearCookies();
  await page.getByRole("dialog").getByRole("button", { name: "Invite" }).click();
  await page.getByText("Your session has ended").waitFor();
  await fillIn(page, testAdmin);
  await page.getByText("Your session has ended").waitFor({ state: "detached" });
  await expect.poll(() => page.getByLabel("E-mail address").inputValue()).toBe(email);
  await page.getByRole("dialog").getByRole("button", { name: "Invite" }).click();
  await page.getByText(`Send this link to ${email}`).waitFor();
});

browserTest(
  "a person of another organization who signs in after a session ended sees nothing of the previous organization",
  async () => {
    const page = await open("/settings", { expected: refused });
    const name = unique("Second organization");
    const other = { email: `${unique("admin")}@second.example`, password: "of another organization" };
    const data = { name, admin_email: other.email, admin_password: other.password };
    const made = await page.request.post("/api/organizations/", { headers: pageHeaders(page), data });
    expect(made.status()).toBe(201);
    await page.getByRole("cell", { name: testAdmin.email }).waitFor();
    await page.getByRole("button", { name: "Invite" }).click();
    await page.getByLabel("E-mail address").fill("typed@example.com");
    await page.context().clearCookies();
    await page.getByRole("dialog").getByRole("button", { name: "Invite" }).click();
    await page.getByText("Your session has ended").waitFor();
    await fillIn(page, other);
    await page.waitForURL(({ pathname }) => pathname === "/");
    await page.getByText(name).waitFor();
    await page.goBack();
    await page.getByRole("cell", { name: other.email }).waitFor();
    await whole(page);
    expect(await page.content()).not.toContain(testAdmin.email);
  },
);

browserTest("a viewer sees no action that the role does not permit", async () => {
  const admin = await open("/settings");
  const viewer = await newViewer(admin);
  const page = await open("/settings", { as: viewer });
  await page.getByText("Only admins see API keys").waitFor();
  const tabs = ["API keys", "Organization", "Instance", "Your account"];
  await expect.poll(() => page.getByRole("tab").allInnerTexts()).toEqual(tabs);
  await page.getByRole("tab", { name: "Organization" }).click();
  await page.getByText("Only admins change this.").waitFor();
  await expect.poll(() => page.getByLabel("Name").isDisabled()).toBe(true);
});

browserTest("all tabs of a browser follow a sign-out and a sign-in", async () => {
  const page = await open("/settings", { expected: refused });
  const viewer = await newViewer(page);
  const other = await page.context().newPage();
  await other.goto("/settings?tab=keys");
  await other.getByText("Default prod key").waitFor();

  await page.getByRole("button", { name: testAdmin.email }).click();
  await page.getByRole("menuitem", { name: "Sign out" }).click();
  await other.waitForURL(/\/login/);
  await page.waitForURL(/\/login/);

  await other.goto("/logs");
  await fillIn(other, testAdmin);
  await other.getByText(testAdmin.email).first().waitFor();
  await fillIn(page, viewer);
  await expectNone(other.getByText(testAdmin.email), other.getByText(viewer.email));
});

browserTest("a changed password signs out other browsers, not this one", async () => {
  const admin = await open("/settings");
  const member = await newViewer(admin);
  const elsewhere = await open("/settings?tab=account", { as: member, expected: refused });
  await elsewhere.getByRole("heading", { name: "Sessions" }).waitFor();
  const page = await open("/settings?tab=account", { as: member, expected: /status of 400/ });
  const table = page.getByRole("table", { name: "Sessions" });
  const browsers = table.getByRole("row", { name: "a browser" });
  await browsers.nth(1).waitFor();
  const change = async (current: string, next: string) => {
    await page.getByLabel("Current password").fill(current);
    await page.getByLabel("New password").fill(next);
    await page.getByRole("button", { name: "Change password" }).click();
  };
  await change("something else", "a new password of mine");
  await page.getByText("is not your password").waitFor();
  await change(member.password, "short");
  await page.getByText("must have at least 8 characters").waitFor();
  await change(member.password, "a new password of mine");
  await page.getByText("Password changed").waitFor();
  await expect.poll(() => browsers.count()).toBe(1);
  await elsewhere.reload();
  await elsewhere.waitForURL(/\/login/);
  await fillIn(elsewhere, { ...member, password: "a new password of mine" });

  await elsewhere.getByRole("heading", { name: "Sessions" }).waitFor();
  await page.reload();
  await browsers.filter({ hasNotText: "this one" }).getByRole("button", { name: "Sign out" }).click();
  await expect.poll(() => browsers.count()).toBe(1);
  await elsewhere.reload();
  await elsewhere.waitForURL(/\/login/);
});

browserTest(
  "an invitation shows what is wrong with a password, and opens the application once it is accepted",
  async () => {
    const admin = await open("/settings");
    const data = { email: `${unique("invited")}@example.com`, role: "viewer" };
    const invited = await admin.request.post("/api/members/", { headers: pageHeaders(admin), data });
    const { invite_url: url } = (await invited.json()) as { invite_url: string };
    const page = await open(url, { as: null, expected: /status of 40[04]/ });
    await page.getByLabel("Choose a password").fill("short");
    await page.getByRole("button", { name: "Join" }).click();
    await page.getByText("The password must have at least 8 characters.").waitFor();
    await page.getByLabel("Choose a password").fill("long enough to join");
    await page.getByRole("button", { name: "Join" }).click();
    await page.waitForURL(({ pathname }) => pathname === "/");
    await page.goto(url);
    await page.getByText("This invitation was used or has expired").waitFor();
    // The browser is signed in, so it is redirected to the overview.
    await page.getByRole("link", { name: "Sign in" }).click();
    await page.waitForURL(({ pathname }) => pathname === "/");
  },
);

browserTest("the audit log and the list of keys show names and words instead of ids and permissions", async () => {
  const page = await open("/settings?tab=keys");
  const row = page.getByRole("row", { name: "Default prod key" });
  await row.getByRole("cell", { name: "Everything but people and keys", exact: true }).waitFor();
  const data = { name: unique("Nightly import"), environment: "prod" };
  expect((await page.request.post("/api/api-keys/", { headers: pageHeaders(page), data })).status()).toBe(201);
  await page.goto("/settings?tab=audit");
  await page
    .getByRole("cell", { name: `key “${data.name}”` })
    .first()
    .waitFor();
});

browserTest("the audit log shows the previous value of each change, and all of it when opened", async () => {
  const page = await open("/settings");
  const { email } = await newViewer(page);
  const headers = pageHeaders(page);
  const { results } = (await (await page.request.get("/api/members/?page_size=1000", { headers })).json()) as {
    results: { id: string; email: string }[];
  };
  const { id } = results.find((member) => member.email === email) ?? { id: "" };
  for (const role of ["member", "admin"]) {
    const changed = await page.request.patch(`/api/members/${id}/`, { headers, data: { role } });
    expect(changed.status()).toBe(200);
  }
  await page.goto("/settings?tab=audit");
  const row = page.getByRole("table", { name: "Audit log" }).getByRole("row").filter({ hasText: email }).first();
  await row.getByText("role: member → admin").click();
  await row.getByRole("definition").filter({ hasText: "member → admin" }).waitFor();
});

browserTest("an invitation is accepted once; if only the sign-in fails, the next try signs in", async () => {
  const page = await open("/docs", { expected: /status of (?:401|429)/ });
  const token = await invite(page);
  await page.context().clearCookies();
  await page.goto(`/invite/${token}`);
  await page.getByLabel("Choose a password").fill("chosen once and for all");
  await page.route("**/api/auth/login/", (route) =>
    route.fulfill({ status: 429, headers: { "retry-after": "1" }, json: { detail: "Too many tries.", code: "limit" } }),
  );
  await page.getByRole("button", { name: "Join" }).click();
  await page.getByRole("alert").filter({ hasText: "Too many tries." }).waitFor();
  await page.unroute("**/api/auth/login/");
  await page.getByRole("button", { name: "Join" }).click();
  await page.waitForURL(({ pathname }) => pathname === "/");
});
