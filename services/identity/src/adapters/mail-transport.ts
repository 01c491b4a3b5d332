/** Sends mail by SMTP or, in development without SMTP, writes it into a folder that a page shows. */
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createTransport } from 'nodemailer';

export type Mail = {
  readonly id: string;
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  /** Shown by the development mailbox next to the text. */
  readonly link: string | null;
  readonly code: string | null;
};

export type MailTransport = {
  /** Resolves when the mail was accepted; throws if it was not. */
  readonly send: (mail: Mail) => Promise<void>;
  readonly close: () => void;
};

const SMTP_TIMEOUT_MS = 10_000;
const SMTP_CONNECTIONS_MAX = 4;
/** Messages that the development mailbox lists, newest first. */
const LISTED_MAX = 500;

export function smtpTransport(url: string, from: string): MailTransport {
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
    send: async ({ to, subject, text, html }) => {
      await transport.sendMail({ from, to: { name: '', address: to }, subject, text, html });
    },
    close: () => transport.close(),
  };
}

export type MailFolder = MailTransport & {
  readonly list: (to: string | undefined) => Promise<readonly ListedMail[]>;
  readonly empty: () => Promise<void>;
};
export type ListedMail = Mail & { readonly created_at: string };

/** `<id>.eml` for users and mail programs, `<id>.json` for the list. */
export function mailFolder(folder: string, from: string, now: () => Date): MailFolder {
  const composer = createTransport({ streamTransport: true, buffer: true, newline: 'unix' });
  return {
    send: async (mail) => {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      const { to, subject, text, html, id } = mail;
      const made = await composer.sendMail({
        from,
        to: { name: '', address: to },
        subject,
        text,
        html,
      });
      await writeFile(join(folder, `${id}.eml`), made.message as Buffer, { mode: 0o600 });
      const listed: ListedMail = { ...mail, created_at: now().toISOString() };
      // The list is read while mail is written, so a file must be complete or absent.
      const half = join(folder, `${id}.part`);
      await writeFile(half, JSON.stringify(listed), { mode: 0o600 });
      await rename(half, join(folder, `${id}.json`));
    },
    list: async (asked) => {
      const to = asked?.trim().toLowerCase();
      const names = (await namesIn(folder)).filter((name) => name.endsWith('.json'));
      const newest = names.sort().reverse().slice(0, LISTED_MAX);
      const mails = await Promise.all(newest.map((name) => read(join(folder, name))));
      return mails.filter(
        (mail) => mail !== undefined && (to === undefined || mail.to === to),
      ) as readonly ListedMail[];
    },
    empty: async () => {
      const names = await namesIn(folder);
      await Promise.all(names.map((name) => rm(join(folder, name), { force: true })));
    },
    close: () => composer.close(),
  };
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

async function read(file: string): Promise<ListedMail | undefined> {
  try {
    return JSON.parse(await readFile(file, 'utf8')) as ListedMail;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined; // deleted meanwhile
    throw error;
  }
}
