/**
 * The ids of registered clients are UUIDs and are accepted in either case. The library compares a request's `client_id`
 * with the client's id and stores it, so the request gets the stored form.
 */
import { storedId } from '@cardea/runtime';
import { Provider } from 'oidc-provider';

type Parameters = { client_id?: unknown };
type Context = { readonly oidc?: { readonly params?: Parameters; readonly body?: Parameters } };

export function readClientIds(provider: Provider): void {
  const { Client } = provider;
  const find = Client.find.bind(Client);
  Client.find = async (id) => {
    const stored = storedId(String(id));
    if (stored === id) return find(id);
    const { oidc } = (Provider.ctx ?? {}) as Context;
    for (const parameters of [oidc?.params, oidc?.body]) {
      if (parameters?.client_id === id) parameters.client_id = stored;
    }
    return find(stored);
  };
}
