import { type Command, reserve, streams } from '@cardea/event-store';
import { inMemoryEventStore } from '@cardea/testing';
import { expect, it } from 'vitest';
import { emailReservations, printOwner, readOwner } from '../streams/reservation.ts';
import { emailChanges } from './email-changes.ts';
import { emails } from './emails.ts';
import { nameHolding } from './hold-name.ts';
import { type UserEvent, users } from './users/user.ts';

const tenantId = 'acme';
const at = '2026-01-20T10:00:00.000Z';
const sealed = { subject: 'user', box: 'box' };
const command = (id: string): Command => ({
  id,
  now: new Date(at),
  metadata: { tenantId, actor: { type: 'system', id: 'test' } },
});
const registered = (id: string, email_hash: string, email_verified: boolean): UserEvent => ({
  type: 'UserRegistered',
  data: {
    ...{ id, email: sealed, email_hash, email_verified, roles: ['member'], via: 'register' },
    ...{ display_name: null, avatar_url: null, vouched: false, request_hash: null, created_at: at },
  },
});
const bobsChange: readonly UserEvent[] = [
  {
    type: 'EmailChangeRequested',
    data: {
      ...{ id: 'bob', change_id: 'c', email: sealed, email_hash: 'new' },
      ...{ missing: ['new', 'present'], epoch: 0, keep_sid: 's' },
      ...{ expires_at: '2026-01-21T10:00:00.000Z', effective_at: null, at },
    },
  },
  { type: 'EmailChangeProven', data: { id: 'bob', change_id: 'c', side: 'new', at } },
  { type: 'EmailChangeProven', data: { id: 'bob', change_id: 'c', side: 'present', at } },
];

/** Bob has proven everything about an address that a squatter registered and never proved. */
async function squatted(beforeStep: (step: number) => Promise<void>) {
  const ours = streams(inMemoryEventStore('identity'));
  const append = (id: string, events: readonly UserEvent[]) =>
    ours.decideOn(users, id, command(`made ${id}`), () => ({ accepted: true, events }));
  await append('squatter', [registered('squatter', 'new', false)]);
  await append('bob', [registered('bob', 'old', true), ...bobsChange]);
  const by = { command: command('reserved'), isOrphan: async () => false };
  const address = { stream: emailReservations, hash: 'new' };
  await reserve(ours, address, printOwner({ tenantId, userId: 'squatter' }), by);

  let step = 0;
  const counted = <A extends readonly unknown[], R>(call: (...args: A) => Promise<R>) => {
    return async (...args: A): Promise<R> => {
      step += 1;
      await beforeStep(step);
      return call(...args);
    };
  };
  const byId = async (_tenant: string, id: string) =>
    (await ours.load(users, { tenantId, id })).state;
  const addresses = emails({
    streams: ours,
    hold: nameHolding(ours),
    sealer: { indexHash: async () => 'sign-up' },
  });
  const changes = emailChanges({
    streams: ours,
    emails: {
      ...addresses,
      hold: counted(addresses.hold),
      release: counted(addresses.release),
    },
    systemCommand: (_tenant, ...parts) => command(parts.join(' ')),
    userDirectory: {
      byId: counted(byId),
      byHash: counted(async (_tenant, hash) => {
        const { state } = await ours.load(emailReservations, { tenantId, id: hash });
        if (state.status !== 'held') return users.initial;
        const holder = await byId(tenantId, readOwner(state.ownerId).userId);
        return 'emailHash' in holder && holder.emailHash !== hash ? users.initial : holder;
      }),
    },
  });
  const complete = (id: string) =>
    changes.complete({ tenantId, userId: 'bob', changeId: 'c' }, command(id));
  return { byId, complete, steps: () => step };
}

it('P5 the request and the policy perform one change, whichever overtakes the other', async () => {
  const alone = await squatted(async () => undefined);
  expect((await alone.complete('request')).outcome).toBe('changed');
  expect(alone.steps()).toBeGreaterThan(3);
  for (let moment = 1; moment <= alone.steps(); moment += 1) {
    let overtaking: Promise<{ outcome: string }> | undefined;
    const both = await squatted(async (step) => {
      if (step === moment) overtaking = both.complete('policy');
      if (step === moment) await overtaking;
    });
    const { outcome } = await both.complete('request');
    // `void`: nothing is left to do.
    expect([moment, ['changed', 'void'].includes(outcome)]).toEqual([moment, true]);
    expect([moment, (await overtaking)?.outcome]).toEqual([moment, 'changed']);
    expect(await both.byId(tenantId, 'bob')).toMatchObject({ emailHash: 'new' });
    expect(await both.byId(tenantId, 'squatter')).toMatchObject({ status: 'deleted' });
  }
});
