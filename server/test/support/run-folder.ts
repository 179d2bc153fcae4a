import { chmodSync, existsSync, mkdtempSync, readdirSync, rmSync, statfsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

const memoryFolder = "/dev/shm";
const prefix = "spanway-tests-";
const roomBytes = 4 * 1024 ** 3;

/**
 * Set-up of a test run: all temporary files of the run are in one folder, which is deleted at its end. It is in memory if there is enough:
 * servers flush to disk with every request, and tests would spend most of their time on that.
 */
export function setup(): () => Promise<void> {
  const isInMemory = hasRoom();
  if (isInMemory) removeAbandoned();
  const place = isInMemory ? memoryFolder : tmpdir();
  const folder = mkdtempSync(join(place, `${prefix}${process.pid}-`));
  // Some tests start programs as another user.
  chmodSync(folder, 0o755);
  process.env["TMPDIR"] = folder;
  // A browser that is closing may still write its profile.
  return () => rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
}

/** A killed run leaves its folder behind, which would stay in memory. */
function removeAbandoned(): void {
  for (const name of readdirSync(memoryFolder)) {
    const pid = name.startsWith(prefix) ? Number(name.slice(prefix.length).split("-")[0]) : Number.NaN;
    if (pid > 0 && !existsSync(`/proc/${pid}`)) rmSync(join(memoryFolder, name), { recursive: true, force: true });
  }
}

function hasRoom(): boolean {
  if (process.availableMemory() < roomBytes * 2) return false;
  try {
    const { bavail, bsize } = statfsSync(memoryFolder);
    return bavail * bsize >= roomBytes;
  } catch {
    return false;
  }
}
