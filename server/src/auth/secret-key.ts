import { hkdfSync, randomBytes } from "node:crypto";
import { closeSync, fsyncSync, linkSync, mkdirSync, openSync, readFileSync, unlinkSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import { Secret } from "../lib/secret.ts";

const minSecretChars = 16;

/**
 * The instance's secret: the configured one, else the one in the file at `path`, which is created if missing: 256
 * random bits, readable only by its owner. Nodes that share a control store must be configured with the same secret.
 * Throws if the file holds less than a secret.
 */
export function loadSecretKey(path: string, configured: Secret | undefined): Secret {
  if (configured !== undefined) return configured;
  const existing = readSecret(path);
  if (existing !== undefined) return existing;
  createSecretFile(path);
  const created = readSecret(path);
  if (created === undefined) throw new Error(`The secret key at ${path} vanished while it was made`);
  return created;
}

/** Derives a key for one purpose. It reveals neither the secret nor the keys of other purposes. */
export function deriveKey(secret: Secret, purpose: string, bytes = 32): Uint8Array {
  return new Uint8Array(hkdfSync("sha256", secret.reveal(), "spanway", purpose, bytes));
}

function readSecret(path: string): Secret | undefined {
  try {
    const text = readFileSync(path, "utf8").trim();
    if (text.length >= minSecretChars) return new Secret(text);
  } catch (error) {
    if (isFileError(error, "ENOENT")) return undefined;
    throw error;
  }
  throw new Error(`The secret key at ${path} is damaged: it has fewer than ${minSecretChars} characters`);
}

/**
 * Written under another name and then linked into place, so that a process starting at the same moment sees a whole
 * file or none.
 */
function createSecretFile(path: string): void {
  mkdirSync(dirname(path), { recursive: true });
  const draft = `${path}.${randomBytes(8).toString("hex")}`;
  const file = openSync(draft, "wx", 0o600);
  try {
    writeSync(file, `${randomBytes(32).toString("base64url")}\n`);
    fsyncSync(file);
    linkSync(draft, path);
  } catch (error) {
    if (!isFileError(error, "EEXIST")) throw error;
  } finally {
    closeSync(file);
    unlinkSync(draft);
  }
}

function isFileError(error: unknown, code: string): boolean {
  return error instanceof Error && "code" in error && error.code === code;
}
