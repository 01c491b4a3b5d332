/** Withdraws the consents of an account that was reclaimed. */
import { policy } from '@cardea/service';
import { type AccountReclaimed, endMadeBeforeReclaim } from '../accounts/accounts.module.ts';
import { consents } from './consent.ts';
import { revokeConsent } from './revoke/revoke.ts';

export const takeBackReclaimedConsents = (needs: Parameters<typeof endMadeBeforeReclaim>[0]) =>
  policy<AccountReclaimed>()({
    name: 'take_back_reclaimed_consents',
    on: {
      AccountReclaimed: (event) =>
        endMadeBeforeReclaim(
          needs,
          event,
          {
            table: 'consents',
            open: 'revoked_at IS NULL',
            userColumn: 'user_id',
            timeColumn: 'granted_at',
          },
          {
            stream: consents,
            decide: (now, consent) => revokeConsent({ userId: event.data.id, now }, consent),
          },
        ),
    },
  });
