/** Collects what the banner shows, and prints it. */
import { join } from 'node:path';
import type { Database } from '@cardea/read-models';
import {
  hostInUrl,
  isLoopbackHost,
  onceAvailable,
  type Settings,
  systemClock,
} from '@cardea/runtime';
import type { Host } from '@cardea/service';
import { banner } from './banner.ts';

/** The tenant and the publishable key that the first start created. */
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
  /** The folder of the instance's own database, if it started one. */
  readonly databaseFolder: string | undefined;
};

/** These addresses mean every address of the machine. */
const LISTENS_ON_LOOPBACK = new Set(['::', '0.0.0.0']);

export async function welcome(
  { needsOf, managementPort, port }: Host,
  { settings, showsMailbox, databaseFolder, ...shown }: Shown,
  sleep: (ms: number) => Promise<void> = systemClock.sleep,
): Promise<string> {
  const first = await defaultApplication(needsOf('identity').database, sleep);
  const host = hostInUrl(settings.HOST);
  const publicUrl = settings.PUBLIC_URL;
  const localUrl = localAddress(settings, port);
  const dataFolder = settings.CARDEA_DATA ?? '';
  return banner({
    publicUrl,
    localUrl,
    managementUrl: `http://${host}:${managementPort}`,
    tenantId: first?.tenant_id ?? '(none)',
    publishableKey: first?.publishable_key ?? '(none)',
    adminEmail: settings.ADMIN_EMAIL ?? '(none)',
    mail: mailPlace(settings, showsMailbox ? `${localUrl}/dev/mailbox` : undefined),
    dataFolder,
    databaseFolder: databaseFolder?.startsWith(join(dataFolder, '/')) ? undefined : databaseFolder,
    ...shown,
  });
}

/** PUBLIC_URL if it names this server itself; otherwise the address that the server is bound to. */
function localAddress({ PUBLIC_URL, HOST }: Settings, port: number): string {
  const { protocol, hostname, port: publicPort } = new URL(PUBLIC_URL);
  const listensOnLoopback =
    HOST === undefined || LISTENS_ON_LOOPBACK.has(HOST) || isLoopbackHost(HOST);
  const isOwn = protocol === 'http:' && hostname === 'localhost' && Number(publicPort) === port;
  return isOwn && listensOnLoopback ? PUBLIC_URL : `http://${hostInUrl(HOST)}:${port}`;
}

/** The instance already serves, so a busy database is no reason to end it. */
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
