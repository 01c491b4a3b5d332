import { describe, expect, it } from 'vitest';
import { foldedLetter, letter } from './letter.ts';

describe('a mail about a request', () => {
  it('approval 19 carries the words of an agent without any power', () => {
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

  it('counts what came while there was too much', () => {
    expect(foldedLetter(1).subject).toBe('1 more request waits');
    expect(foldedLetter(3).subject).toBe('3 more requests wait');
  });
});
