import { z } from "zod";
import type { RefusalOf } from "../outgoing/refused-address.ts";

/** For objects with an address that the server calls. */
export const refusalField = z.string().optional().meta({
  description:
    "Why the server's configuration refuses calls to this address. Absent if no reason is known: names are resolved when they are called.",
});

export function shownRefusal(refusalOf: RefusalOf, address: string | null): { refused_reason?: string } {
  const reason = address === null ? undefined : refusalOf(address);
  return reason === undefined ? {} : { refused_reason: reason };
}
