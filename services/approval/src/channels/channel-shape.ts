/** The schemas of channels, and functions that their endpoints share. */
import type { UserPrincipal } from '@cardea/auth';
import {
  documented,
  NullableTime,
  named,
  readApproverSet,
  SET_TEXT_MAX_CHARS,
  Time,
} from '@cardea/contracts';
import { type UrlRule, validateUrl } from '@cardea/http';
import { isHonestName, type Settings } from '@cardea/runtime';
import type { ServiceDependencies } from '@cardea/service';
import Type, { type Static } from 'typebox';
import {
  type IdentityFacts,
  isImpersonated,
  isLive,
  SeverityShape,
  USERS_ONLY,
} from '../requests/requests.module.ts';
import { CHANNEL_FORMATS, type ChannelFacts, type ChannelFormat, type Manager } from './channel.ts';
import { CHANNEL_NAME_CHARS_MAX, CHANNEL_TOKEN_CHARS_MAX } from './limits.ts';

const URL_SENT_CHARS_MAX = 16_384;
const ID_CHARS_MAX = 128;

export const CHANNEL_ENDPOINTS = {
  tag: 'Approval channels',
  who: ['user'],
  notTaken: USERS_ONLY,
} as const;
export const CHANNEL_REFUSALS = { unauthenticated: 401, user_session_required: 401 } as const;

export const channelId = Type.Object({
  id: Type.String({ minLength: 1, maxLength: ID_CHARS_MAX }),
});

export const nameField = documented(
  Type.String({ minLength: 1, maxLength: CHANNEL_NAME_CHARS_MAX }),
  { examples: ['On call'] },
);
/** The schema accepts URLs longer than the limit, so that they are refused with the specific error code. */
export const urlField = documented(Type.String({ maxLength: URL_SENT_CHARS_MAX }), {
  format: 'uri',
  pattern: '^https?://',
});
/** Printable characters without spaces, since the token becomes a header. */
export const tokenField = Type.String({
  minLength: 1,
  maxLength: CHANNEL_TOKEN_CHARS_MAX,
  pattern: '^[!-~]+$',
});
export const FormatShape = named('ChannelFormat', Type.Enum(CHANNEL_FORMATS));
export const RecipientShape = named(
  'ChannelRecipient',
  Type.Union([
    Type.Literal('all'),
    Type.Object(
      { user_id: Type.String({ minLength: 1, maxLength: ID_CHARS_MAX }) },
      { additionalProperties: false },
    ),
    Type.Object(
      { set: Type.String({ minLength: 1, maxLength: SET_TEXT_MAX_CHARS }) },
      { additionalProperties: false },
    ),
  ]),
);
type Recipient = Static<typeof RecipientShape>;

export const channelShape = named(
  'NotificationChannel',
  Type.Object(
    {
      id: Type.String(),
      name: Type.String(),
      format: FormatShape,
      origin: Type.String(),
      recipient: RecipientShape,
      min_severity: SeverityShape,
      enabled: Type.Boolean(),
      created_at: Time,
      last_sent_at: NullableTime,
      last_error: Type.Union([Type.String(), Type.Null()]),
    },
    { additionalProperties: false },
  ),
);
export type ChannelShape = Static<typeof channelShape>;

/** For a set, returns the text that its requests have instead of a user. No user id has the form of that text. */
export function recipientShown(recipient: string | null): Recipient {
  if (recipient === null) return 'all';
  return readApproverSet(recipient) === undefined ? { user_id: recipient } : { set: recipient };
}

export const shapeOf = (
  id: string,
  channel: ChannelFacts,
  sent: Pick<ChannelShape, 'last_sent_at' | 'last_error'>,
): ChannelShape => ({
  id,
  name: channel.name,
  format: channel.format,
  origin: channel.origin,
  recipient: recipientShown(channel.recipient),
  min_severity: channel.min_severity,
  enabled: channel.enabled,
  created_at: channel.created_at,
  last_sent_at: sent.last_sent_at,
  last_error: sent.last_error,
});

export const target = (id: string) => ({ type: 'approval_channel', id });
export const notFound = (id: string) =>
  ({ refused: 'channel_not_found', target: target(id) }) as const;

type Faults = readonly { readonly field: string; readonly rule: string }[];

/** Finds faults of names and tokens that the schema cannot express. */
export function faultsOf(
  {
    name,
    token,
    recipient,
  }: {
    readonly name?: string;
    readonly token?: string | null;
    readonly recipient?: Recipient;
  },
  format: ChannelFormat,
): Faults {
  const faults: { field: string; rule: string }[] = [];
  if (name !== undefined && !isHonestName(name)) faults.push({ field: 'name', rule: 'readable' });
  if (typeof token === 'string' && format !== 'ntfy')
    faults.push({ field: 'token', rule: 'format' });
  if (typeof recipient === 'object' && !isRecipient(recipient))
    faults.push({ field: 'recipient', rule: 'format' });
  return faults;
}

const isRecipient = (recipient: Exclude<Recipient, 'all'>): boolean =>
  'set' in recipient
    ? readApproverSet(recipient.set) !== undefined
    : readApproverSet(recipient.user_id) === undefined;

/** The topics that ntfy accepts. The path of a channel's URL is its topic. */
const TOPIC_PATH = /^\/[\w-]{1,64}$/;

export function readUrl(
  url: string,
  format: ChannelFormat,
  settings: Pick<Settings, 'ENV' | 'WEBHOOK_ALLOWED_CIDRS'>,
): { readonly origin: string } | { readonly rule: UrlRule | 'topic' } {
  const verdict = validateUrl(url, {
    env: settings.ENV,
    allowedCidrs: settings.WEBHOOK_ALLOWED_CIDRS,
  });
  if ('rule' in verdict) return verdict;
  const { origin, pathname, search } = verdict.url;
  if (format === 'ntfy' && (!TOPIC_PATH.test(pathname) || search !== '')) return { rule: 'topic' };
  return { origin };
}
export const invalidUrl = (rule: UrlRule | 'topic') =>
  ({ refused: 'invalid_url', details: [{ field: 'url', rule }] }) as const;

/** Returns undefined for an administrator who impersonates a user, so they neither see nor test the user's channels. */
export async function managerOf(
  dependencies: Pick<ServiceDependencies, 'revocations'> & {
    readonly identityFacts: IdentityFacts;
  },
  { principal, tenantId }: { readonly principal: UserPrincipal; readonly tenantId: string },
): Promise<Manager | { readonly refused: keyof typeof CHANNEL_REFUSALS }> {
  if (isImpersonated(principal)) return { refused: 'user_session_required' };
  if (!(await isLive(dependencies, tenantId, principal.id))) return { refused: 'unauthenticated' };
  return { userId: principal.id, isAdmin: principal.roles.includes('admin') };
}

/** The actor of a change: an administrator for the tenant's channels, the user for their own. */
export const actorOf = (manager: Manager, owner: string | null) =>
  owner === null ? ({ actor: { type: 'admin', id: manager.userId } } as const) : {};
