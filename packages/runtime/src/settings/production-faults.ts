/** Finds settings that are allowed in development and wrong in production. */
import { isCommonPassword } from './common-passwords.ts';
import type { Environment, SettingFault, Settings } from './settings.ts';

/** The schedule of webhook deliveries, which production must not change. */
export const RETRY_DELAYS_MS = [30, 120, 600, 1800, 7200].map((seconds) => seconds * 1000);

const ADMIN_PASSWORD_CHARACTERS_MIN = 12;
/** Production's rule for the password. Development accepts shorter ones. */
const ADMIN_PASSWORD_FORM = `at least ${ADMIN_PASSWORD_CHARACTERS_MIN} characters, and none of the 10,000 most common passwords`;
/** The secrets of `.env.example`. A deployment with one of them has not replaced it. */
const EXAMPLE_SECRETS = [
  'change-me-to-at-least-32-random-characters',
  '0123456789abcdef'.repeat(4),
];

export function productionFaults(env: Environment, so: Settings): SettingFault[] {
  if (so.ENV !== 'production') return [];
  const faults: SettingFault[] = [];
  const weak = (name: string, fault: string): number =>
    faults.push({ name, fault, form: 'random text of its own' });
  for (const name of ['JWT_SECRET', 'ENCRYPTION_KEY'] as const) {
    const given = so[name]?.reveal() ?? '';
    if (EXAMPLE_SECRETS.includes(given)) weak(name, 'is the text of the example');
    if (/^(.)\1+$/s.test(given)) weak(name, 'is one character repeated');
  }
  const adminPassword = so.ADMIN_PASSWORD?.reveal();
  if (adminPassword !== undefined && !isStrongEnough(adminPassword)) {
    const form = ADMIN_PASSWORD_FORM;
    faults.push({ name: 'ADMIN_PASSWORD', fault: 'is too weak for production', form });
  }
  const key = so.ENCRYPTION_KEY?.reveal();
  if (key && key === so.JWT_SECRET?.reveal()) weak('JWT_SECRET', 'equals ENCRYPTION_KEY');
  if (env['CARDEA_FAILPOINT']) {
    faults.push({ name: 'CARDEA_FAILPOINT', fault: 'is set', form: 'unset in production' });
  }
  if ((so.WEBHOOK_RETRY_DELAYS ?? RETRY_DELAYS_MS).join() !== RETRY_DELAYS_MS.join()) {
    const form = 'unset in production, or the schedule 30s,2m,10m,30m,2h';
    faults.push({ name: 'WEBHOOK_RETRY_DELAYS', fault: 'is not the schedule', form });
  }
  return faults;
}

const isStrongEnough = (password: string): boolean =>
  [...password.normalize('NFC')].length >= ADMIN_PASSWORD_CHARACTERS_MIN &&
  !isCommonPassword(password);
