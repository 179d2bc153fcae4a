// Renders /openapi.json. Text only ever becomes text nodes, so nothing in the document can become markup.
const methods = ["get", "post", "put", "patch", "delete"];

function element(name, attributes = {}, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  node.append(...children.filter((child) => child !== undefined && child !== ""));
  return node;
}

function resolve(api, schema) {
  const name = schema?.$ref?.split("/").pop();
  return name === undefined ? (schema ?? {}) : (api.components.schemas[name] ?? {});
}

/** A short name of a type: `string (date-time)`, `array of integer`, `prod | test`. */
function typeName(api, schema) {
  const own = resolve(api, schema);
  if (own.const !== undefined) return JSON.stringify(own.const);
  if (own.enum) return own.enum.map((value) => JSON.stringify(value)).join(" | ");
  const choices = own.anyOf ?? own.oneOf;
  if (choices) return choices.map((choice) => typeName(api, choice)).join(" or ");
  if (own.type === "array") return `array of ${typeName(api, own.items)}`;
  const type = [own.type ?? "any"].flat().join(" or ");
  return own.format ? `${type} (${own.format})` : type;
}

/** What a number or text may be, and what it is when left out. */
function constraints(schema) {
  const notes = [];
  if (schema.minimum !== undefined && schema.minimum > Number.MIN_SAFE_INTEGER) notes.push(`from ${schema.minimum}`);
  if (schema.maximum !== undefined && schema.maximum < Number.MAX_SAFE_INTEGER) notes.push(`to ${schema.maximum}`);
  if (schema.maxLength !== undefined) notes.push(`at most ${schema.maxLength} characters`);
  if (schema.maxItems !== undefined) notes.push(`at most ${schema.maxItems} items`);
  if (schema.default !== undefined) notes.push(`default ${JSON.stringify(schema.default)}`);
  return notes.length === 0 ? "" : ` (${notes.join(", ")})`;
}

function row(api, name, schema, required, description) {
  const own = resolve(api, schema);
  const type = element("span", { class: "soft" }, typeName(api, schema) + constraints(own));
  const text = description ?? own.description;
  return element(
    "tr",
    {},
    element("td", {}, element("code", {}, name), required ? " *" : ""),
    element("td", {}, type, text ? element("div", {}, text) : undefined),
  );
}

/** One row for each field, nested ones as `a.b`; recursive schemas end at the fourth level. */
function schemaRows(api, schema, prefix = "", depth = 0) {
  const own = resolve(api, schema);
  if (own.type === "array") return schemaRows(api, own.items, `${prefix}[]`, depth);
  const rows = [];
  for (const [name, property] of Object.entries(own.properties ?? {})) {
    const path = prefix === "" ? name : `${prefix}.${name}`;
    rows.push(row(api, path, property, own.required?.includes(name)));
    if (depth < 4) rows.push(...schemaRows(api, property, path, depth + 1));
  }
  return rows;
}

function schemaBlock(api, title, body) {
  const schema = Object.values(body?.content ?? {})[0]?.schema;
  if (schema === undefined) return [];
  const rows = schemaRows(api, schema);
  const mediaTypes = element("span", { class: "badge" }, Object.keys(body.content).join(", "));
  const shape =
    rows.length > 0 ? element("table", {}, ...rows) : element("p", { class: "soft" }, typeName(api, schema));
  return [element("h4", {}, `${title} `, mediaTypes), shape];
}

function quoted(text) {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

function curl(path, method, { parameters, security, requestBody }) {
  const needed = parameters.filter((parameter) => parameter.in === "query" && parameter.required);
  const query = needed.map(({ name, schema }) => `${name}=${schema.example ?? schema.enum?.[0] ?? ""}`).join("&");
  const url = `${location.origin}${path}${query === "" ? "" : `?${query}`}`;
  const lines = [`curl -X ${method.toUpperCase()} ${quoted(url)}`];
  const isForPeople = security.length > 0 && security.every((scheme) => !Object.hasOwn(scheme, "key"));
  if (security.length > 0) {
    lines.push(`-H "Authorization: Bearer ${isForPeople ? "$ACCESS_TOKEN" : "$SPANWAY_PROD_KEY"}"`);
  }
  const { "application/json": json, "multipart/form-data": form } = requestBody?.content ?? {};
  if (json?.example !== undefined) {
    lines.push("-H 'Content-Type: application/json'", `-d ${quoted(JSON.stringify(json.example))}`);
  }
  lines.push(...Object.entries(form?.example ?? {}).map(([name, value]) => `-F ${quoted(`${name}=${value}`)}`));
  return lines.join(" \\\n  ");
}

function errorTable(operation) {
  const errors = Object.entries(operation.responses).filter(([status]) => status >= "400");
  return element(
    "table",
    {},
    ...errors.map(([status, response]) => {
      const shape = response.content?.["application/json"]?.schema.$ref?.split("/").pop() ?? "";
      const meaning = response.description.replaceAll("`", "");
      const name = element("span", { class: "soft" }, ` ${shape}`);
      return element("tr", {}, element("td", {}, status), element("td", {}, meaning, name));
    }),
  );
}

function operationSection(api, path, method, operation) {
  const access = operation.security.map((scheme) => (Object.hasOwn(scheme, "key") ? "API key" : "access token"));
  const [status, success] = Object.entries(operation.responses).find(([code]) => code < "400");
  const parameters = operation.parameters.map(({ name, schema, required, description, in: place }) =>
    row(api, name, schema, required, description ?? (place === "path" ? "In the path." : undefined)),
  );
  return element(
    "section",
    { id: operation.operationId },
    element("h3", {}, operation.summary),
    element(
      "div",
      { class: "route" },
      element("span", { class: `method ${method.toUpperCase()}` }, method.toUpperCase()),
      element("code", {}, path),
      element("span", { class: "badge" }, access.join(" or ") || "open"),
    ),
    element("p", { class: "description" }, (operation.description ?? "").replaceAll("`", "")),
    ...(parameters.length > 0 ? [element("h4", {}, "Parameters"), element("table", {}, ...parameters)] : []),
    ...schemaBlock(api, "Request body", operation.requestBody),
    ...schemaBlock(api, `Answer ${status}`, success),
    element("h4", {}, "Errors"),
    errorTable(operation),
    element("h4", {}, "Example"),
    element("pre", {}, element("code", {}, curl(path, method, operation))),
  );
}

function entriesByTag(api) {
  const entries = Object.entries(api.paths).flatMap(([path, item]) =>
    methods.filter((method) => item[method]).map((method) => ({ path, method, operation: item[method] })),
  );
  const byTag = new Map();
  for (const entry of entries) {
    const tag = entry.operation.tags[0] ?? "Other";
    byTag.set(tag, [...(byTag.get(tag) ?? []), entry]);
  }
  return byTag;
}

function render(api, wanted) {
  const main = document.querySelector("#operations");
  const index = document.querySelector("#index");
  main.replaceChildren();
  index.replaceChildren();
  for (const [tag, entries] of entriesByTag(api)) {
    const shown = entries.filter(({ path, method, operation }) =>
      `${method} ${path} ${operation.summary} ${operation.operationId}`.toLowerCase().includes(wanted),
    );
    if (shown.length === 0) continue;
    index.append(element("h2", {}, tag));
    main.append(element("h2", {}, tag));
    for (const { path, method, operation } of shown) {
      index.append(element("a", { href: `#${operation.operationId}`, title: `${method} ${path}` }, operation.summary));
      main.append(operationSection(api, path, method, operation));
    }
  }
  if (main.childElementCount === 0) main.append(element("p", { class: "soft" }, "No operation matches."));
}

async function start() {
  const main = document.querySelector("#operations");
  try {
    const response = await fetch(location.pathname.replace(/\/docs\/?$/, "/openapi.json"));
    if (!response.ok) throw new Error(`status ${response.status}`);
    const api = await response.json();
    document.title = `${api.info.title} API reference`;
    document.querySelector("#title").textContent = `${api.info.title} ${api.info.version}`;
    render(api, "");
    document
      .querySelector("#search")
      .addEventListener("input", (event) => render(api, event.target.value.trim().toLowerCase()));
    if (location.hash) document.querySelector(location.hash)?.scrollIntoView();
  } catch (error) {
    main.replaceChildren(element("p", {}, `The document could not be read: ${error.message}`));
  }
}

void start();
