/** Addresses in the operator's network that the deployment's settings allow, one origin at a time. */

/** Any address, except those of this host and the metadata addresses at which clouds serve a host's credentials. */
export const ANY_ADDRESS: readonly string[] = ['0.0.0.0/0', '::/0'];

export const isOfOrigins = (url: string, origins: readonly string[]): boolean =>
  origins.length > 0 && URL.canParse(url) && origins.includes(new URL(url).origin);
