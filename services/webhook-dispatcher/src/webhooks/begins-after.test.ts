import { describe, expect, it } from 'vitest';
import { isOlder } from './begins-after.ts';

const webhook = { epoch: 'one', positions: { identity: '41', vault: '0' } };
const event = { source: 'identity', position: '41', logEpoch: 'one' } as const;

describe('what is older than a webhook', () => {
  it('is what stood in the log of its service when the webhook was made, and nothing after that', () => {
    expect(isOlder(event, webhook)).toBe(true);
    expect(isOlder({ ...event, position: '9' }, webhook)).toBe(true);
    expect(isOlder({ ...event, position: '42' }, webhook)).toBe(false);
    expect(isOlder({ ...event, source: 'vault', position: '1' }, webhook)).toBe(false);
  });

  it('is nothing where positions do not compare: another epoch, or a webhook that has none', () => {
    expect(isOlder({ ...event, logEpoch: 'two' }, webhook)).toBe(false);
    expect(isOlder(event, null)).toBe(false);
    expect(isOlder({ ...event, source: 'authz' }, webhook)).toBe(false);
  });
});
