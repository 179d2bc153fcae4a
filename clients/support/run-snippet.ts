import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";

/** The programs of a document of the repository in one language, in order. */
export function snippetsOf(document: string, language: "js" | "python" = "js"): string[] {
  const text = readFileSync(new URL(`../../${document}`, import.meta.url), "utf8");
  return [...text.matchAll(new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``, "g"))].map(
    ([, program = ""]) => program,
  );
}

/**
 * Runs a program as a module next to the packages installed here, with only the given environment, and returns its
 * output.
 *
 * @param command another program that reads its source from standard input
 */
export function runSnippet(
  program: string,
  variables: Record<string, string>,
  [file, ...args]: readonly [string, ...string[]] = [process.execPath, "--input-type=module", "-"],
): Promise<string> {
  const env = { PATH: process.env["PATH"], ...variables };
  const options = { cwd: import.meta.dirname, env, timeout: 30_000 };
  return new Promise((resolve, reject) => {
    const child = execFile(file, args, options, (error, stdout) => {
      if (error) reject(error);
      else resolve(stdout);
    });
    child.stdin?.end(program);
  });
}
