import { Client } from "pg";
import { Secret } from "../../src/lib/secret.ts";
import { randomToken } from "../../src/lib/random-token.ts";

/** The server that the tests may fill, from `scripts/test-services.sh`; without it the Postgres tests are skipped. */
export const postgresUrl = process.env["SPANWAY_TEST_POSTGRES_URL"];

/** Part of the names of skipped tests: skip-reporter.ts prints how many were skipped, and why. */
export const postgresSkipReason =
  postgresUrl === undefined
    ? " (skipped: SPANWAY_TEST_POSTGRES_URL is not set, scripts/test-services.sh starts a Postgres)"
    : "";

/** A new, empty database on the test server. */
export async function createPostgresDatabase(): Promise<{ url: Secret; drop: () => Promise<void> }> {
  if (postgresUrl === undefined) throw new Error("SPANWAY_TEST_POSTGRES_URL is not set");
  const name = `spanway_${randomToken(16).toLowerCase()}`;
  await runOnServer(postgresUrl, `create database ${name}`);
  const url = new URL(postgresUrl);
  url.pathname = `/${name}`;
  return { url: new Secret(url.href), drop: () => runOnServer(postgresUrl, `drop database ${name} with (force)`) };
}

async function runOnServer(url: string, statement: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
