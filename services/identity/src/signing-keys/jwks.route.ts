/** The public keys that verify tokens (RFC 7517). */
import { named } from '@cardea/contracts';
import { sha256 } from '@cardea/crypto';
import { type Endpoint, endpoint } from '@cardea/http';
import Type from 'typebox';
import type { SigningKeys } from './signing-keys.ts';

type Dependencies = {
  readonly signingKeys: Pick<SigningKeys, 'jwks'>;
};

const MAX_AGE_S = 300;

export const jwksRoute = (needs: Dependencies): Endpoint =>
  endpoint(
    {
      name: 'jwks',
      origins: 'every',
      clientName: 'get_jwks',
      summary: 'Public signing keys',
      tag: 'Discovery',
      method: 'get',
      path: '/.well-known/jwks.json',
      who: 'anyone',
      tenant: 'none',
      area: 'user',
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
      okMediaType: 'application/json',
      refusals: {},
    },
    async ({ headers }) => {
      const body = JSON.stringify(needs.signingKeys.jwks());
      const etag = `"${sha256(body).toString('base64url').slice(0, 22)}"`;
      const common = { ETag: etag, 'Cache-Control': `public, max-age=${MAX_AGE_S}` };
      return {
        raw: (response) => {
          if (headers['if-none-match'] === etag) {
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
    },
  );
