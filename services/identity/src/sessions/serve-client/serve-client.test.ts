import { given } from '@cardea/testing';
import { describe, expect, it } from 'vitest';
import { browserSession as facts } from '../../../test/browser-session.ts';
import { type SessionEvent, sessions } from '../session.ts';
import { SERVED_CLIENTS_MAX, serveClient } from './serve-client.ts';

const served = (...served_clients: readonly string[]): SessionEvent => ({
  type: 'SessionServed',
  data: { ...facts, served_clients },
});
const begun: SessionEvent = { type: 'SessionRefreshed', data: facts };

describe('a sign-in that serves an application', () => {
  it('notes it once', () => {
    given(sessions, begun)
      .when((session) => serveClient('shop', session))
      .accepts(served('shop'));
    given(sessions, served('shop'))
      .when((session) => serveClient('shop', session))
      .accepts();
  });

  it('forgets the one that it served first when there are too many', () => {
    const many = Array.from({ length: SERVED_CLIENTS_MAX }, (_, at) => `client ${at}`);
    given(sessions, served(...many))
      .when((session) => serveClient('shop', session))
      .accepts(served(...many.slice(1), 'shop'));
  });

  it('refuses it once it has ended', () => {
    const revoked = { ...facts, revoked_at: '2026-01-01T10:00:00.000Z', reason: 'logout' } as const;
    const ended = sessions.evolve(sessions.initial, { type: 'SessionRevoked', data: revoked });
    expect(serveClient('shop', ended)).toMatchObject({ reason: 'ended' });
    expect(serveClient('shop', sessions.initial)).toMatchObject({ reason: 'ended' });
  });
});
