/** No channel connects to an address in the operator's network, whatever its name resolves to. */

import { ConnectFailed, type Dial } from '@cardea/http';
import { testDatabase, untilTrue } from '@cardea/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ApprovalFixture, approvalFixture, wanted } from './approval-fixture.ts';

const database = testDatabase();
const dials: Dial[] = [];
const resolved: { [name: string]: readonly string[] } = {
  'inside.example': ['10.0.0.5'],
  'metadata.example': ['169.254.169.254'],
  'mixed.example': ['93.184.216.34', '127.0.0.1'],
  'public.example': ['93.184.216.34'],
};
let fixture: ApprovalFixture;
beforeAll(async () => {
  fixture = await approvalFixture(database.url, {
    channelNetwork: {
      resolver: async (name) => resolved[name] ?? [],
      dialer: async (dial) => {
        dials.push(dial);
        throw new ConnectFailed('connect_error');
      },
    },
  });
});
afterAll(async () => {
  await fixture?.stop();
});

const CHANNELS = '/api/v1/ciba/channels';

describe('approval 32 the address of a channel', () => {
  it.each(['inside.example', 'metadata.example', 'mixed.example'])(
    '%s is not dialled, and the channel says why',
    async (name) => {
      const { admin } = await fixture.people(name);
      const of = { name: 'Ops', format: 'teams', url: `https://${name}/hook` };
      const { body } = await admin.post(CHANNELS, of);
      await admin.post('/api/v1/ciba/requests', wanted());
      const state = await untilTrue(async () => {
        const [first] = (await admin.get(CHANNELS)).body.channels;
        return first.last_error !== null && first;
      });
      expect([state.id, state.last_error]).toEqual([body.id, 'blocked_address']);
      expect(dials).toEqual([]);
    },
  );

  it('public.example is dialled at the address that was looked at', async () => {
    const { admin } = await fixture.people('public');
    await admin.post(CHANNELS, { name: 'Ops', format: 'slack', url: 'https://public.example/x' });
    await admin.post('/api/v1/ciba/requests', wanted());
    await untilTrue(() => dials[0]);
    expect(dials[0]).toMatchObject({
      address: '93.184.216.34',
      protocol: 'https:',
      servername: 'public.example',
    });
  });
});
