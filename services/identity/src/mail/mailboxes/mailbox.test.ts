import { describe, expect, it } from 'vitest';
import {
  CODE_FAILURES_MAX,
  type Mailbox,
  mailboxes,
  requestMail,
  settleMail,
  tryCode,
  useSecret,
} from './mailbox.ts';

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

describe('a mailed code', () => {
  const sent = (mailbox: Mailbox, now = at('10:00:00')) =>
    told(mailbox, ...requestMail({ purpose: 'otp', email, userId: null, now }, mailbox).events);
  const tried = (generation: number | null, mailbox: Mailbox, now = at('10:05:00')) =>
    tryCode({ generation, now }, mailbox);
  const missed = (mailbox: Mailbox, times: number): Mailbox =>
    times === 0 ? mailbox : missed(told(mailbox, ...tried(null, mailbox).events), times - 1);

  it('identity 8 works once', () => {
    const mailbox = sent(mailboxes.initial);
    const used = tried(1, mailbox);
    expect(used.accepted).toBe(true);
    expect(tried(1, told(mailbox, ...used.events))).toMatchObject({ reason: 'invalid' });
  });

  it('identity 8 is not looked at any more behind five wrong ones, until another is sent', () => {
    const mailbox = sent(mailboxes.initial);
    expect(tried(1, missed(mailbox, CODE_FAILURES_MAX - 1)).accepted).toBe(true);
    const closed = missed(mailbox, CODE_FAILURES_MAX);
    expect(tried(1, closed)).toMatchObject({ reason: 'too_many_attempts', events: [] });
    expect(tried(2, sent(closed)).accepted).toBe(true);
  });

  it('identity 8 counts one that another has replaced as a wrong one', () => {
    const refused = tried(1, sent(sent(mailboxes.initial)));
    expect(refused).toMatchObject({ reason: 'invalid' });
    expect(refused.events).toHaveLength(1);
  });

  it('identity 8 is told to have run out for a day, and then is as wrong as any', () => {
    const mailbox = sent(mailboxes.initial);
    expect(tried(1, mailbox, at('10:10:00'))).toMatchObject({ reason: 'expired' });
    const dayLater = new Date('2026-01-02T10:10:00Z');
    expect(tried(1, mailbox, dayLater)).toMatchObject({ reason: 'invalid' });
  });
});
