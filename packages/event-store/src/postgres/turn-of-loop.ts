/** Behind all that this turn of the event loop still does. */
export const turnOfLoop = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
