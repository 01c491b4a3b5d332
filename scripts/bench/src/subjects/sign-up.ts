/** A tenant of a bench: its owner, and what the owner registers. */
import type { RestAnswer, RestDriver } from '@cardea/testing';

export const PASSWORD = 'a password for the bench';

export type Owner = {
  readonly tenant: string;
  readonly token: string;
  readonly email: string;
  readonly password: string;
  /** Calls as the owner. */
  readonly rest: RestDriver;
};

export async function signUp(rest: RestDriver, name: string): Promise<Owner> {
  const email = `${name}@example.com`;
  const body = { email, password: PASSWORD, company_name: `Bench ${name}` };
  const made = ok(await rest.post('/api/v1/auth/signup', body));
  const { tenant_id: tenant, access_token: token } = made;
  return { tenant, token, email, password: PASSWORD, rest: rest.as({ bearer: token, tenant }) };
}

export type MadeApplication = { readonly client_id: string; readonly client_secret: string };

export const application = async (
  { rest }: Pick<Owner, 'rest'>,
  fields: object,
): Promise<MadeApplication> =>
  ok(await rest.post('/api/v1/admin/applications', { name: 'Bench', ...fields }));

/** Returns the body of a successful response. Throws for any other response. */
// biome-ignore lint/suspicious/noExplicitAny: as in the REST driver, benches reach into bodies
export function ok({ status, text, body }: RestAnswer): any {
  if (status >= 300) throw new Error(`the server answered ${status}: ${text.slice(0, 300)}`);
  return body;
}
