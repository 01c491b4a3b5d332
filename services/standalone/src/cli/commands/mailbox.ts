/** Runs a mail server that shows received mail and delivers none. It is for development, never for real users. */
import { once } from 'node:events';
import { startMailbox } from '../../mailbox.ts';
import { type Command, done, numberOf, textOf } from '../command.ts';
import { NotDone } from '../failures.ts';

const SMTP_PORT = 1025;
const PAGE_PORT = 8025;
const PORT_MAX = 65_535;

export const mailbox: Command = {
  name: 'mailbox',
  summary: 'Accepts all mail and shows it at /dev/mailbox, until Ctrl-C.',
  options: {
    'smtp-port': { type: 'string', value: 'N', help: `of the mail server (${SMTP_PORT}; 0: any)` },
    port: { type: 'string', value: 'N', help: `of the page (${PAGE_PORT}; 0: any)` },
    host: { type: 'string', value: 'ADDRESS', help: 'address to listen on (127.0.0.1)' },
  },
  run: async (call) => {
    const host = textOf(call, 'host') ?? '127.0.0.1';
    const at = { min: 0, max: PORT_MAX };
    const running = await startMailbox({
      smtpPort: numberOf(call, 'smtp-port', { ...at, or: SMTP_PORT }),
      port: numberOf(call, 'port', { ...at, or: PAGE_PORT }),
      host,
      version: call.version,
      log: call.log,
    }).catch((error: unknown) => {
      if ((error as { code?: unknown }).code !== 'EADDRINUSE') throw error;
      throw new NotDone('a port is taken: name another with --port and --smtp-port');
    });
    const page = `http://${host}:${running.port}/dev/mailbox`;
    const smtp = `smtp://${host}:${running.smtpPort}`;
    call.tell(`Mail to ${smtp} is shown at ${page}`, { smtp, page });
    if (!call.signal.aborted) await once(call.signal, 'abort');
    await running.stop();
    return done([]);
  },
};
