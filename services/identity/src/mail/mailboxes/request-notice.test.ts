import type { Sealed } from '@cardea/crypto';
import { describe, expect, it } from 'vitest';
import { type Mailbox, mailboxes, pendingByGeneration, settleMail } from './mailbox.ts';
import { NOTICES_MINUTE_MS, NOTICES_PER_MINUTE_MAX, requestNotice } from './request-notice.ts';

const START = new Date('2026-01-01T10:00:00.000Z');
const sealed = { subject: 'user:1', box: 'box' } as unknown as Sealed;
const EMPTY = { status: 'none' } as Mailbox;

const noticed = (mailbox: Mailbox, afterMs: number) => {
  const now = new Date(START.getTime() + afterMs);
  const of = { email: sealed, userId: 'ann', details: sealed, language: 'de', now } as const;
  const decided = requestNotice(of, mailbox);
  const [event] = decided.events;
  if (event?.type !== 'MailRequested') throw new Error('nothing was requested');
  return { mailbox: mailboxes.evolve(mailbox, event), data: event.data };
};
const many = (count: number, everyMs = 1) => {
  let mailbox = EMPTY;
  const all = [];
  for (let n = 0; n < count; n += 1) {
    const next = noticed(mailbox, n * everyMs);
    mailbox = next.mailbox;
    all.push(next.data);
  }
  return { mailbox, all };
};
const pendingOf = (mailbox: Mailbox, generation: number) =>
  pendingByGeneration(mailbox, 'security_notice', generation);
const sent = (mailbox: Mailbox, generation: number): Mailbox => {
  const settled = settleMail({ purpose: 'security_notice', generation }, 'sent', mailbox);
  return settled.events.reduce<Mailbox>((state, event) => mailboxes.evolve(state, event), mailbox);
};

describe('people 11 notices to one person', () => {
  it('are mails of their own, none of which replaces another', () => {
    const { mailbox, all } = many(NOTICES_PER_MINUTE_MAX);
    for (const { generation, due_at } of all) {
      expect(due_at).toBeUndefined();
      expect(pendingOf(mailbox, generation)).toMatchObject({ settled: false, details: sealed });
    }
  });

  it('are counted from the sixth of a minute on, in one mail at its end', () => {
    const { mailbox, all } = many(NOTICES_PER_MINUTE_MAX + 4, 10);
    const end = new Date(START.getTime() + 50 + NOTICES_MINUTE_MS).toISOString();
    for (const [at, { generation, due_at }] of all.entries()) {
      const isLast = at === all.length - 1;
      if (at < NOTICES_PER_MINUTE_MAX) expect(pendingOf(mailbox, generation)).toBeDefined();
      else {
        expect(due_at).toBe(end);
        const pending = pendingOf(mailbox, generation);
        if (isLast) expect(pending).toMatchObject({ count: 4, settled: false });
        else expect(pending).toBeUndefined();
      }
    }
    expect(pendingOf(mailbox, all.at(-1)?.generation ?? 0)).not.toHaveProperty('details');
  });

  it('begin anew when the minute is over, whatever was counted', () => {
    const { mailbox, all } = many(NOTICES_PER_MINUTE_MAX + 1);
    const done = all.reduce((state, { generation }) => sent(state, generation), mailbox);
    const next = noticed(done, NOTICES_MINUTE_MS + 10);
    expect(next.data.due_at).toBeUndefined();
    expect(pendingOf(next.mailbox, next.data.generation)).not.toHaveProperty('count');
  });

  it('wait while the mail server is away, and grow to no more than six', () => {
    const { mailbox, all } = many(100, NOTICES_MINUTE_MS);
    const waiting = all.filter(({ generation }) => pendingOf(mailbox, generation) !== undefined);
    expect(waiting).toHaveLength(NOTICES_PER_MINUTE_MAX + 1);
    expect(pendingOf(mailbox, 100)).toMatchObject({ count: 100 - NOTICES_PER_MINUTE_MAX });
  });

  it('leave a counting mail that waits as it is, where one of their own is sent again', () => {
    const { mailbox, all } = many(NOTICES_PER_MINUTE_MAX + 1);
    const freed = all
      .slice(0, 5)
      .reduce((state, { generation }) => sent(state, generation), mailbox);
    const next = noticed(freed, NOTICES_MINUTE_MS + 10);
    expect(pendingOf(next.mailbox, all[5]?.generation ?? 0)).toMatchObject({ count: 1 });
    expect(pendingOf(next.mailbox, next.data.generation)).not.toHaveProperty('count');
  });
});
