import { given } from '@cardea/testing';
import { describe, it } from 'vitest';
import { changeChannel } from './change/change.ts';
import {
  type ChannelCreated,
  type ChannelDeleted,
  type ChannelEvent,
  type ChannelFacts,
  channels,
  type Manager,
} from './channel.ts';
import { createChannel } from './create/create.ts';
import { deleteChannel, deleteWithRecipient } from './delete/delete.ts';
import { testChannel } from './test/test.ts';

const sealed = (box: string) => ({ subject: 'tenant:t1', box });
const facts: ChannelFacts = {
  name: 'Ops',
  format: 'ntfy',
  url: sealed('url'),
  token: sealed('token'),
  origin: 'https://ntfy.example',
  recipient: null,
  owner: null,
  min_severity: 'low',
  enabled: true,
  created_at: '2026-01-01T00:00:00.000Z',
  request_hash: null,
};
const created = (more: Partial<ChannelFacts> = {}): ChannelCreated => ({
  type: 'ChannelCreated',
  data: { ...facts, ...more },
});
const ofAnn = created({ owner: 'ann', recipient: 'ann' });
const deleted: ChannelDeleted = {
  type: 'ChannelDeleted',
  data: { format: 'ntfy', origin: 'https://ntfy.example', recipient: null },
};
const admin: Manager = { userId: 'adm', isAdmin: true };
const ann: Manager = { userId: 'ann', isAdmin: false };
const bob: Manager = { userId: 'bob', isAdmin: false };

describe('a channel', () => {
  it('is made once, and not again after it was deleted', () => {
    const create = (channel: Parameters<typeof createChannel>[0]) => createChannel(channel, facts);
    given(channels).when(create).accepts(created());
    given(channels, created()).when(create).refuses('exists');
    given(channels, created(), deleted).when(create).refuses('exists');
  });

  it('says what is another now', () => {
    const change =
      (more: Parameters<typeof changeChannel>[2]) =>
      (channel: Parameters<typeof changeChannel>[0]) =>
        changeChannel(channel, admin, more);
    const changed = (more: Partial<ChannelFacts>, names: readonly string[]): ChannelEvent => ({
      type: 'ChannelChanged',
      data: { ...facts, ...more, changed: names },
    });
    const before = given(channels, created());
    before.when(change({ name: 'Ops', enabled: true })).accepts();
    before
      .when(change({ name: 'Night', enabled: false }))
      .accepts(changed({ name: 'Night', enabled: false }, ['name', 'enabled']));
    given(channels, changed({ name: 'Night' }, ['name']))
      .when(change({ min_severity: 'high' }))
      .accepts(changed({ name: 'Night', min_severity: 'high' }, ['min_severity']));
  });

  it('loses its token with its URL, unless a new one is sent beside it', () => {
    const url = { url: sealed('other'), origin: 'https://other.example' };
    const event = (token: ChannelFacts['token']): ChannelEvent => ({
      type: 'ChannelChanged',
      data: { ...facts, ...url, token, changed: ['url', 'token'] },
    });
    const before = given(channels, created());
    before.when((channel) => changeChannel(channel, admin, url)).accepts(event(null));
    const token = sealed('new');
    before
      .when((channel) => changeChannel(channel, admin, { ...url, token }))
      .accepts(event(token));
  });

  it('of the tenant is its administrators’, one of a person that person’s alone', () => {
    for (const [event, manager] of [
      [created(), ann],
      [ofAnn, admin],
      [ofAnn, bob],
    ] as const) {
      const before = given(channels, event);
      const name = 'Mine';
      before
        .when((channel) => changeChannel(channel, manager, { name }))
        .refuses('channel_not_found');
      before.when((channel) => deleteChannel(channel, manager)).refuses('channel_not_found');
      before.when((channel) => testChannel(channel, manager)).refuses('channel_not_found');
    }
    given(channels, ofAnn)
      .when((channel) => testChannel(channel, ann))
      .accepts();
    given(channels, created())
      .when((channel) => deleteChannel(channel, admin))
      .accepts(deleted);
  });

  it('is gone once it was deleted', () => {
    const gone = given(channels, created(), deleted);
    gone.when((channel) => deleteChannel(channel, admin)).refuses('channel_not_found');
    gone.when((channel) => testChannel(channel, admin)).refuses('channel_not_found');
    gone.when(deleteWithRecipient).accepts();
  });

  it('goes with the user whom it tells', () => {
    const data = { ...deleted.data, recipient: 'ann' };
    given(channels, ofAnn)
      .when(deleteWithRecipient)
      .accepts({ ...deleted, data });
  });
});
