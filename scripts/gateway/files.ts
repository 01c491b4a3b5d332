/** The gateway's configuration template, which is generated and committed, and the documents that it serves. */
import { type Documents, servedDocuments } from '@cardea/documents';
import type { Described } from '@cardea/service';
import { describedEndpoints } from '@cardea/standalone';
import packageJson from '../../package.json' with { type: 'json' };
import { gatewayRoutes } from './routes.ts';
import { nginxTemplate } from './template.ts';

export const GATEWAY_FOLDER = new URL('../../deploy/gateway/', import.meta.url);
export const TEMPLATE_FILE = 'nginx.conf.template';

export const { version } = packageJson;

export const product = (): Promise<Described> => describedEndpoints(version);

export const templateOf = (described: Described): string => nginxTemplate(gatewayRoutes(described));

/** The endpoints of all services in one document. */
export const documentsOf = ({ common, services }: Described): Documents =>
  servedDocuments({
    endpoints: [...common, ...services.flatMap(({ endpoints }) => endpoints)],
    version,
  });
