import { makeUser } from "../auth/make-organization.ts";
import { email as parseEmail } from "../config/parse.ts";
import { ServiceError } from "../domain/errors.ts";
import { roles } from "../domain/permissions.ts";
import { canonicalEmail, type User } from "../domain/user.ts";
import { randomToken } from "../lib/random-token.ts";
import { domainLimits } from "../domain/limits.ts";
import { UsageError, type Command, type Option, type Options } from "./command.ts";
import { noteOperator } from "./note-operator.ts";
import { findOrganization, organizationOption } from "./organization-commands.ts";

const passwordOption: Option = { value: "PASSWORD", description: "generated and shown once by default" };
const emailOption: Option = { value: "EMAIL", description: "the person's e-mail address", required: true };

export const userCommands: Command[] = [
  {
    name: "users create",
    summary: "create an account for a person",
    options: {
      organization: organizationOption,
      email: emailOption,
      role: { value: roles.join("|"), description: "member by default" },
      "instance-admin": { description: "lets the person create organizations" },
      password: passwordOption,
    },
    run: async (context, options) => {
      const { stores, passwords, nowMs } = context;
      const { unique_organization_id } = await findOrganization(stores.organizations, options.text("organization"));
      const password = choosePassword(options);
      const user = await makeUser(stores, {
        unique_organization_id,
        email: options.read("email", parseEmail),
        password_hash: await passwords.hash(password.value),
        role: options.oneOf("role", roles, "member"),
        is_instance_admin: options.flag("instance-admin"),
        nowMs: nowMs(),
      });
      const { id, email, role } = user;
      const done = { organization: unique_organization_id, action: "users create", target: id };
      await noteOperator(context, { ...done, changes: { email, role } });
      return { ...present(user), ...password.shown };
    },
  },
  {
    name: "users list",
    summary: "list an organization's people",
    options: { organization: organizationOption },
    run: async ({ stores }, options) => {
      const { unique_organization_id } = await findOrganization(stores.organizations, options.text("organization"));
      return (await stores.users.list(unique_organization_id)).map(present);
    },
  },
  {
    name: "users set-password",
    summary: "give a person a new password, which ends every session",
    options: { email: emailOption, password: passwordOption },
    run: async (context, options) => {
      const { stores, passwords } = context;
      const email = canonicalEmail(options.text("email"));
      const user = await stores.users.findByEmail(email);
      if (user === undefined) throw new ServiceError("not_found", `${email} has no account.`);
      const password = choosePassword(options);
      const hash = await passwords.hash(password.value);
      await stores.transaction(({ users }) => users.setPassword(user.id, hash));
      const { id, unique_organization_id: organization } = user;
      await noteOperator(context, { organization, action: "users set-password", target: id });
      return { id, email, ...password.shown };
    },
  },
];

function choosePassword(options: Options): { value: string; shown: { password?: string } } {
  const given = options.optional("password");
  if (given === undefined) {
    const value = randomToken(24);
    return { value, shown: { password: value } };
  }
  if (given.length < domainLimits.passwordCharsMin) {
    throw new UsageError(`--password must have at least ${domainLimits.passwordCharsMin} characters`);
  }
  if (given.trim() === "") throw new UsageError("--password must not be blank");
  return { value: given, shown: {} };
}

function present({ id, email, role, is_instance_admin, created_at }: User) {
  return { id, email, role, is_instance_admin, created_at };
}
