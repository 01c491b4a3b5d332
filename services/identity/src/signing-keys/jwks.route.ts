/**
 * Serves the public keys that verify tokens (RFC 7517). The well-known address has the keys of Cardea's own tokens. The
 * address that discovery names also has the keys of tokens for clients.
 */
import type { ServerResponse } from 'node:http';
import { named } from '@cardea/contracts';
import { sha256 } from '@cardea/crypto';
import { type Endpoint, endpoint } from '@cardea/http';
import Type from 'typebox';
import type { SigningKeys } from './signing-keys.ts';

type Dependencies = {
  readonly signingKeys: Pick<SigningKeys, 'clientJwks' | 'jwks'>;
};

const MAX_AGE_S = 300;

export const jwksRoute = (needs: Dependencies): Endpoint =>
  endpoint(
    {
      name: 'jwks',
      response: { mediaType: 'application/json', origins: 'every' },
      summary: 'Public signing keys',
      description:
        'Shows the public Ed25519 keys with which access tokens are checked. Cache them; an unknown `kid` is a reason to fetch them again.',
      tag: 'Discovery',
      method: 'get',
      path: '/.well-known/jwks.json',
      who: 'anyone',
      tenant: 'none',
      ok: Type.Object({
        keys: Type.Array(
          named(
            'Jwk',
            Type.Object({
              kty: Type.Literal('OKP'),
              crv: Type.Literal('Ed25519'),
              x: Type.String(),
              kid: Type.String(),
              alg: Type.Literal('EdDSA'),
              use: Type.Literal('sig'),
            }),
          ),
        ),
      }),
      refusals: {},
    },
    async ({ headers }) => keySetAnswer(needs.signingKeys.jwks(), headers['if-none-match']),
  );

export const clientJwksRoute = (needs: Dependencies): Endpoint =>
  endpoint(
    {
      name: 'client_jwks',
      response: { mediaType: 'application/json', origins: 'every' },
      summary: 'Public signing keys of all algorithms',
      description:
        'Shows the public keys of all algorithms with which tokens for applications are signed.',
      tag: 'Discovery',
      method: 'get',
      path: '/oauth2/jwks',
      who: 'anyone',
      tenant: 'none',
      ok: Type.Object({
        keys: Type.Array(
          named(
            'PublicSigningKey',
            Type.Object(
              {
                kty: Type.Enum(['OKP', 'RSA', 'EC']),
                kid: Type.String(),
                use: Type.Literal('sig'),
                alg: Type.Optional(Type.Enum(['RS256', 'ES256'])),
              },
              { additionalProperties: true },
            ),
          ),
        ),
      }),
      refusals: {},
    },
    async ({ headers }) => keySetAnswer(needs.signingKeys.clientJwks(), headers['if-none-match']),
  );

function keySetAnswer(keySet: object, knownEtag: string | undefined) {
  const body = JSON.stringify(keySet);
  const etag = `"${sha256(body).toString('base64url').slice(0, 22)}"`;
  const common = { ETag: etag, 'Cache-Control': `public, max-age=${MAX_AGE_S}` };
  return {
    raw: (response: ServerResponse) => {
      if (knownEtag === etag) {
        response.writeHead(304, common).end();
        return;
      }
      response.writeHead(200, {
        ...common,
        'Content-Type': 'application/json; charset=utf-8',
        'Content-Length': Buffer.byteLength(body),
      });
      response.end(body);
    },
  };
}
