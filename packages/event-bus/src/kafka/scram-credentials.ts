/**
 * Kafka's request that sets passwords of users (AlterUserScramCredentials, version 0), which the driver lacks. It is
 * sent over the driver's own connection, whose internals are stable because the version is pinned.
 */
import { pbkdf2Sync, randomBytes } from 'node:crypto';
import { createRequire } from 'node:module';
import type { Secret } from '@cardea/runtime';
import type { Kafka } from 'kafkajs';

export type ScramCredential = { readonly name: string; readonly password: Secret };

/** Sets the passwords and creates missing users. The brokers get only what is needed to verify a password. */
export async function setCredentials(
  kafka: Kafka,
  credentials: readonly ScramCredential[],
): Promise<void> {
  const cluster = clusterOf(kafka);
  await cluster.connect();
  try {
    await cluster.refreshMetadata();
    const { connectionPool } = await cluster.findControllerBroker();
    const refused = await connectionPool.send({
      request: {
        apiKey: ALTER_USER_SCRAM_CREDENTIALS,
        apiVersion: 0,
        apiName: 'AlterUserScramCredentials',
        encode: async () => upserting(credentials),
      },
      response: {
        decode: async (raw) => refusalsIn(newDecoder(raw)),
        parse: async (read) => read,
      },
    });
    if (refused.length > 0) throw new CredentialsRefused(refused);
  } finally {
    await cluster.disconnect();
  }
}

/** The message names users and Kafka's error codes. */
export class CredentialsRefused extends Error {
  override readonly name = 'CredentialsRefused';
  constructor(refused: readonly Refusal[]) {
    super(refused.map(({ user, code }) => `${user}: error ${code}`).join(', '));
  }
}

const ALTER_USER_SCRAM_CREDENTIALS = 51;
const SCRAM_SHA_512 = 2;
/** Kafka's minimum. The passwords are random, so more iterations are not needed. */
const ITERATIONS = 4096;
const SALT_BYTES = 24;
const KEY_BYTES = 64;

type Refusal = { readonly user: string; readonly code: number };

interface Encoder {
  writeUVarIntBytes(value?: Buffer): Encoder;
  writeUVarIntString(value: string): Encoder;
  writeUVarIntArray(values: readonly Encoder[]): Encoder;
  writeInt8(value: number): Encoder;
  writeInt32(value: number): Encoder;
}
interface Decoder {
  readTaggedFields(): unknown;
  readInt16(): number;
  readInt32(): number;
  readUVarIntString(): string | null;
  readUVarIntArray<T>(read: (decoder: Decoder) => T): readonly T[];
}
type Cluster = {
  connect(): Promise<void>;
  disconnect(): Promise<void>;
  refreshMetadata(): Promise<void>;
  findControllerBroker(): Promise<{
    readonly connectionPool: { send<T>(call: Call<T>): Promise<T> };
  }>;
};
type Call<T> = {
  readonly request: {
    readonly apiKey: number;
    readonly apiVersion: number;
    readonly apiName: string;
    encode(): Promise<Encoder>;
  };
  readonly response: { decode(raw: Buffer): Promise<T>; parse(read: T): Promise<T> };
};

const require = createRequire(import.meta.url);
const newEncoder = (): Encoder => new (require('kafkajs/src/protocol/encoder'))();
const newDecoder = (raw: Buffer): Decoder => new (require('kafkajs/src/protocol/decoder'))(raw);

/** An empty list of tagged fields, which ends each part of a request. */
const NO_TAGS = undefined;

const upserting = (credentials: readonly ScramCredential[]): Encoder =>
  newEncoder()
    .writeUVarIntBytes(NO_TAGS) // This is the end of the header.
    .writeUVarIntArray([])
    .writeUVarIntArray(credentials.map(encoded))
    .writeUVarIntBytes(NO_TAGS);

function encoded({ name, password }: ScramCredential): Encoder {
  const salt = randomBytes(SALT_BYTES);
  const salted = pbkdf2Sync(password.reveal(), salt, ITERATIONS, KEY_BYTES, 'sha512');
  return newEncoder()
    .writeUVarIntString(name)
    .writeInt8(SCRAM_SHA_512)
    .writeInt32(ITERATIONS)
    .writeUVarIntBytes(salt)
    .writeUVarIntBytes(salted)
    .writeUVarIntBytes(NO_TAGS);
}

function refusalsIn(decoder: Decoder): readonly Refusal[] {
  decoder.readTaggedFields();
  decoder.readInt32(); // The time for which the broker asks the client to wait.
  const results = decoder.readUVarIntArray((result): Refusal => {
    const user = result.readUVarIntString() ?? '';
    const code = result.readInt16();
    result.readUVarIntString();
    result.readTaggedFields();
    return { user, code };
  });
  return results.filter(({ code }) => code !== 0);
}

function clusterOf(kafka: Kafka): Cluster {
  const inside = kafka as unknown as { readonly [key: symbol]: (options: object) => Cluster };
  const make = Object.getOwnPropertySymbols(inside).find(
    ({ description }) => description === 'private:Kafka:createCluster',
  );
  if (make === undefined) throw new Error('The driver of Kafka is of another version.');
  const cluster = inside[make]?.({ allowAutoTopicCreation: false });
  if (cluster === undefined) throw new Error('The driver of Kafka is of another version.');
  return cluster;
}
