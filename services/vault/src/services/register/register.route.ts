import { documented, named } from '@cardea/contracts';
import { type Endpoint, endpoint } from '@cardea/http';
import { alreadyCreated, newId, reusedKey, type ServiceDependencies } from '@cardea/service';
import Type from 'typebox';
import { WRITES } from '../../administration.ts';
import type { Epochs } from '../../epochs.ts';
import type { Catalog } from '../catalog.ts';
import { objectionToReveal } from '../revealing.ts';
import { services } from '../service.ts';
import {
  changeable,
  DOUBLED_FIELDS,
  Fields,
  hasDoubles,
  LIFETIME_TOO_LONG,
  ServiceName,
  ServiceShape,
  shownService,
  TTL_DEFAULT_S,
  TTL_LIMIT_DEFAULT_S,
} from '../service-shape.ts';
import { register } from './register.ts';

type RegisterDependencies = Pick<ServiceDependencies, 'streams' | 'command' | 'ids'> & {
  readonly catalog: Catalog;
  readonly epochs: Epochs;
};

const CREDENTIAL_TYPES = ['static', 'oauth2', 'dynamic'] as const;
/** Types that are announced but not supported yet are refused with 400 `unsupported_credential_type`. */
const credentialType = documented(named('NewCredentialType', Type.Enum([...CREDENTIAL_TYPES])), {
  not: { enum: ['oauth2', 'dynamic'] },
});

export const registerServiceRoute = (vault: RegisterDependencies): Endpoint =>
  endpoint(
    {
      tag: 'Vault',
      name: 'register_service',
      machine: 'vault:write',
      access: { class: 'settings', stepUp: 'users' },
      summary: 'Register a service and the fields of its credential',
      description:
        'Registers a service with the names of its fields; values are written later. At most 50 fields. A grant lasts `default_ttl_seconds`, 900 unless stated. Only an administrator in person, signed in within the last 5 minutes, may set `reveal`.',
      method: 'post',
      path: '/api/v1/vault/services',
      who: WRITES,
      body: Type.Object({
        name: ServiceName,
        credential_type: credentialType,
        fields: Fields,
        ...changeable,
        config: Type.Optional(Type.Object({}, { additionalProperties: true })),
      }),
      ok: ServiceShape,
      response: { status: 201 },
      refusals: {
        invalid_request: 400,
        unsupported_credential_type: 400,
        step_up_required: 401,
        forbidden: 403,
        service_exists: 409,
        already_created: 409,
        idempotency_key_reused: 422,
      },
      repeat: 'by_key',
      consistency: { waitsFor: ['services'] },
    },
    async (request) => {
      const { body, idempotency } = request;
      if (body.credential_type !== 'static') return UNSUPPORTED_TYPE;
      const contradiction = contradictionIn(body);
      if (contradiction !== undefined) return contradiction;
      const given = withDefaults(body);
      const command = await vault.command(request);
      const objection = given.reveal && objectionToReveal(request.principal, command.now);
      if (objection) return objection;
      const id = newId(vault, request, 'service');
      const request_hash = idempotency?.bodyHash ?? null;
      if (idempotency !== undefined) {
        const of = { tenantId: request.tenantId, id };
        const { state: before } = await vault.streams.load(services, of);
        // Checked before the name is claimed, because the claim would keep the name from all other services.
        const reused =
          before.status === 'registered'
            ? reusedKey(request_hash, before.record.request_hash)
            : undefined;
        if (reused !== undefined) return reused;
      }
      const target = { type: 'service', id: null };
      if (!(await vault.catalog.claim(body.name, id, command))) {
        return { refused: 'service_exists', target };
      }
      const wanted = { ...given, id, request_hash };
      const decided = await vault.streams.decideOn(services, id, command, (service) =>
        register({ ...wanted, now: command.now }, service),
      );
      const { state } = decided;
      if (state.status !== 'registered') return alreadyCreated(id);
      const reused = reusedKey(request_hash, state.record.request_hash);
      if (reused !== undefined) return reused;
      await vault.epochs.changed(request.tenantId);
      return { ok: shownService(state.record), wrote: decided.position };
    },
  );

type Given = {
  readonly name: string;
  readonly description?: string | null;
  readonly fields: readonly { readonly name: string; readonly description?: string | null }[];
  readonly default_ttl_seconds?: number;
  readonly max_ttl_seconds?: number;
  readonly enabled?: boolean;
  readonly reveal?: boolean;
  readonly config?: object;
};

const UNSUPPORTED_TYPE = {
  refused: 'unsupported_credential_type',
  details: [{ field: 'credential_type', rule: 'enum', allowed: ['static'] }],
} as const;
const CONFIG_NOT_TAKEN = {
  refused: 'invalid_request',
  details: [{ field: 'config', rule: 'not_for_static' }],
} as const;

/** The first parts of a request that contradict each other. */
function contradictionIn(body: Given) {
  const { usual, longest } = lifetimes(body);
  if (usual > longest) return LIFETIME_TOO_LONG;
  if (hasDoubles(body.fields)) return DOUBLED_FIELDS;
  return body.config === undefined ? undefined : CONFIG_NOT_TAKEN;
}

function lifetimes({ max_ttl_seconds, default_ttl_seconds }: Given) {
  const longest = max_ttl_seconds ?? Math.max(TTL_LIMIT_DEFAULT_S, default_ttl_seconds ?? 0);
  return { longest, usual: default_ttl_seconds ?? Math.min(TTL_DEFAULT_S, longest) };
}

function withDefaults(body: Given) {
  const { usual, longest } = lifetimes(body);
  return {
    name: body.name,
    credential_type: 'static' as const,
    description: body.description ?? null,
    fields: body.fields.map(({ name, description }) => ({
      name,
      description: description ?? null,
    })),
    default_ttl_seconds: usual,
    max_ttl_seconds: longest,
    enabled: body.enabled ?? true,
    reveal: body.reveal ?? false,
  };
}
