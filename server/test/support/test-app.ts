import { existsSync, mkdtempSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startApp, type App } from "../../src/app.ts";
import { createPasswords, type ScryptCost } from "../../src/auth/passwords.ts";
import { readConfig, type EnvironmentVariables } from "../../src/config/config.ts";
import { createLogger } from "../../src/telemetry/logger.ts";
import { makeEmptySpans } from "./empty-spans.ts";
import { createClient, type TestClient } from "./test-client.ts";

/**
 * A complete server in this process, with a separate data folder. chDB binds one folder per process, so a test file starts one app and
 * isolates its tests by organisation (`newOrganization`).
 */
export type TestApp = {
  app: App;
  url: string;
  dataDir: string;
  /** Keys of the first organisation. */
  prod: TestClient;
  test: TestClient;
  admin: { email: string; password: string };
  /** Another organisation with its own keys. */
  newOrganization(): Promise<{
    unique_organization_id: string;
    keys: { prod: string; test: string };
    prod: TestClient;
    test: TestClient;
  }>;
  /** Signs in the instance admin. */
  login(): Promise<TestClient>;
  stop(): Promise<void>;
};

export const testKeys = { prod: "test_prod_key_0123456789", test: "test_test_key_0123456789" };
/** A sign-in with the production cost takes 0.2 s of a core. */
export const quickPasswords: ScryptCost = { n: 2 ** 10, r: 8, p: 1 };
export const testAdmin = { email: "admin@example.com", password: "a long enough password" };

export function testEnvironment(dataDir: string, overrides: EnvironmentVariables = {}): EnvironmentVariables {
  return {
    SPANWAY_PORT: "0",
    SPANWAY_DATA_DIR: dataDir,
    SPANWAY_PROD_KEY: testKeys.prod,
    SPANWAY_TEST_KEY: testKeys.test,
    SPANWAY_ADMIN_EMAIL: testAdmin.email,
    SPANWAY_ADMIN_PASSWORD: testAdmin.password,
    SPANWAY_LOG_LEVEL: "silent",
    SPANWAY_BULK_CREATE_PER_MINUTE: "0",
    SPANWAY_BULK_DELETE_PER_MINUTE: "0",
    ...overrides,
  };
}

export async function startTestApp(
  overrides: EnvironmentVariables = {},
  cost = quickPasswords,
  now?: () => number,
): Promise<TestApp> {
  const dataDir = mkdtempSync(join(tmpdir(), "spanway-app-"));
  // Tests wait for their spans to be stored: most of the wait would be the writer's group time.
  const config = readConfig(testEnvironment(dataDir, { SPANWAY_INSERT_MS: "10", ...overrides }));
  const passwords = createPasswords(cost);
  const { spans } = config;
  const isFirst = spans.kind === "chdb" && !existsSync(spans.path);
  if (isFirst) await makeEmptySpans(spans.path);
  const logger = createLogger(config.logLevel);
  const app = await startApp({ config, logger, passwords, isFirst, ...(now && { now }) });
  const clientOf = (token: string) => createClient(app.url, token, () => app.settled());
  const login = async (): Promise<TestClient> => {
    const answer = await createClient(app.url).post("/api/auth/login/", testAdmin);
    return clientOf(String((answer.json as { access: unknown }).access));
  };
  return {
    app,
    url: app.url,
    dataDir,
    prod: clientOf(testKeys.prod),
    test: clientOf(testKeys.test),
    admin: testAdmin,
    login,
    async newOrganization() {
      const made = await (await login()).post("/api/organizations/", { name: "Another organization" });
      const { unique_organization_id, keys } = made.json as {
        unique_organization_id: string;
        keys: { prod: string; test: string };
      };
      return {
        unique_organization_id,
        keys,
        prod: clientOf(keys.prod),
        test: clientOf(keys.test),
      };
    },
    async stop() {
      await app.stop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}
