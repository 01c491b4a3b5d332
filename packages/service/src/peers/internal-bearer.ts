/**
 * The bearer tokens with which services authenticate at each other's internal listeners. There is one per pair, so a
 * token proves which service calls. Each callee has its own key, from which the bearer of each caller is derived. A
 * holder of the deployment's secret can derive them all, and still accepts and sends the single bearer of the previous
 * release.
 */
import { SERVICE_NAMES, type ServiceName } from '@cardea/contracts';
import { deriveKey, sameBytes } from '@cardea/crypto';
import type { Settings } from '@cardea/runtime';
import type { ServiceDependencies } from '../service.ts';

/** `cardea` is the command line. */
export type InternalCaller = ServiceName | 'cardea';

/** The callers that the listener of each service accepts. */
const CALLERS: { readonly [callee in ServiceName]?: readonly InternalCaller[] } = {
  identity: SERVICE_NAMES,
  approval: ['vault'],
  authz: ['approval', 'vault'],
};
const OF_BEFORE = 'internal/v1';

export type InternalBearers = {
  /** The bearer tokens to send, the current one first. */
  readonly to: (callee: ServiceName) => readonly string[];
  /** Whether an `Authorization` header belongs to a permitted caller. Compares in constant time. */
  readonly accepts: (header: string | undefined) => boolean;
  /** Works like `accepts`, for the management port, where only the command line may change something. */
  readonly acceptsTools: (header: string | undefined) => boolean;
};

export type BearerSecrets = {
  readonly derive: ServiceDependencies['derive'];
  /** Set for a service with its own secrets. Otherwise all bearer tokens are derived. */
  readonly settings?: Partial<Pick<Settings, 'INTERNAL_KEY' | 'INTERNAL_BEARERS'>>;
};

export function internalBearers(
  { derive, settings = {} }: BearerSecrets,
  names: readonly ServiceName[],
  caller: InternalCaller = names[0] ?? 'cardea',
): InternalBearers {
  const given = settings.INTERNAL_KEY?.reveal().split(',');
  const keysOf = (callee: ServiceName): readonly Buffer[] =>
    given === undefined ? calleeKeys(derive, callee) : given.map((key) => Buffer.from(key, 'hex'));
  const before =
    given === undefined
      ? both(derive('JWT_SECRET', OF_BEFORE)).map((key) => key.toString('base64url'))
      : [];
  const from = (callers: (callee: ServiceName) => readonly InternalCaller[]): readonly string[] => [
    ...names.flatMap((callee) =>
      keysOf(callee).flatMap((key) => callers(callee).map((each) => bearerOf(key, each))),
    ),
    ...before,
  ];
  const shown = settings.INTERNAL_BEARERS?.reveal();
  return {
    to: (callee) =>
      given === undefined
        ? [...keysOf(callee).map((key) => bearerOf(key, caller)), ...before]
        : bearersFor(shown ?? '', callee),
    accepts: fitting(from((callee) => CALLERS[callee] ?? [])),
    acceptsTools: fitting(from(() => ['cardea'])),
  };
}

/** The values that `cardea env derive` gives to one service, in the form of its settings. */
export function internalSecretsOf(
  derive: ServiceDependencies['derive'],
  service: ServiceName,
): { readonly INTERNAL_KEY: string; readonly INTERNAL_BEARERS: string } {
  const callees = SERVICE_NAMES.filter((callee) => CALLERS[callee]?.includes(service));
  return {
    INTERNAL_KEY: calleeKeys(derive, service)
      .map((key) => key.toString('hex'))
      .join(','),
    INTERNAL_BEARERS: callees
      .flatMap((callee) =>
        calleeKeys(derive, callee).map((key) => `${callee}=${bearerOf(key, service)}`),
      )
      .join(','),
  };
}

const calleeKeys = (derive: ServiceDependencies['derive'], callee: ServiceName) =>
  both(derive('JWT_SECRET', `internal-callee/${callee}/v1`));

const both = ({ current, previous }: ReturnType<ServiceDependencies['derive']>) =>
  previous === undefined ? [current] : [current, previous];

const bearerOf = (key: Buffer, caller: InternalCaller): string =>
  deriveKey(key, `internal-caller/${caller}/v1`).toString('base64url');

const bearersFor = (list: string, callee: ServiceName): readonly string[] =>
  list
    .split(',')
    .filter((each) => each.startsWith(`${callee}=`))
    .map((each) => each.slice(callee.length + 1));

/** All are compared, even after a match, so that the time reveals nothing. */
const fitting =
  (bearers: readonly string[]) =>
  (header = ''): boolean =>
    bearers.map((bearer) => sameBytes(header, `Bearer ${bearer}`)).includes(true);
