/** The authorization server over https. TLS ends in a proxy in front of it, whose address is the issuer. */
import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import {
  createServer,
  getCACertificates,
  setDefaultCACertificates,
  type TLSSocket,
} from 'node:tls';
import { type OAuthFixture, oauthFixture } from './oauth-fixture.ts';
import { selfSigned } from './self-signed.ts';

const LOOPBACK = '127.0.0.1';

/** The clients of this process trust its certificate until it is stopped. */
export async function secureFixture(databaseUrl: string): Promise<OAuthFixture> {
  const { key, cert } = selfSigned();
  const trusted = getCACertificates('default');
  const open = new Set<TLSSocket>();
  let port = 0;
  const server = createServer({ key, cert }, (client) => {
    const inner = connect(port, LOOPBACK);
    open.add(client.once('close', () => open.delete(client)));
    // If one side fails, the other side is closed.
    client.on('error', () => inner.destroy()).pipe(inner);
    inner.on('error', () => client.destroy()).pipe(client);
  });
  await once(server.listen(0, LOOPBACK), 'listening');
  setDefaultCACertificates([...trusted, cert]);
  const issuer = `https://${LOOPBACK}:${(server.address() as AddressInfo).port}`;
  const fixture = await oauthFixture(databaseUrl, { ISSUER: issuer });
  port = Number(new URL(fixture.baseUrl).port);
  return {
    ...fixture,
    baseUrl: issuer,
    stop: async () => {
      setDefaultCACertificates(trusted);
      for (const client of open) client.destroy();
      server.close();
      await fixture.stop();
    },
  };
}
