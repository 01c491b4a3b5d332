/**
 * Lets a person who was locked out try again, from every network and with every factor. How often they were
 * locked out stays, so the next time is not shorter; what is counted beside the stream starts afresh.
 */
import { accept, type Decision } from '@cardea/event-store';
import { openedAt } from '@cardea/service';
import { clearingsOf, type Signin, type SigninEvent } from '../../../streams/signin.ts';

export function unlock(
  { userId, now }: { readonly userId: string; readonly now: Date },
  signin: Signin,
): Decision<SigninEvent, never> {
  // Mails are counted beside the stream also of an address that nobody signed in by.
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
