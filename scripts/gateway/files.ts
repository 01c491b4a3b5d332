/** The files of the gateway that are made from the code, as they are committed. */
import { documentation, openApi } from '@cardea/http';
import type { Described } from '@cardea/service';
import { asyncApi } from '../events/asyncapi.ts';
import { publishedTopics } from '../events/published-events.ts';
import { version } from './endpoints.ts';
import { gatewayRoutes } from './routes.ts';
import { nginxTemplate } from './template.ts';

export const GATEWAY_FOLDER = new URL('../../deploy/gateway/', import.meta.url);

type Files = { readonly [name: string]: string };

export const gatewayFiles = (described: Described): Files => ({
  'nginx.conf.template': nginxTemplate(gatewayRoutes(described)),
  'docs.html': documentation.page,
  'start.js': documentation.start,
  'asyncapi.json': json(asyncApi(publishedTopics(), version)),
});

/** All services' endpoints in one document; clients resolve the server against its own address. */
export function documentFile({ common, services }: Described): Files {
  const endpoints = [...common, ...services.flatMap((each) => each.endpoints)];
  const document = openApi({ endpoints, version, publicUrl: '/' });
  return { 'openapi.json': json(document) };
}

const json = (document: object): string => `${JSON.stringify(document, null, 2)}\n`;
