/** Generates new recovery codes and invalidates the previous ones. */
import { endpoint } from '@cardea/http';
import type { ServiceDependencies } from '@cardea/service';
import Type from 'typebox';
import { closed } from '../../../http/answers.ts';
import type { SecondFactors } from '../../second-factors.ts';

type Dependencies = Pick<ServiceDependencies, 'command'> & {
  readonly secondFactors: Pick<SecondFactors, 'renewRecoveryCodes'>;
};

export const recoveryCodesRoute = (needs: Dependencies) =>
  endpoint(
    {
      tag: 'Self-service',
      who: ['user'],
      tenant: 'optional',
      name: 'renew_recovery_codes',
      access: { class: 'settings', stepUp: 'users' },
      summary: 'Replace my recovery codes',
      description:
        'Makes ten new recovery codes and shows them this once; those of before are void.',
      method: 'post',
      path: '/api/v1/me/mfa/recovery-codes',
      repeat: 'never',
      ok: closed({ recovery_codes: Type.Array(Type.String()) }),
      refusals: {
        not_found: 404,
        no_second_factor: 409,
      },
      consistency: { waitsFor: ['users'] },
    },
    async (request) => {
      const { principal } = request;
      const command = await needs.command(request);
      const renewed = await needs.secondFactors.renewRecoveryCodes(principal.id, command);
      return 'refused' in renewed
        ? renewed
        : { ok: { recovery_codes: [...renewed.codes] }, wrote: renewed.position };
    },
  );
