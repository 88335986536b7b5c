/** Why agents that work for others are ended from outside, each with the sentence that people read. */
import * as stops from '../../machines/stops.js';
import type { Stop } from '../../protocol/agent/agent.js';
import type { ChildStatus } from '../../protocol/agent/swarm.js';

export const BY_PERSON: Stop = {
  reason: 'stopped',
  detail: 'A person stopped it; `skein resume` lets it go on.',
};

export const ABOVE_STOPPED: Stop = {
  reason: 'stopped',
  detail: 'A person stopped the agent that it worked for; `skein resume` lets it go on.',
};

export const BY_PARENT: Stop = {
  ...stops.INTERRUPTED,
  detail: 'The agent that it works for stopped it.',
};

export const PARENT_ENDED: Stop = {
  ...stops.INTERRUPTED,
  detail: 'The agent that it worked for has ended.',
};

/** It was asked to end, and has nothing left to do. */
export const AGREED: Stop = {
  ...stops.ENDED,
  detail: 'The agent that it worked for asked it to end, and it agreed.',
};

/** Whoever rests has done its work: when it ends with those that it worked for, nothing is cut off. */
export const endFor = (status: ChildStatus, stop: Stop): Stop =>
  status === 'idle' && stop.reason === 'interrupted'
    ? { ...stops.ENDED, detail: 'The run ended while it rested.' }
    : stop;

/** A defect of ours; whoever asked for the agent hears of it like of any other failure. */
export const failed = (error: unknown): Stop =>
  stops.modelError(
    `The agent failed unexpectedly: ${error instanceof Error ? error.message : String(error)}`,
  );
