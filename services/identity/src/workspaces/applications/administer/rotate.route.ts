/** Renews the publishable key or the client secret of an application; the old one may be taken for a while. */
import { issueClientSecret } from '@cardea/crypto';
import { type Endpoint, endpoint } from '@cardea/http';
import type { ServiceDependencies } from '@cardea/service';
import Type from 'typebox';
import { closed } from '../../../http/answers.ts';
import type { SnapshotCache } from '../../../streams/snapshot-cache.ts';
import { applications } from '../application.ts';
import {
  APPLICATIONS,
  APPLICATIONS_PATH,
  ApplicationId,
  publishableKeyFor,
} from './administer.route.ts';
import { isThere, rotateClientSecret, rotatePublishableKey } from './administer.ts';

type Dependencies = Pick<ServiceDependencies, 'command' | 'random' | 'streams'> & {
  readonly snapshots: Pick<SnapshotCache, 'load'>;
};

const GRACE_MAX_S = 86_400;
const COMMON = {
  ...APPLICATIONS,
  retry: 'never',
  method: 'post',
  params: ApplicationId,
  body: closed({
    grace_seconds: Type.Optional(Type.Integer({ minimum: 0, maximum: GRACE_MAX_S })),
  }),
  bodyOptional: true,
  waitsFor: ['workspaces'],
} as const;

export const rotatePublishableKeyRoute = (needs: Dependencies): Endpoint =>
  endpoint(
    {
      ...COMMON,
      name: 'rotate_publishable_key',
      summary: 'Give an application a new publishable key',
      path: `${APPLICATIONS_PATH}/{id}/rotate-publishable-key`,
      ok: closed({ publishable_key: Type.String() }),
      refusals: { not_found: 404 },
    },
    async (request) => {
      const { params, body, tenantId } = request;
      const before = await needs.snapshots.load(applications, { tenantId, id: params.id });
      if (!isThere(before)) return { refused: 'not_found' };
      const command = await needs.command(request);
      const key = publishableKeyFor(before.environment, needs.random);
      const rotate = { key, graceSeconds: body.grace_seconds ?? 0, now: command.now };
      const decided = await needs.streams.decideOn(applications, params.id, command, (state) =>
        rotatePublishableKey(rotate, state),
      );
      if (!decided.accepted) return { refused: decided.reason };
      return { ok: { publishable_key: key }, wrote: decided.position };
    },
  );

export const rotateClientSecretRoute = (needs: Omit<Dependencies, 'snapshots'>): Endpoint =>
  endpoint(
    {
      ...COMMON,
      name: 'rotate_client_secret',
      summary: 'Give an application a new client secret',
      path: `${APPLICATIONS_PATH}/{id}/rotate-secret`,
      ok: closed({ client_secret: Type.String() }),
      showsSecret: true,
      refusals: { not_found: 404, no_client_secret: 409 },
    },
    async (request) => {
      const { params, body } = request;
      const command = await needs.command(request);
      const { text, secretHash: hash } = issueClientSecret(needs.random);
      const rotate = { hash, graceSeconds: body.grace_seconds ?? 0, now: command.now };
      const decided = await needs.streams.decideOn(applications, params.id, command, (state) =>
        rotateClientSecret(rotate, state),
      );
      if (!decided.accepted) return { refused: decided.reason };
      return { ok: { client_secret: text }, wrote: decided.position };
    },
  );
