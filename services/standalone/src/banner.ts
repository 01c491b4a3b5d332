/** What a newcomer needs to see when everything is up, and nothing else. */
export type Welcome = {
  readonly url: string;
  readonly managementUrl: string;
  readonly tenantId: string;
  readonly publishableKey: string;
  readonly adminEmail: string;
  /** Shown once, by the first start that succeeds, and never in production. */
  readonly adminPassword: string | undefined;
  /** The password was generated with the data folder. */
  readonly ownPassword: boolean;
  /** Where mail is delivered: the mailbox, or the server's host. */
  readonly mail: string;
  readonly dataFolder: string;
  readonly temporary: boolean;
};

export function banner(welcome: Welcome): string {
  const password =
    welcome.adminPassword ??
    (welcome.ownPassword
      ? `as set at the first start (${welcome.dataFolder}/secrets.json)`
      : 'as set');
  const rows: readonly (readonly [string, string])[] = [
    ['API', `${welcome.url}  (documentation at ${welcome.url}/docs)`],
    ['Health, metrics', welcome.managementUrl],
    ['Tenant', welcome.tenantId],
    ['Admin', welcome.adminEmail],
    ['Password', password],
    ['Publishable key', welcome.publishableKey],
    ['Mail', welcome.mail],
    ['Data', welcome.temporary ? 'temporary, removed at the end' : welcome.dataFolder],
  ];
  const width = Math.max(...rows.map(([name]) => name.length));
  return [
    '',
    'Cardea is ready.',
    '',
    ...rows.map(([name, value]) => `  ${name.padEnd(width)}  ${value}`),
    '',
    'Try it:',
    '',
    `  ${firstCall(welcome)}`,
    '',
    'Ctrl-C stops everything.',
    '',
  ].join('\n');
}

/** One line that works when it is pasted: it signs the admin in if the password may be shown. */
function firstCall({ url, tenantId, adminEmail, adminPassword, publishableKey }: Welcome): string {
  const json = "-H 'content-type: application/json'";
  if (adminPassword === undefined) {
    const body = JSON.stringify({ publishable_key: publishableKey });
    return `curl -s ${url}/api/v1/auth/identify ${json} -d '${body}'`;
  }
  const body = JSON.stringify({ email: adminEmail, password: adminPassword });
  return `curl -s ${url}/api/v1/auth/login ${json} -H 'x-service-tenant: ${tenantId}' -d '${body}'`;
}
