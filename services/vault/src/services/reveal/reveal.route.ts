/** A person with a recent sign-in reads a value back, if the deployment and the service allow it. */
import type { UserPrincipal } from '@cardea/auth';
import { type Endpoint, endpoint, type Request } from '@cardea/http';
import { cleaned } from '@cardea/runtime';
import type { RateLimit, ServiceDependencies } from '@cardea/service';
import Type from 'typebox';
import type { SecretStore } from '../../adapters/secret-store.ts';
import type { Catalog } from '../catalog.ts';
import { objectionToReveal } from '../revealing.ts';
import { ByField, VersionNumber } from '../version-shape.ts';
import { type Reveal, reveal, versionOf } from './reveal.ts';

type RevealDependencies = Pick<ServiceDependencies, 'command' | 'limits' | 'settings'> & {
  readonly catalog: Catalog;
  readonly secrets: SecretStore;
};

const REASON_CHARACTERS_MAX = 280;
const MINUTE_MS = 60_000;
const REVEALS_BY_PERSON: RateLimit = {
  name: 'reveal_person',
  points: 10,
  windowMs: MINUTE_MS,
  per: 'other',
  counts: 'calls',
};
const REVEALS_BY_TENANT: RateLimit = {
  name: 'reveal_tenant',
  points: 60,
  windowMs: 60 * MINUTE_MS,
  per: 'other',
  counts: 'calls',
};
export const revealRoute = (vault: RevealDependencies): Endpoint =>
  endpoint(
    {
      tag: 'Vault',
      name: 'reveal_secret',
      machine: 'never',
      repeat: 'never',
      summary: 'Read a secret back: for administrators in person, and recorded before the answer',
      description:
        'Reads one value back, with a reason. It is possible only if the deployment sets `VAULT_REVEAL` to `on` and the service has `reveal`. The sign-in must be at most 5 minutes old. The audit log has the reveal and its reason before the value leaves. A person may reveal 10 values a minute, a tenant 60 an hour.',
      method: 'post',
      path: '/api/v1/vault/services/{name}/secrets/{field}/reveal',
      who: ['admin'],
      access: { class: 'settings', stepUp: 'users' },
      params: ByField,
      body: Type.Object({
        reason: Type.String({ minLength: 1, maxLength: REASON_CHARACTERS_MAX }),
        version: Type.Optional(VersionNumber),
      }),
      ok: Type.Object({ name: Type.String(), version: Type.Integer(), value: Type.String() }),
      response: { isSecret: true },
      refusals: {
        invalid_request: 400,
        step_up_required: 401,
        forbidden: 403,
        reveal_disabled: 403,
        service_not_found: 404,
        unknown_field: 404,
        version_not_found: 404,
        secret_not_set: 409,
        version_destroyed: 409,
        reveal_limit: 429,
      },
    },
    async (request) => {
      const { principal, params, body } = request;
      const command = await vault.command(request);
      const objection = objectionToReveal(principal, command.now);
      if (objection !== undefined) return objection;
      if (vault.settings.VAULT_REVEAL === 'off') return { refused: 'reveal_disabled' };
      const reason = cleaned(body.reason);
      if (reason === '') {
        return { refused: 'invalid_request', details: [{ field: 'reason', rule: 'readable' }] };
      }
      const wanted: Reveal = { field: params.field, version: body.version, reason };
      return revealOnce(vault, request, { wanted, command });
    },
  );

type RevealRequest = Request<{ readonly name: string }, unknown, unknown, UserPrincipal>;

/** Decrypts first, so that no reveal is recorded for a value that cannot be decrypted. */
async function revealOnce(
  vault: RevealDependencies,
  { tenantId, params, principal }: RevealRequest,
  {
    wanted,
    command,
  }: {
    readonly wanted: Reveal;
    readonly command: Awaited<ReturnType<RevealDependencies['command']>>;
  },
) {
  const record = await vault.catalog.byName(tenantId, params.name);
  if (record === undefined) return { refused: 'service_not_found' as const };
  if (!record.reveal) return { refused: 'reveal_disabled' as const };
  const found = versionOf(wanted, { status: 'registered', record });
  if ('refused' in found) return { refused: found.refused };
  const taken = await vault.limits.take(
    [REVEALS_BY_PERSON, `${tenantId} ${principal.id}`],
    [REVEALS_BY_TENANT, tenantId],
  );
  if (!taken.allowed) {
    const headers = { 'Retry-After': String(taken.retryAfterSeconds) };
    return { refused: 'reveal_limit' as const, headers };
  }
  const { version, secret_id } = found.version;
  const secret = { name: wanted.field, version, secret_id };
  const [opened] = await vault.secrets.open({ tenantId, ownerId: record.id }, [secret]);
  try {
    const decided = await vault.catalog.decide(params.name, command, (service) =>
      reveal({ ...wanted, version }, service),
    );
    if (decided === undefined) return { refused: 'service_not_found' as const };
    if (!decided.accepted) return { refused: decided.reason };
    const value = (opened as Buffer).toString('utf8');
    return { ok: { name: wanted.field, version, value }, wrote: decided.position };
  } finally {
    opened?.fill(0);
  }
}
