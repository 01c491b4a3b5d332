import { given } from '@cardea/testing';
import { describe, it } from 'vitest';
import { browserSession as facts } from '../../../test/browser-session.ts';
import { type SessionEvent, sessions } from '../session.ts';
import { continueBrowser } from './continue-browser.ts';

const begun: SessionEvent = { type: 'SessionRefreshed', data: facts };
const continued: SessionEvent = {
  type: 'SessionContinued',
  data: { ...facts, earlier_sid: 'earlier' },
};
const revoked: SessionEvent = {
  type: 'SessionRevoked',
  data: { ...facts, revoked_at: '2026-01-01T10:00:00.000Z', reason: 'user' },
};

describe('a sign-in after another one in the same browser', () => {
  it('notes the earlier one, once', () => {
    given(sessions, begun)
      .when((session) => continueBrowser('earlier', session))
      .accepts(continued);
    given(sessions, continued)
      .when((session) => continueBrowser('another', session))
      .accepts();
  });

  it.each([
    ['that has ended', revoked],
    ['of another kind', { type: 'SessionRefreshed', data: { ...facts, kind: 'login' } } as const],
  ])('notes nothing in one %s', (_name, event) => {
    given(sessions, event)
      .when((session) => continueBrowser('earlier', session))
      .accepts();
  });

  it('is never earlier than itself', () => {
    given(sessions, begun)
      .when((session) => continueBrowser(facts.id, session))
      .accepts();
  });
});
