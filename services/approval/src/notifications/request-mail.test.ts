import { describe, expect, it } from 'vitest';
import type { Origin } from '../requests/requests.module.ts';
import { mailOfRequest, mailOfSeveral } from './request-mail.ts';

const asked = {
  agentName: 'Bot',
  isFirst: true,
  isEscalated: false,
  absent: undefined,
  action: 'write',
  resource: undefined,
  fields: [],
  severity: 'low' as const,
  expiresAt: '2026-01-01T10:00:00.000Z',
  grantTtlSeconds: undefined,
  purpose: null,
  reason: 'as agreed',
  origin: 'agent' as Origin,
  code: null,
  look: { language: 'en', brand: { name: 'Company' } } as const,
  page: 'https://cardea.example/approve/r-1?in=t-1',
};

describe('a mail about a request', () => {
  it('approval 19 carries the words of an agent without any power', () => {
    const { subject, html } = mailOfRequest({
      ...asked,
      agentName: `Bot\r\nBcc: x@example.com${'y'.repeat(100)}`,
      reason: '<script>alert(1)</script>',
    });
    expect(subject).not.toMatch(/[\r\n]/);
    expect(html).not.toContain('<script>');
  });

  it.each([
    ['vend', 'Bot asks for your decision.', 'Reason: as agreed'],
    ['agent', 'Bot asks for your decision.', 'The agent says: as agreed'],
    [
      'admin',
      'An administrator asks for your decision in the name of Bot.',
      'The administrator says: as agreed',
    ],
    [
      'self',
      'You have asked yourself for this decision in the name of Bot.',
      'You said: as agreed',
    ],
  ] as const)('says who asks where that is: %s', (origin, who, reason) => {
    const { subject, text } = mailOfRequest({ ...asked, origin });
    expect(text).toContain(`\n\n${who}`);
    expect(text.split('\n')).toContain(reason);
    const isAgents = origin === 'vend' || origin === 'agent';
    expect(text.includes('the first request of this agent')).toBe(isAgents);
    expect(subject).toBe(`Approval requested ${isAgents ? 'by' : 'in the name of'} Bot`);
  });

  it('has the language of the tenant in every line', () => {
    const { subject, text, html } = mailOfRequest({
      ...asked,
      ...{ agentName: 'Bot {count}', resource: 'github', fields: ['token'], code: '42' },
      look: { language: 'de', brand: { name: 'Firma' } },
    });
    expect(subject).toBe('Bot {count} bittet um eine Freigabe');
    expect(html).toContain('<html lang="de">');
    expect(text.trim().split(/\n+/)).toEqual([
      'Firma',
      subject,
      'Bot {count} bittet um Ihre Entscheidung. Es ist die erste Anfrage dieses Agenten an Sie.',
      'Aktion: write',
      'Dienst: github',
      'Felder: token',
      'Tragweite: niedrig',
      'Offen bis: 2026-01-01 10:00 UTC',
      'Der Agent schreibt: as agreed',
      'Anfrage ansehen: https://cardea.example/approve/r-1?in=t-1',
      'Vergleichscode: 42',
      expect.stringMatching(/^Wenn Sie nicht wissen/),
      'Diese E-Mail kommt von Firma.',
    ]);
  });

  it.each([
    ['en', 'Released for: at most 15 minutes', 'The agent says: nightly'],
    ['de', 'Freigegeben für: höchstens 15 Minuten', 'Der Agent schreibt: nightly'],
  ] as const)(
    'says how long the values of a vend last, and its purpose once: %s',
    (language, life, purpose) => {
      const reason = 'Release token of github; for up to 15 minutes; the agent says: nightly';
      const vend = { origin: 'vend', grantTtlSeconds: 900, purpose: 'nightly', reason } as const;
      const { text } = mailOfRequest({ ...asked, ...vend, look: { ...asked.look, language } });
      expect(text.split('\n')).toEqual(expect.arrayContaining([life, purpose]));
      expect(text.match(/nightly/g)).toHaveLength(1);
      expect(text).not.toContain('for up to');
    },
  );

  it('says to a second addressee that nobody has decided', () => {
    const mail = mailOfRequest({ ...asked, isEscalated: true });
    const why = 'Bot asks for your decision. Nobody has decided it so far, so more people may now.';
    expect(mail.text).toContain(why);
    const de = { language: 'de', brand: { name: 'Firma' } } as const;
    const german = mailOfRequest({ ...asked, isEscalated: true, look: de });
    expect(german.text).toContain('Bisher hat niemand entschieden');
  });

  it('says to a deputy in whose place they are asked, and takes no address from a name', () => {
    const { text } = mailOfRequest({ ...asked, absent: 'Ada' });
    expect(text).toContain('You are asked as the deputy of Ada. It is the first request');
    const odd = mailOfRequest({ ...asked, absent: 'https://evil.example/login' });
    expect(odd.text).not.toContain('https://evil.example');
  });

  it('counts what came while there was too much', () => {
    const en = { language: 'en', brand: { name: '' } } as const;
    const de = { ...en, language: 'de' } as const;
    const page = 'https://cardea.example/approve?in=t-1';
    const several = (count: number, look: Parameters<typeof mailOfSeveral>[1]) =>
      mailOfSeveral(count, look, page);
    expect(several(1, en).subject).toBe('1 more request waits');
    expect(several(3, en).subject).toBe('3 more requests wait');
    expect(several(1, de).subject).toBe('1 weitere Anfrage wartet');
    expect(several(3, de).text).toContain('3 weitere Anfragen warten auf Ihre Entscheidung.');
    expect(several(3, de).text).toContain(page);
  });
});
