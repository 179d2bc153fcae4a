/** As in "becomes a member". */
export const roleNouns = { admin: "an admin", member: "a member", viewer: "a viewer" } as const;
