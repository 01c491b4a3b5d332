/** The URL of the page of a request, or of all pending requests. It names the tenant to sign in at. */
import type { Settings } from '@cardea/runtime';

/** The page of a person's own deputy. */
export const pageOfDeputy = (settings: Pick<Settings, 'PUBLIC_URL'>, tenantId: string): string =>
  `${settings.PUBLIC_URL}/account/deputy?in=${encodeURIComponent(tenantId)}`;

export function pageOfRequests(
  settings: Pick<Settings, 'PUBLIC_URL'>,
  tenantId: string,
  id?: string,
): string {
  const path = id === undefined ? '/approve' : `/approve/${encodeURIComponent(id)}`;
  return `${settings.PUBLIC_URL}${path}?in=${encodeURIComponent(tenantId)}`;
}
