/** The gateway's configuration template, which is generated and committed, and the documents that it serves. */
import { type Documents, servedDocuments } from '@cardea/documents';
import type { ListedEndpoints } from '@cardea/service';
import { allEndpoints } from '@cardea/standalone';
import packageJson from '../../package.json' with { type: 'json' };
import { gatewayRoutes } from './routes.ts';
import { nginxTemplate } from './template.ts';

export const GATEWAY_FOLDER = new URL('../../deploy/gateway/', import.meta.url);
export const TEMPLATE_FILE = 'nginx.conf.template';

export const { version } = packageJson;

export const product = (): Promise<ListedEndpoints> => allEndpoints(version);

export const templateOf = (described: ListedEndpoints): string =>
  nginxTemplate(gatewayRoutes(described));

/** The endpoints of all services in one document. */
export const documentsOf = ({ common, services }: ListedEndpoints): Documents =>
  servedDocuments({
    endpoints: [...common, ...services.flatMap(({ endpoints }) => endpoints)],
    version,
  });
