/**
 * Enrols and verifies the second factors of users. A use is recorded by an append to the factor's stream. Of two
 * concurrent uses one succeeds, across replicas.
 */
import type { Sealer } from '@cardea/crypto';
import type { Command, Streams } from '@cardea/event-store';
import { type Ids, type Random, uuidFrom } from '@cardea/runtime';
import { type ExistingUser, exists, users } from '../accounts/accounts.module.ts';
import { type TotpSecret, totpSecret, totpStep } from '../adapters/totp.ts';
import { factorField } from '../streams/encrypted-fields.ts';
import { addFactor } from './factors/add-factor.ts';
import { factors } from './factors/factor.ts';
import {
  drawRecoveryCodes,
  enrolRecoveryCodes,
  printRecoveryCode,
  readRecoveryCode,
  setRecoveryCodes,
  useRecoveryCode,
} from './factors/recovery-codes/recovery-codes.ts';
import { confirmTotp, enrolTotp, useTotp } from './factors/totp/totp.ts';

export type CodeMethod = 'totp' | 'recovery';
export type ShownCode = { readonly method: CodeMethod; readonly code: string };

export type EnrolledTotp = TotpSecret & { readonly factorId: string };
export type Confirmed =
  | {
      readonly confirmed: true;
      readonly user: ExistingUser;
      readonly recoveryCodes: readonly string[];
      readonly position: bigint | undefined;
    }
  | {
      readonly confirmed: false;
      readonly reason: 'not_found' | 'invalid_code' | 'expired' | 'too_many_factors';
    };

export type SecondFactors = {
  /** Creates a new secret. It counts as a factor after its first code was verified. */
  readonly enrolTotp: (
    of: {
      readonly user: ExistingUser;
      readonly name: string | null;
      /** The account and issuer that the authenticator app shows. */
      readonly account: string;
      readonly issuer: string;
    },
    command: Command,
  ) => Promise<EnrolledTotp | 'erased'>;
  /** Adds a secret that the owner's app has already. Returns undefined if nothing was added. */
  readonly importTotp: (
    of: { readonly userId: string; readonly secret: string },
    command: Command,
  ) => Promise<bigint | undefined>;
  readonly confirmTotp: (
    of: { readonly userId: string; readonly factorId: string; readonly code: string },
    command: Command,
  ) => Promise<Confirmed>;
  readonly renewRecoveryCodes: (
    userId: string,
    command: Command,
  ) => Promise<
    | { readonly codes: readonly string[]; readonly position: bigint | undefined }
    | { readonly refused: 'not_found' | 'no_second_factor' }
  >;
  /** Uses the code and returns its factor, or undefined for a wrong code. */
  readonly use: (
    user: ExistingUser,
    shown: ShownCode,
    command: Command,
  ) => Promise<string | undefined>;
};

type Dependencies = {
  readonly streams: Streams;
  readonly sealer: Sealer;
  readonly ids: Ids;
  readonly random: Random;
};

export function secondFactors(needs: Dependencies): SecondFactors {
  const { streams, sealer, ids, random } = needs;

  const enrolled: SecondFactors['enrolTotp'] = async ({ user, name, ...shown }, command) => {
    const { tenantId } = command.metadata;
    const factorId = ids.next();
    const made = totpSecret(random, shown);
    const seal = (field: 'secret' | 'name', text: string) =>
      sealer.seal(tenantId, factorField(user.id, factorId, field), text);
    const [secret, sealedName] = await Promise.all([
      seal('secret', made.secret),
      name === null ? null : seal('name', name),
    ]);
    if (secret === 'erased' || sealedName === 'erased') return 'erased';
    const enrol = { id: factorId, userId: user.id, name: sealedName, secret, now: command.now };
    await streams.decideOn(factors, factorId, command, {
      isNew: true,
      decide: (factor) => enrolTotp(enrol, factor),
    });
    return { ...made, factorId };
  };

  const drawn = async (userId: string, command: Command) => {
    const { tenantId } = command.metadata;
    const id = ids.next();
    const codes = drawRecoveryCodes(random);
    const hashes = await Promise.all(codes.map((code) => hashOf(sealer, tenantId, { id, code })));
    const enrol = { id, userId, hashes, now: command.now };
    await streams.decideOn(factors, id, command, {
      isNew: true,
      decide: (factor) => enrolRecoveryCodes(enrol, factor),
    });
    return { id, codes: codes.map(printRecoveryCode) };
  };

  return {
    enrolTotp: enrolled,
    importTotp: (of, command) => importTotp(needs, of, command),
    confirmTotp: async ({ userId, factorId, code }, command) => {
      const { now } = command;
      const step = await stepOf(needs, { factorId, code }, command);
      const used = await streams.decideOn(factors, factorId, command, (factor) =>
        confirmTotp({ userId, step, now }, factor),
      );
      if (!used.accepted) {
        const { reason } = used;
        const isWrong = reason === 'wrong' || reason === 'used';
        return { confirmed: false, reason: isWrong ? 'invalid_code' : reason };
      }
      const recovery = await drawn(userId, command);
      const add = { factor: { id: factorId, type: 'totp' }, recoveryId: recovery.id, now } as const;
      const decided = await streams.decideOn(users, userId, command, (user) =>
        addFactor(add, user),
      );
      if (!decided.accepted) return { confirmed: false, reason: decided.reason };
      if (!exists(decided.state)) return { confirmed: false, reason: 'not_found' };
      const { state: user, position } = decided;
      return { confirmed: true, user, recoveryCodes: recovery.codes, position };
    },
    renewRecoveryCodes: async (userId, command) => {
      const { id: recoveryId, codes } = await drawn(userId, command);
      const decided = await streams.decideOn(users, userId, command, (user) =>
        setRecoveryCodes({ recoveryId, now: command.now }, user),
      );
      return decided.accepted ? { codes, position: decided.position } : { refused: decided.reason };
    },
    use: (user, shown, command) =>
      shown.method === 'totp'
        ? useOneOfTotp(needs, { user, code: shown.code }, command)
        : useRecovery(needs, { user, code: shown.code }, command),
  };
}

async function importTotp(
  { streams, sealer }: Pick<Dependencies, 'streams' | 'sealer'>,
  { userId, secret: text }: { readonly userId: string; readonly secret: string },
  command: Command,
): Promise<bigint | undefined> {
  const { now } = command;
  // The id is the same for a repeated request.
  const factorId = uuidFrom(userId, 'imported totp');
  const place = factorField(userId, factorId, 'secret');
  const secret = await sealer.seal(command.metadata.tenantId, place, text);
  if (secret === 'erased') return undefined;
  const enrol = { id: factorId, userId, name: null, secret, now };
  await streams.decideOn(factors, factorId, command, {
    isNew: true,
    decide: (factor) => enrolTotp(enrol, factor),
  });
  const add = { factor: { id: factorId, type: 'totp' }, recoveryId: null, now } as const;
  const own = { ...command, id: uuidFrom(command.id, 'imported totp') };
  const decided = await streams.decideOn(users, userId, own, (user) => addFactor(add, user));
  return decided.position;
}

const hashOf = (
  sealer: Sealer,
  tenantId: string,
  { id, code }: { readonly id: string; readonly code: string },
) => sealer.indexHash({ tenantId }, 'recovery_code', id, code);

type Typed = { readonly user: ExistingUser; readonly code: string };

/** After the key was erased nobody can read the secret, so no code is right. */
async function stepOf(
  { streams, sealer }: Pick<Dependencies, 'streams' | 'sealer'>,
  { factorId, code }: { readonly factorId: string; readonly code: string },
  { now, metadata: { tenantId } }: Command,
): Promise<number | null> {
  const { state } = await streams.load(factors, { tenantId, id: factorId });
  if (state.type !== 'totp') return null;
  const secret = await sealer.open(state.secret, factorField(state.user_id, state.id, 'secret'));
  return secret === null ? null : totpStep(secret, code, now);
}

async function useOneOfTotp(
  needs: Pick<Dependencies, 'streams' | 'sealer'>,
  { user, code }: Typed,
  command: Command,
): Promise<string | undefined> {
  const own = user.secondFactors.factors.filter(({ type }) => type === 'totp');
  const steps = await Promise.all(
    own.map(({ id }) => stepOf(needs, { factorId: id, code }, command)),
  );
  for (const [index, { id }] of own.entries()) {
    const step = steps[index] ?? null;
    if (step === null) continue;
    const use = { userId: user.id, step, now: command.now };
    const decided = await needs.streams.decideOn(factors, id, commandOn(command), (factor) =>
      useTotp(use, factor),
    );
    if (decided.accepted) return id;
  }
  return undefined;
}

async function useRecovery(
  { streams, sealer }: Pick<Dependencies, 'streams' | 'sealer'>,
  { user, code: typed }: Typed,
  command: Command,
): Promise<string | undefined> {
  const { recoveryId } = user.secondFactors;
  const code = readRecoveryCode(typed);
  if (recoveryId === null || code === undefined) return undefined;
  const hash = await hashOf(sealer, command.metadata.tenantId, { id: recoveryId, code });
  const use = { userId: user.id, hash, now: command.now };
  const decided = await streams.decideOn(factors, recoveryId, commandOn(command), (factor) =>
    useRecoveryCode(use, factor),
  );
  return decided.accepted ? recoveryId : undefined;
}

/** Derives a command id that differs from other appends of the request to the factor. */
const commandOn = (command: Command): Command => ({ ...command, id: uuidFrom(command.id, 'use') });
