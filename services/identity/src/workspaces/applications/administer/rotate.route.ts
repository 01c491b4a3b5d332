/** Rotates the publishable key or the client secret of an application. The old one may stay valid for a while. */
import { issueClientSecret } from '@cardea/crypto';
import { type Endpoint, endpoint } from '@cardea/http';
import type { ServiceDependencies } from '@cardea/service';
import Type from 'typebox';
import { closed } from '../../../http/answers.ts';
import type { SnapshotCache } from '../../../streams/snapshot-cache.ts';
import { tokensBeforeAt } from '../../../streams/tokens-before.ts';
import { applications } from '../application.ts';
import { APPLICATIONS_PATH, ApplicationId, publishableKeyFor } from './administer.route.ts';
import { isThere, rotateClientSecret, rotatePublishableKey } from './administer.ts';
import { byAdministrator, refusedFor } from './by-administrator.ts';
import { endLateTokens } from './end-late-tokens.ts';

type Dependencies = Pick<ServiceDependencies, 'clock' | 'command' | 'random' | 'streams'> & {
  readonly snapshots: Pick<SnapshotCache, 'load'>;
};

const GRACE_MAX_S = 86_400;
const COMMON = {
  tag: 'Applications',
  who: ['admin'],
  repeat: 'never',
  method: 'post',
  params: ApplicationId,
  body: closed({
    grace_seconds: Type.Optional(Type.Integer({ minimum: 0, maximum: GRACE_MAX_S })),
  }),
  input: { isOptional: true },
  consistency: { waitsFor: ['workspaces'] },
} as const;

export const rotatePublishableKeyRoute = (needs: Dependencies): Endpoint =>
  endpoint(
    {
      ...COMMON,
      name: 'rotate_publishable_key',
      machine: 'applications:write',
      access: { class: 'settings', stepUp: 'users' },
      summary: 'Give an application a new publishable key',
      description:
        'Replaces the publishable key of an application. The one of before is accepted for `grace_seconds`, too.',
      path: `${APPLICATIONS_PATH}/{id}/rotate-publishable-key`,
      ok: closed({ publishable_key: Type.String() }),
      refusals: { forbidden: 403, not_found: 404 },
    },
    async (request) => {
      const { params, body, tenantId } = request;
      const before = await needs.snapshots.load(applications, { tenantId, id: params.id });
      if (!isThere(before)) return { refused: 'not_found' };
      const command = await needs.command(request);
      const key = publishableKeyFor(before.environment, needs.random);
      const graceSeconds = body.grace_seconds ?? 0;
      const { machines } = byAdministrator(request);
      const rotate = { key, graceSeconds, now: command.now, machines };
      const decided = await needs.streams.decideOn(applications, params.id, command, (state) =>
        rotatePublishableKey(rotate, state),
      );
      if (!decided.accepted) return refusedFor(decided.reason);
      return { ok: { publishable_key: key }, wrote: decided.position };
    },
  );

export const rotateClientSecretRoute = (needs: Omit<Dependencies, 'snapshots'>): Endpoint =>
  endpoint(
    {
      ...COMMON,
      name: 'rotate_client_secret',
      machine: 'applications:write',
      access: { class: 'settings', stepUp: 'users' },
      consistency: { waitsFor: ['workspaces', 'revocations'] },
      summary: 'Give an application a new client secret',
      description:
        'Replaces the client secret of an application and shows the new one this once. The one of before is accepted for `grace_seconds`, too. Without a grace, the tokens of a machine end with it.',
      path: `${APPLICATIONS_PATH}/{id}/rotate-secret`,
      ok: closed({ client_secret: Type.String() }),
      response: { isSecret: true },
      refusals: { forbidden: 403, not_found: 404, no_client_secret: 409 },
    },
    async (request) => {
      const { params, body } = request;
      const command = await needs.command(request);
      const { text, secretHash: hash } = issueClientSecret(needs.random);
      const graceSeconds = body.grace_seconds ?? 0;
      const rotate = { hash, graceSeconds, now: command.now, ...byAdministrator(request) };
      const decided = await needs.streams.decideOn(applications, params.id, command, (state) =>
        rotateClientSecret({ ...rotate, tokensBefore: tokensBeforeAt(needs.clock.now()) }, state),
      );
      if (!decided.accepted) return refusedFor(decided.reason);
      const ended = await endLateTokens(needs, params.id, command, decided.events);
      return { ok: { client_secret: text }, wrote: ended ?? decided.position };
    },
  );
