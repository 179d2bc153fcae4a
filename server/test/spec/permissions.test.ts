import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  auditedPermissions,
  expandPermissions,
  keyPermissions,
  permissionsOfRole,
  roles,
  type Permission,
} from "../../src/domain/permissions.ts";
import { customerLimits } from "../../src/domain/customer.ts";
import type { AnyEndpoint } from "../../src/http/endpoint.ts";
import { everyEndpoint } from "../support/endpoints.ts";
import { withTables } from "../support/permission-tables.ts";
import { bodyOf, createSpan, settle } from "../support/spans.ts";
import { startTestApp, type TestApp } from "../support/test-app.ts";
import { createClient, type Answer, type Row, type TestClient } from "../support/test-client.ts";

/** Every route × every permission × both environments × two organizations, according to the endpoints' declarations. */

const environments = ["prod", "test"] as const;
type Environment = (typeof environments)[number];
type Tenant = { admin: TestClient; prod: TestClient; test: TestClient; id: string };

let app: TestApp;
let own: Tenant;
let other: Tenant;
/** Ids of objects in the first organization's prod, by name of path parameter and endpoint. */
let ids: Record<string, string>;

beforeAll(async () => {
  app = await startTestApp();
  own = await newTenant("own");
  other = await newTenant("other");
  ids = await makeThings(own.prod, own.admin);
});
afterAll(() => app.stop());

async function newTenant(name: string): Promise<Tenant> {
  const account = { admin_email: `${name}@example.com`, admin_password: "a long enough password" };
  const made = bodyOf(await (await app.login()).post("/api/organizations/", { name, ...account }));
  const keys = made["keys"] as Record<Environment, string>;
  const login = { email: account.admin_email, password: account.admin_password };
  const { access } = bodyOf(await createClient(app.url).post("/api/auth/login/", login));
  const clients = { prod: createClient(app.url, keys.prod), test: createClient(app.url, keys.test) };
  return { ...clients, admin: createClient(app.url, String(access)), id: String(made["unique_organization_id"]) };
}

async function makeKey(admin: TestClient, environment: Environment, permissions: Permission[]): Promise<TestClient> {
  const made = await admin.post("/api/api-keys/", { name: permissions.join(" "), environment, permissions });
  if (made.status !== 201) throw new Error(`the key was not made: ${made.text}`);
  return createClient(app.url, String(bodyOf(made)["key"]));
}

const traceId = "4bf92f3577b34da6a3ce929d0e0e4736";

/** Creates one of every object that a route can name, all in prod. */
async function makeThings(prod: TestClient, admin: TestClient): Promise<Record<string, string>> {
  const made: Record<string, Row> = {};
  for (const id of [
    "create_evaluator",
    "create_condition",
    "create_automation",
    "create_webhook",
    "create_alert",
    "create_saved_view",
    "create_provider",
    "create_model_price",
  ]) {
    const { path, body } = endpointOf(id);
    const answer = await prod.post(path, body?.example);
    if (answer.status !== 201) throw new Error(`${id} answered ${answer.status}: ${answer.text}`);
    made[id] = bodyOf(answer);
  }
  const image = `data:image/png;base64,${"AAAA".repeat(20_000)}`;
  const input = [{ role: "user", content: [{ type: "image_url", image_url: { url: image } }] }];
  const named = { trace_unique_id: traceId, span_unique_id: "a", customer_identifier: "globex" };
  const span = await createSpan(prod, { ...named, prompt_messages: input });
  await settle(prod);
  const log_id = String(span["unique_id"]);
  const [, media_id] = /api\/media\/(\w+)/.exec((await prod.get(`/api/request-logs/${log_id}/`)).text) ?? [];
  const score = await prod.post(`/api/logs/${log_id}/scores/`, { evaluator_slug: "helpfulness", numerical_value: 4 });
  const key = bodyOf(await admin.post("/api/api-keys/", { name: "spare", environment: "prod" }));
  return {
    unique_id: log_id,
    log_id,
    score_id: String(bodyOf(score)["id"]),
    trace_unique_id: traceId,
    customer_identifier: "globex",
    evaluator_id: String(made["create_evaluator"]?.["id"]),
    version: "1",
    condition_id: String(made["create_condition"]?.["id"]),
    automation_id: String(made["create_automation"]?.["id"]),
    "webhooks/{id}": String(made["create_webhook"]?.["id"]),
    "alerts/{id}": String(made["create_alert"]?.["id"]),
    "saved-views/{id}": String(made["create_saved_view"]?.["id"]),
    "providers/{id}": String(made["create_provider"]?.["id"]),
    "model-prices/{id}": String(made["create_model_price"]?.["id"]),
    "api-keys/{id}": String(key["id"]),
    "media/{id}": String(media_id),
    "sessions/{id}": "nothing",
    "members/{id}": "0b0b0b0b-0b0b-4b0b-8b0b-0b0b0b0b0b0b",
    token: "nothing",
    "models/{id}": "spanway/echo",
    response_id: "resp_none",
    delivery_id: "1",
    unique_organization_id: own.id,
  };
}

const endpoints = everyEndpoint();
const keyed = endpoints.filter(({ auth }) => auth === "key" || auth === "key_or_user");

function endpointOf(id: string): AnyEndpoint {
  const found = endpoints.find((endpoint) => endpoint.id === id);
  if (found === undefined) throw new Error(`there is no endpoint ${id}`);
  return found;
}

const urlOf = ({ path }: AnyEndpoint): string =>
  path.replace(/([\w-]+)\/\{(\w+)\}/g, (_all, folder: string, name: string) => {
    const id = ids[`${folder}/{${name}}`] ?? ids[name];
    if (id === undefined) throw new Error(`makeThings makes nothing for {${name}} of ${path}`);
    return `${folder}/${id}`;
  }) + (extraQueries[path] ?? "");

/** Further query parameters that a request needs to succeed, and to end. */
const extraQueries: Readonly<Record<string, string>> = {
  "/api/request-logs/groups/": "?group_by=model",
  "/api/request-logs/live/": "?last_event_id=none",
};

const send = (
  client: TestClient,
  endpoint: AnyEndpoint,
  query = "",
  { header, ...change }: Row = {},
): Promise<Answer> => {
  const { method, body } = endpoint;
  const url = urlOf(endpoint) + query;
  if (method === "GET" || method === "DELETE") return client.request(method, url);
  const example = body?.example as Row | undefined;
  if (Array.isArray(example)) return client.request(method, url, example);
  const members: Row = { ...example, ...change };
  const isForm = body?.kind === "raw" && body.mediaTypes?.includes("multipart/form-data") === true;
  if (isForm) return client.request(method, url, ...formOf(members));
  if (header === undefined) return client.request(method, url, members);
  const params = Buffer.from(JSON.stringify(header)).toString("base64");
  return client.request(method, url, members, { "x-data-svc-params": params });
};

function formOf(members: Row): [body: string, headers: Record<string, string>] {
  const parts = Object.entries(members).map(([name, value]) => {
    const isFile = typeof value === "string" && value.startsWith("@");
    const head = `content-disposition: form-data; name="${name}"${isFile ? '; filename="a.mp3"' : ""}`;
    return `--b\r\n${head}\r\n\r\n${typeof value === "string" ? value : JSON.stringify(value)}\r\n`;
  });
  return [`${parts.join("")}--b--\r\n`, { "content-type": "multipart/form-data; boundary=b" }];
}

const isRefusal = ({ status }: Answer): boolean => status === 401 || status === 403;

test("K1: docs/permissions.md matches the endpoints", () => {
  const page = readFileSync(new URL("../../../docs/permissions.md", import.meta.url), "utf8");
  // npx node scripts/write-permission-tables.ts regenerates it.
  expect(page).toBe(withTables(page, endpoints));
});

test("without a credential every route but the open ones is 401", async () => {
  const anonymous = createClient(app.url);
  for (const endpoint of endpoints.filter(({ auth }) => auth !== "none")) {
    const { status } = await send(anonymous, endpoint);
    expect([endpoint.id, status]).toEqual([endpoint.id, 401]);
  }
});

test("a browser's session may use every route, and changes nothing without the header and the server's own Origin", async () => {
  await newTenant("session");
  const login = { email: "session@example.com", password: "a long enough password", session: true };
  const answer = await createClient(app.url).post("/api/auth/login/", login);
  const cookie = answer.headers.get("set-cookie")?.split(";")[0] ?? "";
  const environment = { "x-spanway-environment": "prod" };
  const browser = (headers: Record<string, string>): TestClient => {
    const client = createClient(app.url);
    const sent = { cookie, ...headers };
    return {
      ...client,
      request: (method, path, body, more) => client.request(method, path, body, { ...sent, ...more }),
    };
  };
  const forged = [{ origin: app.url }, environment, { ...environment, origin: "https://evil.example" }];
  const refused: string[] = [];
  for (const endpoint of endpoints.filter(({ auth, id }) => auth !== "none" && id !== "logout")) {
    for (const headers of endpoint.method === "GET" ? [] : forged) {
      const { status, text } = await send(browser(headers), endpoint);
      expect([endpoint.id, status, text]).toEqual([endpoint.id, 403, expect.stringMatching(/Environment|Origin/)]);
    }
    if (isRefusal(await send(browser({ ...environment, origin: app.url }), endpoint))) refused.push(endpoint.id);
  }
  // Instance admins create organizations, and change others.
  expect(refused).toEqual(["create_organization", "update_organization"]);
});

describe("the matrix", () => {
  type Cell = { client: TestClient; permission: Permission; environment: Environment; isOwn: boolean };
  let cells: Cell[];
  beforeAll(async () => {
    const all = [own, other].flatMap((tenant) =>
      environments.flatMap((environment) => keyPermissions.map((permission) => ({ tenant, environment, permission }))),
    );
    cells = await Promise.all(
      all.map(async ({ tenant, environment, permission }) => ({
        client: await makeKey(tenant.admin, environment, [permission]),
        permission,
        environment,
        isOwn: tenant === own,
      })),
    );
  });

  const holds = (endpoint: AnyEndpoint, { permission }: Cell): boolean =>
    endpoint.permission === undefined || expandPermissions([permission]).has(endpoint.permission);
  const namesThing = ({ path }: AnyEndpoint): boolean => path.includes("{");

  /** Those that would end or change objects come last. */
  const rank = ({ method }: AnyEndpoint): number => ["GET", "POST", "PUT", "PATCH", "DELETE"].indexOf(method);
  const inOrder = keyed.toSorted((a, b) => rank(a) - rank(b));

  test("K1: no permission opens a route other than its own, in any environment of any organization", async () => {
    for (const endpoint of keyed) {
      const refused = cells.filter((cell) => !holds(endpoint, cell));
      const answers = await Promise.all(refused.map(({ client }) => send(client, endpoint)));
      for (const [at, answer] of answers.entries()) {
        const { permission, environment } = refused[at]!;
        expect([endpoint.id, permission, environment, answer.status]).toEqual([
          endpoint.id,
          permission,
          environment,
          403,
        ]);
        expect(answer.text).toContain(String(endpoint.permission));
      }
    }
  });

  test("K3: no key changes objects of the other environment", async () => {
    const changing = keyed.filter((endpoint) => endpoint.environment === "own" && namesThing(endpoint));
    expect(changing.length).toBeGreaterThan(20);
    for (const endpoint of changing) {
      for (const cell of cells.filter((each) => each.isOwn && each.environment === "test" && holds(endpoint, each))) {
        // A customer is named within an environment, which the query selects.
        const query = endpoint.path.startsWith("/api/users/") ? "?environment=prod" : "";
        const answer = await send(cell.client, endpoint, query);
        expect([endpoint.id, cell.permission, answer.status]).toEqual([endpoint.id, cell.permission, 403]);
        expect(answer.text).toMatch(/environment/);
      }
    }
  });

  /** Ways in which requests without an object in their path address the other environment. */
  const reaches: Record<string, [query: string, change: Row]> = {
    create_customer: ["?environment=prod", { customer_identifier: "reached" }],
    create_provider: ["", { environment: "prod" }],
    create_model_price: ["", {}],
    reprice_spans: ["?environment=prod", {}],
    delete_traces: ["?environment=prod", {}],
    create_score: ["", {}],
    bulk_update_spans: ["", {}],
  };

  test("K3: nor does one that names the other environment in its query or body", async () => {
    const reaching = keyed.filter((endpoint) => endpoint.environment === "own" && !namesThing(endpoint));
    expect(reaching.map(({ id }) => id).toSorted()).toEqual(Object.keys(reaches).toSorted());
    for (const endpoint of reaching) {
      const [query, change] = reaches[endpoint.id]!;
      const logs: Record<string, Row> = {
        create_score: { log_id: ids["log_id"] },
        bulk_update_spans: { logs: [{ unique_id: ids["log_id"], note: "reached" }] },
      };
      const answer = await send(own.test, endpoint, query, { ...change, ...logs[endpoint.id] });
      expect([endpoint.id, answer.status]).toEqual([endpoint.id, 403]);
    }
    const both = await own.test.post("/api/providers/", { provider: "openai", api_key: "sk-0", environment: null });
    expect(both.status).toBe(403);
    for (const client of [own.prod, own.test]) {
      const answer = await client.post("/api/traces/bulk/?environment=all", {
        filters: { trace_unique_id: [traceId] },
      });
      expect(answer.status).toBe(403);
    }
  });

  /** Objects without an environment, or additions to that of the key; another organization's are still 404. */
  const elsewhereTaken = new Set([
    "create_evaluator_version",
    "run_evaluator",
    // Views belong to both environments.
    "update_saved_view",
    "delete_saved_view",
    // 409 while an automation uses them.
    "delete_condition",
    "delete_evaluator",
    // Stored by a provider, and found there only with keys of the caller's environment.
    "delete_response",
    "cancel_response",
  ]);

  test("every other route that changes an object is known to need no environment", () => {
    const rest = keyed.filter(
      (endpoint) => endpoint.method !== "GET" && namesThing(endpoint) && endpoint.environment !== "own",
    );
    expect(new Set(rest.map(({ id }) => id))).toEqual(elsewhereTaken);
  });

  /** Responses other than 404: sharing an id in advance, deleting nothing, listing nothing, naming no evaluator. */
  const missing = ({ id }: AnyEndpoint, text: string): number | undefined => {
    if (id === "share_trace" || id === "retrieve_sharing") return 200;
    if (id === "delete_trace" && text.includes('"deleted_count":0')) return 200;
    if (id === "list_log_scores" && text.includes('"count":0')) return 200;
    return id === "create_log_score" ? 400 : undefined;
  };

  test("another organization's objects are not found, with any permission", async () => {
    for (const endpoint of inOrder.filter((each) => namesThing(each) && each.id !== "retrieve_model")) {
      for (const cell of cells.filter((each) => !each.isOwn && holds(endpoint, each))) {
        const { status, text } = await send(cell.client, endpoint);
        expect([endpoint.id, cell.permission, missing(endpoint, text) ?? 404]).toEqual([
          endpoint.id,
          cell.permission,
          status,
        ]);
      }
    }
  });

  test("all of that changed nothing", async () => {
    const untouched = [
      "retrieve_webhook",
      "retrieve_provider",
      "retrieve_model_price",
      "retrieve_automation",
      "retrieve_condition",
    ];
    for (const id of [
      ...untouched,
      "retrieve_evaluator",
      "retrieve_score",
      "retrieve_customer",
      "retrieve_trace",
      "get_media",
    ]) {
      expect([id, (await send(own.prod, endpointOf(id))).status]).toEqual([id, 200]);
    }
    const anonymous = createClient(app.url);
    expect((await anonymous.get(`/api/${own.id}/traces/${traceId}/`)).status).toBe(404);
    const webhook = bodyOf(await send(own.prod, endpointOf("retrieve_webhook")));
    expect(webhook).toMatchObject({ active: true, name: "Scores" });
  });

  test("a permission opens its routes in its own environment", async () => {
    for (const endpoint of inOrder) {
      const own_prod = cells.filter((cell) => cell.isOwn && cell.environment === "prod" && holds(endpoint, cell));
      expect([endpoint.id, own_prod.length > 0]).toEqual([endpoint.id, true]);
      for (const { client, permission } of own_prod) {
        const answer = await send(client, endpoint);
        expect([endpoint.id, permission, isRefusal(answer)]).toEqual([endpoint.id, permission, false]);
      }
    }
  });
});

describe("people", () => {
  const forPeople = endpoints.filter(({ auth }) => auth === "user" || auth === "key_or_user");

  test.each(roles)("a %s has exactly the role's permissions, and keys have none of these", async (role) => {
    const tenant = await newTenant(`role-${role}`);
    const invited = await tenant.admin.post("/api/members/", { email: `a-${role}@example.com`, role });
    const { invite_token } = bodyOf(invited);
    const accepted = await createClient(app.url).post(`/api/invitations/${String(invite_token)}/`, {
      password: "a long enough password",
    });
    const person = createClient(app.url, String(bodyOf(accepted)["access"]));
    const granted = permissionsOfRole(role);
    for (const endpoint of forPeople.filter(({ permission }) => permission !== undefined)) {
      const answer = await send(person, endpoint);
      const isGranted = granted.has(endpoint.permission!);
      expect([endpoint.id, answer.status === 403]).toEqual([endpoint.id, !isGranted]);
    }
    for (const endpoint of endpoints.filter(({ auth }) => auth === "user")) {
      expect([endpoint.id, (await send(tenant.prod, endpoint)).status]).toEqual([endpoint.id, 401]);
    }
    for (const endpoint of endpoints.filter(({ auth }) => auth === "key")) {
      expect([endpoint.id, (await send(person, endpoint)).status]).toEqual([endpoint.id, 401]);
    }
  });

  test("every management operation is audited", () => {
    const silent = endpoints.filter(
      ({ method, permission, isAudited }) =>
        method !== "GET" && permission !== undefined && auditedPermissions.has(permission) && !isAudited,
    );
    expect(silent.map(({ id }) => id)).toEqual(["run_evaluator"]);
  });
});

describe("parameters with the effect of another route", () => {
  /** How each parameter is sent, by the endpoint's description. */
  const changesOf = (endpoint: AnyEndpoint, parameter: string): Array<[query: string, change: Row]> => {
    if (parameter === "is_including_secrets=true") return [[`?${parameter}`, {}]];
    if (!parameter.startsWith("`customer_params`")) throw new Error(`no test knows how to send ${parameter}`);
    return customerLimits.flatMap((field) => {
      const params = { customer_params: { customer_identifier: "acme", [field]: null } };
      const isHeader = parameter.endsWith("in the header");
      const changes: Row[] = isHeader ? [{ header: params }] : [params, { svc_params: params }];
      return changes.map((change): [string, Row] => ["", change]);
    });
  };

  test("K2: need the permission of that route", async () => {
    const taking = keyed.flatMap((endpoint) => endpoint.parameters.map((each) => ({ endpoint, ...each })));
    expect(taking.length).toBeGreaterThan(4);
    const tenant = await newTenant("parameters");
    ids = {
      ...ids,
      "webhooks/{id}": String(
        bodyOf(await tenant.prod.post("/api/webhooks/", endpointOf("create_webhook").body?.example))["id"],
      ),
    };
    for (const { endpoint, parameter, permission } of taking) {
      const route = endpoint.permission!;
      const lacking = await makeKey(tenant.admin, "prod", [route]);
      const holding = await makeKey(tenant.admin, "prod", [route, permission]);
      for (const [query, change] of changesOf(endpoint, parameter)) {
        const refused = await send(lacking, endpoint, query, change);
        expect([endpoint.id, change, refused.status]).toEqual([endpoint.id, change, 403]);
        expect(refused.text).toContain(permission);
        expect([endpoint.id, isRefusal(await send(holding, endpoint, query, change))]).toEqual([endpoint.id, false]);
      }
    }
  });
});
