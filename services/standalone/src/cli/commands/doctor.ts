/** Checks everything that a deployment depends on. Prints a line for each check, with how to correct a failure. */

import type { Check, DoctorCheck } from '../check.ts';
import { type Command, table } from '../command.ts';
import { doctorChecks } from '../doctor-checks.ts';

const LOOK_MS_MAX = 5_000;

export const doctor: Command = {
  name: 'doctor',
  summary:
    'Looks at settings, connections, keys, migrations, loops and lags; says what mends them.',
  options: {
    management: {
      type: 'string',
      value: 'URL,…',
      help: 'management ports to ask (default: those of the data folder)',
    },
  },
  run: async ({ open, options }) => {
    const deployment = await open();
    const given = options['management'];
    const management = typeof given === 'string' ? given.split(',') : undefined;
    const checks: Check[] = [];
    for (const [name, look] of Object.entries(doctorChecks)) {
      const found = await answered(look, { deployment, management });
      checks.push(...found.map((one) => ({ ...one, name: one.name || name })));
    }
    const failed = checks.filter(({ status }) => status === 'failed').length;
    const rows = checks.map(({ status, name, detail, fix }) => [
      SIGNS[status],
      name,
      fix === undefined ? detail : `${detail}  → ${fix}`,
    ]);
    return {
      ok: failed === 0,
      lines: [
        `Cardea ${deployment.version}: ${deployment.place}`,
        '',
        ...table(rows),
        '',
        failed === 0 ? 'All is well.' : `${failed} of ${checks.length} looks failed.`,
      ],
      json: { version: deployment.version, place: deployment.place, checks },
    };
  },
};

const SIGNS = { ok: 'ok', warning: 'warning', failed: 'FAILED' } as const;

/**
 * A check that throws or takes too long is reported as failed. The error's message is not shown, because it may quote a
 * URL.
 */
async function answered(
  look: DoctorCheck,
  at: Parameters<DoctorCheck>[0],
): Promise<readonly (Omit<Check, 'name'> & { readonly name?: string })[]> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error('late')), LOOK_MS_MAX);
  try {
    return await Promise.race([look(at), late.promise]);
  } catch (error) {
    const { name, code } = error as { name?: string; code?: unknown };
    const detail = typeof code === 'string' ? code : String(name);
    return [
      {
        status: 'failed',
        detail: `does not answer (${detail})`,
        fix: 'is it up, and the setting right?',
      },
    ];
  } finally {
    clearTimeout(timer);
  }
}
