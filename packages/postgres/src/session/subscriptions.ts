/** The channels to which a session listens, and the listeners of each. */
import type { Client } from 'pg';

/** `payload` is undefined when the session has begun to listen. `from` is the process id of the sender's session. */
export type Listener = (payload: string | undefined, from?: number) => void;

export function subscriptions() {
  const listeners = new Map<string, Set<Listener>>();
  /** Channels to which the current session listens, with all their listeners. */
  const subscribed = new Set<string>();
  const heard = (channel: string, payload: string | undefined, from?: number): void => {
    for (const listener of listeners.get(channel) ?? []) listener(payload, from);
  };
  return {
    heard,
    /** Returns the function that removes the listener. */
    add: (channel: string, listener: Listener): (() => void) => {
      // The wrapper allows one listener to be added twice.
      const own: Listener = (payload, from) => listener(payload, from);
      listeners.set(channel, (listeners.get(channel) ?? new Set()).add(own));
      subscribed.delete(channel); // The new listener has to learn that the session listens.
      return () => {
        listeners.get(channel)?.delete(own);
      };
    },
    /** A new session listens to nothing. */
    forget: (): void => subscribed.clear(),
    /** Listens to all new channels in one statement, and notifies their listeners. */
    listenOn: async (client: Client): Promise<void> => {
      const channels = [...listeners.keys()].filter((channel) => !subscribed.has(channel));
      if (channels.length === 0) return;
      for (const channel of channels) subscribed.add(channel);
      await client.query(
        channels.map((channel) => `LISTEN ${client.escapeIdentifier(channel)}`).join('; '),
      );
      for (const channel of channels) heard(channel, undefined);
    },
  };
}
