/** A request that is bound to an action of a caller's own tool, as tests of its digest and of its use give it. */
import { actionBindingOf } from '../src/requests/actions/action-binding.ts';
import type { RequestFacts } from '../src/requests/approval-requests/request.ts';
import { facts as vendFacts } from './decision-samples.ts';

export const facts: RequestFacts = { ...vendFacts, action: 'pay', origin: 'agent' };
export const details = { to: 'Ada', cents: 1_000, lines: [{ text: 'a' }] };
export const wanted = { details, action_digest: 'sha256-0123456789' };
export const action_binding = actionBindingOf(facts, { ...wanted, use_window_seconds: 60 });
