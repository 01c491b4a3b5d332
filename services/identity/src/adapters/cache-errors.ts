/** The authorization server's responses while the shared cache is unavailable. */
import { CacheUnavailable } from '@cardea/runtime';
import { errors } from 'oidc-provider';

class Unavailable extends errors.OIDCProviderError {
  constructor(cause: CacheUnavailable) {
    super(503, 'temporarily_unavailable', { cause });
    this.error_description = 'a part that this needs is away at the moment';
    this.expose = true;
    // The error is not sent to a redirect URI, since the request could not be checked.
    this.allow_redirect = false;
  }
}

/** Turns an unavailable cache into a server error, because it is no fault of the request. */
export async function stored<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw error instanceof CacheUnavailable ? new Unavailable(error) : error;
  }
}
