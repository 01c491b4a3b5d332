/** The mail folder of development, and its list: `<id>.eml` for mail programs, `<id>.json` for the list. */
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock, Ids } from '@cardea/runtime';
import { createTransport } from 'nodemailer';
import { type Mail, type MailTransport, senderOf } from './mail.ts';

export type ListedMail = Required<Omit<Mail, 'fromName' | 'replyTo'>> & {
  readonly id: string;
  readonly created_at: string;
};

export type MailFolder = MailTransport & {
  /** Newest first. `to` filters by one recipient address. */
  readonly list: (to: string | undefined) => Promise<readonly ListedMail[]>;
  readonly empty: () => Promise<void>;
};

/** The most messages listed, newest first. */
const LISTED_MAX = 500;

export function mailFolder(
  folder: string,
  from: string,
  { ids, clock }: { readonly ids: Ids; readonly clock: Clock },
): MailFolder {
  const composer = createTransport({ streamTransport: true, buffer: true, newline: 'unix' });
  /** The mails of the last list by file, because a file never changes. */
  let read = new Map<string, ListedMail>();
  return {
    send: async ({ link = null, code = null, fromName = null, replyTo = null, ...mail }) => {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      const id = ids.next();
      const made = await composer.sendMail({
        ...mail,
        ...senderOf({ fromName, replyTo }, from),
        to: { name: '', address: mail.to },
      });
      await writeFile(join(folder, `${id}.eml`), made.message as Buffer, { mode: 0o600 });
      const listed: ListedMail = {
        id,
        ...mail,
        link,
        code,
        created_at: clock.now().toISOString(),
      };
      // The list may be read while a mail is written, so a file appears complete or not at all.
      const half = join(folder, `${id}.part`);
      await writeFile(half, JSON.stringify(listed), { mode: 0o600 });
      await rename(half, join(folder, `${id}.json`));
    },
    list: async (asked) => {
      const to = asked?.trim().toLowerCase();
      const names = (await namesIn(folder)).filter((name) => name.endsWith('.json'));
      const newest = names.sort().reverse().slice(0, LISTED_MAX);
      const before = read;
      const mails = await Promise.all(
        newest.map(async (name) => {
          const mail = before.get(name) ?? (await readMail(join(folder, name)));
          return mail === undefined ? [] : ([[name, mail]] as const);
        }),
      );
      read = new Map(mails.flat());
      return [...read.values()].filter((mail) => to === undefined || mail.to === to);
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

async function readMail(file: string): Promise<ListedMail | undefined> {
  try {
    return JSON.parse(await readFile(file, 'utf8')) as ListedMail;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined; // The file was deleted in between.
    throw error;
  }
}
