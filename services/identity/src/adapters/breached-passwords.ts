/**
 * Whether a password is in a known leak, according to Have I Been Pwned or a copy of it. Only the first five digits of
 * the password's SHA-1 leave this process (k-anonymity), and responses are padded. So neither the request nor the
 * response's length reveals the password.
 */
import { createHash } from 'node:crypto';

export type BreachedPasswords = (password: string) => Promise<boolean>;

const RANGES = 'https://api.pwnedpasswords.com/range';
const PREFIX_DIGITS = 5;
/** The limit for the whole response, so that setting a password does not wait longer for another service. */
const ANSWER_WAIT_MS = 500;

/** If the service cannot be reached, the password is not refused. */
export const breachedPasswords =
  (ranges: string = RANGES): BreachedPasswords =>
  async (password) => {
    const digest = createHash('sha1').update(password.normalize('NFC')).digest('hex').toUpperCase();
    const rest = digest.slice(PREFIX_DIGITS);
    try {
      const answer = await fetch(`${ranges}/${digest.slice(0, PREFIX_DIGITS)}`, {
        headers: { 'Add-Padding': 'true' },
        redirect: 'error',
        signal: AbortSignal.timeout(ANSWER_WAIT_MS),
      });
      return answer.ok && isListed(await answer.text(), rest);
    } catch {
      return false;
    }
  };

/** Lines have the form `<35 digits>:<count>`. Padding lines have the count 0. */
const isListed = (lines: string, rest: string): boolean =>
  lines.split('\n').some((line) => {
    const [digits, count] = line.trim().split(':');
    return digits === rest && Number(count) > 0;
  });
