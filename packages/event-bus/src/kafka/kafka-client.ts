import { createRequire } from 'node:module';
import type { Logger, Secret } from '@cardea/runtime';
import type { ISocketFactory, Kafka, LogEntry, RetryOptions } from 'kafkajs';

/**
 * Connects to the brokers. Each publisher, consumer and admin request has its own connections, so that one that hangs
 * does not block the others.
 */
export type KafkaClient = {
  readonly log: Logger;
  /** `onLine` is called for each log line of the driver, which shows that the driver still runs. */
  connect(options?: { readonly retry?: RetryOptions; readonly onLine?: () => void }): Kafka;
};

export type KafkaAddress = {
  /** `host:port`. */
  readonly brokers: readonly string[];
  readonly tls?: boolean;
  /** Uses SCRAM-SHA-512 with the password. */
  readonly username?: Secret | undefined;
  readonly password?: Secret | undefined;
  readonly log: Logger;
  /** Tests use this to cut connections. */
  readonly socketFactory?: ISocketFactory;
};

export const kafkaClient = (address: KafkaAddress): KafkaClient => {
  const { brokers, tls = false, username, password, log, socketFactory } = address;
  const sasl =
    username === undefined || password === undefined
      ? {}
      : {
          sasl: {
            mechanism: 'scram-sha-512' as const,
            username: username.reveal(),
            password: password.reveal(),
          },
        };
  return {
    log,
    connect: ({ retry = RETRY, onLine = () => {} } = {}) => {
      const driver = kafkaDriver();
      return new driver.Kafka({
        clientId: CLIENT_ID,
        brokers: [...brokers],
        ssl: tls,
        ...sasl,
        retry,
        connectionTimeout: CONNECT_MS_MAX,
        requestTimeout: REQUEST_MS_MAX,
        logLevel: driver.logLevel.WARN,
        logCreator: () => (entry) => {
          onLine();
          note(log, entry);
        },
        ...(socketFactory === undefined ? {} : { socketFactory }),
      });
    },
  };
};

/** Loaded when a broker is called: a process whose topics are tables never does. */
export const kafkaDriver = (): typeof import('kafkajs') =>
  createRequire(import.meta.url)('kafkajs');

const CLIENT_ID = 'cardea';
const CONNECT_MS_MAX = 3000;
/** A frozen broker answers nothing and closes nothing. */
const REQUEST_MS_MAX = 10_000;
/** Half a minute in total. All options are set, because the driver has other defaults if NODE_ENV is `test`. */
const RETRY: RetryOptions = {
  initialRetryTime: 100,
  maxRetryTime: 5000,
  multiplier: 2,
  factor: 0.2,
  retries: 10,
};
/** The retries of a request whose caller waits for the response. */
export const RETRY_SHORTLY: RetryOptions = { ...RETRY, maxRetryTime: 200, retries: 3 };
/** A publisher never gives up, because no other process has its records. */
export const RETRY_FOR_EVER: RetryOptions = { ...RETRY, retries: 2 ** 31 - 1 };

/** The driver logs a rejoin as an error. Its callers report what matters, so its lines are logged at debug level. */
const note = (log: Logger, { namespace, log: line }: LogEntry): void => {
  const { message, error } = line;
  log.debug({ driver: namespace, ...(typeof error === 'string' ? { error } : {}) }, message);
};
