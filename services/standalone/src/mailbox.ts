/**
 * A mail server that delivers nothing. It shows received mail on a page, as the development mailbox of a single process
 * does. It is for deployments of many processes, in which all mail must end up in one place.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { healthEndpoints, serve } from '@cardea/http';
import { devMailboxRoutes } from '@cardea/identity';
import { mailFolder } from '@cardea/mail';
import { type Logger, systemClock, systemRandom, uuidV7Ids } from '@cardea/runtime';
import postalMime from 'postal-mime';
import { SMTPServer } from 'smtp-server';

const MAIL_MAX_BYTES = 1024 * 1024;
const RECIPIENTS_MAX = 10;
const SOCKET_WAIT_MS = 60_000;
const TOO_LARGE = 552;
const FROM = 'mailbox@cardea.local';

export type MailboxOptions = {
  /** 0 selects a free port, here and below. */
  readonly smtpPort: number;
  readonly port: number;
  readonly host: string;
  readonly version: string;
  readonly log: Logger;
};

export type Mailbox = {
  readonly smtpPort: number;
  /** Port of `/dev/mailbox`. */
  readonly port: number;
  stop(): Promise<void>;
};

export async function startMailbox(options: MailboxOptions): Promise<Mailbox> {
  const { version, log, host } = options;
  const folder = mkdtempSync(join(tmpdir(), 'cardea-mailbox-'));
  const ids = uuidV7Ids(systemClock, systemRandom);
  const mails = mailFolder(folder, FROM, { ids, clock: systemClock });
  const take = async (raw: Buffer, recipients: readonly string[]): Promise<void> => {
    const { subject = '', text = '', html = '' } = await postalMime.parse(raw);
    const shown = { subject, text, html, link: linkIn(text), code: codeIn(text) };
    for (const to of recipients) await mails.send({ ...shown, to });
  };
  const smtp = smtpServer(take, log);
  const smtpPort = await listening(smtp, options.smtpPort, host);
  const page = serve({
    services: [
      { service: 'identity', endpoints: [...healthOf(version), ...devMailboxRoutes(mails)] },
    ],
    authenticator: {
      authenticate: async () => undefined,
      confirm: async () => undefined,
      capability: async () => NOBODY,
    },
    name: 'mailbox',
    version,
    clock: systemClock,
    ids,
    logger: log,
    issuer: `http://${host}:${options.port}`,
    trustedProxies: [],
    port: options.port,
    hosts: [host],
    // The user who starts a mailbox chooses its listen address.
    sharesLoopbackOnly: true,
  });
  const stop = async (): Promise<void> => {
    await page.stop();
    await new Promise<void>((resolve) => smtp.close(() => resolve()));
    mails.close();
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    const { port } = await page.start();
    return { smtpPort, port, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

const NOBODY = { bad: 'invalid' } as const;

/** Reports that the process answers. It has neither database nor cache. */
const healthOf = (version: string) =>
  healthEndpoints({
    version,
    clock: systemClock,
    database: { ping: async () => undefined },
    cache: { mode: 'in_process', ping: async () => undefined },
  }).slice(0, 1);

function smtpServer(
  take: (raw: Buffer, recipients: readonly string[]) => Promise<void>,
  log: Logger,
): SMTPServer {
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS', 'AUTH'],
    size: MAIL_MAX_BYTES,
    socketTimeout: SOCKET_WAIT_MS,
    onRcptTo: (_address, session, done) =>
      done(session.envelope.rcptTo.length < RECIPIENTS_MAX ? null : new Error('too many')),
    onData: (stream, session, done) => {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.once('end', () => {
        // The library has already cut off the part beyond the maximum size.
        if (stream.sizeExceeded) return done(refusal('the mail is too large', TOO_LARGE));
        const recipients = session.envelope.rcptTo.map(({ address }) => address.toLowerCase());
        take(Buffer.concat(chunks), recipients).then(
          () => done(),
          (error: Error) => {
            log.error({ err: error }, 'a mail could not be kept');
            done(new Error('the mail could not be kept'));
          },
        );
      });
    },
  });
  server.on('error', (error) => log.warn({ err: error }, 'a mail connection failed'));
  return server;
}

/** Includes the reply code that tells the sender not to retry. */
const refusal = (message: string, responseCode: number): Error =>
  Object.assign(new Error(message), { responseCode });

function listening(server: SMTPServer, port: number, host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    const bound = server.listen(port, host, () => {
      server.off('error', reject);
      resolve((bound.address() as AddressInfo).port);
    });
  });
}

/** The first link in a mail, which most readers of the page look for. */
const linkIn = (text: string): string | null => /https?:\/\/\S+/.exec(text)?.[0] ?? null;
const codeIn = (text: string): string | null =>
  /^(?:.*:)?\s*(\d{6}|[0-9A-Z]{4}-[0-9A-Z]{4})\s*$/m.exec(text)?.[1] ?? null;
