/** Sends a stream or a whole message with the pacing and the faults that the script asks for. */
import type { ServerResponse } from 'node:http';
import type { Clock } from '../protocol/clock.js';
import { errorFrame, type StreamFrame } from './response-message.js';
import type { Reply } from './script.js';

/** Resolves with true after the delay, or with false as soon as the connection closes. */
export const delayUnlessClosed = (
  clock: Clock,
  response: ServerResponse,
  ms: number,
): Promise<boolean> =>
  new Promise((resolve) => {
    if (response.destroyed) return resolve(false);
    const gone = () => {
      cancelTimer();
      resolve(false);
    };
    const cancelTimer = clock.wakeAt(clock.now() + ms, () => {
      response.off('close', gone);
      resolve(true);
    });
    response.once('close', gone);
  });

/** Sends a message that is not streamed. It has no events, so a fault occurs right after the headers. */
export const sendWhole = (response: ServerResponse, text: string, reply: Reply): void => {
  if (reply.cut) breakConnection(response);
  else if (reply.stall) response.flushHeaders();
  else response.end(text);
};

/** Sends the events of a stream. Without pacing, all events go out in a single write. */
export const sendStream = async (
  response: ServerResponse,
  frames: readonly StreamFrame[],
  reply: Reply,
  clock: Clock,
): Promise<void> => {
  const { events, end } = withScriptedFault(frames, reply);
  if (reply.chunkDelayMs === undefined) {
    send(response, events.map((event) => event.text).join(''));
  } else if (!(await sendSlowly(response, events, reply.chunkDelayMs, clock))) return;
  if (end === 'done') response.end();
  if (end === 'cut') breakConnection(response);
};

/** Breaks the connection after earlier writes have been sent, so that the client receives them. */
const breakConnection = (response: ServerResponse): void => {
  response.flushHeaders();
  response.write('', () => response.destroy());
};

type End = 'done' | 'silent' | 'cut';

const withScriptedFault = (frames: readonly StreamFrame[], reply: Reply) => {
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

/** Sends events with a delay before each delta except the first. Resolves with false if the client left. */
const sendSlowly = async (
  response: ServerResponse,
  events: readonly StreamFrame[],
  delayMs: number,
  clock: Clock,
): Promise<boolean> => {
  let waiting = '';
  let hadDelta = false;
  for (const event of events) {
    if (event.isDelta && hadDelta) {
      send(response, waiting);
      waiting = '';
      if (!(await delayUnlessClosed(clock, response, delayMs))) return false;
    }
    hadDelta ||= event.isDelta;
    waiting += event.text;
  }
  send(response, waiting);
  return true;
};
