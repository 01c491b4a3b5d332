/** How mail leaves: by SMTP, or, in development without it, into the folder that the mailbox page shows. */
import { mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock, Ids, Settings } from '@cardea/runtime';
import { createTransport } from 'nodemailer';

export type Mail = {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
};

export type MailTransport = {
  /** Resolves when the mail was taken over; throws when it was not. */
  readonly send: (mail: Mail) => Promise<void>;
  readonly close: () => void;
};

const SMTP_TIMEOUT_MS = 10_000;
const SMTP_CONNECTIONS_MAX = 4;

/** Undefined in production without SMTP_URL: nothing can be sent, and nothing is kept anywhere else. */
export function mailTransport(needs: {
  readonly settings: Pick<Settings, 'SMTP_URL' | 'MAIL_FROM' | 'ENV' | 'CARDEA_DATA'>;
  readonly ids: Ids;
  readonly clock: Clock;
}): MailTransport | undefined {
  const { SMTP_URL, MAIL_FROM, ENV, CARDEA_DATA } = needs.settings;
  if (SMTP_URL !== undefined) return bySmtp(SMTP_URL.reveal(), MAIL_FROM);
  if (ENV === 'production') return undefined;
  return intoFolder(join(CARDEA_DATA ?? '.cardea', 'mail'), MAIL_FROM, needs);
}

function bySmtp(url: string, from: string): MailTransport {
  const transport = createTransport({
    url,
    pool: true,
    maxConnections: SMTP_CONNECTIONS_MAX,
    connectionTimeout: SMTP_TIMEOUT_MS,
    greetingTimeout: SMTP_TIMEOUT_MS,
    socketTimeout: SMTP_TIMEOUT_MS,
    disableFileAccess: true,
    disableUrlAccess: true,
  } as Parameters<typeof createTransport>[0]);
  return {
    send: async (mail) => {
      await transport.sendMail({ ...mail, from, to: { name: '', address: mail.to } });
    },
    close: () => transport.close(),
  };
}

/** `<id>.eml` for people and mail programs, `<id>.json` for identity's list of the same folder. */
function intoFolder(
  folder: string,
  from: string,
  { ids, clock }: { readonly ids: Ids; readonly clock: Clock },
): MailTransport {
  const composer = createTransport({ streamTransport: true, buffer: true, newline: 'unix' });
  return {
    send: async (mail) => {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      const id = ids.next();
      const to = { name: '', address: mail.to };
      const made = await composer.sendMail({ ...mail, from, to });
      await writeFile(join(folder, `${id}.eml`), made.message as Buffer, { mode: 0o600 });
      const created_at = clock.now().toISOString();
      const listed = JSON.stringify({ id, ...mail, link: null, code: null, created_at });
      // The list is read while mail comes: a file is there whole or not at all.
      const half = join(folder, `${id}.part`);
      await writeFile(half, listed, { mode: 0o600 });
      await rename(half, join(folder, `${id}.json`));
    },
    close: () => composer.close(),
  };
}
