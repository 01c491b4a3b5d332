/** A page's call as a curl command. Secrets are variables, not values. */
import type { Endpoint } from '@cardea/http';
import { html, type Markup } from '../markup.ts';
import type { Say } from '../texts/texts.ts';
import type { Strings } from './page-types.ts';

export type Called = {
  readonly endpoint: Pick<Endpoint, 'contract'>;
  readonly baseUrl: string;
  readonly tenantId: string;
  readonly params?: Strings;
  readonly query?: Strings;
  readonly body?: object;
};

export function curlLine(called: Called): string {
  const { endpoint, baseUrl, tenantId, params = {}, query = {}, body } = called;
  const { method, path } = endpoint.contract;
  const filled = path.replaceAll(/\{(\w+)\}/g, (whole, name) =>
    params[name] === undefined ? whole : encodeURIComponent(params[name]),
  );
  const search = new URLSearchParams(query);
  const hasBody = body !== undefined && Object.keys(body).length > 0;
  return [
    `curl -X ${method.toUpperCase()} ${quoted(baseUrl + filled + (search.size === 0 ? '' : `?${search}`))}`,
    '-H "Authorization: Bearer $TOKEN"',
    `-H ${quoted(`X-Service-Tenant: ${tenantId}`)}`,
    ...(hasBody
      ? [`-H 'Content-Type: application/json'`, `-d ${quotedWithVariables(JSON.stringify(body))}`]
      : []),
  ].join(' \\\n  ');
}

/** Collapsed by default, because most people never need it. */
export const curlDetails = ({ say }: { readonly say: Say }, called: Called): Markup =>
  html`<details class="api"><summary>${say('api.title')}</summary><pre tabindex="0"><code>${curlLine(called)}</code></pre></details>
`;

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** A shell replaces `$NAME` inside double quotes. */
const quotedWithVariables = (json: string): string =>
  quoted(json).replaceAll(/"\$([A-Z_]+)"/g, (_whole, name) => `"'"$${name}"'"`);
