import { randomBytes } from "node:crypto";

const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const fairBytes = 256 - (256 % alphabet.length);

/** `chars` characters of base62 from the system's random generator, 5.95 bits each. */
export function randomToken(chars: number): string {
  let token = "";
  while (token.length < chars) {
    for (const byte of randomBytes(chars - token.length)) {
      // Bytes past the last multiple of 62 would favour the first letters.
      if (byte < fairBytes) token += alphabet.charAt(byte % alphabet.length);
    }
  }
  return token;
}
