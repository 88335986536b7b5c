/**
 * The mark that every child carries in its environment: `<owner>.<pid>.<start>.<namespace>`. It
 * outlives its owner, and still tells whether that very process runs.
 */
import { processNamespace, processStart } from './process-start.js';

export const ownerMarker = (ownerId: string): string =>
  [ownerId, process.pid, processStart(process.pid) ?? '0', processNamespace()].join('.');

/** True also when it cannot be told: what may belong to somebody is not an orphan. */
export const ownerLives = (marker: string): boolean => {
  const [namespace, start, pid] = marker.split('.').reverse();
  if (namespace === undefined || start === undefined || !/^\d+$/.test(pid ?? '')) return true;
  if (namespace !== processNamespace()) return true;
  return processStart(Number(pid)) === start;
};
