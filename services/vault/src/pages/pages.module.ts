/** The page of the account that shows what this service knows about its viewer. */
import { pageRoutes, plainPages } from '@cardea/pages';
import type { Module, ServiceDependencies } from '@cardea/service';
import type { ListOwnGrants } from '../grants/grants.module.ts';
import { grantsPage } from './grants-page.ts';
import { TEXTS } from './texts.ts';

type Dependencies = Pick<
  ServiceDependencies,
  'clock' | 'pageKeys' | 'peers' | 'revocations' | 'settings'
> & { readonly listOwnGrants: ListOwnGrants };

export const pagesModule = (needs: Dependencies): Module => ({
  endpoints: [...pageRoutes(grantsPage(needs.listOwnGrants), plainPages(needs, TEXTS))],
});
