import { describe, expect, it } from 'vitest';
import { type Mailbox, mailboxes, requestMail, settleMail, useSecret } from './mailbox.ts';

const email = { subject: 'transient:t1:2026-01-01', box: 'box' };
const at = (time: string) => new Date(`2026-01-01T${time}Z`);
const told = (mailbox: Mailbox, ...events: readonly Parameters<typeof mailboxes.evolve>[1][]) =>
  events.reduce(mailboxes.evolve, mailbox);
const asked = (mailbox: Mailbox, now = at('10:00:00')) =>
  told(mailbox, ...requestMail({ purpose: 'reset', email, userId: null, now }, mailbox).events);
const use = (generation: number, mailbox: Mailbox, now = at('10:30:00')) =>
  useSecret({ purpose: 'reset', generation, now }, mailbox);

describe('a mailed secret', () => {
  it('works once', () => {
    const mailbox = asked(mailboxes.initial);
    const used = use(1, mailbox);
    expect(used.accepted).toBe(true);
    expect(use(1, told(mailbox, ...used.events))).toMatchObject({ reason: 'used' });
  });

  it('is void once another was asked for', () => {
    const mailbox = asked(asked(mailboxes.initial));
    expect(use(1, mailbox)).toMatchObject({ reason: 'superseded' });
    expect(use(2, mailbox).accepted).toBe(true);
  });

  it('has run out the very instant its hour is over', () => {
    const mailbox = asked(mailboxes.initial);
    expect(use(1, mailbox, at('10:59:59')).accepted).toBe(true);
    expect(use(1, mailbox, at('11:00:00'))).toMatchObject({ reason: 'expired' });
  });

  it('does not count for another purpose', () => {
    const mailbox = asked(mailboxes.initial);
    expect(
      useSecret({ purpose: 'verify', generation: 1, now: at('10:00:00') }, mailbox),
    ).toMatchObject({ reason: 'superseded' });
  });

  it('still works when its mail was sent', () => {
    const mailbox = asked(mailboxes.initial);
    const sending = { purpose: 'reset', generation: 1 } as const;
    const sent = told(mailbox, ...settleMail(sending, 'sent', mailbox).events);
    expect(use(1, sent).accepted).toBe(true);
  });
});
