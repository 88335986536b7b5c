/** Chooses the governor that limits the model requests of a run. */
import { createHash } from 'node:crypto';
import { governor } from '../../../model/governor.js';
import { systemClock } from '../../../protocol/clock.js';
import type { Governor } from '../../../protocol/model/governor.js';
import type { OpenedStore } from './open-store.js';
import type { Provider } from './provider.js';

/** Returns the governor that all processes with the same credentials share, or a local one without Redis. */
export const runGovernor = (
  { governorFor }: OpenedStore,
  slots: number,
  { baseUrl, apiKey, authToken }: Provider,
): Governor => {
  if (governorFor === undefined) return governor(systemClock, slots);
  const key = [baseUrl, apiKey, authToken].join('\n');
  return governorFor(slots, createHash('sha256').update(key).digest('hex').slice(0, 32));
};
