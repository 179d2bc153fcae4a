import type { SelectOption } from "../../ui/select.tsx";
import type { Member } from "./queries.ts";

export const roleOptions: readonly SelectOption<Member["role"]>[] = [
  { value: "admin", label: "admin" },
  { value: "member", label: "member" },
  { value: "viewer", label: "viewer" },
];

export const roleWords: Record<Member["role"], string> = {
  admin: "May do everything; manages members and keys.",
  member: "Sends, changes and deletes; manages no people and no keys.",
  viewer: "Reads, and changes nothing.",
};
