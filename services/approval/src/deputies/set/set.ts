import { accept, type Decision } from '@cardea/event-store';
import type { DeputyChanged, DeputyState, Deputyship } from '../deputy.ts';

/** Setting the same deputyship again is no change, even if both start in the past. */
export function setDeputy(
  of: { readonly userId: string; readonly deputyship: Deputyship; readonly now: Date },
  state: DeputyState,
): Decision<DeputyChanged, never> {
  const { deputy, from, until } = of.deputyship;
  const hasBegun = (each: string): boolean => Date.parse(each) <= of.now.getTime();
  const isSame =
    state?.deputy === deputy &&
    state.until === until &&
    (state.from === from || (hasBegun(state.from) && hasBegun(from)));
  if (isSame) return accept();
  const before = state?.deputy ?? null;
  const data = { user_id: of.userId, deputy, from, until, before };
  return accept({ type: 'DeputyChanged', data });
}
