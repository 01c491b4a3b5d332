/** The endpoints that the account's pages call, and the texts of the pages. */
import { catalogue, pagesOf, type Shown } from '@cardea/pages';
import type { AccountsModule } from '../accounts/accounts.module.ts';
import type { agentsModule } from '../agents/agents.module.ts';
import type { authenticationModule } from '../authentication/authentication.module.ts';
import type { consentsModule } from '../consents/consents.module.ts';
import type { factorsModule } from '../factors/factors.module.ts';
import type { ownAccountModule } from '../own-account/own-account.module.ts';
import type { sessionsModule } from '../sessions/sessions.module.ts';
import { DE } from './texts-de.ts';
import { EN, type TextKey } from './texts-en.ts';

type Own<Made extends { readonly selfService: unknown }> = Made['selfService'];

export type AccountEndpoints = Own<AccountsModule> &
  Own<ReturnType<typeof agentsModule>> &
  Own<ReturnType<typeof authenticationModule>> &
  Own<ReturnType<typeof consentsModule>> &
  Own<ReturnType<typeof factorsModule>> &
  Own<ReturnType<typeof ownAccountModule>> &
  Own<ReturnType<typeof sessionsModule>>;

export type AccountPage<Data> = Shown<TextKey, Data>;

export const TEXTS = catalogue<TextKey>({ en: EN, de: DE });
export const { pageOf, formOf } = pagesOf(TEXTS);
