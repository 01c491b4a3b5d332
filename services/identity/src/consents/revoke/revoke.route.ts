/** A user withdraws a consent. The application's tokens are refused from then on. */
import { endpoint } from '@cardea/http';
import type { ServiceDependencies } from '@cardea/service';
import Type from 'typebox';
import { closed } from '../../http/answers.ts';
import { consents } from '../consent.ts';
import { revokeConsent } from './revoke.ts';

export const revokeConsentRoute = (needs: Pick<ServiceDependencies, 'command' | 'streams'>) =>
  endpoint(
    {
      name: 'revoke_consent',
      access: { class: 'settings', stepUp: 'none' },
      repeat: 'safe',
      summary: 'Withdraw what I have allowed an application',
      description:
        'Withdraws what the caller has allowed an application, which cannot refresh its tokens any more.',
      tag: 'Self-service',
      method: 'delete',
      path: '/api/v1/auth/consents/{id}',
      who: ['user'],
      tenant: 'optional',
      params: Type.Object({ id: Type.String({ minLength: 1, maxLength: 128 }) }),
      ok: closed({ status: Type.Literal('consent revoked') }),
      refusals: { not_found: 404 },
      consistency: { waitsFor: ['consents', 'revocations'] },
    },
    async (request) => {
      const command = await needs.command(request);
      const revoke = { userId: request.principal.id, now: command.now };
      const decided = await needs.streams.decideOn(
        consents,
        request.params.id,
        command,
        (consent) => revokeConsent(revoke, consent),
      );
      if (!decided.accepted) return { refused: decided.reason };
      return { ok: { status: 'consent revoked' as const }, wrote: decided.position };
    },
  );
