/** The environment variables of a program (support/run-client.ts). */
export const serverUrl = required("SPANWAY_URL");
export const key = required("SPANWAY_KEY");
export const modelUrl = required("MODEL_URL");
export const authorization = { authorization: `Bearer ${key}` };

function required(name: string): string {
  const value = process.env[name];
  if (value === undefined) throw new Error(`${name} is not set`);
  return value;
}
