/** Sends mail by SMTP or, in development without SMTP, into a folder that a page shows. */
import { join } from 'node:path';
import type { Clock, Ids, Settings } from '@cardea/runtime';
import { createTransport } from 'nodemailer';
import { type MailTransport, senderOf } from './mail.ts';
import { type MailFolder, mailFolder } from './mail-folder.ts';
import { SENDING_MAX } from './outbox.ts';

const SMTP_TIMEOUT_MS = 10_000;

/**
 * `transport` is undefined in production without SMTP_URL: nothing can be sent, and nothing is stored elsewhere,
 * because production shows mail to its recipient only. `folder` is set if the transport is the folder of development.
 */
export function mailTransports(needs: {
  readonly settings: Pick<Settings, 'SMTP_URL' | 'MAIL_FROM' | 'ENV' | 'CARDEA_DATA'>;
  readonly ids: Ids;
  readonly clock: Clock;
}): { readonly transport: MailTransport | undefined; readonly folder: MailFolder | undefined } {
  const { SMTP_URL, MAIL_FROM, ENV, CARDEA_DATA } = needs.settings;
  if (SMTP_URL !== undefined) {
    return { transport: smtpTransport(SMTP_URL.reveal(), MAIL_FROM), folder: undefined };
  }
  if (ENV === 'production') return { transport: undefined, folder: undefined };
  const folder = mailFolder(join(CARDEA_DATA ?? '.cardea', 'mail'), MAIL_FROM, needs);
  return { transport: folder, folder };
}

function smtpTransport(url: string, from: string): MailTransport {
  const transport = createTransport({
    url,
    pool: true,
    maxConnections: SENDING_MAX,
    connectionTimeout: SMTP_TIMEOUT_MS,
    greetingTimeout: SMTP_TIMEOUT_MS,
    socketTimeout: SMTP_TIMEOUT_MS,
    disableFileAccess: true,
    disableUrlAccess: true,
  } as Parameters<typeof createTransport>[0]);
  return {
    send: async ({ to, subject, text, html, ...mail }) => {
      const headers = { ...senderOf(mail, from), to: { name: '', address: to } };
      await transport.sendMail({ ...headers, subject, text, html });
    },
    close: () => transport.close(),
  };
}
