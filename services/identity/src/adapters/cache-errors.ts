/** What the authorization server answers while the shared cache is away. */
import { CacheUnavailable } from '@cardea/runtime';
import { errors } from 'oidc-provider';

class Unavailable extends errors.OIDCProviderError {
  constructor(cause: CacheUnavailable) {
    super(503, 'temporarily_unavailable', { cause });
    this.error_description = 'a part that this needs is away at the moment';
    this.expose = true;
    // Not sent on to a redirect URI: nothing of the request could be looked at.
    this.allow_redirect = false;
  }
}

/** A cache that is away is no fault of the request. */
export async function stored<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw error instanceof CacheUnavailable ? new Unavailable(error) : error;
  }
}
