/**
 * Subscriptions to channels. They survive the connection: after each loss all channels are subscribed again, and the
 * subscribers are notified that messages may have been missed.
 */
import type { Gap } from '../ports.ts';
import { redisConnection } from './redis-cache-connection.ts';

type Listener = {
  readonly hear: (message: string) => void;
  readonly gap: Gap | undefined;
  /** Whether messages may currently be missed. */
  deaf: boolean;
};

export type RedisListening = {
  readonly isHearing: boolean;
  subscribe(
    channel: string,
    hear: (message: string) => void,
    gap?: Gap,
  ): Promise<() => Promise<void>>;
  /** Call it when messages may have been missed. All subscribers are notified, and receive again where they can. */
  doubt(): void;
  /** Subscribes again. Nothing is received while the cache cannot be used. */
  resume(): void;
  probe(): Promise<void>;
  close(): void;
};

export function redisListening(needs: {
  readonly url: string;
  readonly named: (channel: string) => string;
  /** Returns false while the cache refuses commands. */
  readonly isUsable: () => boolean;
  readonly onChange: () => void;
  readonly onError: (code: string) => void;
}): RedisListening {
  const { named } = needs;
  const listeners = new Map<string, Set<Listener>>();
  let hearing = false;

  const all = (): Listener[] => [...listeners.values()].flatMap((each) => [...each]);
  const lose = (): void => {
    hearing = false;
    all().forEach(deafen);
    needs.onChange();
  };
  const hearAgain = async (): Promise<void> => {
    const channels = [...listeners.keys()];
    try {
      if (channels.length > 0) await connection.call((redis) => redis.subscribe(...channels));
    } catch {
      return; // The connection was lost again, or is given up and opened again.
    }
    hearing = connection.isReady && needs.isUsable();
    if (!hearing) return;
    needs.onChange();
    for (const channel of channels) listeners.get(channel)?.forEach(heal);
  };
  const connection = redisConnection({
    url: needs.url,
    // A connection that subscribes may send nothing else.
    probe: (redis) => redis.ping(),
    onReady: () => void hearAgain(),
    onGone: lose,
    onError: needs.onError,
    onMessage: (channel, message) => {
      for (const { hear } of [...(listeners.get(channel) ?? [])]) hear(message);
    },
  });

  return {
    get isHearing() {
      return hearing;
    },
    subscribe: async (unnamed, hear, gap) => {
      const channel = named(unnamed);
      const listener: Listener = { hear, gap, deaf: false };
      const here = listeners.get(channel) ?? new Set();
      listeners.set(channel, here.add(listener));
      // SUBSCRIBE is sent even if others are subscribed already, because its response confirms that the subscription is
      // active now.
      await connection
        .call((redis) => redis.subscribe(channel))
        .catch(() => {
          if (here.has(listener)) deafen(listener);
        });
      return async () => {
        here.delete(listener);
        if (here.size > 0 || listeners.get(channel) !== here) return;
        listeners.delete(channel);
        await connection.call((redis) => redis.unsubscribe(channel)).catch(() => {});
      };
    },
    doubt: () => {
      lose();
      void hearAgain();
    },
    resume: () => void hearAgain(),
    probe: connection.probe,
    close: () => {
      listeners.clear();
      connection.close();
    },
  };
}

function deafen(listener: Listener): void {
  if (listener.deaf) return;
  listener.deaf = true;
  listener.gap?.lost();
}

function heal(listener: Listener): void {
  if (!listener.deaf) return;
  listener.deaf = false;
  listener.gap?.healed();
}
