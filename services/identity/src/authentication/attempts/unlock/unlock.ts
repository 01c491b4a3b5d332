/**
 * Unlocks a person for every network and every factor. The number of lock-outs stays, so the next one is not shorter.
 * Counters outside the stream are reset.
 */
import { accept, type Decision } from '@cardea/event-store';
import { openedAt } from '@cardea/service';
import { clearingsOf, type Signin, type SigninEvent } from '../../../streams/signin.ts';

export function unlock(
  { userId, now }: { readonly userId: string; readonly now: Date },
  signin: Signin,
): Decision<SigninEvent, never> {
  // Mail counters outside the stream also exist for addresses without any sign-in.
  const facts =
    signin.status === 'none' ? { prefixes: [], all: undefined, known_prefixes: [] } : signin;
  const clear = { failures: 0, window_at: now.toISOString(), blocked_until: null, reported: false };
  const prefixes = facts.prefixes.map((record) => ({ ...record, ...clear }));
  const second = signin.status === 'seen' ? signin.second : undefined;
  const after = {
    prefixes,
    all: facts.all === undefined ? clear : openedAt(facts.all, now),
    ...(second === undefined ? {} : { second: openedAt(second, now) }),
    known_prefixes: facts.known_prefixes,
    clearings: clearingsOf(signin) + 1,
  };
  return accept({ type: 'SignInCleared', data: { user_id: userId, by: 'administrator', after } });
}
