/** An agent may send requests to its own user, its owner and the approvers that administrators give it. */
import { untilTrue } from '@cardea/testing';
import { beforeEach, describe, expect, it } from 'vitest';
import { agentCreated, approvalOfFile, wanted } from './approval-fixture.ts';
import { person, SET, setWorld } from './set-world.ts';

const REQUESTS = '/api/v1/ciba/requests';
const world = setWorld();
const fixture = approvalOfFile({ peers: world.peers });
beforeEach(() => {
  world.people.clear();
  world.members.clear();
  for (const [id, one] of [person('ann'), person('bob')]) world.people.set(id, one);
  world.members.add('bob');
});

async function agentWith(name: string, approvers: readonly string[]) {
  const tenant = await fixture.people(name);
  const change = async (listed: readonly string[]) => {
    await fixture.publish({
      ...agentCreated(name, 'Deploy Bot', { approvers: listed, changed: ['approvers'] }),
      type: 'agent.updated',
    });
    const { database: tables } = fixture.host.needsOf('approval');
    await untilTrue(async () => {
      const { rowCount } = await tables.system.query(
        'SELECT 1 FROM approval.agents WHERE tenant_id = $1 AND approvers = $2::text[]',
        [name, listed],
      );
      return rowCount > 0;
    });
  };
  await change(approvers);
  return { ...tenant, change };
}
const told = ({ status, code }: { status: number; code?: string | undefined }) =>
  `${status} ${code ?? ''}`.trim();

describe('the approvers of an agent', () => {
  it('approval 25 are asked by it, a person or a set of them, for as long as they are listed', async () => {
    const { bot, bob, change } = await agentWith('listed', ['bob', SET]);
    const ofBob = await bot.post(REQUESTS, wanted({ user_id: 'bob' }));
    expect(told(ofBob)).toBe('201');
    expect(ofBob.body).toMatchObject({ user_id: 'bob', origin: 'agent' });
    const ofSet = await bot.post(REQUESTS, wanted({ user_id: SET, reason: 'to pay' }));
    expect(told(ofSet)).toBe('201');
    expect(ofSet.body).toMatchObject({ user_id: SET, origin: 'agent', reason: 'to pay' });
    expect(told(await bob.post(`${REQUESTS}/${ofSet.body.id}/approve`))).toBe('200');
    const polled = await bot.get(`${REQUESTS}/${ofSet.body.id}/poll`);
    expect(polled.body).toMatchObject({ status: 'approved', responders: ['bob'] });
    await change([]);
    for (const user_id of ['bob', SET]) {
      const refused = await bot.post(REQUESTS, wanted({ user_id }));
      expect(told(refused)).toBe('403 user_not_allowed');
    }
  });

  it('approval 25 are no others, and none where nobody of the set could decide', async () => {
    const { bot, bob } = await agentWith('others', [SET]);
    const asked = (user_id: string) => bot.post(REQUESTS, wanted({ user_id }));
    for (const user_id of ['bob', 'role:admin', 'team:payments#member']) {
      expect(told(await asked(user_id))).toBe('403 user_not_allowed');
    }
    expect(told(await bob.post(REQUESTS, wanted({ user_id: SET })))).toBe('403 user_not_allowed');
    world.members.clear();
    expect(told(await asked(SET))).toBe('403 no_approver');
  });

  it('approval 16 are asked five times at once by one agent, a set like a person', async () => {
    const { bot } = await agentWith('often', [SET]);
    for (let at = 0; at < 5; at += 1) {
      expect(told(await bot.post(REQUESTS, wanted({ user_id: SET })))).toBe('201');
    }
    const sixth = await bot.post(REQUESTS, wanted({ user_id: SET }));
    expect(told(sixth)).toBe('429 approval_rate_limited');
  });
});
