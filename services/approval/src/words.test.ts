import { fakeClock, inProcessCache } from '@cardea/runtime';
import { describe, expect, it } from 'vitest';
import { counters } from './counters.ts';
import { PACE_CALLS_MAX, PACE_WINDOW_MS } from './limits.ts';
import { letter } from './notifications/letter.ts';
import { originOf, unreadable } from './requests/create/create.ts';
import { bindingMessage, cleaned, vendReason } from './words.ts';

describe('words that people read', () => {
  it('approval 19 hide nothing, turn nothing around and break no line', () => {
    expect(cleaned('a\u202Eb\u200Bc\r\nd\u2028e\u0000')).toBe('abcde');
    expect(cleaned('e\u0301')).toBe('\u00E9');
    const body = { agent_id: 'b\u200Bot', user_id: 'ann', action: '\u200B', reason: 'fine' };
    expect(unreadable(body)).toEqual(['agent_id', 'action']);
    const { subject, html } = letter({
      agentName: `Bot\r\nBcc: x@example.com${'y'.repeat(100)}`,
      isFirst: true,
      action: 'write',
      resource: undefined,
      fields: [],
      severity: 'low',
      expiresAt: '2026-01-01T10:00:00.000Z',
      reason: '<script>alert(1)</script>',
      isVend: false,
      code: null,
    });
    expect(subject).not.toMatch(/[\r\n]/);
    expect(html).not.toContain('<script>');
  });

  it('stay short in the message of the agent, whatever the names are', () => {
    const fields = ['a', 'b', 'c', 'd', 'e'];
    const of = { agentName: 'Bot', service: 'github', fields, code: '4821' };
    expect(bindingMessage(of)).toBe('Bot: github (a, b +3) · code 4821');
    const long = bindingMessage({ ...of, agentName: '😀'.repeat(120) });
    expect([...long].length).toBeLessThanOrEqual(100);
    expect(long).toMatch(/ · code 4821$/);
  });

  it('say what a vend releases before what the agent says', () => {
    const of = { service: 'github', fields: ['token', 'user'], grantTtlSeconds: 900 };
    const release = 'Release token, user of github; for up to 15 minutes';
    expect(vendReason({ ...of, purpose: undefined })).toBe(release);
    expect(vendReason({ ...of, purpose: ' nightly\n ' })).toBe(
      `${release}; the agent says: nightly`,
    );
  });
});

describe('who may ask', () => {
  const agent = {
    kind: 'agent',
    id: 'bot',
    tenantId: 't',
    via: 'token',
    userId: 'ann',
    agentSessionId: 's',
    keyId: null,
    appId: null,
  } as const;

  it('is an agent for its own user or owner and nobody else', () => {
    const of = (agent_id: string, user_id: string) =>
      originOf(agent, { agent_id, user_id }, 'olga');
    expect(of('bot', 'ann')).toEqual({ origin: 'agent' });
    expect(of('bot', 'olga')).toEqual({ origin: 'agent' });
    expect(of('bot', 'bob')).toEqual({ refused: 'user_not_allowed' });
    expect(of('other', 'ann')).toEqual({ refused: 'agent_mismatch' });
  });
});

describe('the pace of the poll route', () => {
  it('approval 18 is kept by who comes every five seconds, not by twenty at once', async () => {
    const clock = fakeClock('2026-01-01T10:00:00.000Z');
    const count = counters(inProcessCache(clock), clock);
    const over = () => count.over('pace:r1', PACE_CALLS_MAX, PACE_WINDOW_MS);
    for (let call = 0; call < 60; call++) {
      expect(await over()).toBeUndefined();
      await clock.advance(5_000);
    }
    await clock.advance(PACE_WINDOW_MS);
    const burst = [];
    for (let call = 0; call < 20; call++) burst.push(await over());
    expect(burst.filter((ms) => ms !== undefined)).toHaveLength(20 - PACE_CALLS_MAX);
  });
});
