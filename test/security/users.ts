/** Users created over HTTP: signed up, created by an administrator, signed in. */
import type { RestAnswer, RestDriver } from '@cardea/testing';

export const PASSWORD = 'a long enough phrase';

export type Person = {
  readonly tenantId: string;
  readonly userId: string;
  readonly email: string;
  readonly roles: readonly string[];
  readonly access: string;
  readonly refresh: string;
};

export type Users = {
  newEmail(): string;
  /** A new organization with its owner. */
  signUp(company: string): Promise<Person>;
  addUser(owner: Person, roles: readonly string[]): Promise<Person>;
  logIn(of: { readonly tenantId: string; readonly email: string }): Promise<Person>;
};

export function usersOf(rest: RestDriver): Users {
  let count = 0;
  const newEmail = () => {
    count += 1;
    return `guest.${count}@example.com`;
  };
  const logIn: Users['logIn'] = async ({ tenantId: tenant, email }) => {
    const answer = await rest.post('/api/v1/auth/login', { email, password: PASSWORD }, { tenant });
    return personOf(answer, 200, { tenantId: tenant, email });
  };
  return {
    newEmail,
    logIn,
    signUp: async (company_name) => {
      const email = newEmail();
      const body = { email, password: PASSWORD, company_name };
      const answer = await rest.post('/api/v1/auth/signup', body);
      return personOf(answer, 201, { tenantId: answer.body.tenant_id, email });
    },
    addUser: async ({ access: bearer, tenantId: tenant }, roles) => {
      const email = newEmail();
      const body = { email, password: PASSWORD, roles };
      expectStatus(await rest.post('/api/v1/admin/users', body, { bearer, tenant }), 201);
      return logIn({ tenantId: tenant, email });
    },
  };
}

function personOf(
  answer: RestAnswer,
  status: number,
  of: { readonly tenantId: string; readonly email: string },
): Person {
  expectStatus(answer, status);
  const { user_id: userId, access_token: access, refresh_token: refresh } = answer.body;
  const { roles } = claimsOf(access) as { roles: string[] };
  return { ...of, userId, roles, access, refresh };
}

export function expectStatus(answer: RestAnswer, status: number): void {
  if (answer.status !== status)
    throw new Error(`expected ${status}, got ${answer.status} ${answer.text}`);
}

/** Claims of a token, unverified. */
export const claimsOf = (token: string): { readonly [claim: string]: unknown } =>
  JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());
