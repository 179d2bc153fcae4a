import { z } from "zod";
import type { Invitation } from "../../domain/invitation.ts";
import { roles } from "../../domain/permissions.ts";
import type { User } from "../../domain/user.ts";

const time = z.string().meta({ format: "date-time" });

export const memberSchema = z
  .object({
    id: z.string(),
    email: z.string(),
    role: z.enum(roles),
    status: z.enum(["active", "invited"]),
    is_instance_admin: z.boolean(),
    created_at: time,
    expires_at: time.nullable().meta({ description: "When a pending invitation ends; null for members." }),
  })
  .meta({ id: "Member" });

export const memberParams = z.object({ id: z.uuid() });

export function presentMember(member: User | Invitation): z.input<typeof memberSchema> {
  const { id, email, role, created_at } = member;
  return "expires_at" in member
    ? { id, email, role, status: "invited", is_instance_admin: false, created_at, expires_at: member.expires_at }
    : { id, email, role, status: "active", is_instance_admin: member.is_instance_admin, created_at, expires_at: null };
}
