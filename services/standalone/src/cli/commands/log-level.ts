/** Changes the log level of running processes for a while. The deployment's bearer token authorizes it. */
import { SERVICE_NAMES } from '@cardea/contracts';
import { internalBearers } from '@cardea/service';
import { type Command, done, numberOf, textOf } from '../command.ts';
import { NotDone, WrongUsage } from '../failures.ts';

const LEVELS = ['debug', 'info', 'warn', 'error'];
const TTL_SECONDS = { min: 1, max: 3600, or: 600 };
const ANSWER_MS_MAX = 3_000;
const REFUSED = 401;

export const logLevel: Command = {
  name: 'loglevel',
  summary:
    'Changes the log level of running processes, which return to their own level after some time.',
  words: [LEVELS.join('|')],
  options: {
    ttl: { type: 'string', value: 'SECONDS', help: `until they go back (${TTL_SECONDS.or})` },
    management: {
      type: 'string',
      value: 'URL,…',
      help: 'management ports of the processes (default: those of the data folder)',
    },
  },
  run: async (call) => {
    const [level = ''] = call.words;
    if (!LEVELS.includes(level)) throw new WrongUsage(`a level is one of ${LEVELS.join(', ')}`);
    const body = JSON.stringify({ level, ttl_seconds: numberOf(call, 'ttl', TTL_SECONDS) });
    const deployment = await call.open();
    const urls = textOf(call, 'management')?.split(',') ?? deployment.addresses?.management ?? [];
    if (urls.length === 0) throw new NotDone('name the management ports with --management URL,…');
    // It is unknown which service answers at an address, and each has its own bearer token.
    const { to } = internalBearers(deployment.shared(), SERVICE_NAMES, 'cardea');
    const bearers = [...new Set(SERVICE_NAMES.flatMap(to))];
    const processes = await Promise.all(
      urls.map(async (management) => ({
        management,
        changed: await change(management, { body, bearers }),
      })),
    );
    const lines = processes.map(
      ({ management, changed }) => `${management}  ${changed ? level : 'not changed'}`,
    );
    return { ...done(lines, { processes }), ok: processes.every(({ changed }) => changed) };
  },
};

async function change(
  management: string,
  { body, bearers }: { readonly body: string; readonly bearers: readonly string[] },
): Promise<boolean> {
  try {
    for (const bearer of bearers) {
      const { ok, status } = await fetch(new URL('/loglevel', management), {
        method: 'PUT',
        headers: { authorization: `Bearer ${bearer}` },
        body,
        redirect: 'error',
        signal: AbortSignal.timeout(ANSWER_MS_MAX),
      });
      if (status !== REFUSED) return ok;
    }
  } catch {
    // Nothing answers at this address.
  }
  return false;
}
