/** Exchanges the code of a sign-in by a provider for the tokens of its session. */
import { type Endpoint, endpoint, type Request } from '@cardea/http';
import type { ServiceDependencies } from '@cardea/service';
import Type, { type Static } from 'typebox';
import { exists, type UserDirectory } from '../../../accounts/accounts.module.ts';
import { onetimeIdOf, tenantOfToken } from '../../../adapters/link-token.ts';
import { closed, PASSWORD_BODY_MAX_BYTES } from '../../../http/answers.ts';
import { countingRefusals } from '../../../http/counting-refusals.ts';
import { LIMITS } from '../../../http/limits.ts';
import {
  factsOf,
  isAlive,
  type LoginSessions,
  sessions,
  validityContextOf,
} from '../../../sessions/sessions.module.ts';
import type { TenantFacts, Workspaces } from '../../../workspaces/workspaces.module.ts';
import { socialCodes } from '../social-code.ts';
import { SOCIAL } from '../social-sign-in.ts';
import { SocialSignedIn } from '../social-signed-in.ts';
import { redeemSocialCode } from './redeem-code.ts';

type Dependencies = Pick<ServiceDependencies, 'clock' | 'command' | 'limits' | 'streams'> & {
  readonly workspaces: Pick<Workspaces, 'tenant'>;
  readonly userDirectory: Pick<UserDirectory, 'byId'>;
  readonly loginSessions: Pick<LoginSessions, 'tokensOf'>;
};

const Body = closed({ code: Type.String({ maxLength: 256 }) });
type Asked = Request<object, object, Static<typeof Body>>;

const INVALID = { refused: 'invalid_code' } as const;

export const redeemSocialCodeRoute = (needs: Dependencies): Endpoint =>
  endpoint(
    {
      ...SOCIAL,
      name: 'redeem_social_code',
      summary: 'Get the tokens of a sign-in by a provider',
      description:
        "Turns the code that a page got from a provider's sign-in into the tokens of its session, once, within a minute.",
      method: 'post',
      path: '/api/v1/auth/social/exchange',
      tenant: 'optional',
      repeat: 'never',
      body: Body,
      ok: SocialSignedIn,
      refusals: { invalid_code: 401, code_expired: 410, rate_limited: 429 },
      input: { limitBytes: PASSWORD_BODY_MAX_BYTES },
    },
    async (request) => {
      const misses = [[LIMITS.secretFailuresByIp, request.ip]] as const;
      return await countingRefusals(needs.limits, misses, async () => {
        const tenantId = tenantOfToken(request.body.code) ?? '';
        const tenant = await needs.workspaces.tenant(tenantId);
        const isNamed = request.tenantId === '' || request.tenantId === tenantId;
        return tenant === undefined || !isNamed ? INVALID : exchanged(needs, request, tenant);
      });
    },
  );

async function exchanged(needs: Dependencies, request: Asked, tenant: TenantFacts) {
  const { streams, userDirectory } = needs;
  const id = onetimeIdOf('social', tenant.id, request.body.code);
  const { state } = await streams.load(socialCodes, { tenantId: tenant.id, id });
  if (state.status !== 'issued') return INVALID;
  const actor = { type: 'user', id: state.userId } as const;
  const command = await needs.command(request, { tenantId: tenant.id, actor });
  const used = await streams.decideOn(socialCodes, id, command, (code) =>
    redeemSocialCode(command.now, code),
  );
  if (!used.accepted) {
    return used.reason === 'expired' ? ({ refused: 'code_expired' } as const) : INVALID;
  }
  const readAt = needs.clock.now();
  const user = await userDirectory.byId(tenant.id, state.userId);
  const { state: session } = await streams.load(sessions, { tenantId: tenant.id, id: state.sid });
  if (!exists(user) || session.status === 'none') return INVALID;
  if (!isAlive(session, validityContextOf(user, true), command.now)) return INVALID;
  const tokens = await needs.loginSessions.tokensOf(factsOf(session), { user, readAt, tenant });
  return {
    ok: { user_id: user.id, ...tokens, is_new_user: state.isNewUser },
    wrote: used.position,
  };
}
