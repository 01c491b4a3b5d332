/**
 * A channel: a chat or a phone that is notified of requests. Anyone who knows its URL can post there, so URL and token
 * are encrypted. Readers see only the origin of the URL.
 */
import type { Sealed } from '@cardea/crypto';
import type { Stream } from '@cardea/event-store';
import { type Severity, subjectOf } from '../requests/requests.module.ts';

export const CHANNEL_FORMATS = ['slack', 'teams', 'discord', 'ntfy'] as const;
export type ChannelFormat = (typeof CHANNEL_FORMATS)[number];
/** The name in the tenant's setting `approval_channels` that enables the format. */
export type ChannelKind = 'chat' | 'push';
export const kindOf = (format: ChannelFormat): ChannelKind => (format === 'ntfy' ? 'push' : 'chat');

export type ChannelFacts = {
  readonly name: string;
  readonly format: ChannelFormat;
  readonly url: Sealed;
  readonly token: Sealed | null;
  readonly origin: string;
  /** The user whose requests are sent to the channel. Null for those of all users in the tenant. */
  readonly recipient: string | null;
  /** The person who owns the channel. Null if the tenant owns it. */
  readonly owner: string | null;
  readonly min_severity: Severity;
  readonly enabled: boolean;
  readonly created_at: string;
  /** A keyed hash of the body that was sent with an Idempotency-Key. */
  readonly request_hash: string | null;
};
export type ExistingChannel = { readonly status: 'standing' } & ChannelFacts;
export type Channel =
  | { readonly status: 'absent' }
  | { readonly status: 'deleted' }
  | ExistingChannel;

/** The facts about a channel that are published. */
type PublicFacts = Pick<ChannelFacts, 'format' | 'origin' | 'recipient'>;

export type ChannelCreated = { readonly type: 'ChannelCreated'; readonly data: ChannelFacts };
export type ChannelChanged = {
  readonly type: 'ChannelChanged';
  readonly data: ChannelFacts & { readonly changed: readonly string[] };
};
export type ChannelDeleted = { readonly type: 'ChannelDeleted'; readonly data: PublicFacts };
export type ChannelEvent = ChannelCreated | ChannelChanged | ChannelDeleted;

/** Each event contains the whole channel, so a stream of many changes loads as fast as a new one. */
export const channels: Stream<Channel, ChannelEvent> = {
  noun: 'channel',
  stateCarrying: true,
  initial: { status: 'absent' },
  evolve: (_before, { type, data }) => {
    switch (type) {
      case 'ChannelCreated':
        return { status: 'standing', ...data };
      case 'ChannelChanged': {
        const { changed: _changed, ...facts } = data;
        return { status: 'standing', ...facts };
      }
      case 'ChannelDeleted':
        return { status: 'deleted' };
    }
  },
};

export const publicFactsOf = ({ format, origin, recipient }: ChannelFacts): PublicFacts => ({
  format,
  origin,
  recipient,
});

/** The storage location of an encrypted field. The fields of a person's own channel are erased with that person. */
export const locationOf = (
  of: { readonly id: string; readonly tenantId: string; readonly owner: string | null },
  field: 'url' | 'token',
) => ({
  subject: of.owner === null ? `tenant:${of.tenantId}` : subjectOf(of.tenantId, of.owner),
  streamId: `${channels.noun}-${of.id}`,
  field,
});

/** The manager of channels. People manage their own; administrators also manage the tenant's. */
export type Manager = { readonly userId: string; readonly isAdmin: boolean };

/** Returns undefined if the manager may not see the channel. */
export function managedBy(channel: Channel, manager: Manager): ExistingChannel | undefined {
  if (channel.status !== 'standing') return undefined;
  const { owner } = channel;
  return (owner === null ? manager.isAdmin : owner === manager.userId) ? channel : undefined;
}
