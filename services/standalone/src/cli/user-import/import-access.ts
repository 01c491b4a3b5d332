/** Reads from the environment as whom the import runs: a machine, a person with an access token, or an API key. */
import { type Environment, type Secret, secret } from '@cardea/runtime';
import { givenIn, urlFault, type VariableFault, wrongEnvironment } from '../api-environment.ts';
import { NotDone } from '../failures.ts';

export type ImportAccess = {
  readonly url: URL;
  /** `fresh` requests a new token because the last one was refused. Returns undefined if there is no other. */
  readonly bearer: (fresh?: boolean) => Promise<Secret | undefined>;
  readonly tenantOf: (bearer: Secret) => string;
};

const TOKEN_MS_MAX = 30_000;
/** How long before its expiry a token is no longer used. */
const TOKEN_MARGIN_MS = 60_000;
const MS = 1_000;

export function importAccess(env: Environment): ImportAccess {
  const given = (name: string): string | undefined => givenIn(env, name);
  const url = URL.parse(given('CARDEA_URL') ?? '');
  const tenant = given('CARDEA_TENANT');
  const faults: VariableFault[] = [];
  const isMissing = (name: string, form: string) =>
    faults.push({ name, fault: 'is missing', form });
  const unsafe = urlFault(url, env);
  if (given('CARDEA_URL') === undefined) {
    isMissing('CARDEA_URL', 'the API, as https://cardea.example.com');
  } else if (unsafe !== undefined) faults.push(unsafe);
  const [token, key] = [given('CARDEA_ACCESS_TOKEN'), given('CARDEA_API_KEY')];
  const [id, own] = [given('CARDEA_CLIENT_ID'), given('CARDEA_CLIENT_SECRET')];
  if (key !== undefined && tenant === undefined) {
    isMissing('CARDEA_TENANT', 'the id of the tenant of the key');
  }
  const client = id === undefined || own === undefined ? undefined : { id, secret: secret(own) };
  const fixed = token ?? key;
  if (fixed === undefined && client === undefined) {
    isMissing(
      'CARDEA_CLIENT_ID',
      'a machine with the scope users:write, and CARDEA_CLIENT_SECRET; or CARDEA_ACCESS_TOKEN of a person, or CARDEA_API_KEY',
    );
  }
  if (faults.length > 0 || url === null) throw wrongEnvironment(faults);
  const bearer =
    fixed === undefined && client !== undefined
      ? machineBearer(url, client)
      : async (fresh = false) => (fresh ? undefined : secret(fixed ?? ''));
  return { url, bearer, tenantOf: (shown) => tenant ?? tenantIn(shown) };
}

function machineBearer(url: URL, client: { readonly id: string; readonly secret: Secret }) {
  let current: { readonly token: Secret; readonly until: number } | undefined;
  return async (fresh = false): Promise<Secret> => {
    if (!fresh && current !== undefined && Date.now() < current.until) return current.token;
    const answer = await fetch(new URL('/oauth2/token', url), {
      method: 'POST',
      body: new URLSearchParams({
        grant_type: 'client_credentials',
        client_id: client.id,
        client_secret: client.secret.reveal(),
      }),
      redirect: 'error',
      signal: AbortSignal.timeout(TOKEN_MS_MAX),
    }).catch(() => {
      throw new NotDone('CARDEA_URL does not answer', 'unavailable');
    });
    const body = (await answer.json().catch(() => ({}))) as {
      readonly access_token?: string;
      readonly expires_in?: number;
    };
    if (body.access_token === undefined) {
      throw new NotDone(`the client gets no token (${answer.status})`, 'no_token');
    }
    const lifeMs = (body.expires_in ?? 0) * MS - TOKEN_MARGIN_MS;
    current = { token: secret(body.access_token), until: Date.now() + lifeMs };
    return current.token;
  };
}

/** Reads the claim `tid` and nothing else of the token. */
function tenantIn(token: Secret): string {
  const [, payload = ''] = token.reveal().split('.');
  try {
    const { tid } = JSON.parse(Buffer.from(payload, 'base64url').toString());
    if (typeof tid === 'string') return tid;
  } catch {
    // The text is not a token of Cardea; see below.
  }
  throw new NotDone('the access token names no tenant', 'no_tenant');
}
