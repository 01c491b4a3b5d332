/** Checks of `doctor` that need only the settings: servers without TLS, client addresses, a way to send mail. */
import { plaintextServers } from '@cardea/runtime';
import { type DoctorCheck, ok, warning } from './check.ts';

export const plaintext: DoctorCheck = async ({ deployment: { settings } }) => {
  const servers = plaintextServers(settings).map(
    ({ setting, server, allowed }) => `${setting} ${server}${allowed ? ' (allowed)' : ''}`,
  );
  return servers.length === 0
    ? ok('to no server elsewhere')
    : warning(servers.join(', '), 'use TLS: docs/deploying.md says how for each');
};

/**
 * Rate limits count by address, so clients must not share one. Gateway and processes themselves speak only plain HTTP,
 * so an https PUBLIC_URL means that a proxy is in front of them.
 */
export const clientAddresses: DoctorCheck = async ({ deployment: { settings, folder } }) => {
  const { PUBLIC_URL, TRUSTED_PROXIES, GATEWAY_TRUSTED_PROXIES } = settings;
  const hasProxyInFront = PUBLIC_URL.startsWith('https:');
  const shared = (proxy: string, name: string) =>
    warning(`all clients share the address of ${proxy}`, `set ${name} to its addresses`);
  if (folder !== undefined) {
    return hasProxyInFront && TRUSTED_PROXIES.length === 0
      ? shared('what serves PUBLIC_URL', 'TRUSTED_PROXIES')
      : ok('of their own');
  }
  if (TRUSTED_PROXIES.length === 0) return shared('the gateway', 'TRUSTED_PROXIES');
  return hasProxyInFront && GATEWAY_TRUSTED_PROXIES.length === 0
    ? shared('what serves PUBLIC_URL', 'GATEWAY_TRUSTED_PROXIES')
    : ok('of their own');
};

export const mail: DoctorCheck = async ({ deployment }) => {
  const { ENV, SMTP_URL } = deployment.settings;
  if (SMTP_URL !== undefined) return ok('by the server of SMTP_URL');
  if (ENV === 'development') return ok('kept in the data folder');
  const { rows } = await deployment
    .shared()
    .database.system.query<{ waiting: number }>(
      'SELECT count(*)::int AS waiting FROM identity.mail_queue',
    );
  return warning(
    `SMTP_URL is not set: ${rows[0]?.waiting ?? 0} mails wait`,
    'set SMTP_URL of identity and approval',
  );
};
