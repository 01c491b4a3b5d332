/** Generates the OpenAPI 3.1 document from the endpoint values alone, so it describes only what exists. */

import type { Endpoint } from '../contract/endpoint.ts';
import { catalogue } from './catalogue.ts';
import { answerHeaders, headerParameters, securitySchemes } from './components.ts';
import { introduction } from './introduction.ts';
import { type Json, NamedTypes } from './named-types.ts';
import { operation } from './operation.ts';
import { refusalsOf } from './refusals.ts';
import { webhooksOf } from './webhooks.ts';

export type DocumentOf = {
  readonly endpoints: readonly Endpoint[];
  readonly version: string;
  /** The URL under which clients reach the API. */
  readonly publicUrl: string;
};

const WEBHOOKS = '/api/v1/webhooks';

export function openApi({ endpoints, version, publicUrl }: DocumentOf): Json {
  const entries = catalogue(endpoints).filter(({ contract }) => contract.audience !== 'page');
  const types = new NamedTypes();
  const refusals = refusalsOf(entries, types);
  const paths: { [path: string]: Json } = {};
  for (const entry of entries) {
    const { path, method } = entry.contract;
    paths[path] = { ...paths[path], [method]: operation(entry, { types, refusals }) };
  }
  const tags = [...new Set(entries.map(({ contract }) => contract.tag))].sort();
  const webhooks = WEBHOOKS in paths ? { webhooks: webhooksOf(types) } : {};
  return {
    openapi: '3.1.0',
    info: {
      title: 'Cardea',
      version,
      description: introduction,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: publicUrl }],
    tags: tags.map((name) => ({ name })),
    paths,
    ...webhooks,
    components: {
      securitySchemes,
      parameters: headerParameters,
      headers: answerHeaders,
      responses: refusals.components,
      schemas: types.all(),
    },
  };
}
