/** The signing keys as the deployment's own administrators see and replace them. */
import { DEPLOYMENT_TENANT, NullableTime, named, Time } from '@cardea/contracts';
import { type Endpoint, endpoint } from '@cardea/http';
import type { ServiceDependencies } from '@cardea/service';
import Type from 'typebox';
import { closed } from '../../http/answers.ts';
import { STEP_UP_HEADERS, signedInLately } from '../../http/step-up.ts';
import { activeKey, type KeyringKey } from '../keyring.ts';
import type { SigningKeys } from '../signing-keys.ts';

type Dependencies = Pick<ServiceDependencies, 'command'> & {
  readonly signingKeys: Pick<SigningKeys, 'announce' | 'promote' | 'revoke' | 'ring'>;
};

const COMMON = {
  tag: 'Administration',
  tenant: 'required',
  area: 'admin',
  who: ['system_admin'],
  applicationScope: 'account',
} as const;
const RETRY_AFTER_SECONDS = 1;

export const listKeysRoute = ({ signingKeys }: Pick<Dependencies, 'signingKeys'>): Endpoint =>
  endpoint(
    {
      ...COMMON,
      name: 'list_signing_keys',
      summary: 'Signing keys of the deployment',
      method: 'get',
      path: '/api/v1/admin/keys',
      ok: closed({
        keys: Type.Array(
          named(
            'SigningKey',
            closed({
              kid: Type.String(),
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
      ...COMMON,
      name: 'rotate_signing_keys',
      retry: 'never',
      summary: 'Let a new key sign tokens; with `revoke` nobody believes the others any more',
      method: 'post',
      path: '/api/v1/admin/keys/rotate',
      body: Type.Object({ revoke: Type.Optional(Type.Boolean()) }),
      bodyOptional: true,
      ok: closed({ kid: Type.String(), activated_at: Time }),
      refusals: { step_up_required: 401, temporarily_unavailable: 503 },
    },
    async (request) => {
      const { signingKeys } = needs;
      const command = await needs.command(request, { tenantId: DEPLOYMENT_TENANT });
      if (!signedInLately(request.principal, command.now)) {
        return { refused: 'step_up_required', headers: STEP_UP_HEADERS };
      }
      if (request.body.revoke === true) {
        // The keys are revoked already; but success is answered only once every process was notified.
        if (!(await signingKeys.revoke(command)).told) {
          const headers = { 'Retry-After': String(RETRY_AFTER_SECONDS) };
          return { refused: 'temporarily_unavailable', headers };
        }
      } else {
        // Announced first, so that every verifier can fetch the key before it signs.
        await signingKeys.promote(await signingKeys.announce(command.now, command), command);
      }
      const active = activeKey(await signingKeys.ring());
      if (active?.activatedAt == null) throw new Error('the key ring has no active key');
      return { ok: { kid: active.kid, activated_at: active.activatedAt } };
    },
  );

const shown = ({ kid, state, createdAt, activatedAt, retiredAt }: KeyringKey) => ({
  kid,
  state,
  created_at: createdAt,
  activated_at: activatedAt,
  retired_at: retiredAt,
});
