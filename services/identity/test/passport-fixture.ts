/** A web application with a passport strategy. `/login` redirects the browser; `/callback` completes the sign-in. */
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

export type PassportSite = {
  readonly home: string;
  /** Call it after the application's address is registered. */
  readonly use: (strategy: Strategy) => void;
  readonly stop: () => void;
};
// Its `authenticate` takes an express request.
type Strategy = object;

export async function passportSite(): Promise<PassportSite> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const session: { [name: string]: unknown } = {};
  return {
    home: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    use: (strategy) => {
      server.on('request', (request: IncomingMessage & { [name: string]: unknown }, response) => {
        Object.assign(request, { session, query: queryOf(request) });
        const said = (status: number, body: unknown) => {
          response.writeHead(status).end(JSON.stringify(body));
        };
        // Copies the strategy for each request, as the passport middleware does.
        const own = Object.assign(Object.create(strategy), {
          success: (user: object) => said(200, user),
          fail: (challenge: unknown, status = 401) => said(status, challenge),
          error: (error: unknown) => said(400, { error: String(error) }),
          redirect: (to: string) => response.writeHead(302, { location: to }).end(),
          pass: () => said(404, {}),
        });
        own.authenticate(request, {});
      });
    },
    stop: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

const queryOf = ({ url = '' }: IncomingMessage) =>
  Object.fromEntries(new URL(url, 'http://127.0.0.1').searchParams);
