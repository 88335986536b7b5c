/** Puts a reply on the wire at the pace, and with the accidents, that the script asks for. */
import type { ServerResponse } from 'node:http';
import type { Clock } from '../protocol/clock.js';
import { errorFrame, type Frame } from './message.js';
import type { Reply } from './script.js';

/** Resolves after the time has passed, or with false as soon as the client is gone. */
export const pause = (clock: Clock, response: ServerResponse, ms: number): Promise<boolean> =>
  new Promise((resolve) => {
    if (response.destroyed) return resolve(false);
    const gone = () => {
      forget();
      resolve(false);
    };
    const forget = clock.wakeAt(clock.now() + ms, () => {
      response.off('close', gone);
      resolve(true);
    });
    response.once('close', gone);
  });

/** Writes a message that is not streamed. It has no events, so accidents come after its head. */
export const sendWhole = (response: ServerResponse, text: string, reply: Reply): void => {
  if (reply.cut) breakOff(response);
  else if (reply.stall) response.flushHeaders();
  else response.end(text);
};

/** Writes the events. Without pacing everything goes out in one chunk. */
export const stream = async (
  response: ServerResponse,
  frames: readonly Frame[],
  reply: Reply,
  clock: Clock,
): Promise<void> => {
  const { events, end } = withAccident(frames, reply);
  if (reply.chunkDelayMs === undefined) {
    send(response, events.map((event) => event.text).join(''));
  } else if (!(await sendSlowly(response, events, reply.chunkDelayMs, clock))) return;
  if (end === 'done') response.end();
  if (end === 'cut') breakOff(response);
};

/** After what was written has left, so that the client sees it and then the break. */
const breakOff = (response: ServerResponse): void => {
  response.flushHeaders();
  response.write('', () => response.destroy());
};

type End = 'done' | 'silent' | 'cut';

const withAccident = (frames: readonly Frame[], reply: Reply) => {
  const { streamError, stall, cut } = reply;
  if (streamError) {
    const { type, message = type, afterEvents } = streamError;
    const events = [...frames.slice(0, afterEvents), errorFrame(type, message)];
    return { events, end: 'done' as End };
  }
  if (cut) return { events: frames.slice(0, cut.afterEvents), end: 'cut' as End };
  if (stall) return { events: frames.slice(0, stall.afterEvents), end: 'silent' as End };
  return { events: frames, end: 'done' as End };
};

const send = (response: ServerResponse, text: string): void => {
  if (text) response.write(text);
  else response.flushHeaders();
};

/** Pauses before each delta but the first; false when the client left. */
const sendSlowly = async (
  response: ServerResponse,
  events: readonly Frame[],
  delayMs: number,
  clock: Clock,
): Promise<boolean> => {
  let waiting = '';
  let hadDelta = false;
  for (const event of events) {
    if (event.isDelta && hadDelta) {
      send(response, waiting);
      waiting = '';
      if (!(await pause(clock, response, delayMs))) return false;
    }
    hadDelta ||= event.isDelta;
    waiting += event.text;
  }
  send(response, waiting);
  return true;
};
