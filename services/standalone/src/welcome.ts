/** Collects what the banner shows, and prints it. */
import type { Database } from '@cardea/read-models';
import { onceAvailable, type Settings, systemClock } from '@cardea/runtime';
import type { Host } from '@cardea/service';
import { banner } from './banner.ts';

/** The tenant and the publishable key that a first start has created. */
export const DEFAULT_APPLICATION = `
  SELECT a.tenant_id, a.publishable_key
    FROM identity.applications a JOIN identity.tenants t ON t.id = a.tenant_id
   WHERE a.name = 'default' AND t.slug = 'default'`;

type Shown = {
  readonly settings: Settings;
  readonly adminPassword: string | undefined;
  readonly ownPassword: boolean;
  readonly showsMailbox: boolean;
  readonly temporary: boolean;
};

export async function welcome(
  { needsOf, managementPort, port }: Host,
  { settings, showsMailbox, ...shown }: Shown,
  sleep: (ms: number) => Promise<void> = systemClock.sleep,
): Promise<string> {
  const first = await defaultApplication(needsOf('identity').database, sleep);
  const url = `http://${settings.HOST ?? '127.0.0.1'}:${port}`;
  return banner({
    url,
    managementUrl: `http://${settings.HOST ?? '127.0.0.1'}:${managementPort}`,
    tenantId: first?.tenant_id ?? '(none)',
    publishableKey: first?.publishable_key ?? '(none)',
    adminEmail: settings.ADMIN_EMAIL ?? '(none)',
    mail: mailPlace(settings, showsMailbox ? `${url}/dev/mailbox` : undefined),
    dataFolder: settings.CARDEA_DATA ?? '',
    ...shown,
  });
}

/** The instance serves already: that its database is busy is no reason to end it. */
async function defaultApplication(database: Database, sleep: (ms: number) => Promise<void>) {
  const [first] = await onceAvailable(
    () =>
      database.asSystem(async (sql) => {
        const { rows } = await sql.query<{ tenant_id: string; publishable_key: string }>(
          DEFAULT_APPLICATION,
        );
        return rows;
      }),
    sleep,
  );
  return first;
}

const mailPlace = (
  { SMTP_URL, ENV, CARDEA_DATA }: Settings,
  mailbox: string | undefined,
): string => {
  if (SMTP_URL !== undefined) return 'the server of SMTP_URL';
  if (ENV === 'production') return 'nowhere: SMTP_URL is unset';
  return mailbox ?? `${CARDEA_DATA}/mail (HOST is not loopback; a page with --share-dev-mailbox)`;
};
