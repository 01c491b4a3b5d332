/** The pages of a person's own account. They show the responses of this service's own endpoints. */
import { callsOfPages, pageRoutes } from '@cardea/pages';
import type { Module, ServiceDependencies } from '@cardea/service';
import { LIMITS } from '../http/limits.ts';
import type { Workspaces } from '../workspaces/workspaces.module.ts';
import { agentsPage } from './agents-page.ts';
import { applicationsPage } from './applications-page.ts';
import { dataPage } from './data-page.ts';
import { emailPage } from './email-page.ts';
import { type AccountEndpoints, TEXTS } from './endpoints.ts';
import { homePage } from './home-page.ts';
import { profilePage } from './profile-page.ts';
import { securityPage } from './security-page.ts';
import { sessionsPage } from './sessions-page.ts';

type Dependencies = Pick<
  ServiceDependencies,
  'clock' | 'limits' | 'pageKeys' | 'peers' | 'revocations' | 'settings'
> & {
  readonly workspaces: Pick<Workspaces, 'tenant'>;
  readonly endpoints: AccountEndpoints;
};

export function accountPagesModule(given: Dependencies): Module {
  const { endpoints, limits, peers, workspaces } = given;
  const shared = {
    ...given,
    texts: TEXTS,
    ...callsOfPages(peers),
    admitForm: async (ip: string) => {
      const room = await limits.take([LIMITS.formsByIp, ip]);
      return room.allowed ? undefined : room.retryAfterSeconds;
    },
    tenant: async (tenantId: string) => {
      const tenant = await workspaces.tenant(tenantId);
      if (tenant === undefined) throw new Error('somebody is signed in where no tenant is');
      return tenant;
    },
  };
  return {
    endpoints: [
      ...pageRoutes(homePage(endpoints), shared),
      ...pageRoutes(profilePage(endpoints), shared),
      ...pageRoutes(emailPage(endpoints), shared),
      ...pageRoutes(securityPage(endpoints), shared),
      ...pageRoutes(sessionsPage(endpoints), shared),
      ...pageRoutes(applicationsPage(endpoints), shared),
      ...pageRoutes(agentsPage(endpoints), shared),
      ...pageRoutes(dataPage(endpoints), shared),
    ],
  };
}
