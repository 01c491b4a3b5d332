import { describe, expect, it } from 'vitest';
import {
  CODE_FAILURES_MAX,
  type Mailbox,
  mailboxes,
  pendingByGeneration,
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
    tryCode({ purpose: 'otp', generation, now }, mailbox);
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

describe('P6 what a stranger asks for', () => {
  const request = (
    asker: string,
    mailbox: Mailbox,
    purpose: 'reset' | 'otp' = 'reset',
    now = at('10:00:00'),
  ) => told(mailbox, ...requestMail({ purpose, email, userId: null, asker, now }, mailbox).events);
  const usable = (generation: number, mailbox: Mailbox) => use(generation, mailbox).accepted;

  it('voids nothing that the person or an administrator asked for', () => {
    let mailbox = request('administrator', request('home', mailboxes.initial));
    for (let round = 0; round < 20; round += 1) mailbox = request('stranger', mailbox);
    expect([1, 2, 21, 22].map((generation) => usable(generation, mailbox))).toEqual([
      true,
      true,
      false,
      true,
    ]);
  });

  it('is void with everything else of its purpose once one was used', () => {
    const mailbox = request('stranger', request('home', mailboxes.initial));
    const after = told(mailbox, ...use(1, mailbox).events);
    expect([1, 2].map((generation) => usable(generation, after))).toEqual([false, false]);
  });

  it('is kept of eight others at most, and not when its time is over', () => {
    let mailbox: Mailbox = mailboxes.initial;
    for (let stranger = 0; stranger < 20; stranger += 1) mailbox = request(`${stranger}`, mailbox);
    const kept = Array.from({ length: 20 }, (_, index) => usable(index + 1, mailbox));
    expect(kept.filter(Boolean)).toHaveLength(9);
    const late = request('late', mailbox, 'reset', at('12:00:00'));
    expect(JSON.stringify(late).length).toBeLessThan(JSON.stringify(mailbox).length / 4);
  });

  it('is sent and settled though another was asked for since', () => {
    const mailbox = request('stranger', request('home', mailboxes.initial));
    const sent = told(
      mailbox,
      ...settleMail({ purpose: 'reset', generation: 1 }, 'sent', mailbox).events,
    );
    expect(pendingByGeneration(sent, 'reset', 1)).toMatchObject({ settled: true });
    expect(pendingByGeneration(sent, 'reset', 2)).toMatchObject({ settled: false });
  });

  it('is guessed at by itself: five wrong codes of a stranger leave the code of the person', () => {
    let mailbox = request('stranger', request('home', mailboxes.initial, 'otp'), 'otp');
    const now = at('10:05:00');
    for (let guess = 0; guess < 9; guess += 1) {
      const wrong = { purpose: 'otp', generation: null, asker: 'stranger', now } as const;
      mailbox = told(mailbox, ...tryCode(wrong, mailbox).events);
    }
    expect(tryCode({ purpose: 'otp', generation: 2, now }, mailbox)).toMatchObject({
      reason: 'too_many_attempts',
    });
    expect(tryCode({ purpose: 'otp', generation: 1, now }, mailbox).accepted).toBe(true);
    const elsewhere = tryCode(
      { purpose: 'otp', generation: null, asker: 'elsewhere', now },
      mailbox,
    );
    expect(elsewhere).toMatchObject({ reason: 'invalid', events: [] });
  });
});
