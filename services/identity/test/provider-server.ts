/** A test server that imitates the published providers. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import {
  type PublishedGitHub,
  type PublishedIssuers,
  publishedGitHub,
  publishedIssuers,
} from './published-providers.ts';

type Server = { readonly url: string; stop(): Promise<void> };
export type IssuerFixture = PublishedIssuers & Server;
export type GitHubFixture = PublishedGitHub & Server;

type Answering = Pick<PublishedIssuers | PublishedGitHub, 'answer'>;

export const issuerFixture = (): Promise<IssuerFixture> => served(publishedIssuers);
export const gitHubFixture = (): Promise<GitHubFixture> => served(publishedGitHub);

async function served<Provider extends Answering>(
  provider: (at: (published: string) => string) => Provider,
): Promise<Provider & Server> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const played = provider((published) => published.replace(/^https:\/\/[^/]+/, url));
  server.on('request', async (request, response) => {
    const { pathname: path, searchParams: query } = new URL(request.url ?? '', url);
    const form = new URLSearchParams(await text(request));
    const { authorization = '' } = request.headers;
    const answer = played.answer({ path, query, form, authorization });
    if (answer === undefined) return response.writeHead(404).end();
    if ('location' in answer) return response.writeHead(302, answer).end();
    const headers = { 'content-type': 'application/json' };
    return response.writeHead(answer.status, headers).end(JSON.stringify(answer.json));
  });
  const stop = async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  return Object.assign(played, { url, stop });
}
