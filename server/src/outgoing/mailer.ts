import { createTransport } from "nodemailer";
import type { Secret } from "../lib/secret.ts";

export type Mail = {
  to: string;
  subject: string;
  text: string;
  /** Equal for equal mails: receivers may then show them once. */
  id: string;
};

/** Resolves when the server has accepted the mail. Rejects with the server's error, or on a timeout. */
export type SendMail = (mail: Mail) => Promise<void>;

/**
 * Sends mail through the operator's SMTP server, as plain text, with one connection per mail: alerts are few.
 *
 * @param url `smtp:` or `smtps:`, with user and password if the server requires them
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
      // After a timeout, a later rejection is ignored.
      sent.catch(() => undefined);
    }
  };
}
