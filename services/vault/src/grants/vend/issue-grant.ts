import { accept, type Decision, refuse } from '@cardea/event-store';
import {
  type CredentialGranted,
  type CurrentGrant,
  type Grant,
  type GrantKeyState,
  isLive,
  type UsedApproval,
} from '../grant-key.ts';

/** The known facts of a grant to issue, before the stream of the grant key is read. */
export type IssueGrant = {
  readonly grant: Grant;
  readonly forced: boolean;
  /** The approval that was consumed for this grant. `again`: an earlier try had consumed it already. */
  readonly consumed:
    | { readonly approval_id: string; readonly use_before: string; readonly again: boolean }
    | undefined;
  readonly now: Date;
};

/**
 * Issues the grant, or returns the current grant of the key if it satisfies the request: the same grant or, without an
 * approval, any live one. An approval issues one grant only, even if that grant has ended.
 */
export function issueGrant(
  { grant, forced, consumed, now }: IssueGrant,
  grantKey: GrantKeyState,
): Decision<CredentialGranted, 'APPROVAL_CONSUMED'> {
  const current = grantKey.status === 'granted' ? grantKey.current : undefined;
  const live = current !== undefined && isLive(current, grant, now);
  if (consumed === undefined) {
    if (current?.grant_id === grant.grant_id || (live && !forced)) return accept();
    return accept(granted(grant, current, usedAhead(current, now)));
  }
  if (current?.grant_id === grant.grant_id) {
    return live && !(forced && consumed.again) ? accept() : refuse('APPROVAL_CONSUMED');
  }
  const used = usedAhead(current, now);
  const { approval_id, use_before, again } = consumed;
  const isUsed = used.some((each) => each.approval_id === approval_id);
  const isLate = again && Date.parse(use_before) <= now.getTime();
  if (isUsed || isLate) return refuse('APPROVAL_CONSUMED');
  return accept(granted(grant, current, [...used, { approval_id, use_before }]));
}

const usedAhead = (current: CurrentGrant | undefined, now: Date): readonly UsedApproval[] =>
  (current?.used ?? []).filter(({ use_before }) => Date.parse(use_before) > now.getTime());

const granted = (
  grant: Grant,
  before: CurrentGrant | undefined,
  used: readonly UsedApproval[],
): CredentialGranted => ({
  type: 'CredentialGranted',
  data: { ...grant, revoked_at: null, used, supersedes: before?.grant_id ?? null },
});
