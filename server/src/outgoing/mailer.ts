import { createTransport } from "nodemailer";
import type { Secret } from "../lib/secret.ts";

export type Mail = {
  to: string;
  subject: string;
  text: string;
  /** The same of mails that are the same: receivers may show them once. */
  id: string;
};

/** Resolves when the server has taken the mail. Rejects with what it said, or when it took too long. */
export type SendMail = (mail: Mail) => Promise<void>;

/**
 * Mail over the operator's SMTP server, plain text alone, a connection each: alerts are few.
 *
 * @param url `smtp:` or `smtps:`, with user and password where the server wants them
 */
export function createMailer({ url, from, timeoutMs }: { url: Secret; from: string; timeoutMs: number }): SendMail {
  const { hostname } = new URL(url.reveal());
  const within = { connectionTimeout: timeoutMs, greetingTimeout: timeoutMs, socketTimeout: timeoutMs };
  const transport = createTransport({ url: url.reveal(), ...within, disableFileAccess: true, disableUrlAccess: true });
  return async ({ to, subject, text, id }) => {
    const sent = transport.sendMail({
      from: { name: "Spanway", address: from },
      to: { name: "", address: to },
      subject,
      text,
      messageId: `<${id}@${hostname}>`,
    });
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(() => reject(new Error(`no complete answer within ${timeoutMs / 1_000} s`)), timeoutMs);
    });
    try {
      await Promise.race([sent, late]);
    } finally {
      clearTimeout(timer);
      // What ends later is of no interest any more.
      sent.catch(() => undefined);
    }
  };
}
