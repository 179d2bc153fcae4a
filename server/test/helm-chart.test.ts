import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { readConfig } from "../src/config/config.ts";
import { httpLimits } from "../src/http/limits.ts";
import { version } from "../src/domain/version.ts";
import { renderTemplate, type Values } from "./support/render-helm.ts";

/**
 * Renders the templates as Helm does, for the few constructs that they use. Helm itself checks them if it is installed. Kubernetes is not
 * run.
 */

const folder = "../../deploy/helm/spanway";
const read = (path: string): string => readFileSync(new URL(path, import.meta.url), "utf8");
const values = parse(read(`${folder}/values.yaml`)) as Values;
const chart = parse(read(`${folder}/Chart.yaml`)) as { name: string; version: string; appVersion: string };
const templates = ["statefulset", "service", "pod-disruption-budget", "horizontal-pod-autoscaler"];

type Manifest = { apiVersion: string; kind: string; metadata: { name: string }; spec: Record<string, unknown> };
type Labels = Record<string, string>;

function render(chosen: Values, onUse?: (path: string) => void): Manifest[] {
  const scope = { Values: chosen, Release: { Name: "demo" }, Chart: { AppVersion: chart.appVersion } };
  return templates.flatMap((name) =>
    parseAllDocuments(renderTemplate(read(`${folder}/templates/${name}.yaml`), scope, onUse))
      .map((document) => {
        expect([name, document.errors]).toEqual([name, []]);
        return document.toJS() as Manifest | null;
      })
      .filter((manifest) => manifest !== null),
  );
}

const changed = {
  ...values,
  autoscaling: { ...(values["autoscaling"] as Values), enabled: true },
  volume: { size: "50Gi", storageClass: "fast" },
  nodeSelector: { "kubernetes.io/arch": "amd64" },
  tolerations: [{ key: "spans", operator: "Exists" }],
};

const podOf = (manifests: readonly Manifest[]) => {
  const { spec } = manifests.find(({ kind }) => kind === "StatefulSet") ?? { spec: {} };
  return spec as {
    replicas?: number;
    selector: { matchLabels: Labels };
    volumeClaimTemplates: Array<{ metadata: { name: string }; spec: { storageClassName?: string } }>;
    template: { metadata: { labels: Labels }; spec: Record<string, unknown> & { containers: Container[] } };
  };
};
type Container = {
  image: string;
  ports: Array<{ name: string; containerPort: number }>;
  env: Array<{ name: string; value: string }>;
  envFrom: Array<{ secretRef: { name: string } }>;
  volumeMounts: Array<{ name: string; mountPath: string }>;
} & Record<`${"startup" | "liveness" | "readiness"}Probe`, { httpGet: { path: string; port: string } }>;

describe("N11: the Helm chart", () => {
  test("renders a StatefulSet, its services and a disruption budget, and an autoscaler if one is configured", () => {
    const kinds = ["StatefulSet", "Service", "Service", "PodDisruptionBudget"];
    expect(render(values).map(({ kind }) => kind)).toEqual(kinds);
    const scaled = render(changed);
    expect(scaled.map(({ kind }) => kind)).toEqual([...kinds, "HorizontalPodAutoscaler"]);
    expect(scaled.at(-1)?.spec["scaleTargetRef"]).toMatchObject({ kind: "StatefulSet", name: "demo" });
    // The autoscaler sets the number of replicas, not the next upgrade of the chart.
    expect([podOf(render(values)).replicas, podOf(scaled).replicas]).toEqual([2, undefined]);
    expect(podOf(scaled).volumeClaimTemplates[0]?.spec.storageClassName).toBe("fast");
  });

  test("templates use all existing values, and no others", () => {
    const used = new Set<string>();
    for (const chosen of [values, changed]) render(chosen, (path) => used.add(path));
    const leaves = (value: unknown, path: string): string[] =>
      value !== null && typeof value === "object" && !Array.isArray(value) && !used.has(path)
        ? Object.entries(value).flatMap(([key, inner]) => leaves(inner, `${path}.${key}`))
        : [path];
    expect(leaves(values, ".Values").filter((path) => !used.has(path))).toEqual([]);
  });

  test("an unknown value and an unknown construct are errors here", () => {
    expect(() => renderTemplate("a: {{ .Values.missing }}", { Values: values })).toThrow(".Values.missing");
    expect(() => renderTemplate('a: {{ include "x" . }}', { Values: values })).toThrow("include");
  });

  test("every variable is documented, and the server accepts the values of the chart", () => {
    const page = read("../../docs/configuration.md");
    const documented = new Set(Array.from(page.matchAll(/^\| `(\w+)` \|/gm), ([, name]) => name));
    const files = [...templates.map((name) => `templates/${name}.yaml`), "values.yaml"];
    const named = files.flatMap((file) => read(`${folder}/${file}`).match(/\b(?:SPANWAY_|OPENAI_)[A-Z_]+/g) ?? []);
    expect(named.filter((name) => !documented.has(name))).toEqual([]);

    const { env } = podOf(render(values)).template.spec.containers[0]!;
    expect(new Set(env.map(({ name }) => name)).size).toBe(env.length);
    const config = readConfig({
      ...Object.fromEntries(env.map(({ name, value }) => [name, value])),
      SPANWAY_SPANS_URL: "https://user:password@clickhouse:8443/spanway",
      SPANWAY_CONTROL_URL: "postgres://user:password@postgres:5432/spanway",
      SPANWAY_CACHE_URL: "redis://valkey:6379",
      SPANWAY_SECRET_KEY: "0123456789abcdef0123456789abcdef",
    });
    expect(config).toMatchObject({ host: "0.0.0.0", port: 8787, dataDir: "/data/spanway", unknownVariables: [] });
  });

  test("services, budget and probes find the pods and their port", () => {
    const manifests = render(values);
    const { selector, template, volumeClaimTemplates } = podOf(manifests);
    const { labels } = template.metadata;
    expect(labels).toMatchObject(selector.matchLabels);
    for (const { kind, spec } of manifests.slice(1)) {
      const chosen = (
        kind === "Service" ? spec["selector"] : (spec["selector"] as typeof selector).matchLabels
      ) as Labels;
      expect(Object.keys(chosen).length).toBeGreaterThan(1);
      expect(labels).toMatchObject(chosen);
    }
    const container = template.spec.containers[0]!;
    const { startupProbe, livenessProbe, readinessProbe } = container;
    const probes = [startupProbe, livenessProbe, readinessProbe].map(({ httpGet }) => httpGet);
    expect(probes).toEqual(["/livez", "/livez", "/readyz"].map((path) => ({ path, port: "http" })));
    expect(container.ports).toEqual([{ name: "http", containerPort: 8787 }]);
    expect(container.volumeMounts[0]?.name).toBe(volumeClaimTemplates[0]?.metadata.name);
    expect(container.envFrom).toEqual([{ secretRef: { name: "spanway" } }]);
    const drainS = Number(container.env.find(({ name }) => name === "SPANWAY_DRAIN_SECONDS")?.value);
    expect(template.spec["terminationGracePeriodSeconds"]).toBeGreaterThanOrEqual(
      drainS + (2 * httpLimits.shutdownGraceMs) / 1000,
    );
    // Otherwise Kubernetes sets SPANWAY_PORT=tcp://… and no node starts.
    expect(template.spec["enableServiceLinks"]).toBe(false);
  });

  test("the chart has the version of the product", () => {
    expect([chart.name, chart.version, chart.appVersion]).toEqual(["spanway", version, version]);
    expect(podOf(render(values)).template.spec.containers[0]?.image).toBe(`spanway:${version}`);
  });
});

const hasHelm = spawnSync("helm", ["version"]).status === 0;

describe.skipIf(!hasHelm)(`N11: the chart by Helm itself${hasHelm ? "" : " (skipped: there is no helm)"}`, () => {
  const path = fileURLToPath(new URL(folder, import.meta.url));
  const helm = (...args: string[]): string => execFileSync("helm", args, { encoding: "utf8" });
  const byName = (manifests: readonly Manifest[]) =>
    Object.fromEntries(manifests.map((manifest) => [`${manifest.kind} ${manifest.metadata.name}`, manifest]));

  test("passes helm lint", () => {
    expect(helm("lint", "--strict", path)).toContain("0 chart(s) failed");
  });

  test.each([values, changed])("renders the same as the renderer of these tests", (chosen) => {
    const output = execFileSync("helm", ["template", "demo", path, "--values", "-"], {
      encoding: "utf8",
      input: JSON.stringify(chosen),
    });
    const rendered = parseAllDocuments(output).map((document) => document.toJS() as Manifest);
    expect(byName(rendered)).toEqual(byName(render(chosen)));
  });
});
