import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";

/** The JavaScript blocks of a document of the repository, in order. */
export function snippetsOf(document: string): string[] {
  const text = readFileSync(new URL(`../../${document}`, import.meta.url), "utf8");
  return [...text.matchAll(/```js\n([\s\S]*?)```/g)].map(([, program = ""]) => program);
}

/**
 * Runs a program as a module next to the packages installed here, with only the given environment, and returns its
 * output.
 */
export function runSnippet(program: string, variables: Record<string, string>): Promise<string> {
  const env = { PATH: process.env["PATH"], ...variables };
  const options = { cwd: import.meta.dirname, env, timeout: 30_000 };
  return new Promise((resolve, reject) => {
    const child = execFile(process.execPath, ["--input-type=module", "-"], options, (error, stdout) => {
      if (error) reject(error);
      else resolve(stdout);
    });
    child.stdin?.end(program);
  });
}
