/** B8: vends through the whole product, of a live grant and of a new one, compared with a server that does nothing. */
import { type Bench, type BenchContext, measureCalls, type Row, type Side } from '../harness.ts';
import { httpSide } from '../http.ts';
import { expressNoop } from '../started.ts';
import { type AgentSession, type VendRequests, vendRequests } from '../subjects/write-requests.ts';
import { goalIn, wholeSystem } from '../whole-system.ts';

/** About as long as the response to a vend. */
const NOOP_ANSWER = JSON.stringify({ success: true, data: { filler: 'x'.repeat(250) } });
const CALLERS = 32;
const CALLERS_SMOKE = 4;
/**
 * The number of sessions with a grant. They are started again before each measurement, so that their grants are live.
 */
const LIVE = 200;
const LIVE_SMOKE = 4;
const LIVE_GOAL = { at_least: 0.35 };
const FRESH_GOAL = { at_least: 0.12 };

export const benches: readonly Bench[] = [
  { id: 'B8', title: 'vends of a live grant, and of a new one', run: vends },
];

async function vends(context: BenchContext): Promise<readonly Row[]> {
  const { smoke } = context;
  const callers = smoke ? CALLERS_SMOKE : CALLERS;
  const { base } = await wholeSystem(context);
  const { requests, close } = await vendRequests({ base, callers, smoke });
  context.onEnd(close);
  const floor = await httpSide(context, 'Express no-op POST', {
    origin: await expressNoop(context, NOOP_ANSWER),
    connections: callers,
    requests: [
      { method: 'POST', path: '/', body: '{"service_name":"s","fields":["f"]}', status: 200 },
    ],
  });
  const live = liveSide(requests, callers, smoke ? LIVE_SMOKE : LIVE);
  const fresh = freshSide(requests, callers);
  return [
    await context.compare({
      id: 'B8 live grant',
      subject: live,
      floor,
      ...goalIn(context, LIVE_GOAL),
    }),
    await context.compare({
      id: 'B8 new grant',
      subject: fresh,
      floor,
      ...goalIn(context, FRESH_GOAL),
    }),
  ];
}

const liveSide = (requests: VendRequests, callers: number, count: number): Side => ({
  name: 'vend of a live grant',
  measure: async (seconds) => {
    const live: AgentSession[] = [];
    while (live.length < count) {
      await requests.agentSession();
      live.push(await requests.freshVend());
    }
    let turn = 0;
    return measureCalls(callers, seconds, () =>
      requests.vend(live[turn++ % count] as AgentSession),
    );
  },
});

/** Starts sessions for as long as a measurement takes. There may be fewer sessions than vends in that time. */
const freshSide = (requests: VendRequests, callers: number): Side => ({
  name: 'vend of a new grant',
  measure: async (seconds) => {
    await measureCalls(callers, seconds, () => requests.agentSession());
    return measureCalls(
      callers,
      seconds,
      () => requests.freshVend(),
      () => !requests.hasFreshSessions(),
    );
  },
});
