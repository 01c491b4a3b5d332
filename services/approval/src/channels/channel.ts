/**
 * A channel: a chat or a phone that is told of requests. Whoever knows its URL can write there, so URL and token
 * are encrypted fields; others see only the origin of the URL.
 */
import type { Sealed } from '@cardea/crypto';
import type { Stream } from '@cardea/event-store';
import { type Severity, subjectOf } from '../requests/requests.module.ts';

export const CHANNEL_FORMATS = ['slack', 'teams', 'discord', 'ntfy'] as const;
export type ChannelFormat = (typeof CHANNEL_FORMATS)[number];
/** The name in the tenant's setting `approval_channels` that switches the format on. */
export type ChannelKind = 'chat' | 'push';
export const kindOf = (format: ChannelFormat): ChannelKind => (format === 'ntfy' ? 'push' : 'chat');

export type ChannelFacts = {
  readonly name: string;
  readonly format: ChannelFormat;
  readonly url: Sealed;
  readonly token: Sealed | null;
  readonly origin: string;
  /** The user whose requests are told; null: those of all users of the tenant. */
  readonly recipient: string | null;
  /** The person whom the channel belongs to; null: the tenant. */
  readonly owner: string | null;
  readonly min_severity: Severity;
  readonly enabled: boolean;
  readonly created_at: string;
  /** Keyed hash of the body that came with an Idempotency-Key. */
  readonly request_hash: string | null;
};
export type ExistingChannel = { readonly status: 'standing' } & ChannelFacts;
export type Channel =
  | { readonly status: 'absent' }
  | { readonly status: 'deleted' }
  | ExistingChannel;

/** What others may learn of a channel. */
type PublicFacts = Pick<ChannelFacts, 'format' | 'origin' | 'recipient'>;

export type ChannelCreated = { readonly type: 'ChannelCreated'; readonly data: ChannelFacts };
export type ChannelChanged = {
  readonly type: 'ChannelChanged';
  readonly data: ChannelFacts & { readonly changed: readonly string[] };
};
export type ChannelDeleted = { readonly type: 'ChannelDeleted'; readonly data: PublicFacts };
export type ChannelEvent = ChannelCreated | ChannelChanged | ChannelDeleted;

/** Each event carries the whole channel, so that a stream of many changes is read as fast as a new one. */
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

/** Where an encrypted field of a channel stands; a person's own goes with that person. */
export const locationOf = (
  of: { readonly id: string; readonly tenantId: string; readonly owner: string | null },
  field: 'url' | 'token',
) => ({
  subject: of.owner === null ? `tenant:${of.tenantId}` : subjectOf(of.tenantId, of.owner),
  streamId: `${channels.noun}-${of.id}`,
  field,
});

/** Who changes channels: persons their own, administrators those of the tenant besides. */
export type Manager = { readonly userId: string; readonly isAdmin: boolean };

/** Undefined for what the manager may not know of. */
export function managedBy(channel: Channel, manager: Manager): ExistingChannel | undefined {
  if (channel.status !== 'standing') return undefined;
  const { owner } = channel;
  return (owner === null ? manager.isAdmin : owner === manager.userId) ? channel : undefined;
}
