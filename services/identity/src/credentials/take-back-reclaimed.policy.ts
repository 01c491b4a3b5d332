/** Revokes the API keys that a reclaimed account created. */
import { policy } from '@cardea/service';
import { type AccountReclaimed, endMadeBeforeReclaim } from '../accounts/accounts.module.ts';
import { apiKeys, revokeApiKey } from './api-keys/api-key.ts';

export const takeBackReclaimedKeys = (needs: Parameters<typeof endMadeBeforeReclaim>[0]) =>
  policy<AccountReclaimed>()({
    name: 'take_back_reclaimed_keys',
    on: {
      AccountReclaimed: (event) =>
        endMadeBeforeReclaim(
          needs,
          event,
          {
            table: 'api_keys',
            open: 'revoked_at IS NULL',
            userColumn: 'created_by',
            timeColumn: 'created_at',
          },
          { stream: apiKeys, decide: revokeApiKey },
        ),
    },
  });
