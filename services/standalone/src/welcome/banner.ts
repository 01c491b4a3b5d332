/** The banner that is printed after everything has started. It shows a newcomer the addresses and nothing else. */
export type Welcome = {
  /** The public address of this instance. The issuer, mails and documents use it too. */
  readonly publicUrl: string;
  /** The address of the server on this machine. It equals the public address, unless a proxy is in front. */
  readonly localUrl: string;
  readonly managementUrl: string;
  readonly tenantId: string;
  readonly publishableKey: string;
  readonly adminEmail: string;
  /** Shown once, by the first start that succeeds, and never in production. */
  readonly adminPassword: string | undefined;
  /** The password was generated with the data folder. */
  readonly ownPassword: boolean;
  /** The destination of mail: the mailbox, or the server's host. */
  readonly mail: string;
  readonly dataFolder: string;
  /** The folder of the own database, if it is not in the data folder. */
  readonly databaseFolder?: string | undefined;
  readonly temporary: boolean;
  /** Further rows: the servers and processes of a cluster. */
  readonly more?: readonly (readonly [name: string, value: string])[];
};

export function banner(welcome: Welcome): string {
  const { publicUrl, localUrl, databaseFolder } = welcome;
  const password =
    welcome.adminPassword ??
    (welcome.ownPassword
      ? `as set at the first start (${welcome.dataFolder}/secrets.json)`
      : 'as set');
  const rows: readonly (readonly [string, string])[] = [
    ['API', `${publicUrl}  (documentation at ${publicUrl}/docs)`],
    ...(localUrl === publicUrl ? [] : [['Listens on', localUrl] as const]),
    ['Health, metrics', welcome.managementUrl],
    ['Tenant', welcome.tenantId],
    ['Admin', welcome.adminEmail],
    ['Password', password],
    ['Publishable key', welcome.publishableKey],
    ['Mail', welcome.mail],
    ['Data', welcome.temporary ? 'temporary, removed at the end' : welcome.dataFolder],
    ...(databaseFolder === undefined ? [] : [['Database', databaseFolder] as const]),
    ...(welcome.more ?? []),
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

/** A command line that works when it is pasted. It signs the admin in if the password may be shown. */
function firstCall(welcome: Welcome): string {
  const { localUrl, tenantId, adminEmail, adminPassword, publishableKey } = welcome;
  const json = "-H 'content-type: application/json'";
  if (adminPassword === undefined) {
    const body = JSON.stringify({ publishable_key: publishableKey });
    return `curl -s ${localUrl}/api/v1/auth/identify ${json} -d '${body}'`;
  }
  const body = JSON.stringify({ email: adminEmail, password: adminPassword });
  return `curl -s ${localUrl}/api/v1/auth/login ${json} -H 'x-service-tenant: ${tenantId}' -d '${body}'`;
}
