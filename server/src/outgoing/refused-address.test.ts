import { expect, test } from "vitest";
import type { AllowedUpstream } from "../domain/allowed-upstream.ts";
import { createRefusalOf } from "./refused-address.ts";

const host = (name: string, port: number | null = null): AllowedUpstream => ({ kind: "host", host: name, port });
const network = (address: string, prefixBits: number): AllowedUpstream => ({ kind: "network", address, prefixBits });

test.each([
  ["http://127.0.0.1:11434/v1", "127.0.0.1"],
  ["http://2130706433/", "127.0.0.1"],
  ["https://10.1.2.3/", "10.1.2.3"],
  ["http://169.254.169.254/", "169.254.169.254"],
  ["http://[::1]:8080/", "::1"],
  ["http://[::ffff:10.0.0.1]/", "::ffff:a00:1"],
  ["http://localhost:11434/v1", "localhost"],
  ["http://models.localhost./", "models.localhost"],
  ["http://ollama:11434", "ollama"],
  ["http://host.docker.internal:11434", "host.docker.internal"],
  ["http://gpu.local/", "gpu.local"],
])("%s is refused by its host, %s", (url, name) => {
  expect(createRefusalOf([])(url)).toBe(
    `${name} is not a public address; SPANWAY_ALLOW_PRIVATE_UPSTREAMS can allow a private one`,
  );
});

test.each(["https://api.example.com/v1", "https://8.8.8.8/", "http://[2606:4700::1111]/", "https://internal.example/"])(
  "%s is not refused",
  (url) => {
    expect(createRefusalOf([])(url)).toBeUndefined();
  },
);

test("allowed hosts are not refused, nor are names that may be in an allowed network", () => {
  const named = createRefusalOf([host("localhost", 11434), host("ollama")]);
  expect([named("http://localhost:11434/"), named("http://ollama/")]).toEqual([undefined, undefined]);
  expect([named("http://localhost:80/"), named("http://127.0.0.1/")]).not.toContain(undefined);
  const within = createRefusalOf([network("10.0.0.0", 8)]);
  expect([within("http://10.1.2.3/"), within("http://ollama/")]).toEqual([undefined, undefined]);
  expect([within("http://localhost/"), within("http://192.168.0.1/")]).not.toContain(undefined);
});
