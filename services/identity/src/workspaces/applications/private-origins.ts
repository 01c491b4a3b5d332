/** Addresses inside of the operator's network that the deployment's settings open, origin by origin. */

/** Still none of this host's own, nor those at which clouds serve the credentials of a host. */
export const ANY_ADDRESS: readonly string[] = ['0.0.0.0/0', '::/0'];

export const isOfOrigins = (url: string, origins: readonly string[]): boolean =>
  origins.length > 0 && URL.canParse(url) && origins.includes(new URL(url).origin);
