import { describe, expect, it } from 'vitest';
import { bindingMessage, vendReason } from './texts.ts';

describe('words that people read', () => {
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
