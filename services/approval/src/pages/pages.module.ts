/** The pages on which people decide. They call this service's own endpoints. */
import { callsOfPages, pageRoutes, type ShownTenant } from '@cardea/pages';
import { loadingCache } from '@cardea/runtime';
import type { Module, RateLimit, ServiceDependencies } from '@cardea/service';
import type { ChannelEndpoints } from '../channels/channels.module.ts';
import type { DeputyEndpoints } from '../deputies/deputies.module.ts';
import type { RequestEndpoints, RequestParts } from '../requests/requests.module.ts';
import { CHANNEL_TEXTS } from './channel-texts.ts';
import { channelsPage } from './channels-page.ts';
import { decisionPage } from './decision-page.ts';
import { decisionsPage } from './decisions-page.ts';
import { deputyPage } from './deputy-page.ts';
import { listPage } from './list-page.ts';
import { TEXTS } from './texts.ts';

const MINUTE_MS = 60_000;
const FORMS_BY_ADDRESS: RateLimit = {
  name: 'approval_page_forms_ip',
  points: 120,
  windowMs: MINUTE_MS,
  per: 'address',
  counts: 'calls',
};

/** The names and colours of tenants, whose rows lag behind identity anyway. */
const LOOKS = { entriesMax: 1_000, ttlMs: 5_000 } as const;

export type PagesDependencies = Pick<
  ServiceDependencies,
  'clock' | 'limits' | 'pageKeys' | 'peers' | 'revocations' | 'settings'
> &
  Pick<RequestParts, 'identityFacts'> & {
    readonly endpoints: RequestEndpoints;
    readonly channels: ChannelEndpoints;
    readonly deputies: DeputyEndpoints;
  };

export function pagesModule(needs: PagesDependencies): Module {
  const { identityFacts, peers, endpoints } = needs;
  const looks = loadingCache<string, ShownTenant>(needs.clock, LOOKS);
  const shared = {
    ...needs,
    admitForm: async (ip: string) => {
      const room = await needs.limits.take([FORMS_BY_ADDRESS, ip]);
      return room.allowed ? undefined : room.retryAfterSeconds;
    },
    texts: TEXTS,
    ...callsOfPages(peers),
    tenant: (tenantId: string) =>
      looks.get(tenantId, async () => {
        const { language, brand } = await identityFacts.mailLook(tenantId);
        const branding = { primary_color: brand.color ?? null };
        return { displayName: brand.name, settings: { branding, language } };
      }),
  };
  return {
    endpoints: [
      ...pageRoutes(listPage(endpoints.pending), shared),
      ...pageRoutes(decisionPage(endpoints), shared),
      ...pageRoutes(decisionsPage(endpoints.decisions), shared),
      ...pageRoutes(channelsPage(needs.channels), { ...shared, texts: CHANNEL_TEXTS }),
      ...pageRoutes(deputyPage(needs.deputies), shared),
    ],
  };
}
