/**
 * Lets a person who was locked out try again, from every network. How often a network was locked out stays,
 * so the next time is not shorter, and the attempts that are counted beside the stream start afresh.
 */
import { accept, type Decision } from '@cardea/event-store';
import type { Signin, SigninEvent } from '../lockout.ts';

export function unlock(
  { userId, now }: { readonly userId: string; readonly now: Date },
  signin: Signin,
): Decision<SigninEvent, never> {
  if (signin.status === 'none') return accept();
  const at = now.toISOString();
  const clear = { failures: 0, window_at: at, blocked_until: null, reported: false };
  const prefixes = signin.prefixes.map((record) => ({ ...record, ...clear }));
  const { known_prefixes } = signin;
  const after = { prefixes, all: clear, known_prefixes };
  return accept({ type: 'SignInCleared', data: { user_id: userId, after } });
}
