import type { FirstSecret, FirstStart } from "./first-start.ts";

/**
 * The one-time sign-in link; undefined if the server does not listen on a loopback address. @param url where it listens
 */
export function signInLink(url: string, code: string): string | undefined {
  const { hostname, port } = new URL(url);
  const isEvery = hostname === "0.0.0.0" || hostname === "[::]";
  if (!isEvery && hostname !== "localhost" && hostname !== "[::1]" && !hostname.startsWith("127.")) return undefined;
  return `http://${isEvery ? "127.0.0.1" : hostname}:${port || "80"}/sign-in?code=${code}`;
}

/** The credentials of the first start; secrets that the operator chose are not repeated. @param link to sign in once */
export function describeFirstStart(first: FirstStart, link: string | undefined): string {
  const show = ({ value, given }: FirstSecret): string => (given ? "(as configured)" : value);
  return [
    "",
    "  Spanway is set up. This is shown once:",
    "",
    `  organization    ${first.unique_organization_id}`,
    `  prod API key    ${show(first.keys.prod)}`,
    `  test API key    ${show(first.keys.test)}`,
    `  admin           ${first.admin_email}`,
    `  admin password  ${show(first.admin_password)}`,
    "",
    ...(link === undefined ? [] : ["  To sign in once, within an hour, open on this machine:", "", `  ${link}`, ""]),
  ].join("\n");
}
