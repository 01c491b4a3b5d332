/**
 * An application can use every address that it registers, byte for byte. Unusable addresses are refused at
 * registration.
 */
import { beforeAll, describe, expect, it } from 'vitest';
import { COLUMNS, type Column, isTaken, ORIGIN_ROWS, REDIRECT_ROWS } from './address-forms.ts';
import { authorizeUrl, browser, oauthOfFile, pkce, type TestClient } from './oauth-fixture.ts';

const { fixture, admin } = oauthOfFile({ ENV: 'production' });
const PATH = '/api/v1/admin/applications';
const URIS_MAX = 50;

type Registered = Exclude<Column, 'document'>;
const ENVIRONMENTS: { readonly [column in Registered]: string } = {
  web: 'production',
  spa_in_development: 'development',
  native: 'production',
};
const bodyOf = (column: Registered, fields: object) => {
  const { type } = COLUMNS[column];
  return { name: 'Shop', type, environment: ENVIRONMENTS[column], first_party: true, ...fields };
};
const register = (column: Registered, fields: object) =>
  fixture.as(admin).post(PATH, bodyOf(column, fields));
const rowsOf = (column: Registered) => REDIRECT_ROWS.filter((row) => row.column === column);

describe.each(Object.keys(ENVIRONMENTS) as Registered[])('addresses of a client: %s', (column) => {
  let client: TestClient;
  const taken = rowsOf(column).filter(isTaken);
  beforeAll(async () => {
    expect(taken.length).toBeLessThanOrEqual(URIS_MAX);
    const made = await register(column, { redirect_uris: taken.map(({ uri }) => uri) });
    expect(made.status, made.text).toBe(201);
    client = made.body;
    expect(made.body.warnings).toEqual(column === 'native' ? ['scheme_not_owned'] : []);
  });

  it.each(taken)('an answer is sent to $uri, byte for byte [oauth-32]', async ({ uri }) => {
    const { challenge } = pkce();
    const more = { code_challenge: challenge, redirect_uri: uri, prompt: 'none' };
    const { status, location } = await browser(fixture).get(authorizeUrl(client, more));
    expect([status, new URL(location).searchParams.get('error')]).toEqual([303, 'login_required']);
    // An empty path gets a slash, as in every parser.
    const start = uri.includes('?') || new URL(uri).href === uri ? uri : `${uri}/`;
    expect(location.startsWith(start)).toBe(true);
    expect(location.slice(start.length)).toMatch(/^[?&]?(?:error|state)=/);
  });

  it.each(rowsOf(column).filter((row) => !isTaken(row)))(
    '$uri is refused for the rule $outcome [oauth-32]',
    async ({ uri, outcome }) => {
      const answer = await register(column, { redirect_uris: [uri] });
      if (outcome === 'too_long') {
        expect([answer.status, answer.code]).toEqual([400, 'invalid_request']);
        return;
      }
      expect([answer.status, answer.code]).toEqual([400, 'invalid_redirect_uri']);
      expect(answer.body.error.details).toEqual({ field: 'redirect_uris.0', rule: outcome });
    },
  );

  it.each(ORIGIN_ROWS)(
    'the origin %s is allowed or refused by its rule [oauth-32]',
    async (...row) => {
      const [origin, page, inDevelopment, native] = row;
      const outcomes = { web: page, spa_in_development: inDevelopment, native };
      const answer = await register(column, { allowed_origins: [origin] });
      if (outcomes[column] === 'allowed') {
        expect([answer.status, answer.body.allowed_origins]).toEqual([201, [origin]]);
        return;
      }
      expect([answer.status, answer.code]).toEqual([400, 'invalid_request']);
      const fault = { field: 'allowed_origins.0', rule: outcomes[column] };
      expect(answer.body.error.details).toEqual([fault]);
    },
  );
});

describe('an application that leaves development', () => {
  it('gives up its addresses at localhost first [oauth-32]', async () => {
    const local = { redirect_uris: ['http://localhost:5173/cb'] };
    const { body } = await register('spa_in_development', local);
    const change = (fields: object) => fixture.as(admin).patch(`${PATH}/${body.id}`, fields);
    const refused = await change({ environment: 'production' });
    expect([refused.status, refused.code]).toEqual([400, 'invalid_redirect_uri']);
    expect(refused.body.error.details).toEqual({ field: 'redirect_uris.0', rule: 'http_host' });
    const redirect_uris = ['https://app.example.com/cb'];
    expect((await change({ environment: 'production', redirect_uris })).status).toBe(200);
  });
});
