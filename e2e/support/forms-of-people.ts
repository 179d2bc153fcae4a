import type { Page } from "playwright-core";
import { testAdmin } from "../../server/test/support/test-app.ts";
import { nameFor, nameOn, press, typed, type Form } from "./form.ts";
import { invite, newViewer } from "./people.ts";

const members = "/settings?tab=members";

async function madeViewer(page: Page): Promise<string> {
  await newViewer(page, nameFor(page, "viewer"));
  return members;
}

const roleOf = (page: Page) => page.getByLabel(`Role of ${nameOn(page)}@example.com`);

/** Forms of the people of an organization. */
export const formsOfPeople: readonly Form[] = [
  {
    name: "role of a member",
    path: madeViewer,
    fill: async (page) => roleOf(page),
    send: async (page) => void (await roleOf(page).selectOption("member")),
  },
  {
    name: "removal of a member",
    path: madeViewer,
    async fill(page) {
      await press(page, `Remove ${nameOn(page)}@example.com`);
      return undefined;
    },
    send: "Remove member",
  },
  {
    name: "end of an invitation",
    async path(page) {
      await invite(page, nameFor(page, "invited"));
      return members;
    },
    async fill(page) {
      await press(page, `Remove ${nameOn(page)}@example.com`);
      return undefined;
    },
    send: "End invitation",
  },
  {
    name: "sign-in",
    path: "/login",
    isSignedOut: true,
    async fill(page) {
      await page.getByLabel("Password").fill(testAdmin.password);
      return await typed(page.getByLabel("E-mail address"), testAdmin.email);
    },
    send: "Sign in",
  },
  {
    name: "acceptance of an invitation",
    path: async (page) => `/invite/${await invite(page)}`,
    isSignedOut: true,
    fill: (page) => typed(page.getByLabel("Choose a password"), "typed meanwhile"),
    send: "Join",
  },
];
