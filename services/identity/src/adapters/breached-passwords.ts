/**
 * Whether a password is known from a leak, asked of Have I Been Pwned or of a copy of it. Only the first
 * five digits of its SHA-1 leave this process (k-anonymity), and the answer is padded, so that neither the
 * request nor its length says which password it was.
 */
import { createHash } from 'node:crypto';

export type BreachedPasswords = (password: string) => Promise<boolean>;

const RANGES = 'https://api.pwnedpasswords.com/range';
const PREFIX_DIGITS = 5;
/** For the whole answer: who sets a password does not wait longer for another service. */
const ANSWER_WAIT_MS = 500;

/** What cannot be asked is not refused. */
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

/** Lines of `<35 digits>:<how often>`; padding was seen 0 times. */
const isListed = (lines: string, rest: string): boolean =>
  lines.split('\n').some((line) => {
    const [digits, count] = line.trim().split(':');
    return digits === rest && Number(count) > 0;
  });
