/** The deployment's own administrators list and replace the signing keys. */
import { DEPLOYMENT_TENANT, NullableTime, named, Time } from '@cardea/contracts';
import { type Endpoint, endpoint } from '@cardea/http';
import type { ServiceDependencies } from '@cardea/service';
import Type from 'typebox';
import { KEY_ALGORITHMS } from '../../adapters/key-algorithms.ts';
import { closed } from '../../http/answers.ts';
import { activeKey, type KeyringKey } from '../keyring.ts';
import type { SigningKeys } from '../signing-keys.ts';

type Dependencies = Pick<ServiceDependencies, 'command'> & {
  readonly signingKeys: Pick<SigningKeys, 'announce' | 'promote' | 'revoke' | 'ring'>;
};

const Algorithm = named('SigningKeyAlgorithm', Type.Enum([...KEY_ALGORITHMS]));
const RETRY_AFTER_SECONDS = 1;

export const listKeysRoute = ({ signingKeys }: Pick<Dependencies, 'signingKeys'>): Endpoint =>
  endpoint(
    {
      tag: 'Administration',
      who: ['system_admin'],
      name: 'list_signing_keys',
      machine: 'never',
      access: { class: 'things', applicationScope: 'account' },
      summary: 'Signing keys of the deployment',
      description:
        'Lists the keys with which the deployment signs tokens, without their private halves.',
      method: 'get',
      path: '/api/v1/admin/keys',
      ok: closed({
        keys: Type.Array(
          named(
            'SigningKey',
            closed({
              kid: Type.String(),
              alg: Algorithm,
              state: named('SigningKeyState', Type.Enum(['pending', 'active', 'retired'])),
              created_at: Time,
              activated_at: NullableTime,
              retired_at: NullableTime,
            }),
          ),
        ),
      }),
      refusals: {},
    },
    async () => ({ ok: { keys: (await signingKeys.ring()).keys.map(shown) } }),
  );

export const rotateKeysRoute = (needs: Dependencies): Endpoint =>
  endpoint(
    {
      tag: 'Administration',
      who: ['system_admin'],
      name: 'rotate_signing_keys',
      machine: 'never',
      access: { class: 'settings', stepUp: 'users' },
      repeat: 'never',
      summary:
        'Sign with new keys, of one algorithm or of all; with `revoke` tokens of the others are rejected',
      description:
        'Makes new signing keys, of one algorithm or of all. Tokens of the keys before stay valid until they run out; with `revoke` they are rejected, so that everybody needs new ones.',
      method: 'post',
      path: '/api/v1/admin/keys/rotate',
      body: Type.Object({
        revoke: Type.Optional(Type.Boolean()),
        // If no algorithm is named, all are meant.
        alg: Type.Optional(Algorithm),
      }),
      input: { isOptional: true },
      ok: closed({ kid: Type.String(), activated_at: Time }),
      refusals: { temporarily_unavailable: 503 },
    },
    async (request) => {
      const { signingKeys } = needs;
      const command = await needs.command(request, { tenantId: DEPLOYMENT_TENANT });
      const { alg, revoke } = request.body;
      const algorithms = alg === undefined ? KEY_ALGORITHMS : [alg];
      if (revoke === true) {
        // The keys are revoked already, but success is answered only after every process was notified.
        if (!(await signingKeys.revoke(command, algorithms)).told) {
          const headers = { 'Retry-After': String(RETRY_AFTER_SECONDS) };
          return { refused: 'temporarily_unavailable', headers };
        }
      } else {
        // The key is announced first, so that every verifier can fetch it before it signs.
        const announced = await signingKeys.announce(command.now, command, algorithms);
        await signingKeys.promote(announced, command);
      }
      const { keys } = await signingKeys.ring();
      const active = activeKey({
        keys: keys.filter(({ publicJwk }) => publicJwk.alg === algorithms[0]),
      });
      if (active?.activatedAt == null) throw new Error('the key ring has no active key');
      return { ok: { kid: active.kid, activated_at: active.activatedAt } };
    },
  );

const shown = ({ kid, publicJwk, state, createdAt, activatedAt, retiredAt }: KeyringKey) => ({
  kid,
  alg: publicJwk.alg,
  state,
  created_at: createdAt,
  activated_at: activatedAt,
  retired_at: retiredAt,
});
