import type { UserPrincipal } from '@cardea/auth';
import { readApproverSet } from '@cardea/contracts';
import { endpoint, type Request } from '@cardea/http';
import { alreadyCreated, newId, requestHash, reusedKey } from '@cardea/service';
import Type, { type Static } from 'typebox';
import { SeverityShape } from '../../requests/requests.module.ts';
import { channels, locationOf, type Manager } from '../channel.ts';
import { countChannels, lastSent } from '../channel-rows.ts';
import {
  actorOf,
  CHANNEL_ENDPOINTS,
  CHANNEL_REFUSALS,
  channelShape,
  FormatShape,
  faultsOf,
  invalidUrl,
  managerOf,
  nameField,
  RecipientShape,
  readUrl,
  shapeOf,
  tokenField,
  urlField,
} from '../channel-shape.ts';
import { CHANNELS_TABLE } from '../channels.projection.ts';
import { CHANNELS_PER_PERSON_MAX, CHANNELS_PER_TENANT_MAX } from '../limits.ts';
import type { ChannelDependencies } from '../writing.ts';
import { createChannel } from './create.ts';

const body = Type.Object({
  name: nameField,
  format: FormatShape,
  url: urlField,
  token: Type.Optional(tokenField),
  recipient: Type.Optional(RecipientShape),
  min_severity: Type.Optional(SeverityShape),
});

export const createChannelRoute = (dependencies: ChannelDependencies) =>
  endpoint(
    {
      ...CHANNEL_ENDPOINTS,
      name: 'create_approval_channel',
      access: { class: 'settings', stepUp: 'users' },
      summary: 'Have requests told in a chat or on a phone',
      description:
        'Adds a channel that is told of each approval request: an incoming webhook of Slack, Teams or Discord, or a topic of ntfy. The message names agent, service, fields and severity, and links to the page where the request is decided; it has no reason, code or value. An administrator makes channels of the tenant, at most 20, for the requests of everybody, of one user or to one set; everyone else makes channels for what is asked of them alone, at most 3. `url` and `token` are shown by no answer.',
      method: 'post',
      path: '/api/v1/ciba/channels',
      body,
      ok: channelShape,
      response: { status: 201 },
      refusals: {
        ...CHANNEL_REFUSALS,
        invalid_request: 400,
        invalid_url: 400,
        forbidden: 403,
        user_not_found: 404,
        too_many_channels: 409,
        already_created: 409,
        idempotency_key_reused: 422,
      },
      repeat: 'by_key',
      consistency: { waitsFor: [CHANNELS_TABLE] },
    },
    async (request) => {
      const { body } = request;
      const manager = await managerOf(dependencies, request);
      if ('refused' in manager) return manager;
      const details = faultsOf(body, body.format);
      if (details.length > 0) return { refused: 'invalid_request', details };
      const verdict = readUrl(body.url, body.format, dependencies.settings);
      if ('rule' in verdict) return invalidUrl(verdict.rule);
      const recipient = recipientOf(body.recipient, manager);
      if (!manager.isAdmin && recipient !== manager.userId) return { refused: 'forbidden' };
      const owner = recipient === manager.userId ? manager.userId : null;
      return make(dependencies, request, { manager, origin: verdict.origin, recipient, owner });
    },
  );

type Asked = Request<unknown, unknown, Static<typeof body>, UserPrincipal>;

async function make(
  dependencies: ChannelDependencies,
  request: Asked,
  of: {
    readonly manager: Manager;
    readonly origin: string;
    readonly recipient: string | null;
    readonly owner: string | null;
  },
) {
  const { body, tenantId } = request;
  const { manager, origin, recipient, owner } = of;
  const id = newId(dependencies, request, 'approval channel');
  const { state } = await dependencies.streams.load(channels, { tenantId, id });
  if (state.status === 'absent') {
    const refused = await refusedFor(dependencies, { tenantId, recipient, owner });
    if (refused !== undefined) return { refused };
  }
  const request_hash = await requestHash(dependencies, request);
  const command = await dependencies.command(request, actorOf(manager, owner));
  const sealed = (field: 'url' | 'token', text: string) =>
    dependencies.sealer.seal(tenantId, locationOf({ id, tenantId, owner }, field), text);
  const [url, token] = await Promise.all([
    sealed('url', body.url),
    body.token === undefined ? null : sealed('token', body.token),
  ]);
  // The person was deleted a moment ago.
  if (url === 'erased' || token === 'erased') return { refused: 'unauthenticated' } as const;
  const { name, format, min_severity = 'low' } = body;
  const created_at = command.now.toISOString();
  const decided = await dependencies.streams.decideOn(channels, id, command, (channel) =>
    createChannel(channel, {
      name,
      format,
      url,
      token,
      origin,
      recipient,
      owner,
      min_severity,
      enabled: true,
      created_at,
      request_hash,
    }),
  );
  const made = decided.state;
  if (made.status !== 'standing') return alreadyCreated(id);
  const isNew = decided.accepted && !decided.repeated;
  const reused = isNew ? undefined : reusedKey(request_hash, made.request_hash);
  if (reused !== undefined) return reused;
  const ok = shapeOf(id, made, await lastSent(dependencies.database, tenantId, id));
  return { ok, wrote: decided.position };
}

/** The recipient. An administrator's channel gets everybody's requests unless the body names a recipient. */
function recipientOf(
  recipient: Static<typeof RecipientShape> | undefined,
  { userId, isAdmin }: Manager,
): string | null {
  if (recipient === undefined) return isAdmin ? null : userId;
  if (recipient === 'all') return null;
  return 'set' in recipient ? recipient.set : recipient.user_id;
}

async function refusedFor(
  { database, identityFacts }: ChannelDependencies,
  of: {
    readonly tenantId: string;
    readonly recipient: string | null;
    readonly owner: string | null;
  },
): Promise<'user_not_found' | 'too_many_channels' | undefined> {
  const { tenantId, recipient, owner } = of;
  const isPerson = recipient !== null && readApproverSet(recipient) === undefined;
  if (isPerson && owner === null) {
    const user = await identityFacts.user(tenantId, recipient);
    if (user === undefined) return 'user_not_found';
  }
  const max = owner === null ? CHANNELS_PER_TENANT_MAX : CHANNELS_PER_PERSON_MAX;
  const count = await countChannels(database, tenantId, owner);
  return count >= max ? 'too_many_channels' : undefined;
}
