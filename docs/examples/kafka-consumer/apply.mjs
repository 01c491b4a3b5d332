/** What an event does to the state, once, however often and in whatever company it comes. */
export const EMPTY_STATE = {
  logEpoch: null,
  pastEpochs: [],
  /** Last applied position, by partition. */
  partitions: {},
  /** Last applied position of streams that came late, by key. */
  released: {},
  recentIds: [],
  /** Whether facts may be kept here that a restore has undone: compare with the REST API. */
  reconcile: false,
  users: {},
  /** How often types came that this program does not know. */
  unknown: {},
};

/** Old ones are dropped: a record that comes again after so many others is told by its position. */
const RECENT_IDS_MAX = 1000;
const RELEASED_STREAMS_MAX = 1000;
const PAST_EPOCHS_MAX = 100;

export function apply(state, partition, event) {
  if (state.pastEpochs.includes(event.logEpoch)) return 'repeat';
  if (event.logEpoch !== state.logEpoch) enterEpoch(state, event.logEpoch);
  if (!advance(state, partition, event)) return 'repeat';
  const type = `${event.type}@${event.version}`;
  const effect = EFFECTS[type];
  if (effect === undefined) {
    // It counts as read all the same, or everything after it would wait for a newer program.
    state.unknown[type] = (state.unknown[type] ?? 0) + 1;
    return 'unknown';
  }
  effect(state, event);
  return 'applied';
}

/**
 * Positions of the new epoch mean other events. What was applied before a restore may come again, under
 * its old id, and some of it may never have happened.
 */
function enterEpoch(state, logEpoch) {
  if (state.logEpoch !== null) {
    state.pastEpochs = [...state.pastEpochs, state.logEpoch].slice(-PAST_EPOCHS_MAX);
    state.reconcile = true;
  }
  state.logEpoch = logEpoch;
  state.partitions = {};
  state.released = {};
}

/** Moves the position over the event; false when it was applied already. */
function advance(state, partition, { id, tenant, stream, position, part, released }) {
  const [positions, key] = released
    ? [state.released, `${tenant}:${stream}`]
    : [state.partitions, String(partition)];
  if (!isNewer(positions[key], { position, part })) return false;
  // Set anew, so that the order of the keys is that of their last use.
  delete positions[key];
  positions[key] = { position, part };
  if (released) {
    for (const old of Object.keys(positions).slice(0, -RELEASED_STREAMS_MAX)) delete positions[old];
  }
  if (state.recentIds.includes(id)) return false;
  state.recentIds = [...state.recentIds, id].slice(-RECENT_IDS_MAX);
  return true;
}

/** True if the event comes after the last one applied. Positions may be greater than a Number holds exactly. */
function isNewer(last, { position, part }) {
  if (last === undefined) return true;
  const [was, is] = [BigInt(last.position), BigInt(position)];
  return was < is || (was === is && last.part < part);
}

/** By type and version of its schema. What a later release adds to `data` is not looked at. */
const EFFECTS = {
  'user.created@1': keepUser,
  'user.updated@1': keepUser,
  'user.status_changed@1': keepUser,
  'user.email_verified@1': keepUser,
  'user.login@1': countLogin,
  // Whoever keeps personal data forgets it with this event.
  'user.deleted@1': ({ users }, { tenant, data }) => {
    delete users[userKey(tenant, data.id)];
  },
};

/** A null was erased, or there never was any: it replaces what is kept. */
function keepUser({ users }, { tenant, data }) {
  const key = userKey(tenant, data.id);
  const { email, display_name, status } = data;
  users[key] = { logins: 0, ...users[key], email, display_name, status };
}

/** Counting is not repeatable: were an event applied twice, it would show. */
function countLogin({ users }, { tenant, data }) {
  const user = users[userKey(tenant, data.id)];
  // Deleted since, or older than what the topic still has.
  if (user !== undefined) user.logins += 1;
}

const userKey = (tenant, id) => `${tenant}/${id}`;
