/** Maintains `logout_notices`, the notices that are still to be sent. */
import { projection, table } from '@cardea/read-models';
import type { TenantDeleted } from '../../workspaces/workspaces.module.ts';
import { forgetTenantIn } from '../../workspaces/workspaces.module.ts';
import { type LogoutNoticeEvent, logoutNoticeIdOf } from './logout-notice.ts';

export const logoutNoticeRows = table('logout_notices', {
  key: ['id'],
  columns: { id: 'text', tenant_id: 'text', due_at: 'timestamptz' },
});

/** Events after which the sender has to read the next due time again, because a notice may be due earlier now. */
const WAKING: ReadonlySet<string> = new Set(['LogoutNoticeQueued', 'LogoutNoticeDeferred']);

/** `wake` is called in every process when the next due time may have changed. */
export const logoutNoticesProjection = (wake: () => void) =>
  projection<LogoutNoticeEvent | TenantDeleted>()({
    name: 'logout_notices',
    log: 'identity',
    tables: [logoutNoticeRows],
    on: {
      LogoutNoticeQueued: ({ streamId, data, metadata }) => {
        const id = logoutNoticeIdOf(streamId);
        return [logoutNoticeRows.put({ id, tenant_id: metadata.tenantId, due_at: data.at })];
      },
      LogoutNoticeDeferred: ({ streamId, data }) => [
        logoutNoticeRows.patch({ id: logoutNoticeIdOf(streamId) }, { due_at: data.retry_at }),
      ],
      LogoutNoticeSettled: ({ streamId }) => [
        logoutNoticeRows.remove({ id: logoutNoticeIdOf(streamId) }),
      ],
      LogoutNoticeFailed: ({ streamId }) => [
        logoutNoticeRows.remove({ id: logoutNoticeIdOf(streamId) }),
      ],
    },
    apply: forgetTenantIn('logout_notices'),
    onCommitted: (events) => {
      if (events.some(({ type }) => WAKING.has(type))) wake();
    },
    onAppliedElsewhere: wake,
  });
